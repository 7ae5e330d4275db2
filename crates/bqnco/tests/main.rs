//! The crate's tests, in one binary: linking many takes longer than running them.
#![allow(clippy::unwrap_used)] // a panic is a failed test

mod labels;
mod memory;
mod outside;
mod recipes;
mod registry;
mod solver;
mod threads;
mod trace;
mod training;
