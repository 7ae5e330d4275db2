//! The work: every method on every set, batch by batch.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use bqnco::plot::Picture;
use bqnco::{Error, Result, dispatch, gap};

use crate::evaluation::{Evaluation, Progress};
use crate::files::read_sets;
use crate::journals::{Entry, Journals, ReferenceEntry};
use crate::method::Method;
use crate::model::Model;
use crate::report::percent;
use crate::results::{MethodInfo, Row};
use crate::set::{Reference, Set};
use crate::solve::{Batch, reference_rounds};
use crate::suite::Suite;

/// All work of an evaluation.
pub(crate) struct Run<'a> {
    pub sets: Vec<Set>,
    pub methods: Vec<Method<'a>>,
    evaluation: &'a Evaluation<'a>,
}

/// Instances whose references one process computes before it looks for other work.
const REFERENCES: usize = 16;

/// Larger instances are not drawn: pages would be slow.
const LARGEST_DRAWN: usize = 1200;

impl<'a> Run<'a> {
    /// Finds out what there is to do. Notes tell what is left out.
    pub fn new(
        suite: &'a Suite,
        evaluation: &'a Evaluation<'a>,
        models: &'a [Model],
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let sets = sets(suite, evaluation, notes)?;
        let mut methods = Vec::new();
        for problem in suite.problems() {
            methods.extend(Method::all(problem, suite, evaluation, models, notes)?);
            let mut ours = sets.iter().filter(|set| set.problem == problem);
            if reference_rounds(problem, 1).is_none()
                && ours.any(|set| (0..set.len()).any(|k| set.reference(k).is_none()))
            {
                notes.push(format!("no expert of {problem}: instances without a stored reference have no gap"));
            }
        }
        Ok(Run { sets, methods, evaluation })
    }

    /// Instances to solve by the methods.
    pub fn results(&self) -> usize {
        self.sets.iter().map(|set| set.len() * self.methods_of(set).count()).sum()
    }

    /// Instances to solve, references included.
    pub fn total(&self) -> usize {
        self.results() + self.sets.iter().map(|set| without_reference(set).count()).sum::<usize>()
    }

