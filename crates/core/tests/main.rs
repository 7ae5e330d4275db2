//! The crate's tests, in one binary: linking many takes longer than running them.
#![allow(clippy::unwrap_used)] // a panic is a failed test

mod common;

mod imitation;
mod laws;
mod rollouts;
mod search;
