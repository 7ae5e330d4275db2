//! The library's error type.

use std::io;
use std::path::PathBuf;

use bqnco_core::{ExpertError, Infeasible, PolicyError};
use bqnco_io::{FieldError, ReadError, WriteError};
use bqnco_net::NetError;
use bqnco_plot::PlotError;
use bqnco_problems::InvalidInstance;
use bqnco_train::TrainError;

use crate::UnknownProblem;

/// Why a call failed: one sentence that says what, where, and how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of instances or solutions that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A format that cannot hold the data, or an infeasible solution.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// An I/O error on a file.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// What was attempted: "cannot write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// Numbers that are not a valid instance.
    #[error(transparent)]
    Instance(#[from] InvalidInstance),
    /// Numbers that are not a valid solution.
    #[error(transparent)]
    Numbers(#[from] FieldError),
    /// A solution that violates a constraint of its instance.
    #[error("the solution is not feasible: {0}")]
    Infeasible(#[from] Infeasible),
    /// An unknown problem.
    #[error(transparent)]
    UnknownProblem(#[from] UnknownProblem),
    /// A network that cannot be loaded.
    #[error(transparent)]
    Network(#[from] NetError),
    /// A policy that failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// An expert or an external solver that found no solution.
    #[error(transparent)]
    Expert(#[from] ExpertError),
    /// A training run that cannot continue.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A picture that cannot be rendered.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// Settings that do not fit each other or the instance, with a hint.
    #[error("{0}")]
    Settings(String),
    /// Cancelled before there was a result; finished work is kept if the call's documentation says so.
    #[error("cancelled with {done} of {total} done")]
    Cancelled {
        /// Finished items.
        done: usize,
        /// All items.
        total: usize,
    },
}

impl Error {
    /// For `map_err` on I/O errors.
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { action, path, source }
    }

    /// For settings that do not fit.
    pub(crate) fn settings(reason: impl Into<String>) -> Error {
        Error::Settings(reason.into())
    }
}

/// The library's result type.
pub type Result<T> = std::result::Result<T, Error>;
