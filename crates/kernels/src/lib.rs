//! CPU kernels of the transformer layer.

mod attention;
mod attention_backward;
mod backward;
mod cpu;
mod epilogue;
mod forward;
mod layer;
mod matmul;
pub mod parallel;
pub mod pool;
mod product;
pub mod simd;
mod tiles;

pub use backward::{WeightGradients, backward};
pub use cpu::{CpuError, CpuPath, available_paths, best_path, wanted_path};
pub use forward::{Pass, Saved};
pub use layer::{Costs, NORM_EPSILON, Packed, Residual, Sizes, Weights};
pub use product::{Factor, multiply};
pub use simd::LANES;
