//! `bqnco convert`.

use std::path::PathBuf;

use bqnco::io::{Format, Source, write};
use bqnco::{Builtin, dispatch};
use clap::Args;

use crate::failure::Failure;
use crate::input::Reading;
use crate::output::{self, parse_format};

/// Rewrite instances, with their solutions, in another format.
///
/// Examples:
///   bqnco convert data/examples/city48.tsp -o city48.json
///   bqnco convert cvrp100.npz --format npz-rl4co -o for-rl4co.npz
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Convert {
    /// The file to read; its format is detected.
    input: PathBuf,
    /// Where to write; `-` prints.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// The file format, if the output's extension does not tell (default: JSON lines).
    #[arg(long, value_parser = parse_format)]
    format: Option<Format>,
    #[command(flatten)]
    reading: Reading,
}

impl Convert {
    pub fn run(self) -> Result<(), Failure> {
        let source = Source::open(&self.input)?;
        dispatch!(self.reading.problem(&source)?, P => self.convert::<P>(&source))
    }

    fn convert<P: Builtin>(&self, source: &Source) -> Result<(), Failure> {
        let records = self.reading.read::<P>(source)?;
        let format = output::format_for(&self.output, self.format, Format::JsonLines)?;
        output::write(&self.output, &write::<P>(&records, format)?)
    }
}
