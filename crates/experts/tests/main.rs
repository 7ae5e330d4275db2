//! The crate's tests, in one binary: linking many takes longer than running them.

mod atsp;
mod external;
mod knapsack;
mod op;
mod tsp;