    /// Does what is not in the journals yet, or this process's part of it.
    pub fn work(&self, journals: &mut Journals<'_>, progress: &mut Progress<'_>) -> Result<()> {
        let communicator = self.evaluation.communicator;
        let (rank, size) = (communicator.rank(), communicator.size());
        // Turns of their own, so that no process has all the references, which take long.
        let (mut reference_turns, mut turns) = ((0..size).cycle(), (0..size).cycle());
        let done: HashSet<(String, String, usize)> =
            journals.entries.iter().map(|entry| (entry.set.clone(), entry.method.clone(), entry.index)).collect();
        for set in &self.sets {
            let (known, unknown): (Vec<usize>, Vec<usize>) =
                without_reference(set).partition(|&index| reference(set, index, journals).is_some());
            progress.add(known.len());
            for batch in chunks(&unknown, REFERENCES).take_while(|_| self.goes_on()) {
                if reference_turns.next() == Some(rank) {
                    progress.begin(format!("{}: references", set.name));
                    self.find_references(set, batch, journals, progress)?;
                }
            }
            for method in self.methods_of(set) {
                let is_missing = |index: &usize| !done.contains(&(set.name.clone(), method.name.clone(), *index));
                let missing: Vec<usize> = (0..set.len()).filter(is_missing).collect();
                progress.add(set.len() - missing.len());
                for batch in chunks(&missing, set.batch_size()).take_while(|_| self.goes_on()) {
                    if turns.next() == Some(rank) {
                        progress.begin(format!("{}: {}", set.name, method.name));
                        self.solve(set, method, batch, journals, progress)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn find_references(
        &self,
        set: &Set,
        indices: &[usize],
        journals: &mut Journals<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        let batch = Batch { set, indices, evaluation: self.evaluation };
        batch.find_references(&mut |index, answer| {
            if !self.goes_on() {
                return Ok(()); // half an effort is not what the reference promises
            }
            progress.add(1);
            match answer.map(|found| (found.cost, reference_rounds(set.problem, set.size(index)))) {
                Ok((cost, rounds)) => {
                    let rounds = rounds.unwrap_or_default();
                    journals.add_reference(&ReferenceEntry { key: set.key(index), rounds, cost })
                }
                Err(why) => {
                    progress.fail(format!("no reference for {} ({}): {why}", set.name_of(index), set.name));
                    Ok(())
                }
            }
        })
    }

    fn solve(
        &self,
        set: &Set,
        method: &Method<'_>,
        indices: &[usize],
        journals: &mut Journals<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        let batch = Batch { set, indices, evaluation: self.evaluation };
        let together = if method.is_one_by_one() { 1 } else { indices.len() };
        let mut before = Instant::now();
        batch.solve(method, &mut |index, answer| {
            if !self.goes_on() {
                return Ok(());
            }
            let wall = before.elapsed().as_secs_f64();
            before = Instant::now();
            progress.add(1);
            let found = match answer {
                Ok(found) => found,
                Err(why) => {
                    let (instance, method) = (set.name_of(index), &method.name);
                    progress.fail(format!("{method} has no solution for {instance} ({}): {why}", set.name));
                    progress.unsolved += 1;
                    return Ok(());
                }
            };
            journals.add(&Entry {
                set: set.name.clone(),
                method: method.name.clone(),
                index,
                cost: found.cost,
                seconds: found.seconds,
                wall,
                batch: together,
                cut_short: found.cut_short,
                solution: found.numbers,
            })
        })
    }

    /// All results so far, in the order of sets, methods and instances.
    pub fn rows(&self, journals: &Journals<'_>) -> Vec<Row> {
        let found: HashMap<(&str, &str, usize), &Entry> = (journals.entries.iter())
            .map(|entry| ((entry.set.as_str(), entry.method.as_str(), entry.index), entry))
            .collect();
        let mut rows = Vec::new();
        for set in &self.sets {
            let references: Vec<_> = (0..set.len()).map(|index| reference(set, index, journals)).collect();
            for method in self.methods_of(set) {
                for (index, reference) in references.iter().enumerate() {
                    let entry = found.get(&(set.name.as_str(), method.name.as_str(), index));
                    rows.extend(entry.map(|entry| self.row(set, method, entry, reference.as_ref())));
                }
            }
        }
        rows
    }

    fn row(&self, set: &Set, method: &Method<'_>, entry: &Entry, reference: Option<&Reference>) -> Row {
        let model = method.network.map(|(model, _)| model);
        Row {
            set: set.name.clone(),
            problem: set.problem.to_string(),
            instance: set.name_of(entry.index),
            index: entry.index,
            size: set.size(entry.index),
            method: method.name.clone(),
            model: model.map(|model| model.name.clone()),
            checksum: model.map(|model| model.checksum.clone()),
            objective: dispatch!(set.problem, P => P::OBJECTIVE.0).into(),
            cost: entry.cost,
            reference: reference.map(|reference| reference.value),
            reference_by: reference.map(|reference| reference.by.clone()),
            gap: reference.and_then(|reference| gap(set.problem, entry.cost, reference.value)),
            published: None,
            other_settings: None,
            seconds: entry.seconds,
            wall: entry.wall,
            batch: entry.batch,
            seed: self.evaluation.seed,
            cut_short: entry.cut_short,
        }
    }

    pub fn method_infos(&self) -> Vec<MethodInfo> {
        let infos = self.methods.iter().map(|method| MethodInfo {
            problem: method.problem.to_string(),
            name: method.name.clone(),
            search: method.network.map(|(_, search)| search.to_string()),
            model: method.network.map(|(model, _)| model.name.clone()),
            checksum: method.network.map(|(model, _)| model.checksum.clone()),
            architecture: method.network.map(|(model, _)| model.architecture),
            candidates: method.candidates(),
            other_settings: method.other_settings(),
            details: method.describe(),
        });
        infos.collect()
    }

    /// Of each problem the instance in the middle and the worst one, by the first method's gap.
    pub fn pictures(&self, rows: &[Row], journals: &Journals<'_>) -> Vec<Picture> {
        let mut pictures = Vec::new();
        for first in self.methods.chunk_by(|one, next| one.problem == next.problem).map(|methods| &methods[0]) {
            let is_it = |row: &&Row| row.problem == first.problem.as_str() && row.method == first.name;
            let can_be_shown = |row: &&Row| row.size <= LARGEST_DRAWN && row.gap.is_some();
            let mut rows: Vec<&Row> = rows.iter().filter(is_it).filter(can_be_shown).collect();
            rows.sort_by(|a, b| a.gap.partial_cmp(&b.gap).unwrap_or(std::cmp::Ordering::Equal));
            let mut chosen: Vec<&Row> = rows.get(rows.len() / 2).into_iter().chain(rows.last()).copied().collect();
            chosen.dedup_by(|a, b| std::ptr::eq(*a, *b));
            pictures.extend(chosen.into_iter().filter_map(|row| self.picture(row, journals)));
        }
        pictures
    }

    /// A solution as the journal has it.
    fn picture(&self, row: &Row, journals: &Journals<'_>) -> Option<Picture> {
        let set = self.sets.iter().find(|set| set.name == row.set)?;
        let is_it = |entry: &&Entry| (&entry.set, &entry.method, entry.index) == (&row.set, &row.method, row.index);
        let entry = journals.entries.iter().find(is_it)?;
        let solution = set.instance(entry.index).ok()?.solution_from(&entry.solution).ok()?;
        let gap = row.gap.map_or(String::new(), |gap| format!(", gap {} %", percent(gap)));
        let caption = format!("{}: {} {}{gap}", row.method, row.objective, figure(row.cost));
        Some(solution.draw().title(format!("{} ({})", row.instance, row.set)).caption(caption))
    }

    fn methods_of(&self, set: &Set) -> impl Iterator<Item = &Method<'a>> {
        self.methods.iter().filter(|method| method.problem == set.problem)
    }

    fn goes_on(&self) -> bool {
        !self.evaluation.cancel.is_cancelled()
    }
}

/// The sets of all problems of a suite.
fn sets(suite: &Suite, evaluation: &Evaluation<'_>, notes: &mut Vec<String>) -> Result<Vec<Set>> {
    if let (Some(files), Some(library)) = (&suite.files, &suite.library) {
        let mut left_out = Vec::new();
        let sets = read_sets(files, library, evaluation.instances, &mut left_out)?;
        if sets.is_empty() {
            let notes = left_out.iter().map(|note| format!("; {note}")).collect();
            return Err(Error::NoInstances { path: files.path.clone(), problem: library.problem, notes });
        }
        notes.extend(left_out);
        return Ok(sets);
    }
    if suite.random.is_empty() {
        return Err(Error::Settings(format!("the suite {} needs a folder with its files", suite.name)));
    }
    let smallest = suite.random.iter().map(|set| set.size).min().unwrap_or(1);
    let set = |set| Set::random(set, set.count(evaluation.instances, smallest), evaluation.seed);
    suite.random.iter().map(set).collect()
}

/// The instances whose reference is for our expert to find.
fn without_reference(set: &Set) -> impl Iterator<Item = usize> {
    let has_expert = reference_rounds(set.problem, 1).is_some();
    (0..set.len()).filter(move |&index| has_expert && set.reference(index).is_none())
}

/// The best known objective, and who says so.
fn reference(set: &Set, index: usize, journals: &Journals<'_>) -> Option<Reference> {
    if let Some(stored) = set.reference(index) {
        return Some(stored.clone());
    }
    let rounds = reference_rounds(set.problem, set.size(index))?;
    let value = journals.reference(set.key(index), rounds)?;
    let by = if rounds == 1 { "our expert".into() } else { format!("our expert, {rounds} rounds") };
    Some(Reference { value, by })
}

/// Runs of consecutive numbers, at most so long each.
fn chunks(numbers: &[usize], most: usize) -> impl Iterator<Item = &[usize]> {
    numbers.chunk_by(|a, b| a + 1 == *b).flat_map(move |run| run.chunks(most))
}

/// An objective's value: integers without decimals, others with five.
fn figure(value: f64) -> String {
    if value.fract() == 0.0 { format!("{}", value + 0.0) } else { format!("{value:.5}") }
}
