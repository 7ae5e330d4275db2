//! Classical solvers for the problems of BQ-NCO: they make training labels, serve as baselines, and improve solutions.
//!
//! Every expert respects its [`Effort`](bqnco_core::Effort): with a number of rounds it is deterministic; when stopped
//! it returns the best solution so far.

pub mod atsp;
pub mod cvrp;
mod expertise;
pub mod external;
pub mod knapsack;
mod nearest;
pub mod op;
mod tour_search;
pub mod tsp;

pub use atsp::AtspExpert;
pub use cvrp::{CvrpExpert, Savings};
pub use expertise::{Construct, Expertise, greedy_heuristic};
pub use external::External;
pub use knapsack::KnapsackExpert;
pub use op::OpExpert;
pub use tsp::{GreedyEdges, TspExpert};
