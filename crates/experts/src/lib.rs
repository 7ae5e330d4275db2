//! Classical solvers for the problems of BQ-NCO: label makers and baselines.

mod tour_search;
pub mod tsp;

pub use tsp::TspExpert;
