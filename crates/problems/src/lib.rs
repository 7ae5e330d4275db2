//! The five problems of the paper, each one file: path-TSP, path-ATSP, path-CVRP, path-OP and the knapsack problem.
//!
//! A problem is a type without values ([`Tsp`], [`Cvrp`], ...) that implements [`bqnco_core::Problem`]; its data live
//! in a module of its own name (`tsp::Instance`, `cvrp::Step`). Instances are valid by construction.
//!
//! ```
//! use bqnco_core::{SolutionSpace, rollout::{self, Options}, GreedyHeuristic};
//! use bqnco_problems::{Metric, Geometry, Tsp, tsp};
//!
//! let square = Geometry::planar(vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], Metric::Exact)?;
//! let instance = std::sync::Arc::new(tsp::Instance::tour(square)?);
//! let tours = rollout::solve::<Tsp>(&GreedyHeuristic, &[instance.clone()], &Options::default())?;
//! assert_eq!(tours[0].cost, 4.0);
//! assert!(Tsp::check(&instance, &tours[0].steps).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod atsp;
pub mod cvrp;
mod error;
mod fitted_map;
mod geometry;
pub mod knapsack;
mod metric;
mod nodes;
pub mod op;
pub mod tsp;
mod view;

pub use atsp::Atsp;
pub use cvrp::Cvrp;
pub use error::InvalidInstance;
pub use geometry::{Distances, Geometry};
pub use knapsack::Knapsack;
pub use metric::Metric;
pub use op::Op;
pub use tsp::Tsp;
pub use view::View;
