//! `bqnco generate`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::anyhow;
use bqnco::io::Format;
use bqnco::{Distribution, Error, GeneratedSet, Labeller, ProblemName, journal, stored_solutions, write_all};
use clap::Args;

use crate::failure::Failure;
use crate::interruption;
use crate::output::{self, parse_format, say, seconds};
use crate::progress::LabelBar;
use crate::ranks;
use crate::threads::Threads;

/// Generate random instances, by default from the paper's training and test distributions, optionally with solutions.
///
/// By default: uniform points in the unit square; CVRP: demands 1 to 9, capacity by size; OP: prizes by distance, limit by size;
/// ATSP: Euclidean costs with broken symmetry; knapsack: uniform values and weights, capacity by size; PCTSP: prizes and
/// penalties of Kool et al.
///
/// With --expert every instance gets a solution by the built-in expert, with --command by an external solver. Finished work
/// is kept next to the output until all is done: after an interruption of any kind, run the same command to resume.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Generate {
    /// The problem.
    problem: ProblemName,
    /// Nodes, customers or items per instance; the depot of CVRP, OP and PCTSP is not counted.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    size: u32,
    /// Number of instances.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Random seed; instance k depends only on the seed and k.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How places are spread: uniform, clustered, mixed (half of each), grid, boards (blocks that repeat), ring, or any (each
    /// instance from one of these, at random).
    #[arg(long, value_name = "NAME", default_value_t)]
    distribution: Distribution,
    /// Draw parameters that users choose freely from a wide range: CVRP: depot, demands, and a capacity for routes of 3 to 60
    /// customers; OP: prizes and limit; ATSP: the kind of asymmetry; knapsack: the capacity; PCTSP: quota and penalties.
    #[arg(long)]
    varied: bool,
    /// Generate only part I of K of the instances, to share the work between machines.
    #[arg(long, value_name = "I/K", default_value = "1/1")]
    shard: Shard,
    /// Solve every instance with the built-in expert and store the solutions.
    #[arg(long, group = "labels")]
    expert: bool,
    /// Solve every instance with an external solver and store the solutions; placeholders as in `bqnco solve --command`.
    #[arg(long, value_name = "COMMAND", group = "labels")]
    command: Option<String>,
    /// The expert's rounds per instance; equal seeds give equal solutions (default: enough for good labels).
    #[arg(long, value_name = "ROUNDS", requires = "expert", conflicts_with = "time_limit_each",
          value_parser = clap::value_parser!(u64).range(1..))]
    effort: Option<u64>,
    /// Seconds per instance instead of rounds; solutions then depend on the machine (external solvers: default 10).
    #[arg(long, value_name = "SECONDS", requires = "labels", value_parser = seconds)]
    time_limit_each: Option<Duration>,
    #[command(flatten)]
    threads: Threads,
    /// Output file; `-` prints.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Replace the output also if it holds solutions.
    #[arg(long)]
    force: bool,
    /// The file format, if the output's extension does not determine it (default: JSON lines).
    #[arg(long, value_parser = parse_format)]
    format: Option<Format>,
    /// No progress on standard error.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  bqnco generate tsp --size 20 -o random.tsp
  bqnco generate cvrp --size 100 --count 1000 --seed 1 -o cvrp100.npz
  bqnco generate tsp --count 100000 --expert --shard 3/8 -o labels-3.npz
  bqnco generate tsp --count 1000 --command lkh:LKH --time-limit-each 5 \\
    -o labels.npz";

impl Generate {
    pub fn run(self) -> Result<(), Failure> {
        self.threads.start()?;
        ranks::together(|communicator| self.for_rank(communicator.rank(), communicator.size())?.generate())
    }

    /// The part of one of several processes: a shard, in its own file.
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

    fn generate(&self) -> Result<(), Failure> {
        let Generate { problem, size, count, seed, distribution, varied, .. } = *self;
        let set = GeneratedSet { problem, size: size as usize, count, seed, distribution, varied };
        set.check().map_err(at_flag)?;
        // The journal keeps finished work until the output is complete; there is none if the output is printed.
        let journal = (self.output != Path::new("-")).then(|| journal::beside(&self.output));
        if let Some(journal) = &journal {
            output::check_writable(&self.output)?;
            self.check_replaced(journal)?;
        }
        let format = output::format_for(&self.output, self.format, Format::JsonLines)?;
        output::check_extension(&self.output, self.format, problem)?;
        let indices = set.shard(self.shard.part, self.shard.parts);
        let part = indices.end - indices.start;
        if !format.holds_many() && part > 1 {
            return Err(
                anyhow!("format {format} holds one instance per file, not {part}; jsonl and npz hold many").into()
            );
        }
        let has_labels = self.expert || self.command.is_some();
        let instances = if has_labels {
            interruption::catch()?;
            let mut bar = LabelBar::new(self.quiet);
            let mut progress = |done, total| bar.show(done, total);
            let labelled = self.labeller().label(&set, indices, journal.as_deref(), &mut progress);
            interruption::unless_cancelled(labelled)?
        } else {
            set.instances(indices).map_err(at_flag)?
        };
        if instances.is_empty() {
            let Shard { part, parts } = self.shard;
            say!("note: shard {part}/{parts} of {count} instances is empty: nothing is written");
        } else {
            output::write(&self.output, &write_all(&instances, format)?)?;
        }
        if let (Some(journal), true) = (journal, has_labels) {
            journal::remove(&journal)?;
        }
        Ok(())
    }

    /// Refuses to replace solutions, which may have taken hours. Those of an interrupted run are in its journal, too.
    fn check_replaced(&self, journal: &Path) -> Result<(), Failure> {
        let lost = if self.force || journal.exists() { 0 } else { stored_solutions(&self.output) };
        if lost > 0 {
            let path = self.output.display();
            return Err(
                anyhow!("{path} holds {lost} solutions: choose another output, or replace it with --force").into()
            );
        }
        Ok(())
    }

    fn labeller(&self) -> Labeller {
        let labeller = Labeller::new().cancel_token(interruption::token());
        let labeller = match &self.command {
            Some(command) => labeller.command(command),
            None => labeller,
        };
        match (self.effort, self.time_limit_each) {
            (Some(rounds), _) => labeller.rounds(rounds),
            (None, Some(limit)) => labeller.time_limit(limit),
            (None, None) => labeller,
        }
    }
}

/// An error with the flag that it is about.
fn at_flag(error: Error) -> anyhow::Error {
    match &error {
        Error::OutOfRange { setting, found, expected } => anyhow!("--{setting} {found}: expected {expected}"),
        Error::NothingToVary { .. } => anyhow::Error::new(error).context("--varied"),
        Error::NoPlaces { .. } => anyhow::Error::new(error).context("--distribution"),
        _ => error.into(),
    }
}

/// Part I of K.
#[derive(Clone, Copy)]
struct Shard {
    part: u64,
    parts: u64,
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
