//! The policy networks of BQ-NCO (paper, section 4 and appendices A to C and E), on Burn.
//!
//! A [`Network`] sees [`Observation`](bqnco_core::Observation)s and nothing else, so it never asks which problem it
//! serves: tokens with features, an origin, a destination and costs go in, raw scores come out, `KINDS` per token.
//! It is a [`Policy`](bqnco_core::Policy) for rollouts and a Burn [`Module`](burn::module::Module) for training.
//!
//! One definition serves all devices. On the CPU a whole transformer [`Layer`] is one operation of our own
//! ([`fused`]); elsewhere, and as its oracle in tests, the same layer runs in plain tensor operations.

mod approximate;
mod batch;
#[cfg(feature = "bench")]
pub mod bench;
mod checkpoint;
mod config;
mod device;
mod error;
pub mod fused;
mod gcn;
#[cfg(feature = "pytorch")]
mod import;
mod init;
mod layer;
mod network;
mod parallel;
mod perceiver;
mod transformer;

pub use batch::{Batch, BatchCosts};
pub use checkpoint::{CONFIG, Precision, Provenance, Tensors, VERSION, WEIGHTS};
pub use config::{Architecture, Config, CostBias, Residual, ViewFrame};
pub use device::{device, device_names};
pub use error::NetError;
pub use gcn::{Adjacency, Convolution};
#[cfg(feature = "pytorch")]
pub use import::import_pytorch;
pub use layer::{Context, Form, Layer};
pub use network::{Body, Network};
pub use perceiver::{CrossLayer, Norm, Perceiver};
pub use transformer::{Ends, Transformer};
