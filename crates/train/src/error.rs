//! What can go wrong in training.

use std::path::PathBuf;

use bqnco_core::PolicyError;
use bqnco_net::NetError;

use crate::LoadError;

/// Why a training run cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A setting is out of range.
    #[error("the training's {field} is {found}; expected {expected}")]
    BadSetting {
        /// The field of `Training`.
        field: &'static str,
        /// What would have been accepted.
        expected: &'static str,
        /// What was found.
        found: f64,
    },
    /// The batch cannot be divided evenly.
    #[error("a batch of {batch} cannot be shared by {processes} processes; expected a multiple")]
    UnevenBatch {
        /// Tails per update.
        batch: usize,
        /// How many processes train together.
        processes: usize,
    },
    /// No example has a step to learn.
    #[error("{found} examples, and none with a step to learn; expected solutions of at least one allowed step")]
    NothingToLearn {
        /// How many examples were offered.
        found: usize,
    },
    /// Neighbours on the expert's path were asked for, and there is no path.
    #[error("{field} needs solutions that are paths, which those of {problem} are not; set it to 0")]
    NoPath {
        /// The field of `Training`.
        field: &'static str,
        /// The problem.
        problem: &'static str,
    },
    /// Solutions were asked for in an order that the problem does not have.
    #[error("{problem} has no order `{order}`; {}", expected_orders(orders))]
    NoSuchOrder {
        /// The problem.
        problem: &'static str,
        /// What was found.
        order: String,
        /// What would have been accepted.
        orders: &'static [&'static str],
    },
    /// Another network's weights were asked for, and none fit.
    #[error("{folder}: no tensor of this network fits the one to be trained; expected the same dim, dim_ff or n_heads")]
    NothingToTake {
        /// The other checkpoint.
        folder: PathBuf,
    },
    /// Examples could not be loaded.
    #[error("the examples cannot be loaded: {0}")]
    Load(LoadError),
    /// The loss is infinite or not a number.
    #[error("the loss is {loss} at step {step}: lower the rate, or clip gradients")]
    Diverged {
        /// The update that failed.
        step: u64,
        /// What was found.
        loss: f32,
    },
    /// The network cannot be made or does not fit.
    #[error(transparent)]
    Net(#[from] NetError),
    /// Validation failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The best checkpoint of a run to be resumed is damaged.
    #[error(
        "{why}; it is the best network of this run so far: restore {folder} from a copy, or remove it to go on without it"
    )]
    LostBest {
        /// The checkpoint.
        folder: PathBuf,
        /// What is wrong with it.
        why: NetError,
    },
    /// Processes that train together have read different states.
    #[error("{path}: the processes of this job read different states; all must see the same folder")]
    OtherState {
        /// The run's folder.
        path: PathBuf,
    },
    /// A saved state is damaged or of another run.
    #[error("{path}: {reason}")]
    BadState {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
}

fn expected_orders(orders: &[&str]) -> String {
    match orders {
        [] => "its solutions have only one: leave the setting out".into(),
        orders => format!("expected {}", orders.join(", ")),
    }
}
