//! Where networks run.

use bqnco::net::{self, Device};
use clap::{Args, ValueEnum};

use crate::failure::Failure;

/// The option `--device`.
#[derive(Args, Clone, Default)]
pub struct OnDevice {
    /// Where the network runs (default: cpu). All others must be part of the build: cargo features of the same names.
    #[arg(long, value_enum)]
    device: Option<DeviceName>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum DeviceName {
    /// The CPU, with kernels of our own.
    Cpu,
    /// WebGPU: whatever graphics the system has.
    Wgpu,
    /// Vulkan.
    Vulkan,
    /// Metal, on Apple's machines.
    Metal,
    /// CUDA, on NVIDIA's cards.
    Cuda,
    /// ROCm, on AMD's cards.
    Rocm,
}

impl OnDevice {
    /// Whether a device was asked for.
    pub fn is_given(&self) -> bool {
        self.device.is_some()
    }

    /// Its name.
    pub fn name(&self) -> String {
        let name = self.device.unwrap_or(DeviceName::Cpu).to_possible_value();
        name.expect("no device is hidden").get_name().to_string()
    }

    /// The device, if this build has it.
    pub fn open(&self) -> Result<Device, Failure> {
        Ok(net::device(&self.name())?)
    }
}
