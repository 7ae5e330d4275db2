//! Facade.
pub use bqnco_core as core;
pub use bqnco_problems as problems;
