//! Neural combinatorial optimization for practical use: BQ-NCO (Drakulic et al., NeurIPS 2023) in Rust.
//!
//! Any problem, any format, in four lines:
//!
//! ```
//! use std::time::Duration;
//!
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! # std::fs::write("a.csv", "x,y\n0,0\n1,1\n1,0\n0,1\n")?;
//! let instance = bqnco::Instance::read("a.csv")?;
//! let solution = bqnco::Solver::new().time_limit(Duration::from_millis(100)).solve(&instance)?;
//! println!("{} {}, found by {}", solution.objective(), solution.value(), solution.found_by());
//! solution.write("a.tour")?;
//! # assert_eq!(solution.value(), 4.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All six problems, from numbers instead of files:
//!
//! ```
//! use bqnco::{Instance, Solver};
//!
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! let places = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]; // the depot first, where there is one
//! let instances = [
//!     Instance::tsp(&places)?,
//!     Instance::atsp(3, &[0.0, 1.0, 9.0, 9.0, 0.0, 1.0, 1.0, 9.0, 0.0])?, // costs from row to column
//!     Instance::cvrp(&places, &[1.0, 2.0, 1.0], 2.0)?,                    // demands, capacity
//!     Instance::op(&places, &[0.0, 5.0, 1.0, 2.0], 3.0)?,                 // prizes, longest route
//!     Instance::knapsack(&[3.0, 4.0, 5.0], &[2.0, 3.0, 4.0], 5.0)?,       // values, weights, capacity
//!     Instance::pctsp(&places, &[0.0, 0.4, 0.3, 0.3], &[0.0, 0.2, 0.9, 0.1], 0.5)?, // prizes, penalties, quota
//! ];
//! for instance in instances {
//!     let solution = Solver::new().solve(&instance)?;
//!     println!("{}: {} {}", instance.name(), solution.objective(), solution.value());
//!     solution.write(format!("{}.json", instance.name()))?;
//!     assert!(solution.check().is_ok());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Solver`] runs every search, [`Labeller`] makes training data, [`Recipe`] trains networks. Instances come from
//! files and folders ([`Reader`]), from numbers ([`Instance`]), or are random ([`GeneratedSet`]); [`References`] are
//! the best known objectives that solutions are compared with. A [`journal`] keeps finished work over interruptions.
//! Networks and training loops of other libraries use the same searches ([`GivenPolicy`]), samples ([`Tails`]) and
//! states ([`Environments`]).
//!
//! Below them is the typed API for researchers: the mathematics ([`core`]), the problems ([`problems`]), their files
//! ([`io`]), pictures ([`plot`]), classical solvers ([`experts`]), networks ([`net`]), their training ([`train`]) and
//! their matrix products on CPUs ([`kernels`]). [`ProblemName`] is the only list of problems in the workspace.

#[macro_use] // `dispatch!`
mod registry;

mod cancel;
mod constructors;
mod deadline;
mod environments;
mod error;
mod events;
mod fields;
mod generate;
mod given_policy;
mod instance;
pub mod journal;
mod label;
mod lock;
mod models;
mod observations;
mod parallel;
mod reader;
pub mod recipe;
mod references;
mod search;
mod solution;
pub mod solve;
mod solver;
mod tails;
mod time_limited;
mod trace;
mod training;

pub use bqnco_core as core;
pub use bqnco_core::rollout::End;
pub use bqnco_core::{Distribution, UnknownDistribution};
pub use bqnco_experts as experts;
pub use bqnco_experts::Construct;
pub use bqnco_io as io;
pub use bqnco_kernels as kernels;
pub use bqnco_net as net;
pub use bqnco_plot as plot;
pub use bqnco_problems as problems;
pub use bqnco_train as train;

pub use cancel::CancelToken;
pub use constructors::Nodes;
pub use environments::{Environments, Transition};
pub use error::{Error, JournalError, RecipeError, Result, UnfitStart};
pub use events::{Event, Improvement, Observer};
pub use generate::GeneratedSet;
pub use given_policy::{GivenPolicy, Scorer};
pub(crate) use instance::one_problem;
pub use instance::{Instance, write_all};
pub use label::{LabelProgress, Labeller};
pub use models::{MODELS, Model, ModelSource};
pub use observations::ObservationBatch;
pub use reader::{InstanceFiles, Reader, distinguish_names, instance_files, stored_solutions};
#[doc(inline)]
pub use recipe::Recipe;
pub use references::{References, gap};
pub use registry::{Builtin, ProblemName, UnknownProblem, decode, roles};
pub use search::{Decoding, Ends, ExpertEffort, Follow, Guide, PolicySource, Preset, RebuildEffort, Search, Shortlist};
pub use solution::Solution;
#[doc(inline)]
pub use solve::Rebuilt;
pub use solver::{MAX_THREADS, Solver};
pub use tails::{TailBatch, Tails};
pub use trace::{Candidate, Look, Taken, Trace};
pub use training::{Plan, RunEvent, TrainOptions};
