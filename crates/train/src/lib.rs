//! Imitation training (paper, section 4 "Trajectory generation" and section 5): a network learns to take the steps that
//! an expert took.
//!
//! [`train`] is the whole loop. One sample is one tail subproblem on the way along an expert's solution
//! ([`Imitate::sample_subproblem`](bqnco_core::Imitate::sample_subproblem)); batches of them are prepared on a background thread.
//! Batch k depends on the seed and on k only, so a run that was stopped at any moment goes on from its last saved
//! [state](Folder) and ends with the weights it would have had without the interruption.
//!
//! All that an update works on is one row of numbers: weights, gradient, the optimizer's memory, the average. So
//! several processes train [`Communicator`] by adding up one row per update.
//!
//! With [`SelfImprovement`] labels give way to better solutions that the network finds itself.
//!
//! The crate knows no problem and no file format: examples come in through [`Examples`].

mod average;
mod batch;
#[cfg(feature = "bench")]
pub mod bench;
mod communicator;
mod error;
mod events;
mod examples;
mod folder;
mod imitation;
mod improvement;
mod learner;
mod loss;
#[cfg(feature = "mpi")]
mod mpi;
mod newton_schulz;
mod optimizer;
mod report;
mod schedule;
mod settings;
mod train_state;
mod validation;
mod warm_start;
mod weights;

pub use communicator::{Communicator, SingleProcess};
pub use error::TrainError;
pub use examples::{Example, Examples, LoadError};
pub use folder::{Folder, WriteFile};
pub use imitation::{Imitation, News, Outcome, train};
pub use improvement::{Round, Search, SelfImprovement};
#[cfg(feature = "mpi")]
pub use mpi::Ranks;
pub use report::{Row, rows};
pub use schedule::Schedule;
pub use settings::{Augmentation, OptimizerName, Training};
pub use validation::greedy_gap;
pub use warm_start::Taken;
