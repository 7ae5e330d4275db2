//! Training labels: the expert's solutions of random instances.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use bqnco_core::{Distribution, Effort, Expert, random};
use bqnco_experts::Expertise;
use serde_json::json;

use crate::deadline::Deadline;
use crate::journal::{self, Journal, damaged};
use crate::parallel::in_parallel;
use crate::solve::{external, no_expert};
use crate::{Builtin, CancelToken, Error, GeneratedSet, Instance, ProblemName, Result, Solution, UnknownDistribution};

/// Solves random instances with the problem's expert or an external solver, on all threads.
///
/// ```
/// use bqnco::{GeneratedSet, Labeller, ProblemName};
///
/// let set = GeneratedSet::new(ProblemName::Tsp, 10, 2);
/// let instances = Labeller::new().rounds(20).label(&set, 0..2, None, &mut |_, _| ())?;
/// assert!(instances.iter().all(|instance| instance.solution().is_some_and(|tour| tour.check().is_ok())));
/// let file = bqnco::write_all(&instances, bqnco::io::Format::Npz)?; // for a recipe's `files`
/// # assert!(!file.is_empty());
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Labeller {
    rounds: Option<u64>,
    time_limit: Option<Duration>,
    command: Option<String>,
    cancel: CancelToken,
}

/// Called with the numbers of finished and of all instances: once before the work, then after every instance.
pub type LabelProgress<'a> = &'a mut dyn FnMut(usize, usize);

/// A solved instance in the journal: index and solution.
type Entry = (u64, Vec<usize>);

impl Labeller {
    /// By default, as many expert rounds as good labels need.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the rounds per instance; equal seeds give equal labels.
    #[must_use]
    pub fn rounds(self, rounds: u64) -> Self {
        Labeller { rounds: Some(rounds), time_limit: None, ..self }
    }

    /// Sets the time per instance instead of rounds; labels then depend on the machine.
    #[must_use]
    pub fn time_limit(self, limit: Duration) -> Self {
        Labeller { time_limit: Some(limit), rounds: None, ..self }
    }

    /// Sets an external solver that finds the solutions instead of the expert, as in
    /// [`Search::External`](crate::Search::External).
    #[must_use]
    pub fn command(self, command: impl Into<String>) -> Self {
        Labeller { command: Some(command.into()), rounds: None, ..self }
    }

    /// Sets the token that ends the work early.
    #[must_use]
    pub fn cancel_token(self, token: &CancelToken) -> Self {
        Labeller { cancel: token.clone(), ..self }
    }

    /// Labels some instances of a set with the expert's solutions; the solutions' values become the references.
    ///
    /// Every solution is written to the journal as soon as it is found. After an interruption of any kind, the same
    /// call reuses the entries of the journal; the caller removes it ([`journal::remove`](crate::journal::remove)) once
    /// the result is stored.
    ///
    /// # Errors
    /// Invalid settings, indices beyond the set, a problem without an expert, an expert or external solver that finds
    /// no solution, a journal that has other settings, is damaged or in use, I/O errors, and [`Error::Cancelled`].
    pub fn label(
        &self,
        set: &GeneratedSet,
        indices: Range<u64>,
        journal: Option<&Path>,
        progress: LabelProgress<'_>,
    ) -> Result<Vec<Instance>> {
        dispatch!(set.problem, P => self.label_problem::<P>(set, indices, journal, progress))
    }

    fn label_problem<P: Builtin>(
        &self,
        set: &GeneratedSet,
        indices: Range<u64>,
        journal: Option<&Path>,
        progress: LabelProgress<'_>,
    ) -> Result<Vec<Instance>> {
        let unsolved = set.instances(indices.clone())?;
        let external = self.command.as_deref().map(|command| external::solver::<P>(command, self.time_limit));
        let (expert, rounds): (&dyn Expert<P>, _) = match &external {
            Some(external) => (external as &dyn Expert<P>, None),
            None => {
                let expertise = P::expertise().ok_or_else(|| no_expert::<P>(NO_LABELS))?;
                let usual = || self.time_limit.is_none().then(|| (expertise.label_rounds)(set.size));
                (expertise.expert, self.rounds.or_else(usual))
            }
        };
        // An external solver knows its time limit and gets a grace period after it.
        let time_limit = if external.is_some() { None } else { self.time_limit };
        let mut labelled = vec![None; unsolved.len()];
        let mut settings = self.settings(set, &indices, rounds);
        if let (None, Some(expertise)) = (&external, P::expertise()) {
            settings["expert"] = trial::<P>(expertise, set).into();
        }
        let mut journal = journal.map(|path| restore(path, &settings, &unsolved, &mut labelled)).transpose()?;

        let missing: Vec<usize> = (0..unsolved.len()).filter(|&at| labelled[at].is_none()).collect();
        let (mut done, total) = (unsolved.len() - missing.len(), unsolved.len());
        progress(done, total);
        let index = |at: usize| indices.start + at as u64;
        let solve = |at: usize| {
            let deadline = Deadline::after(time_limit, &self.cancel);
            let (seed, stop) = (set.seed.wrapping_add(index(at)), || deadline.has_passed());
            let found = expert.solve(unsolved[at].data::<P>(), &Effort { seed, rounds, patience: None, stop: &stop });
            (!self.cancel.is_cancelled()).then_some(found) // less effort would break reproducibility
        };
        in_parallel(missing, None, &self.cancel, solve, &mut |at, found| {
            let Some(found) = found else { return Ok(()) };
            let by = self.command.as_deref().unwrap_or("expert");
            let solution = Solution::from_steps::<P>(&unsolved[at], found?.steps, by);
            labelled[at] = Some(unsolved[at].with_solution(&solution)?);
            if let Some(journal) = &mut journal {
                journal.append::<Entry>(&(index(at), solution.numbers()))?;
            }
            done += 1;
            progress(done, total);
            Ok(())
        })?;
        journal.as_mut().map_or(Ok(()), Journal::sync)?; // it may be kept in place of the labelled instances
        let all: Option<Vec<Instance>> = labelled.into_iter().collect();
        all.ok_or(Error::Cancelled { done, total })
    }

