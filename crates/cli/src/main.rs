//! The command `bqnco`.

#![warn(clippy::print_stderr)] // it panics where standard error is closed: `say!` does not

mod commands;
mod device;
mod failure;
mod interruption;
mod output;
mod progress;
mod ranks;
mod reading;
mod threads;

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use bqnco::kernels::wanted_path;
use clap::Parser;
use commands::Command;
use failure::Failure;

/// Neural combinatorial optimization: solve routing and packing problems with trained policies and classical solvers.
#[derive(Parser)]
#[command(name = "bqnco", version, after_help = EXIT_CODES, arg_required_else_help = true, args_conflicts_with_subcommands = true)]
struct Cli {
    /// Print the licences of everything that this program contains.
    #[arg(long)]
    licences: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Made by `licences.py`.
const LICENCES: &str = include_str!("../licences.txt");

const EXIT_CODES: &str = "Exit codes: 0 done; 1 no (not feasible, a check or law failed); \
                          2 wrong usage or bad input; 3 internal error; 134 out of memory; \
                          141 the reader of the output went away.";

fn main() -> ExitCode {
    let cli = Cli::parse();
    // The command's settings are not looked at after a panic.
    match std::panic::catch_unwind(AssertUnwindSafe(|| run(cli.command))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => failure.report(),
        Err(_) => failure::internal(),
    }
}

/// Without a command the licences were asked for: clap takes nothing else.
fn run(command: Option<Command>) -> Result<(), Failure> {
    wanted_path()?;
    command.map_or_else(|| output::print(LICENCES.as_bytes()), Command::run)
}
