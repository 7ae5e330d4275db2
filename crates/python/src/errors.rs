//! The library's errors as exceptions: one table. The classes are defined in `bqnco/_errors.py`.

use bqnco::Error;
use bqnco::io::{ReadError, WriteError};
use bqnco::train::TrainError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exception with the library's sentence.
pub fn exception(py: Python<'_>, error: Error) -> PyErr {
    let sentence = error.to_string();
    let class = match error {
        Error::Read(ReadError::Io { source, .. }) | Error::File { source, .. } => {
            // FileNotFoundError, PermissionError, ...
            return std::io::Error::new(source.kind(), plain(&sentence)).into();
        }
        Error::Read(_)
        | Error::Instance(_)
        | Error::Numbers(_)
        | Error::NotOneInstance { .. }
        | Error::NoInstanceFiles { .. }
        | Error::NoInstances { .. }
        | Error::NoFeatures { .. }
        | Error::NoSolution { .. }
        | Error::MixedProblems { .. } => "InstanceError",
        Error::Infeasible { .. } | Error::Write(WriteError::Infeasible(_)) => "InfeasibleError",
        Error::Network(_)
        | Error::UnknownNetwork { .. }
        | Error::NoNetwork { .. }
        | Error::OtherNetwork { .. }
        | Error::NoCoordinates { .. }
        | Error::NoSuccessors { .. } => "ModelError",
        Error::Policy(_) => "PolicyError",
        Error::UnknownProblem(_)
        | Error::UnknownDistribution(_)
        | Error::OutOfRange { .. }
        | Error::NothingToVary { .. }
        | Error::NoPlaces { .. }
        | Error::UnknownSearch { .. }
        | Error::UnknownShortlist { .. }
        | Error::NoExpert { .. }
        | Error::UnseenConstraint { .. }
        | Error::NoVehicles { .. }
        | Error::NothingToWrite
        | Error::NoBf16
        | Error::Journal(_)
        | Error::InUse { .. }
        | Error::Train(TrainError::BadSetting { .. })
        | Error::Start(_)
        | Error::ThreadCount { .. }
        | Error::Optima { .. }
        | Error::OtherSolution { .. }
        | Error::SolutionExtension { .. }
        | Error::TwoProblems { .. }
        | Error::Write(_)
        | Error::Recipe(_)
        | Error::Settings(_) => "SettingsError",
        _ => "Error",
    };
    named(py, class, sentence)
}

/// An exception of one of the package's classes.
pub fn named(py: Python<'_>, class: &str, sentence: String) -> PyErr {
    let sentence = plain(&sentence);
    let find = || py.import("bqnco._errors")?.getattr(class)?.cast_into::<PyType>().map_err(PyErr::from);
    find().map_or_else(|_| PyRuntimeError::new_err(sentence.clone()), |class| PyErr::from_type(class, sentence.clone()))
}

/// Text without what controls terminals, which print exceptions: files may contain it. Lines and tabs stay.
fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "?")
}

/// For `?` in functions that Python calls.
pub trait OrRaise<T> {
    /// The value, or the library's error as an exception.
    ///
    /// # Errors
    /// The exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, error.into()))
    }
}
