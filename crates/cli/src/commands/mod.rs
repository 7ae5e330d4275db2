//! The subcommands, one file each.

mod bench;
mod check;
mod completions;
mod convert;
mod eval;
mod generate;
mod laws;
mod models;
mod plot;
mod serve;
mod solve;
mod train;

use clap::Subcommand;

use crate::failure::Failure;

/// The subcommand.
#[derive(Subcommand)]
pub enum Command {
    Solve(solve::Solve),
    Check(check::Check),
    Generate(generate::Generate),
    Convert(convert::Convert),
    Train(train::Train),
    Eval(eval::Eval),
    Models(models::Models),
    Plot(plot::Plot),
    Laws(laws::Laws),
    Serve(serve::Serve),
    Bench(bench::Bench),
    Completions(completions::Completions),
}

impl Command {
    /// Runs the command.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Solve(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Generate(command) => command.run(),
            Command::Convert(command) => command.run(),
            Command::Train(command) => command.run(),
            Command::Eval(command) => command.run(),
            Command::Models(command) => command.run(),
            Command::Plot(command) => command.run(),
            Command::Laws(command) => command.run(),
            Command::Serve(command) => command.run(),
            Command::Bench(command) => command.run(),
            Command::Completions(command) => command.run(),
        }
    }
}
