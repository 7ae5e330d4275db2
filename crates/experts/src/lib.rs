//! Classical solvers for the problems of BQ-NCO: label makers and baselines.

pub mod atsp;
mod tour_search;
pub mod tsp;

pub use atsp::AtspExpert;
pub use tsp::TspExpert;
