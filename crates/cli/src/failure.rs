//! The ways in which a command fails: the only table of exit codes.

use std::process::ExitCode;

use crate::output::say;

/// Why a command failed.
pub enum Failure {
    /// A negative result: infeasible, a law violated. Already printed.
    No,
    /// Bad input or usage, with a message for the user.
    Input(anyhow::Error),
    /// Bad input that has already been reported; the rest was processed.
    Reported,
    /// The reader of our output has closed it (`bqnco ... | head`): not all was printed. What was to be written to files
    /// is written.
    Unread,
}

/// What shells report for a program that SIGPIPE ended.
const UNREAD: u8 = 128 + 13;

impl Failure {
    /// Prints the reason and returns the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::No => ExitCode::from(1),
            Failure::Unread => ExitCode::from(UNREAD),
            Failure::Reported => ExitCode::from(2),
            Failure::Input(error) => {
                say!("error: {}", sentence(&error));
                ExitCode::from(2)
            }
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Input(error.into())
    }
}

/// The error and its causes, without causes that the previous message already contains.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told {
        told if told.is_empty() => cause,
        told if told.contains(&cause) => told,
        told => format!("{told}: {cause}"),
    })
}

/// For panics, whose message is already printed.
pub fn internal() -> ExitCode {
    say!("error: this is a bug in bqnco; please report it with the command and the input that led here");
    ExitCode::from(3)
}