    /// All settings that the labels depend on.
    fn settings(&self, set: &GeneratedSet, indices: &Range<u64>, rounds: Option<u64>) -> serde_json::Value {
        let mut settings = json!({
            "problem": set.problem.as_str(),
            "size": set.size,
            "seed": set.seed,
            "varied": set.varied,
            "indices": [indices.start, indices.end],
            "rounds": rounds,
            "seconds": self.time_limit.map(|limit| limit.as_secs_f64()),
            "version": env!("CARGO_PKG_VERSION"),
        });
        if set.distribution != Distribution::default() {
            settings["distribution"] = set.distribution.as_str().into();
        }
        if let Some(command) = &self.command {
            settings["command"] = command.as_str().into();
        }
        settings
    }
}

/// The checksum of what the expert makes of a small instance of the set's distribution: labels of one file must not come from
/// different versions of the code, which have the same number between releases.
fn trial<P: Builtin>(expertise: &Expertise<P>, set: &GeneratedSet) -> String {
    const LARGEST: usize = 20;
    const ROUNDS: u64 = 20;
    let size = set.size.min(LARGEST.max(P::SMALLEST_SIZE));
    let instance = P::generate_from(set.distribution, set.varied, size, &mut random(0, &[]));
    let instance = instance.expect("the set has instances");
    let found = expertise.expert.solve(&instance, &Effort::rounds(ROUNDS, 0));
    let numbers = found.map_or_else(|_| Vec::new(), |found| P::solution_to(&instance, &found.steps));
    format!("crc32:{:08x}", crc32fast::hash(format!("{numbers:?}").as_bytes()))
}

/// Opens a journal and takes over the labels of an interrupted call.
fn restore(
    path: &Path,
    settings: &serde_json::Value,
    unsolved: &[Instance],
    labelled: &mut [Option<Instance>],
) -> Result<Journal> {
    let (journal, known) = Journal::open::<Entry>(path, settings)?;
    take_over(known, path, settings, unsolved, labelled)?;
    Ok(journal)
}

/// Gives instances the labels of a journal.
fn take_over(
    known: Vec<Entry>,
    path: &Path,
    settings: &serde_json::Value,
    unsolved: &[Instance],
    labelled: &mut [Option<Instance>],
) -> Result<()> {
    let first = settings["indices"][0].as_u64().unwrap_or_default();
    for (entry, (index, numbers)) in known.into_iter().enumerate() {
        let at = usize::try_from(index.wrapping_sub(first)).ok().filter(|&at| at < unsolved.len());
        let foreign = || damaged(path, entry, format!("instance {index} is not in this set"));
        let at = at.ok_or_else(foreign)?;
        labelled[at] = Some(unsolved[at].with_solution(&unsolved[at].solution_from(&numbers)?)?);
    }
    Ok(())
}

/// The labelled instances of a complete journal: its settings say how to make the instances again.
pub(crate) fn regenerate<P: Builtin>(path: &Path) -> Result<Vec<Instance>> {
    let settings = journal::settings(path)?;
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or_default();
    let indices = number(&settings["indices"][0])..number(&settings["indices"][1]);
    let set = GeneratedSet {
        problem: ProblemName::of::<P>(),
        size: number(&settings["size"]) as usize,
        count: indices.end,
        seed: number(&settings["seed"]),
        distribution: match settings["distribution"].as_str() {
            Some(name) => name.parse().map_err(|error: UnknownDistribution| damaged(path, 0, error.to_string()))?,
            None => Distribution::default(), // journals of older versions have none
        },
        varied: settings["varied"].as_bool().unwrap_or_default(),
    };
    if settings["problem"] != set.problem.as_str() {
        return Err(damaged(path, 0, format!("labels of {}, not of {}", settings["problem"], set.problem)));
    }
    let unsolved = set.instances(indices)?;
    let mut labelled = vec![None; unsolved.len()];
    take_over(journal::read::<Entry>(path, &settings)?, path, &settings, &unsolved, &mut labelled)?;
    let found = labelled.iter().flatten().count();
    let missing = || damaged(path, found, format!("{found} of {} labels", unsolved.len()));
    labelled.into_iter().collect::<Option<Vec<_>>>().ok_or_else(missing)
}

/// What to do if a problem has no expert to label its instances.
const NO_LABELS: &str = "train with [self_improvement] and expert = false, which needs no labels";

/// Checks that a problem has an expert.
pub(crate) fn check_expert(problem: ProblemName) -> Result<()> {
    dispatch!(problem, P => P::expertise().map(|_| ()).ok_or_else(|| no_expert::<P>(NO_LABELS)))
}
