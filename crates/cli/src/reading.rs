//! The options for reading instance files.

use std::path::Path;

use bqnco::problems::Metric;
use bqnco::{Instance, ProblemName, Reader};
use clap::{Args, ValueEnum};

use crate::failure::Failure;

/// Options for reading instance files.
#[derive(Args, Clone, Copy, Default)]
pub struct Reading {
    /// Read the file as this problem instead of the detected one.
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<ProblemName>,
    /// Override the file's rounding of Euclidean distances.
    #[arg(long, value_enum)]
    round: Option<Rounding>,
}

/// The rounding of Euclidean distances.
#[derive(Clone, Copy, ValueEnum)]
enum Rounding {
    /// No rounding.
    None,
    /// To the nearest integer, halves up (EUC_2D).
    Nearest,
    /// Up to the next integer (CEIL_2D).
    Up,
}

impl Reading {
    /// The library's reader with these options.
    pub fn reader(self) -> Reader {
        let round = self.round.map(|rounding| match rounding {
            Rounding::None => Metric::Exact,
            Rounding::Nearest => Metric::Euc2d,
            Rounding::Up => Metric::Ceil2d,
        });
        Reader { problem: self.problem, round }
    }

    /// All instances of a file.
    pub fn read(self, path: &Path) -> Result<Vec<Instance>, Failure> {
        Ok(self.reader().read(path)?)
    }

    /// The only instance of a file.
    pub fn read_one(self, path: &Path) -> Result<Instance, Failure> {
        Ok(self.reader().read_one(path)?)
    }
}
