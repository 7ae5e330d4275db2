//! What can go wrong in the library.

use std::io;
use std::path::PathBuf;

use bqnco_core::{ExpertError, Infeasible, PolicyError};
use bqnco_io::{FieldError, ReadError, WriteError};
use bqnco_net::NetError;
use bqnco_plot::PlotError;
use bqnco_problems::InvalidInstance;
use bqnco_train::TrainError;

use crate::UnknownProblem;

/// Why the library did not do what it was asked for: one sentence that says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of instances or solutions.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A format that cannot hold what was to be written, or an infeasible solution.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// What the system says about a file.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// What was tried: "cannot write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Numbers that form no instance.
    #[error(transparent)]
    Instance(#[from] InvalidInstance),
    /// Numbers that form no solution.
    #[error(transparent)]
    Numbers(#[from] FieldError),
    /// A solution that breaks a rule of its instance.
    #[error("the solution is not feasible: {0}")]
    Infeasible(#[from] Infeasible),
    /// A problem that does not exist.
    #[error(transparent)]
    UnknownProblem(#[from] UnknownProblem),
    /// A network that cannot be loaded.
    #[error(transparent)]
    Network(#[from] NetError),
    /// A policy that failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// An expert or an external solver without an answer.
    #[error(transparent)]
    Expert(#[from] ExpertError),
    /// A training run that cannot go on.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A picture that cannot be made.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// Settings that do not fit each other or the instance, with what would.
    #[error("{0}")]
    Settings(String),
    /// Cancelled before there was a result; finished work is kept where the call says so.
    #[error("cancelled with {done} of {total} done; the same call goes on from there")]
    Cancelled {
        /// Finished pieces of work.
        done: usize,
        /// All pieces of work.
        total: usize,
    },
}

impl Error {
    /// For `map_err` on the system's errors.
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { action, path, source }
    }

    /// For settings that do not fit.
    pub(crate) fn settings(reason: impl Into<String>) -> Error {
        Error::Settings(reason.into())
    }
}

/// The library's results.
pub type Result<T> = std::result::Result<T, Error>;
