//! `bqnco convert`.

use std::path::PathBuf;

use bqnco::io::{Format, ReadOptions, Source, read, write};
use bqnco::{Builtin, dispatch};
use clap::Args;

use crate::failure::Failure;
use crate::input::{Input, Reading};
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
        let input = self.reading.open(&self.input)?;
        dispatch!(input.problem, P => self.convert::<P>(input))
    }

    fn convert<P: Builtin>(&self, input: Input) -> Result<(), Failure> {
        let records: Vec<_> = input.read::<P>()?.into_iter().map(|named| named.record).collect();
        let format = output::format_for(&self.output, self.format, Format::JsonLines)?;
        let carried = records.iter().filter(|record| record.solution.is_some()).count();
        let bytes = write::<P>(&records, format)?;
        output::write(&self.output, &bytes)?;
        let kept = read::<P>(&Source::new("output", bytes), &ReadOptions::default())?;
        let lost = carried - kept.iter().filter(|record| record.solution.is_some()).count().min(carried);
        if lost > 0 {
            eprintln!("note: {lost} solutions were not written, format {format} has no place for them");
        }
        Ok(())
    }
}
