//! `bqnco generate`.

mod label;

use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::anyhow;
use bqnco::core::random;
use bqnco::io::{Format, Record, write};
use bqnco::{Builtin, ProblemName, dispatch};
use clap::Args;

use self::label::Labels;
use super::train::GeneratedSet;
use crate::failure::Failure;
use crate::journal;
use crate::output::{self, parse_format, seconds};
use crate::ranks;
use crate::threads::Threads;

/// Make random instances of the distributions that the paper trains and tests on, with solutions if you like.
///
/// Uniform points in the unit square; CVRP: demands 1 to 9, capacity by size; OP: prizes by distance, limit by size;
/// ATSP: Euclidean costs with broken symmetry; knapsack: uniform values and weights, capacity by size.
///
/// With --expert every instance gets a solution by the built-in expert. Finished work is kept beside the output until
/// all is done: the same command goes on after an interruption, whatever interrupted it.
///
/// Examples:
///   bqnco generate tsp --size 20 -o random.tsp
///   bqnco generate cvrp --size 100 --count 1000 --seed 1 -o cvrp100.npz
///   bqnco generate tsp --size 100 --count 100000 --expert --shard 3/8 -o labels-3.npz
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Generate {
    /// The problem.
    problem: ProblemName,
    /// Nodes, customers or items per instance.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    size: u32,
    /// Number of instances.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Source of all random choices; instance k depends on the seed and k only.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Draw a parameter that users choose freely from a wide range (CVRP: the capacity, for routes of 3 to 60 customers).
    #[arg(long)]
    varied: bool,
    /// Make only part I of K of the instances, for several machines.
    #[arg(long, value_name = "I/K", default_value = "1/1")]
    shard: Shard,
    /// Solve every instance with the built-in expert and store the solutions.
    #[arg(long)]
    expert: bool,
    /// The expert's rounds per instance; equal seeds give equal solutions (default: enough for good labels).
    #[arg(long, value_name = "ROUNDS", requires = "expert", conflicts_with = "time_limit_each",
          value_parser = clap::value_parser!(u64).range(1..))]
    effort: Option<u64>,
    /// Seconds per instance instead of rounds; solutions then depend on the machine.
    #[arg(long, value_name = "SECONDS", requires = "expert", value_parser = seconds)]
    time_limit_each: Option<Duration>,
    #[command(flatten)]
    threads: Threads,
    /// Where to write; `-` prints.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// The file format, if the output's extension does not tell (default: JSON lines).
    #[arg(long, value_parser = parse_format)]
    format: Option<Format>,
    /// No progress on standard error.
    #[arg(short, long)]
    quiet: bool,
}

impl Generate {
    /// The command that makes instances for training.
    pub fn for_training(problem: ProblemName, made: &GeneratedSet, output: PathBuf) -> Self {
        Generate {
            problem,
            size: made.size,
            count: made.count,
            seed: made.seed,
            varied: made.varied,
            shard: Shard { part: 1, parts: 1 },
            expert: made.expert,
            effort: None,
            time_limit_each: None,
            threads: Threads::default(),
            output,
            format: Some(Format::Npz),
            quiet: false,
        }
    }

    pub fn quietly(self, quiet: bool) -> Self {
        Generate { quiet, ..self }
    }

    pub fn run(self) -> Result<(), Failure> {
        self.threads.start()?;
        ranks::together(|communicator| {
            let command = self.for_rank(communicator.rank(), communicator.size())?;
            dispatch!(command.problem, P => command.generate::<P>())
        })
    }

    /// The part of one of several processes: a shard, in a file of its own.
    fn for_rank(mut self, rank: usize, size: usize) -> Result<Self, Failure> {
        if size > 1 {
            if self.shard.parts > 1 || self.output == Path::new("-") {
                return Err(anyhow!("{size} processes make a shard each; give -o FILE and no --shard").into());
            }
            self.shard = Shard { part: rank as u64 + 1, parts: size as u64 };
            let name = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
            let (stem, end) = (name(self.output.file_stem()), name(self.output.extension()));
            let dot = if end.is_empty() { "" } else { "." };
            self.output.set_file_name(format!("{stem}-{}of{size}{dot}{end}", rank + 1));
            self.quiet |= rank > 0;
        }
        Ok(self)
    }

    pub fn generate<P: Builtin>(&self) -> Result<(), Failure> {
        if self.size as usize > P::LARGEST_SIZE {
            return Err(anyhow!("--size {}: at most {} for {}", self.size, P::LARGEST_SIZE, P::NAME).into());
        }
        if self.varied && P::generate_varied(1, &mut random(0, &[])).is_none() {
            return Err(anyhow!("--varied: {} has no parameter to vary; leave it out", P::NAME).into());
        }
        if self.output != Path::new("-") {
            output::check_writable(&self.output)?;
        }
        let format = output::format_for(&self.output, self.format, Format::JsonLines)?;
        let indices = self.shard.of(self.count);
        if format.holds_many() || indices.end - indices.start == 1 {
            let mut records: Vec<Record<P>> = indices.clone().map(|index| self.record(index)).collect();
            if self.expert {
                Labels::new::<P>(self, indices).attach(&mut records)?;
            }
            output::write(&self.output, &write::<P>(&records, format)?)?;
            return match journal_of(&self.output) {
                Some(path) if self.expert => journal::remove(&path),
                _ => Ok(()),
            };
        }
        let count = indices.end - indices.start;
        Err(anyhow!("format {format} holds one instance per file, not {count}; jsonl and npz hold many").into())
    }

    fn record<P: Builtin>(&self, index: u64) -> Record<P> {
        let mut rng = random(self.seed, &[index]);
        let varied = if self.varied { P::generate_varied(self.size as usize, &mut rng) } else { None };
        let instance = varied.unwrap_or_else(|| P::generate(self.size as usize, &mut rng));
        Record::new(format!("{}{}-{}-{index}", P::NAME, P::size(&instance), self.seed), instance)
    }
}

/// Where finished work is kept until the output is whole; nowhere when it is printed.
fn journal_of(output: &Path) -> Option<PathBuf> {
    let mut name = output.as_os_str().to_owned();
    name.push(".journal");
    (output != Path::new("-")).then(|| name.into())
}

/// Part I of K.
#[derive(Clone, Copy)]
struct Shard {
    part: u64,
    parts: u64,
}

impl Shard {
    fn of(self, count: u64) -> Range<u64> {
        let start = |part: u64| (u128::from(count) * u128::from(part) / u128::from(self.parts)) as u64;
        start(self.part - 1)..start(self.part)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
        match numbers {
            Some((part, parts)) if 1 <= part && part <= parts => Ok(Shard { part, parts }),
            _ => Err("expected I/K with I from 1 to K, such as 3/8".into()),
        }
    }
}
