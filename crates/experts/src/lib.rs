//! Classical solvers for the problems of BQ-NCO: label makers and baselines.

pub mod external;
pub mod knapsack;
pub mod op;

pub use external::External;
pub use knapsack::KnapsackExpert;
pub use op::OpExpert;
