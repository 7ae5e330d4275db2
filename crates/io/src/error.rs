//! What can be wrong with a file.

use std::fmt;

use bqnco_core::Infeasible;
use bqnco_problems::InvalidInstance;

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

/// Why a file gave no instance or solution. Every message names the file, the place, both sides.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system could not deliver the bytes.
    #[error("{file}: {source}")]
    Io {
        /// The file's name.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Nothing that this crate knows looks like this.
    #[error("{file}: not a known file format: {reason}")]
    UnknownFormat {
        /// The file's name.
        file: String,
        /// What was found and what might help.
        reason: String,
    },
    /// The file holds another problem than the one asked for.
    #[error("{file}{place}: expected an instance of problem {expected}, found {found}")]
    WrongProblem {
        /// The file's name.
        file: String,
        /// Where it says so.
        place: Place,
        /// The problem asked for.
        expected: String,
        /// What the file says.
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
    /// The numbers do not form an instance or a solution of the problem.
    #[error("{file}{place}: {source}")]
    RawInstance {
        /// The file's name.
        file: String,
        /// Where.
        place: Place,
        /// What is wrong with the numbers.
        source: FieldError,
    },
}

/// Why named numbers form no instance or solution of a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// The problem needs something that is not there.
    #[error("problem {problem} needs {field}, which is missing")]
    Missing {
        /// The problem.
        problem: &'static str,
        /// The field or fields, quoted.
        field: &'static str,
    },
    /// Something is there that the problem has no use for.
    #[error("`{field}` means nothing to problem {problem}{hint}")]
    Unknown {
        /// The problem.
        problem: &'static str,
        /// The field.
        field: String,
        /// The nearest known field, as a question; or nothing.
        hint: String,
    },
    /// An array has another shape than the problem needs.
    #[error("`{field}` must have the shape {expected}, found {found:?}")]
    Shape {
        /// The field.
        field: String,
        /// Axes in words.
        expected: &'static str,
        /// Axes found.
        found: Vec<usize>,
    },
    /// A number that must be a node's.
    #[error("`{field}` must be a node from 0, found {found}")]
    Node {
        /// The field.
        field: &'static str,
        /// The number found.
        found: f64,
    },
    /// Distances that cannot be rounded in another way.
    #[error("only distances of metric EXACT_2D, EUC_2D or CEIL_2D can be rounded in another way, these are of {found}")]
    Rounding {
        /// Where the distances come from.
        found: String,
    },
    /// The instance cannot exist.
    #[error(transparent)]
    Invalid(#[from] InvalidInstance),
    /// The numbers of a solution do not fit the instance.
    #[error("the solution {0}")]
    Solution(String),
}

/// Why something cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The format has no place for this.
    #[error("format {format} cannot hold {what}; {instead} can")]
    Unsupported {
        /// The format asked for.
        format: Format,
        /// What has no place in it.
        what: String,
        /// A format that has.
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
    /// A solution is not feasible, so its cost would be a lie.
    #[error("the solution is not feasible: {0}")]
    Infeasible(#[from] Infeasible),
}
