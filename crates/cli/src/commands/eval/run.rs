//! The work: every method on every set, batch by batch, each result written down as soon as it is there.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::Context;
use bqnco::Builtin;
use bqnco::core::{Effort, Expert, ExpertError, Solution};
use bqnco::train::Communicator;
use indicatif::{ProgressBar, ProgressStyle};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::contender::{Contender, Way};
use super::results::Row;
use super::sets::Set;
use crate::commands::solve::options::{Method, Search};
use crate::commands::solve::search::{Job, Limit, Timed};
use crate::failure::Failure;
use crate::interruption::INTERRUPTED;
use crate::journal::{self, Journal};
use crate::references::gap;

/// A solved instance, as the journal keeps it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Entry {
    pub set: String,
    pub method: String,
    pub index: usize,
    /// With the sign a person expects.
    cost: f64,
    seconds: f64,
    wall: f64,
    batch: usize,
    cut_short: bool,
    pub solution: Vec<usize>,
}

/// A reference, as its journal keeps it. The key says which instance, so later runs may use it.
#[derive(Clone, Serialize, Deserialize)]
struct Reference {
    key: String,
    rounds: u64,
    cost: f64,
}

/// Instances whose references one process computes before it looks for other work.
const REFERENCES: usize = 16;

/// The journals of all processes in the report's folder.
pub struct Journals<'a> {
    folder: &'a Path,
    settings: Value,
    communicator: &'a dyn Communicator,
    results: Journal,
    references: Journal,
    entries: Vec<Entry>,
    known: HashMap<(String, u64), f64>, // references by key and rounds
    failures: Vec<String>,              // what this run found no solution for, and why
    unsolved: usize,                    // how many of them are results and not references
}

impl<'a> Journals<'a> {
    /// Opens them, with what earlier runs have left.
    pub fn open(folder: &'a Path, settings: Value, communicator: &'a dyn Communicator) -> Result<Self, Failure> {
        let rank = communicator.rank();
        let (results, _) = Journal::open::<Entry>(&file(folder, RESULTS, rank), &settings)?;
        let (references, _) = Journal::open::<Reference>(&file(folder, REFERENCE, rank), &reference_settings())?;
        let (entries, known, failures) = (Vec::new(), HashMap::new(), Vec::new());
        let mut journals =
            Journals { folder, settings, communicator, results, references, entries, known, failures, unsolved: 0 };
        communicator.barrier(); // all files are there, and nobody has begun to write
        journals.reread()?;
        communicator.barrier();
        Ok(journals)
    }

    /// Reads what all processes have written.
    pub fn reread(&mut self) -> Result<(), Failure> {
        self.entries = read_all(self.folder, RESULTS, &self.settings)?;
        let references: Vec<Reference> = read_all(self.folder, REFERENCE, &reference_settings())?;
        self.known = references.into_iter().map(|known| ((known.key, known.rounds), known.cost)).collect();
        Ok(())
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What this process found no solution for, and why.
    pub fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Results that no process has: their methods failed.
    pub fn unsolved(&self) -> usize {
        let mut sum = [self.unsolved as f32];
        self.communicator.sum(&mut sum);
        sum[0] as usize
    }
}

const RESULTS: &str = "journal";
const REFERENCE: &str = "references";

fn reference_settings() -> Value {
    json!({ "references": "by the built-in experts", "version": env!("CARGO_PKG_VERSION") })
}

/// The journal of a process.
fn file(folder: &Path, name: &str, rank: usize) -> PathBuf {
    folder.join(if rank == 0 { format!("{name}.jsonl") } else { format!("{name}-{rank}.jsonl") })
}

/// The entries of all processes of this run and of earlier ones, which may have been more.
fn read_all<E: DeserializeOwned>(folder: &Path, name: &str, settings: &Value) -> Result<Vec<E>, Failure> {
    let say = || format!("cannot list {}", folder.display());
    let mut entries = Vec::new();
    for item in std::fs::read_dir(folder).with_context(say)? {
        let path = item.with_context(say)?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_ours = file.strip_suffix(".jsonl").and_then(|stem| stem.strip_prefix(name));
        if is_ours.is_some_and(|rank| rank.is_empty() || rank.starts_with('-')) {
            entries.extend(journal::read::<E>(&path, settings)?);
        }
    }
    Ok(entries)
}

/// All work on one problem.
pub struct Work<'a, P: Builtin> {
    pub sets: Vec<Set<P>>,
    pub contenders: Vec<Contender<'a, P>>,
    pub seed: u64,
}

