//! Errors of reading and writing.

use std::fmt;

use bqnco_core::{Infeasible, Problem};

use crate::Format;

/// Where in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    #[default]
    File,
    /// A line, from 1.
    Line(usize),
    /// An instance of a dataset, from 1.
    Instance(usize),
    /// An array of a `.npz` file.
    Array(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File => Ok(()),
            Place::Line(line) => write!(f, ", line {line}"),
            Place::Instance(instance) => write!(f, ", instance {instance}"),
            Place::Array(name) => write!(f, ", array `{name}`"),
        }
    }
}

/// Why a file could not be read. Every message names the file, the place, and what was expected and found, or what can be done.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// An error of the operating system.
    #[error("{file}: {source}")]
    Io {
        /// The file's name.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// No format of this crate.
    #[error("{file}: not a known file format: {reason}")]
    UnknownFormat {
        /// The file's name.
        file: String,
        /// What was found, with a hint.
        reason: String,
    },
    /// The file holds another problem than the one asked for.
    #[error("{file}{place}: expected an instance of problem {expected}, found {found}")]
    WrongProblem {
        /// The file's name.
        file: String,
        /// Where it is named.
        place: Place,
        /// The problem asked for.
        expected: String,
        /// The problem of the file.
        found: String,
    },
    /// The bytes do not follow the format.
    #[error("{file}{place}: expected {expected}, found {found}")]
    Syntax {
        /// The file's name.
        file: String,
        /// Where.
        place: Place,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A part of the file may change the problem and is not supported, so that it must not be skipped.
    #[error("{file}{place}: {reason}; {advice}")]
    Refused {
        /// The file's name.
        file: String,
        /// Where.
        place: Place,
        /// What is not supported.
        reason: String,
        /// What can be done.
        advice: String,
    },
    /// The numbers do not form an instance or a solution of the problem.
    #[error("{file}{place}: {source}")]
    Invalid {
        /// The file's name.
        file: String,
        /// Where.
        place: Place,
        /// What is wrong with the numbers.
        source: FieldError,
    },
}

/// Why fields form no instance or solution of a problem.
#[derive(Debug, thiserror::Error)]
pub enum FieldError {
    /// A required field is missing.
    #[error("problem {problem} needs {field}, which is missing")]
    Missing {
        /// The problem.
        problem: &'static str,
        /// The field or fields, quoted.
        field: &'static str,
    },
    /// A field that the problem does not have.
    #[error("`{field}` means nothing to problem {problem}{hint}")]
    Unknown {
        /// The problem.
        problem: &'static str,
        /// The field.
        field: String,
        /// The nearest known field, as a question; or empty.
        hint: String,
    },
    /// An array of the wrong shape.
    #[error("`{field}` must have the shape {expected}, found {found:?}")]
    Shape {
        /// The field.
        field: String,
        /// The shape needed.
        expected: &'static str,
        /// The shape found.
        found: Vec<usize>,
    },
    /// A number that must be the index of a node.
    #[error("`{field}` must be a node from 0, found {found}")]
    Node {
        /// The field.
        field: &'static str,
        /// The number found.
        found: f64,
    },
    /// A number that must count something.
    #[error("`{field}` must be a whole number above zero, found {found}")]
    Count {
        /// The field.
        field: &'static str,
        /// The number found.
        found: f64,
    },
    /// Distances whose rounding cannot be changed.
    #[error("only distances of metric EXACT_2D, EUC_2D or CEIL_2D can be rounded in another way, these are of {found}")]
    Rounding {
        /// Where the distances come from.
        found: String,
    },
    /// The problem's constructor refused the numbers.
    #[error(transparent)]
    Invalid(Box<dyn std::error::Error + Send + Sync>),
    /// The numbers of a solution do not fit the instance.
    #[error("the solution {0}")]
    Solution(String),
}

impl FieldError {
    /// A field that the problem needs, quoted: "`demands`", "`coordinates` or `matrix`".
    pub fn missing<P: Problem>(field: &'static str) -> Self {
        FieldError::Missing { problem: P::NAME, field }
    }
}

/// Why an instance or solution cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The format cannot hold this.
    #[error("format {format} cannot hold {what}; {instead} can")]
    Unsupported {
        /// The format asked for.
        format: Format,
        /// What it cannot hold.
        what: String,
        /// A format that can.
        instead: Format,
    },
    /// The format holds exactly one instance.
    #[error("format {format} holds one instance per file, {found} were given; jsonl and npz hold many")]
    OneOnly {
        /// The format asked for.
        format: Format,
        /// The number of instances given.
        found: usize,
    },
    /// The solution is infeasible, so it has no objective.
    #[error("the solution is not feasible: {0}")]
    Infeasible(#[from] Infeasible),
}
