//! Imitation training (paper, section 4 "Trajectory generation" and section 5): a network learns to take the steps that
//! an expert took.
//!
//! [`train`] is the whole loop. One sample is one tail subproblem on the way along an expert's solution
//! ([`Imitate::sample_subproblem`](bqnco_core::Imitate::sample_subproblem)); batches of them are prepared on a background thread.
//! Batch k depends on the seed and on k only, so a run that was stopped at any moment resumes from its last saved
//! [state](Folder) and ends with the weights it would have had without the interruption.
//!
//! An update works on flat vectors: weights, gradient, the optimizer's moments, the average. So several processes train one
//! network by summing one vector per update over their [`Communicator`].
//!
//! AdamW and Muon are implemented here: they work on those flat vectors, Muon's matrix products use our own kernels, and
//! Burn's optimizers are the oracle of their tests.
//!
//! With [`SelfImprovement`] labels are replaced by better solutions that the network finds itself.
//!
//! The crate knows no problem and no file format: examples come in through [`Examples`].

mod average;
mod batch;
#[cfg(feature = "bench")]
pub mod bench;
mod communicator;
mod error;
mod examples;
mod folder;
mod imitation;
mod improvement;
mod learner;
mod loss;
mod newton_schulz;
mod optimizer;
mod report;
mod schedule;
mod settings;
mod tensorboard;
mod train_state;
mod validation;
mod warm_start;
mod weights;

pub use batch::{Sample, Sampler};
pub use communicator::{Communicator, SingleProcess};
pub use error::TrainError;
pub use examples::{Example, Examples, LoadError};
pub use folder::{Folder, check_state};
pub use imitation::{Imitation, Outcome, TrainEvent, train};
pub use improvement::{ImprovementRound, Search, SelfImprovement};
pub use report::{MetricsRow, read_metrics};
pub use schedule::Schedule;
pub use settings::{Augmentation, OptimizerName, Sampling, Training};
pub use validation::greedy_gap;
pub use warm_start::WarmStart;
