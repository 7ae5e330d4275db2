//! CPU kernels of the transformer layer: forward and backward pass on slices of floats, without a tensor library.
//!
//! Separate tensor operations spend more time on softmax, permutations and broadcasts than on matrix products. Here the
//! whole layer is one pass ([`LayerPass`]) that never holds a tokens x tokens matrix; the backward pass is derived by
//! hand. [`multiply`] is a plain matrix product on the same code.
//!
//! All code is generic over the instruction set ([`simd`]), which is chosen once per process: the best that the CPU
//! has, or what the environment variable `BQNCO_CPU` asks for ([`best_path`]). Results do not depend on the number of
//! threads.
//!
//! `unsafe` is confined to [`simd`]: intrinsics, AMX assembly, and unchecked indexing in the innermost loops.
//!
//! ```
//! use bqnco_kernels::{Factor, multiply};
//!
//! let (a, b) = ([1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 1.0, 0.0]);
//! assert_eq!(multiply(&a, 2, &Factor::new(&b, 2), 2), [2.0, 1.0, 4.0, 3.0]);
//! ```
#![warn(clippy::undocumented_unsafe_blocks)]

mod attention;
mod attention_backward;
mod backward;
mod cpu;
mod epilogue;
mod forward;
mod gradients;
mod layer;
mod matmul;
pub mod parallel;
mod pool;
mod product;
pub mod simd;
mod tiles;

pub use cpu::{CpuError, CpuPath, ProductPrecision, available_paths, best_path, wanted_path};
pub use forward::{LayerPass, SavedActivations};
pub use gradients::WeightGradients;
pub use layer::{Costs, LayerSizes, LayerWeights, NORM_EPSILON, PackedWeights, Residual};
pub use pool::recycle;
pub use product::{Factor, multiply};
