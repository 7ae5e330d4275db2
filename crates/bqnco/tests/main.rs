//! The crate's tests, in one binary: linking many takes longer than running them.

mod labels;
mod outside;
mod registry;
mod solver;
mod time_limited;
mod trace;
mod training;
