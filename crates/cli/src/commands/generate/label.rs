//! Solutions by the expert, on all threads, one journal line each.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

use anyhow::{Context, anyhow};
use bqnco::core::{Effort, Expert, Solution};
use bqnco::io::Record;
use bqnco::{Builtin, Deadline};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use super::{Generate, journal_of};
use crate::failure::Failure;
use crate::interruption::{self, INTERRUPTED};
use crate::journal::Journal;

/// A solved instance in the journal: index and solution.
type Entry = (u64, Vec<usize>);

/// The labelling of one shard.
pub struct Labels<'a> {
    command: &'a Generate,
    first: u64, // index of the first record
    settings: serde_json::Value,
}

impl<'a> Labels<'a> {
    pub fn new<P: Builtin>(command: &'a Generate, indices: Range<u64>) -> Self {
        // Everything that the solutions depend on.
        let settings = serde_json::json!({
            "problem": P::NAME,
            "size": command.size,
            "seed": command.seed,
            "varied": command.varied,
            "indices": [indices.start, indices.end],
            "rounds": rounds::<P>(command),
            "seconds": command.time_limit_each.map(|limit| limit.as_secs_f64()),
            "version": env!("CARGO_PKG_VERSION"),
        });
        Labels { command, first: indices.start, settings }
    }

    /// Gives every record its solution: from the journal of an interrupted run, or by the expert.
    pub fn attach<P: Builtin>(&self, records: &mut [Record<P>]) -> Result<(), Failure> {
        let (mut journal, known) = match journal_of(&self.command.output) {
            Some(path) => {
                Journal::open::<Entry>(&path, &self.settings).map(|(journal, known)| (Some(journal), known))?
            }
            None => (None, Vec::new()),
        };
        for (index, solution) in known {
            let record = (index.checked_sub(self.first)).and_then(|at| records.get_mut(at as usize));
            let record = record.ok_or_else(|| anyhow!("the journal names instance {index}, which is not ours"))?;
            let steps = P::solution_from(&record.instance, &solution)?;
            keep(record, steps)?;
        }
        interruption::catch()?;
        self.solve_missing(records, &mut journal)?;
        match records.iter().filter(|record| record.solution.is_none()).count() {
            0 => Ok(()),
            missing => {
                let done = records.len() - missing;
                eprintln!("interrupted with {done} of {} done; the same command goes on from there", records.len());
                Err(Failure::No)
            }
        }
    }

    fn solve_missing<P: Builtin>(
        &self,
        records: &mut [Record<P>],
        journal: &mut Option<Journal>,
    ) -> Result<(), Failure> {
        let missing: Vec<usize> = (0..records.len()).filter(|&at| records[at].solution.is_none()).collect();
        let progress = self.progress_bar(records.len(), missing.len());
        let expert = P::expertise().expect("every problem has an expert").expert;
        let (send, receive) = mpsc::channel();
        let shared: &[Record<P>] = records;
        let mut found = Vec::with_capacity(missing.len());
        // Workers solve, this thread writes the journal.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let send = send; // dropped when all is done, which ends the loop below
                let _ = missing.into_par_iter().try_for_each_with(send, |send, at| {
                    if INTERRUPTED.load(Ordering::Relaxed) {
                        return None;
                    }
                    send.send((at, self.solve::<P>(expert, &shared[at].instance, at))).ok()
                });
            });
            for (at, solution) in receive {
                let Some(solution) = solution? else { continue };
                let numbers = P::solution_to(&shared[at].instance, &solution.steps);
                if let Some(journal) = journal {
                    journal.append(&(self.first + at as u64, numbers))?;
                }
                found.push((at, solution.steps));
                progress.inc(1);
            }
            Ok::<(), Failure>(())
        })?;
        progress.finish_and_clear();
        found.into_iter().try_for_each(|(at, steps)| keep(&mut records[at], steps))
    }

    /// Nothing when somebody interrupts: half an effort would not be what the seed promises.
    fn solve<P: Builtin>(
        &self,
        expert: &dyn Expert<P>,
        instance: &P::Instance,
        at: usize,
    ) -> Result<Option<Solution<P::Step>>, Failure> {
        let deadline = Deadline::after(self.command.time_limit_each, &INTERRUPTED);
        let stop = || deadline.has_passed();
        let seed = self.command.seed.wrapping_add(self.first + at as u64);
        let solution = expert.solve(instance, &Effort { seed, rounds: rounds::<P>(self.command), stop: &stop });
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Ok(None);
        }
        Ok(Some(solution?))
    }

    fn progress_bar(&self, records: usize, missing: usize) -> ProgressBar {
        if self.command.quiet {
            return ProgressBar::hidden();
        }
        let template = "{elapsed_precise} {bar:24} {pos}/{len} instances, {per_sec}, {eta} left";
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        let bar = ProgressBar::new(records as u64).with_style(style).with_position((records - missing) as u64);
        bar.reset_eta();
        bar
    }
}

/// None with a time limit.
fn rounds<P: Builtin>(command: &Generate) -> Option<u64> {
    match (command.effort, command.time_limit_each) {
        (Some(rounds), _) => Some(rounds),
        (None, Some(_)) => None,
        (None, None) => {
            Some((P::expertise().expect("every problem has an expert").label_rounds)(command.size as usize))
        }
    }
}

/// A solution enters a dataset only after the referee has seen it.
fn keep<P: Builtin>(record: &mut Record<P>, steps: Vec<P::Step>) -> Result<(), Failure> {
    P::check(&record.instance, &steps).with_context(|| format!("{}: the solution is not feasible", record.name))?;
    record.reference = Some(P::OBJECTIVE.1 * P::cost(&record.instance, &steps));
    record.solution = Some(steps);
    Ok(())
}