impl<P: Builtin> Work<'_, P> {
    /// Instances to solve, references included.
    pub fn total(&self) -> usize {
        let references = |set: &Set<P>| (0..set.len()).filter(|&index| set.reference(index).is_none()).count();
        self.sets.iter().map(|set| set.len() * self.contenders.len() + references(set)).sum()
    }

    /// Does what is not in the journals yet, or this process's part of it.
    pub fn run(&self, journals: &mut Journals<'_>, progress: &ProgressBar) -> Result<(), Failure> {
        let done: HashSet<(String, String, usize)> =
            journals.entries.iter().map(|entry| (entry.set.clone(), entry.method.clone(), entry.index)).collect();
        let (rank, size) = (journals.communicator.rank(), journals.communicator.size());
        // Turns of their own, so that nobody has all the references, which are dear.
        let (mut reference_turns, mut turns) = ((0..size).cycle(), (0..size).cycle());
        for set in &self.sets {
            let unknown: Vec<usize> =
                (0..set.len()).filter(|&index| self.lacks_reference(set, index, journals)).collect();
            let stored = (0..set.len()).filter(|&index| set.reference(index).is_some()).count();
            progress.inc((set.len() - stored - unknown.len()) as u64);
            for batch in runs(&unknown, REFERENCES).take_while(|_| goes_on()) {
                if reference_turns.next() == Some(rank) {
                    progress.set_message(format!("{}: references", set.name));
                    self.find_references(set, batch, journals, progress)?;
                }
            }
            for contender in &self.contenders {
                let is_missing = |index: &usize| !done.contains(&(set.name.clone(), contender.name.clone(), *index));
                let missing: Vec<usize> = (0..set.len()).filter(is_missing).collect();
                progress.inc((set.len() - missing.len()) as u64);
                for batch in runs(&missing, batch_size(set)).take_while(|_| goes_on()) {
                    if turns.next() == Some(rank) {
                        progress.set_message(format!("{}: {}", set.name, contender.name));
                        self.solve(set, contender, batch, journals, progress)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn lacks_reference(&self, set: &Set<P>, index: usize, journals: &Journals<'_>) -> bool {
        set.reference(index).is_none() && self.reference(set, index, journals).is_none()
    }

    /// The best known objective, and who says so.
    fn reference(&self, set: &Set<P>, index: usize, journals: &Journals<'_>) -> Option<(f64, String)> {
        if let Some(stored) = set.reference(index) {
            return Some(stored.clone());
        }
        let rounds = (P::expertise().expect("every problem has an expert").reference_rounds)(set.size(index));
        let cost = *journals.known.get(&(set.key(index), rounds))?;
        Some((cost, if rounds == 1 { "our expert".into() } else { format!("our expert, {rounds} rounds") }))
    }

    fn find_references(
        &self,
        set: &Set<P>,
        batch: &[usize],
        journals: &mut Journals<'_>,
        progress: &ProgressBar,
    ) -> Result<(), Failure> {
        let search = Search::by(Method::Expert, None, self.seed);
        let instances = instances(set, batch)?;
        let limit = Limit { time: None, interrupted: &INTERRUPTED };
        let (first, hidden) = (batch[0], ProgressBar::hidden());
        let job = Job::<P> { search: &search, instances: &instances, first, start: None, limit, progress: &hidden };
        let rounds = set
            .is_even()
            .then(|| (P::expertise().expect("every problem has an expert").reference_rounds)(set.size(first)));
        job.ask(&Thorough { rounds }, &mut |at, answer| {
            if !goes_on() {
                return Ok(()); // half an effort is not what the reference promises
            }
            progress.inc(1);
            let timed = match answer {
                Ok(timed) => timed,
                Err(why) => {
                    journals.failures.push(format!(
                        "no reference for {} ({}): {why}",
                        set.name_of(batch[at]),
                        set.name
                    ));
                    return Ok(());
                }
            };
            let rounds = (P::expertise().expect("every problem has an expert").reference_rounds)(set.size(batch[at]));
            let cost = referee::<P>(&instances[at], &timed);
            journals.references.append(&Reference { key: set.key(batch[at]), rounds, cost })
        })
    }

    fn solve(
        &self,
        set: &Set<P>,
        contender: &Contender<'_, P>,
        batch: &[usize],
        journals: &mut Journals<'_>,
        progress: &ProgressBar,
    ) -> Result<(), Failure> {
        let instances = instances(set, batch)?;
        let limit = Limit { time: contender.limit, interrupted: &INTERRUPTED };
        let plain = Search::without_network(Method::Greedy, self.seed);
        let search = match &contender.way {
            Way::Search(search) => search.as_ref(),
            Way::Construction(_) => &plain,
        };
        let (first, hidden) = (batch[0], ProgressBar::hidden());
        let job = Job::<P> { search, instances: &instances, first, start: None, limit, progress: &hidden };
        let alone = contender.limit.is_some() || matches!(contender.way, Way::Construction(_));
        let together = if alone { 1 } else { instances.len() };
        let mut before = Instant::now();
        let mut emit = |at: usize, answer: Result<Timed<P::Step>, ExpertError>| {
            if !goes_on() {
                return Ok(());
            }
            let wall = before.elapsed().as_secs_f64();
            before = Instant::now();
            progress.inc(1);
            let timed = match answer {
                Ok(timed) => timed,
                Err(why) => {
                    let (instance, method) = (set.name_of(batch[at]), &contender.name);
                    journals.failures.push(format!("{method} has no solution for {instance} ({}): {why}", set.name));
                    journals.unsolved += 1;
                    return Ok(());
                }
            };
            let cost = referee::<P>(&instances[at], &timed);
            journals.results.append(&Entry {
                set: set.name.clone(),
                method: contender.name.clone(),
                index: batch[at],
                cost,
                seconds: timed.seconds,
                wall,
                batch: together,
                cut_short: timed.cut_short,
                solution: P::solution_to(&instances[at], &timed.solution.steps),
            })
        };
        match (&contender.way, contender.model) {
            (Way::Construction(construct), _) => job.ask(&Constructed::<P>(*construct), &mut emit),
            (Way::Search(_), Some(model)) => job.follow(Some(&model.network), &mut emit),
            (Way::Search(_), None) => job.run(&mut emit),
        }
    }

    /// All results so far, in the order of sets, methods and instances.
    pub fn rows(&self, journals: &Journals<'_>) -> Vec<Row> {
        let found: HashMap<(&str, &str, usize), &Entry> = (journals.entries.iter())
            .map(|entry| ((entry.set.as_str(), entry.method.as_str(), entry.index), entry))
            .collect();
        let mut rows = Vec::new();
        for set in &self.sets {
            let references: Vec<_> = (0..set.len()).map(|index| self.reference(set, index, journals)).collect();
            for contender in &self.contenders {
                for (index, reference) in references.iter().enumerate() {
                    let entry = found.get(&(set.name.as_str(), contender.name.as_str(), index));
                    rows.extend(entry.map(|entry| self.row(set, contender, entry, reference.as_ref())));
                }
            }
        }
        rows
    }

    fn row(&self, set: &Set<P>, contender: &Contender<'_, P>, entry: &Entry, reference: Option<&(f64, String)>) -> Row {
        Row {
            set: set.name.clone(),
            problem: P::NAME.into(),
            instance: set.name_of(entry.index),
            index: entry.index,
            size: set.size(entry.index),
            method: contender.name.clone(),
            model: contender.model.map(|model| model.name.clone()),
            checksum: contender.model.map(|model| model.checksum.clone()),
            objective: P::OBJECTIVE.0.into(),
            cost: entry.cost,
            reference: reference.map(|&(value, _)| value),
            reference_by: reference.map(|(_, name)| name.clone()),
            gap: reference.and_then(|&(value, _)| gap::<P>(entry.cost, value)),
            published: None,
            seconds: entry.seconds,
            wall: entry.wall,
            batch: entry.batch,
            seed: self.seed,
            cut_short: entry.cut_short,
        }
    }
}

/// How many instances are solved communicator: fewer of larger sizes, so that an interruption costs little. Instances of
/// different sizes are solved one by one, so that each has a time of its own.
pub fn batch_size<P: Builtin>(set: &Set<P>) -> usize {
    if set.is_even() { (6400 / set.largest().max(1)).clamp(1, 64) } else { 1 }
}

/// Runs of consecutive numbers, at most so long each.
fn runs(numbers: &[usize], most: usize) -> impl Iterator<Item = &[usize]> {
    numbers.chunk_by(|a, b| a + 1 == *b).flat_map(move |run| run.chunks(most))
}

/// Whether nobody has asked to stop.
fn goes_on() -> bool {
    !INTERRUPTED.load(Ordering::Relaxed)
}

fn instances<P: Builtin>(set: &Set<P>, indices: &[usize]) -> Result<Vec<Arc<P::Instance>>, Failure> {
    indices.iter().map(|&index| set.instance(index)).collect()
}

/// The objective by the referee, with the sign a person expects.
///
/// # Panics
/// When the search gave something that is not a solution, which nobody must ever see.
fn referee<P: Builtin>(instance: &P::Instance, timed: &Timed<P::Step>) -> f64 {
    P::check(instance, &timed.solution.steps).expect("a search ends in a solution");
    P::OBJECTIVE.1 * P::cost(instance, &timed.solution.steps)
}

/// The expert with the rounds of a reference: the same for a set of equal sizes, else by the instance's.
struct Thorough {
    rounds: Option<u64>,
}

impl<P: Builtin> Expert<P> for Thorough {
    fn solve(&self, instance: &P::Instance, effort: &Effort<'_>) -> Result<Solution<P::Step>, ExpertError> {
        let rounds = self.rounds.or_else(|| {
            Some((P::expertise().expect("every problem has an expert").reference_rounds)(P::size(instance)))
        });
        P::expertise().expect("every problem has an expert").expert.solve(instance, &Effort { rounds, ..*effort })
    }
}

/// A construction as an expert.
struct Constructed<P: Builtin>(bqnco::Construct<P>);

impl<P: Builtin> Expert<P> for Constructed<P> {
    fn solve(&self, instance: &P::Instance, effort: &Effort<'_>) -> Result<Solution<P::Step>, ExpertError> {
        (self.0)(instance, effort)
    }
}

/// Over all instances and methods.
pub fn progress_bar(total: usize, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{elapsed_precise} {bar:24} {pos}/{len} {msg}");
    let bar = ProgressBar::new(total as u64).with_style(style.expect("the template is valid"));
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}
