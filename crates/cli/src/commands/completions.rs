//! `bqnco completions`.

use clap::{Args, CommandFactory};

use crate::failure::Failure;

/// Print a shell script that completes commands and options.
///
/// Example: bqnco completions bash > ~/.local/share/bash-completion/completions/bqnco
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Completions {
    /// The shell.
    shell: clap_complete::Shell,
}

impl Completions {
    pub fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Cli::command(), "bqnco", &mut script);
        crate::output::print(&script)
    }
}
