//! The crate's tests, in one binary: linking the tensor library three times takes longer than all of them.
#![allow(clippy::unwrap_used)] // a test may panic

mod bombs;
mod checkpoints;
mod fused;
mod network;
mod reference;
