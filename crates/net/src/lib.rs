//! The policy networks of BQ-NCO (paper, section 4 and appendices A to C and E), on Burn.
//!
//! A [`Network`] sees [`Observation`](bqnco_core::Observation)s and nothing else, so it does not depend on the problem:
//! tokens with features, an origin, a destination and costs go in, raw scores come out, `KINDS` per token. It is a
//! [`Policy`](bqnco_core::Policy) for rollouts and a Burn [`Module`](burn::module::Module) for training.
//!
//! On the CPU a whole transformer [`Layer`] is one fused operation on the kernels of [`bqnco_kernels`]; on other
//! devices, and as the reference in tests, the same layer runs in plain tensor operations.
//!
//! ```
//! use std::sync::Arc;
//!
//! use bqnco_core::{Generate, Policy, Subproblem, random};
//! use bqnco_net::{Config, Network, device};
//! use bqnco_problems::Tsp;
//!
//! let network = Network::new(Config::small::<Tsp>(), 7, &device("cpu")?)?;
//! let state = Subproblem::<Tsp>::whole(Arc::new(Tsp::generate(20, &mut random(1, &[]))));
//! let scores = Policy::<Tsp>::scores(&network, &[&state]).expect("the network was made for this problem");
//! assert!(state.allowed().all(|(slot, _)| scores[0][slot].is_finite()));
//! # Ok::<(), bqnco_net::NetError>(())
//! ```

mod approximate;
mod ascent;
mod batch;
#[cfg(feature = "bench")]
pub mod bench;
mod checkpoint;
mod config;
mod device;
mod error;
mod fused;
mod gcn;
#[cfg(feature = "pytorch")]
mod import;
mod init;
mod layer;
mod network;
mod perceiver;
mod transformer;

pub use burn::tensor::Device;

pub use batch::{Batch, BatchCosts};
pub use checkpoint::{CONFIG, Description, Precision, Provenance, Tensors, VERSION, WEIGHTS, verify};
pub use config::{Architecture, Config, CostBias, EndCosts, Residual};
pub use device::{device, device_names};
pub use error::NetError;
pub use gcn::{Adjacency, Convolution};
#[cfg(feature = "pytorch")]
pub use import::{import_pytorch, is_pytorch, pytorch_sizes};
pub use layer::{Context, FeedForward, Layer, LayerShape};
pub use network::{Body, Network};
pub use perceiver::{CrossLayer, LatentLayer, Norm, Perceiver};
pub use transformer::{EmbedAndHead, Transformer};
