//! `bqnco completions`.

use clap::{Args, CommandFactory};

use crate::failure::Failure;

/// Print a shell script that completes commands and options.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Completions {
    /// The shell.
    shell: clap_complete::Shell,
}

const EXAMPLES: &str = "\
Example:
  bqnco completions bash > ~/.local/share/bash-completion/completions/bqnco";

impl Completions {
    pub fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Cli::command(), "bqnco", &mut script);
        crate::output::print(&script)
    }
}
