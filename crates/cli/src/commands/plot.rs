//! `bqnco plot`.

use std::path::PathBuf;

use bqnco::io::{Source, read_solution};
use bqnco::{Builtin, dispatch};
use clap::Args;

use crate::failure::Failure;
use crate::input::{Input, Named, Reading};
use crate::output;

/// Draw an instance, with a solution if there is one.
///
/// Example: bqnco plot data/examples/depot40.vrp depot40.sol -o routes.png
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Plot {
    /// The instance.
    instance: PathBuf,
    /// The solution; without it, the one inside the instance file, if any. It need not be feasible.
    solution: Option<PathBuf>,
    /// The picture: .svg or .png.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

impl Plot {
    pub fn run(self) -> Result<(), Failure> {
        output::check_picture_name(&self.output)?;
        let input = self.reading.open(&self.instance)?;
        dispatch!(input.problem, P => self.plot::<P>(input))
    }

    fn plot<P: Builtin>(&self, input: Input) -> Result<(), Failure> {
        let Named { name, record, .. } = input.read_one::<P>()?;
        let solution = match &self.solution {
            Some(path) => Some(read_solution::<P>(&Source::open(path)?, &record.instance)?.steps),
            None => record.solution,
        };
        let picture = P::draw(&record.instance, solution.as_deref()).title(&name);
        output::write_picture(&self.output, &picture)
    }
}
