//! `bqnco generate`.

use std::path::PathBuf;

use bqnco::core::random;
use bqnco::io::{Format, Record, write};
use bqnco::{Builtin, ProblemName, dispatch};
use clap::Args;

use crate::failure::Failure;
use crate::output::{self, parse_format};

/// Make random instances of the distributions that the paper trains and tests on.
///
/// Uniform points in the unit square; CVRP: demands 1 to 9, capacity by size; OP: prizes by distance, limit by size;
/// ATSP: Euclidean costs with broken symmetry; knapsack: uniform values and weights, capacity by size.
///
/// Examples:
///   bqnco generate cvrp --size 100 --count 1000 --seed 1 -o cvrp100.npz
///   bqnco generate tsp --size 20 -o random.tsp
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Generate {
    /// The problem.
    problem: ProblemName,
    /// Nodes, customers or items per instance.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    size: u32,
    /// Number of instances.
    #[arg(long, default_value_t = 1)]
    count: u64,
    /// Source of all random choices; instance k depends on the seed and k only.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where to write; `-` prints.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// The file format, if the output's extension does not tell (default: JSON lines).
    #[arg(long, value_parser = parse_format)]
    format: Option<Format>,
}

impl Generate {
    pub fn run(self) -> Result<(), Failure> {
        dispatch!(self.problem, P => self.generate::<P>())
    }

    fn generate<P: Builtin>(&self) -> Result<(), Failure> {
        let record = |index: u64| {
            let name = format!("{}{}-{}-{index}", P::NAME, self.size, self.seed);
            Record::<P>::new(name, P::generate(self.size as usize, &mut random(self.seed, &[index])))
        };
        let records: Vec<Record<P>> = (0..self.count).map(record).collect();
        let format = output::format_for(&self.output, self.format, Format::JsonLines)?;
        output::write(&self.output, &write::<P>(&records, format)?)
    }
}
