//! The crate's tests, in one binary: linking many takes longer than running them.
#![allow(clippy::unwrap_used)] // a panic is a failed test

mod labels;
mod outside;
mod registry;
mod solver;
mod time_limited;
mod trace;
mod training;
