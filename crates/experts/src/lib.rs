//! Classical solvers for the problems of BQ-NCO: label makers and baselines.

pub mod knapsack;

pub use knapsack::KnapsackExpert;
