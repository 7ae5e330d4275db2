//! The crate's tests, in one binary: linking many takes longer than running them.
#![allow(clippy::unwrap_used)] // a panic is a failed test

#[macro_use]
mod every;
mod mutants;
mod records;

mod bad_files;
mod foreign;
mod fuzz;
mod generated;
mod instances;
mod laws;
mod origin_frame;
#[cfg(feature = "draw")]
mod pictures;
mod reconstruct;
mod refused;
mod rollouts;
mod round_trip;
mod samples;
mod shared_data;
