//! The crate's tests, in one binary: linking many takes longer than running them.

mod files;
mod new_problem;
