//! The crate's tests, in one binary: linking many takes longer than running them.

mod common;

mod imitation;
mod laws;
mod rollouts;
mod search;
