//! Classical solvers for the problems of BQ-NCO: label makers and baselines.

pub mod cvrp;

pub use cvrp::{CvrpExpert, Savings};
