//! Neural combinatorial optimization that people can use: BQ-NCO (Drakulic et al., NeurIPS 2023) in Rust.
//!
//! This crate ties the parts together: the mathematics ([`core`]), the five problems ([`problems`]), their files
//! ([`io`]), pictures ([`plot`]), classical solvers ([`experts`]), networks ([`net`]) and their training ([`train`]), and
//! the [registry](ProblemName), the only list of problems in the workspace.
//!
//! ```
//! use std::sync::Arc;
//! use bqnco::core::{GreedyHeuristic, rollout::{self, Decoding, Options}};
//! use bqnco::io::{ReadOptions, Source, read};
//! use bqnco::problems::Tsp;
//!
//! let file = Source::new("square.csv", "x,y\n0,0\n1,1\n1,0\n0,1\n");
//! let record = read::<Tsp>(&file, &ReadOptions::default())?.remove(0);
//! let options = Options { decoding: Decoding::Beam { width: 16 }, ..Options::default() };
//! let tours = rollout::solve::<Tsp>(&GreedyHeuristic, &[Arc::new(record.instance)], &options)?;
//! assert_eq!(tours[0].cost, 4.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod deadline;
mod models;
mod registry;
mod time_limited;

pub use bqnco_core as core;
pub use bqnco_experts as experts;
pub use bqnco_experts::Construct;
pub use bqnco_io as io;
pub use bqnco_kernels as kernels;
pub use bqnco_net as net;
pub use bqnco_plot as plot;
pub use bqnco_problems as problems;
pub use bqnco_train as train;

pub use deadline::Deadline;
pub use models::{MODELS, Model};
pub use registry::{Builtin, ProblemName, UnknownProblem};
pub use time_limited::{SLICE, TimeLeft, TimeLimitedPolicy};
