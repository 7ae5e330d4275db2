//! `bqnco bench`.

mod deadlines;
mod experts;
mod net;
mod train;

use clap::{Args, Subcommand};

use crate::failure::Failure;

/// Measure speed on this machine.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Bench {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  bqnco bench experts
  bqnco bench net
  bqnco bench train";

#[derive(Subcommand)]
enum What {
    Experts(experts::Experts),
    Net(net::Net),
    Train(train::Train),
    Deadlines(deadlines::Deadlines),
}

impl Bench {
    pub fn run(self) -> Result<(), Failure> {
        match self.what {
            What::Experts(command) => command.run(),
            What::Net(command) => command.run(),
            What::Train(command) => command.run(),
            What::Deadlines(command) => command.run(),
        }
    }
}
