//! The built-in problems, each in a folder: path-TSP, path-ATSP, path-CVRP, path-OP and the knapsack problem of the paper,
//! and the prize-collecting TSP.
//!
//! A problem is a type without values ([`Tsp`], [`Cvrp`], ...); its data types are in the module of the same name
//! (`tsp::Instance`, `cvrp::Step`). The folder holds all its roles: the MDP ([`bqnco_core::Problem`]), what networks see
//! and imitate ([`Observe`](bqnco_core::Observe), [`Imitate`](bqnco_core::Imitate)), reconstruction
//! ([`Rebuild`](bqnco_core::Rebuild)), random instances ([`Generate`](bqnco_core::Generate)), files ([`bqnco_io::InstanceIo`])
//! and, with the feature `draw`, pictures (`bqnco_plot::Draw`). Instances are valid by construction.
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
//!
//! Reading a file and writing it in another format:
//!
//! ```
//! use bqnco_io::{Format, ReadOptions, Recogniser, Source, detect, read, write};
//! use bqnco_problems::{Cvrp, Tsp};
//!
//! let source = Source::new("triangle.csv", "x,y\n0,0\n3,0\n0,4\n");
//! assert_eq!(detect(&source, &[Recogniser::of::<Cvrp>(), Recogniser::of::<Tsp>()])?.problem, "tsp");
//! let records = read::<Tsp>(&source, &ReadOptions::default())?;
//! let tsplib = write::<Tsp>(&records, Format::Tsplib)?;
//! assert!(String::from_utf8_lossy(&tsplib).contains("EDGE_WEIGHT_TYPE : EXACT_2D"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod atsp;
pub mod cvrp;
#[cfg(feature = "draw")]
mod draw;
mod error;
mod geometry;
pub mod knapsack;
mod nodes;
pub mod op;
pub mod path;
pub mod pctsp;
pub mod tsp;

pub use atsp::Atsp;
pub use bqnco_io::Metric;
pub use cvrp::Cvrp;
pub use error::InvalidInstance;
pub use geometry::{Distances, Geometry, ObservedMap};
pub use knapsack::Knapsack;
pub use nodes::Tokens;
pub use op::Op;
pub use pctsp::Pctsp;
pub use tsp::Tsp;
