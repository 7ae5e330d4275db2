//! Devices by name.

use burn::tensor::Device;

use crate::NetError;

/// The devices of this build: `cpu`, and others by cargo feature.
pub fn device_names() -> Vec<&'static str> {
    [
        ("cpu", true),
        ("wgpu", cfg!(feature = "wgpu")),
        ("vulkan", cfg!(feature = "vulkan")),
        ("metal", cfg!(feature = "metal")),
        ("cuda", cfg!(feature = "cuda")),
        ("rocm", cfg!(feature = "rocm")),
    ]
    .into_iter()
    .filter_map(|(name, built)| built.then_some(name))
    .collect()
}

/// The device of a name.
///
/// # Errors
/// When this build does not have the device.
pub fn device(name: &str) -> Result<Device, NetError> {
    match name {
        "cpu" => Ok(Device::flex()),
        #[cfg(feature = "wgpu")]
        "wgpu" => Ok(Device::wgpu(Default::default())),
        #[cfg(feature = "vulkan")]
        "vulkan" => Ok(Device::vulkan(Default::default())),
        #[cfg(feature = "metal")]
        "metal" => Ok(Device::metal(Default::default())),
        #[cfg(feature = "cuda")]
        "cuda" => Ok(Device::cuda(burn::tensor::DeviceIndex::Default)),
        #[cfg(feature = "rocm")]
        "rocm" => Ok(Device::rocm(burn::tensor::DeviceIndex::Default)),
        _ => Err(NetError::NoDevice { asked: name.to_string(), available: device_names().join(", ") }),
    }
}
