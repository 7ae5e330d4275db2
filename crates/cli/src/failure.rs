//! How a command can end other than well: the only table of exit codes.

use std::process::ExitCode;

/// Why a command did not do what it was asked for.
pub enum Failure {
    /// The answer is no: not feasible, a law broken. Already printed.
    No,
    /// Bad input or usage, with a sentence for the person.
    Input(anyhow::Error),
    /// Bad input that has already been reported; the rest was done.
    Reported,
    /// The reader of our output has closed it (`bqnco ... | head`): nothing is reported.
    Silent,
}

impl Failure {
    /// Prints the reason and gives the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::No => ExitCode::from(1),
            Failure::Silent => ExitCode::SUCCESS,
            Failure::Reported => ExitCode::from(2),
            Failure::Input(error) => {
                eprintln!("error: {}", sentence(&error));
                ExitCode::from(2)
            }
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = error.into();
        match error.downcast_ref::<std::io::Error>() {
            Some(io) if io.kind() == std::io::ErrorKind::BrokenPipe => Failure::Silent,
            _ => Failure::Input(error),
        }
    }
}

/// The error and its causes, without causes that the message before has already told.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told {
        told if told.is_empty() => cause,
        told if told.contains(&cause) => told,
        told => format!("{told}: {cause}"),
    })
}

/// After a panic, whose message is already on the screen.
pub fn internal() -> ExitCode {
    eprintln!("error: this is a bug in bqnco; please report it with the command and the input that led here");
    ExitCode::from(3)
}
