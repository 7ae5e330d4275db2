//! The device that networks run on.

use bqnco::net::{self, Device};
use clap::{Args, ValueEnum};

use crate::failure::Failure;

/// The option `--device`.
#[derive(Args, Clone, Default)]
pub struct OnDevice {
    /// Where the network runs (default: cpu). Other devices need a build with the cargo feature of the same name.
    #[arg(long, value_enum)]
    device: Option<DeviceName>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum DeviceName {
    /// The CPU, with our own kernels.
    Cpu,
    /// WebGPU: any supported graphics API.
    Wgpu,
    /// Vulkan.
    Vulkan,
    /// Metal, on Apple devices.
    Metal,
    /// CUDA, on NVIDIA GPUs.
    Cuda,
    /// ROCm, on AMD GPUs.
    Rocm,
}

impl OnDevice {
    /// Whether a device was requested.
    pub fn is_given(&self) -> bool {
        self.device.is_some()
    }

    /// Its name.
    pub fn name(&self) -> String {
        let name = self.device.unwrap_or(DeviceName::Cpu).to_possible_value();
        name.expect("no device is hidden").get_name().to_string()
    }

    /// The device, if this build supports it.
    pub fn open(&self) -> Result<Device, Failure> {
        Ok(net::device(&self.name())?)
    }
}
