//! Damaged files of every format, checkpoints of every kind and requests: no panic, no abort, bounded time and memory.
//!
//! The compiler's coverage instrumentation needs a nightly toolchain. What a reader says of an input takes its place: every
//! message is of another branch of the code, so an input with a message that was never seen (numbers and names aside)
//! joins the corpus and is damaged further. A run depends on its seed alone, so that an abort, which leaves no message,
//! can be repeated with `--trace`.
#![allow(clippy::print_stdout)]

mod memory;
mod targets;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use bqnco::core::random;
use clap::Parser;
use rand::RngExt;

use crate::targets::Target;

/// Feeds damaged files, checkpoints and requests to their readers, and prints a table.
#[derive(Parser)]
struct Fuzz {
    /// Seconds in all, shared by the targets.
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Most executions per target.
    #[arg(long, default_value_t = u64::MAX)]
    executions: u64,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only targets whose names contain this.
    #[arg(long, default_value = "")]
    target: String,
    /// Folder of inputs that once failed, in a folder per target; they are tried first.
    #[arg(long, default_value = "fuzz/corpus")]
    corpus: PathBuf,
    /// Folder for inputs that fail.
    #[arg(long, default_value = "fuzz/findings")]
    findings: PathBuf,
    /// Write every input to this file before it is tried: the last one is the one that aborted.
    #[arg(long)]
    trace: Option<PathBuf>,
}

/// The longest input.
const LONGEST: usize = 1 << 16;
/// The most inputs of a target that are damaged further.
const MOST_KEPT: usize = 2000;
/// Executions between two looks at the memory.
const LOOK: usize = 64;
/// The most time that an input may take, on a busy machine.
const LONGEST_TIME: Duration = Duration::from_secs(10);

/// The most bytes that an input may take, as SECURITY.md promises.
fn most_memory(input: usize) -> u64 {
    (64 << 20) + 50 * input as u64
}

/// What was found out about a target.
#[derive(Default)]
struct Tally {
    executions: u64,
    messages: HashSet<String>,
    slowest: Duration,
    slowest_bytes: usize,
    peak: u64, // bytes beyond those before, of a few inputs
    panics: usize,
    greedy: usize, // inputs that took too much memory
}

impl Tally {
    /// Panics, and limits that were not kept.
    fn wrong(&self) -> usize {
        self.panics + usize::from(self.slowest > LONGEST_TIME) + self.greedy
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let fuzz = Fuzz::parse();
    std::panic::set_hook(Box::new(|_| ())); // panics are counted, and their inputs stored
    let scratch = tempfile::tempdir().context("a scratch folder")?;
    let targets: Vec<Target> =
        targets::all(scratch.path())?.into_iter().filter(|target| target.name.contains(&fuzz.target)).collect();
    anyhow::ensure!(!targets.is_empty(), "no target has `{}` in its name", fuzz.target);
    println!("| part | tried | wrong | details |\n|---|---|---|---|");
    let share = Duration::from_secs_f64(fuzz.seconds / targets.len().max(1) as f64);
    let (mut executions, mut wrong) = (0, 0);
    for target in &targets {
        let tally = fuzz.run(target, share)?;
        let (slowest, bytes) = (tally.slowest.as_secs_f64() * 1e3, tally.slowest_bytes);
        let (messages, peak) = (tally.messages.len(), tally.peak >> 20);
        println!(
            "| damaged: {} | {} | {} | {messages} messages, slowest {slowest:.1} ms ({bytes} bytes), peak {peak} MB |",
            target.name,
            tally.executions,
            tally.wrong()
        );
        executions += tally.executions;
        wrong += tally.wrong();
    }
    println!("| damaged: all | {executions} | {wrong} | {} targets |", targets.len());
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Fuzz {
    fn run(&self, target: &Target, share: Duration) -> anyhow::Result<Tally> {
        let mut kept = stored(&self.corpus.join(&target.name))?;
        kept.extend(target.seeds.iter().cloned());
        let mut tally = Tally::default();
        for input in kept.clone() {
            self.try_one(target, &input, &mut tally)?;
        }
        let (mut recent, mut before) = (Vec::with_capacity(LOOK), memory::restart());
        let started = Instant::now();
        while tally.executions < self.executions && started.elapsed() < share {
            let mut rng = random(self.seed, &[u64::from(crc32fast::hash(target.name.as_bytes())), tally.executions]);
            let mut input = kept[rng.random_range(0..kept.len())].clone();
            let other = &kept[rng.random_range(0..kept.len())];
            bqnco_testing::damage(&mut input, other, &mut rng);
            input.truncate(LONGEST);
            let is_new = self.try_one(target, &input, &mut tally)?;
            recent.push(input.clone());
            if is_new && kept.len() < MOST_KEPT {
                kept.push(input);
            }
            if recent.len() == LOOK {
                self.look(target, &recent, memory::peak().saturating_sub(before), &mut tally)?;
                recent.clear();
                before = memory::restart();
            }
        }
        self.look(target, &recent, memory::peak().saturating_sub(before), &mut tally)?;
        Ok(tally)
    }

    /// Looks for inputs that took too much memory, if `peak` bytes for all of these are too many.
    fn look(&self, target: &Target, inputs: &[Vec<u8>], peak: u64, tally: &mut Tally) -> anyhow::Result<()> {
        tally.peak = tally.peak.max(peak);
        if peak <= most_memory(0) {
            return Ok(());
        }
        for input in inputs {
            let before = memory::restart();
            _ = catch_unwind(AssertUnwindSafe(|| (target.read)(input)));
            if memory::peak().saturating_sub(before) > most_memory(input.len()) {
                tally.greedy += 1;
                self.store(target, input)?;
            }
        }
        Ok(())
    }

    /// Stores an input that has failed.
    fn store(&self, target: &Target, input: &[u8]) -> anyhow::Result<()> {
        let folder = self.findings.join(&target.name);
        std::fs::create_dir_all(&folder)?;
        Ok(std::fs::write(folder.join(format!("{:08x}", crc32fast::hash(input))), input)?)
    }

    /// Tries an input; whether it led to a message that was never seen.
    fn try_one(&self, target: &Target, input: &[u8], tally: &mut Tally) -> anyhow::Result<bool> {
        if let Some(path) = &self.trace {
            std::fs::write(path, input)?;
        }
        let started = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.read)(input)));
        let time = started.elapsed();
        tally.executions += 1;
        if time > tally.slowest {
            (tally.slowest, tally.slowest_bytes) = (time, input.len());
        }
        let message = match outcome {
            Ok(message) => message,
            Err(_) => {
                tally.panics += 1;
                self.store(target, input)?;
                "panic".into()
            }
        };
        Ok(tally.messages.insert(without_data(&message)))
    }
}

/// The first plain words of a message; quoted text, numbers and the like come from the input.
fn without_data(message: &str) -> String {
    let quotes = ['`', '\'', '"'];
    let (start, end) = message.split_once(quotes).unwrap_or((message, ""));
    let end = end.rsplit(quotes).next().unwrap_or_default(); // the input may have quotes itself
    let is_plain = |word: &&str| (3..15).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let words = start.split_whitespace().chain(end.split_whitespace());
    words.map(|word| word.trim_matches([',', '.', ':', ';'])).filter(is_plain).take(16).collect::<Vec<_>>().join(" ")
}

/// The inputs in a folder, if it is there.
fn stored(folder: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let paths = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<std::io::Result<_>>()?;
    paths.sort();
    paths.iter().map(|path| Ok(std::fs::read(path)?)).collect()
}
