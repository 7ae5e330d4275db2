//! Rollouts: a policy constructs solutions in the BQ-MDP. One implementation for all problems.
//!
//! Constructions advance in lockstep, so that a policy scores many states at once; batches run on different threads.
//! Every random choice depends on the seed, the instance's index and the sample's index only, so results do not depend
//! on threads or batches (unless the deadline interrupts them).

mod beam;
mod best;
mod construct;
mod look;
mod stride;
mod verified;
mod watch;

use std::sync::{Arc, Mutex, PoisonError};

use best::Best;
use construct::Lane;
pub use look::End;
pub use stride::Stride;
pub use watch::{Look, watch};

use crate::{Policy, PolicyError, Problem, Solution, SolutionSpace, Stop, Subproblem, never, random};

/// How steps are chosen from scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decoding {
    /// The best score at every step.
    Greedy,
    /// Best of several random constructions.
    Sample {
        /// Number of constructions per instance.
        count: usize,
        /// Scores are divided by it: below 1 sharper, above 1 flatter.
        temperature: f32,
        /// Choose among the best k only.
        top_k: Option<usize>,
    },
    /// The most probable partial solutions are kept at every step; the cheapest solution is returned.
    Beam {
        /// How many are kept at most.
        width: usize,
        /// Those that are less probable than this share of the most probable one are dropped; 0: none.
        keep: f64,
        /// Whether of equal tails only the one with the higher reward so far is kept.
        merge: bool,
    },
}

impl Decoding {
    /// A beam that always keeps `width` partial solutions with different tails.
    pub fn beam(width: usize) -> Self {
        Decoding::Beam { width, keep: 0.0, merge: true }
    }

    /// A beam that always keeps `width` partial solutions, also such with equal tails.
    pub fn plain_beam(width: usize) -> Self {
        Decoding::Beam { width, keep: 0.0, merge: false }
    }
}

/// Options of a rollout.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// How steps are chosen.
    pub decoding: Decoding,
    /// Candidates scored per step, chosen as the policy asks ([`Policy::cut`]); `None`: all.
    pub shortlist: Option<usize>,
    /// Steps between two looks of the policy.
    pub stride: Stride,
    /// Which augmentations of an instance are tried.
    pub augmentations: Augmentations,
    /// Source of all random choices.
    pub seed: u64,
    /// Index of the first instance, so that a part of a set is solved as it would be within the whole.
    pub first: u64,
    /// Number of states scored at once.
    pub batch: usize,
    /// The deadline. Every instance without a solution then gets a quick completion by the greedy heuristic.
    pub stop: Stop<'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            decoding: Decoding::Greedy,
            shortlist: None,
            stride: Stride::default(),
            augmentations: Augmentations::One,
            seed: 0,
            first: 0,
            batch: 64,
            stop: &never,
        }
    }
}

/// Which augmentations of an instance are tried; the best solution is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Augmentations {
    /// The instance as it is.
    One,
    /// All its symmetric images ([`Problem::symmetries`]), if the policy distinguishes them.
    Symmetric,
}

impl Augmentations {
    /// The augmentations of an instance for a policy, the instance itself first.
    pub fn of<P: Problem>(self, instance: &Arc<P::Instance>, policy: &dyn Policy<P>) -> Vec<Arc<P::Instance>> {
        let mut augmentations = vec![Arc::clone(instance)];
        if self == Augmentations::Symmetric && policy.distinguishes_augmentations() {
            augmentations.extend(P::symmetries(instance).into_iter().skip(1).map(Arc::new)); // the first is the identity
        }
        augmentations
    }
}

/// Solves instances with a policy; one feasible solution each.
///
/// # Errors
/// When the policy fails.
pub fn solve<P: Problem>(
    policy: &dyn Policy<P>,
    instances: &[Arc<P::Instance>],
    options: &Options<'_>,
) -> Result<Vec<Solution<P::Step>>, PolicyError> {
    solve_reporting(policy, instances, options, &|_, _| ())
}

/// As [`solve`]; `report` is called with the instance's index whenever its best solution so far improves.
///
/// # Errors
/// When the policy fails.
pub fn solve_reporting<P: Problem>(
    policy: &dyn Policy<P>,
    instances: &[Arc<P::Instance>],
    options: &Options<'_>,
    report: &(dyn Fn(usize, &Solution<P::Step>) + Sync),
) -> Result<Vec<Solution<P::Step>>, PolicyError> {
    let tasks = tasks::<P>(policy, instances, options);
    let best = Best::<P>::new(instances, report);
    let per_batch = match options.decoding {
        Decoding::Beam { width, .. } => options.batch / width.max(1),
        _ => options.batch,
    };
    for_each_batch(&tasks, per_batch.max(1), |batch| match options.decoding {
        Decoding::Beam { width, keep, merge } => {
            beam::run(policy, batch, beam::Limits { width: width.max(1), keep, merge }, options, &best)
        }
        _ => construct(policy, batch, options, &best),
    })?;
    Ok(best.into_solutions())
}

/// Called with a construction's id and its steps.
type Finished<'a, P> = &'a dyn Fn(usize, Vec<<P as SolutionSpace>::Step>);

/// Runs greedy or sampled constructions to their ends; returns those that the deadline interrupted.
fn run<P: Problem>(
    policy: &dyn Policy<P>,
    lanes: Vec<Lane<P>>,
    options: &Options<'_>,
    finished: Finished<'_, P>,
) -> Result<Vec<Lane<P>>, PolicyError> {
    if options.stride.verified && !options.stride.both_ends && options.looks_ahead() {
        return verified::run(policy, lanes, options, finished);
    }
    construct::run(policy, lanes, options, finished)
}

/// Greedy or sampled constructions of some tasks.
fn construct<P: Problem>(
    policy: &dyn Policy<P>,
    tasks: &[Task<P>],
    options: &Options<'_>,
    best: &Best<'_, P>,
) -> Result<(), PolicyError> {
    let lane = |(id, task): (usize, &Task<P>)| {
        let random = random(options.seed, &[options.first + task.index as u64, task.rank as u64]);
        Lane::new(id, Subproblem::whole(Arc::clone(&task.image)), random)
    };
    let lanes = tasks.iter().enumerate().map(lane).collect();
    let late = run(policy, lanes, options, &|id, steps| best.offer(&tasks[id], steps))?;
    for lane in late.into_iter().filter(|lane| tasks[lane.id].rank == 0) {
        best.offer(&tasks[lane.id], lane.complete());
    }
    Ok(())
}

/// The steps from given states to the end, one construction each; `None` if the deadline came first. Augmentations and the
/// number of samples are ignored.
///
/// # Errors
/// When the policy fails.
pub fn finish<P: Problem>(
    policy: &dyn Policy<P>,
    states: &[Subproblem<P>],
    options: &Options<'_>,
) -> Result<Vec<Option<Vec<P::Step>>>, PolicyError> {
    let ids: Vec<usize> = (0..states.len()).collect();
    let found: Mutex<Vec<Option<Vec<P::Step>>>> = Mutex::new(vec![None; states.len()]);
    for_each_batch(&ids, options.batch.max(1), |ids| {
        let lane = |&id: &usize| Lane::new(id, states[id].clone(), random(options.seed, &[options.first + id as u64]));
        run(policy, ids.iter().map(lane).collect(), options, &|id, steps| {
            found.lock().unwrap_or_else(PoisonError::into_inner)[id] = Some(steps);
        })?;
        Ok(())
    })?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// One construction: an image of an instance and the number of the sample.
struct Task<P: Problem> {
    index: usize,            // of the instance
    rank: usize,             // among the instance's tasks; the first must yield a solution
    image: Arc<P::Instance>, // has the same steps and costs as the instance
}

fn tasks<P: Problem>(policy: &dyn Policy<P>, instances: &[Arc<P::Instance>], options: &Options<'_>) -> Vec<Task<P>> {
    let samples = if let Decoding::Sample { count, .. } = options.decoding { count.max(1) } else { 1 };
    let mut tasks = Vec::with_capacity(instances.len() * samples);
    for (index, instance) in instances.iter().enumerate() {
        let augmentations = options.augmentations.of(instance, policy);
        for rank in 0..samples * augmentations.len() {
            tasks.push(Task { index, rank, image: Arc::clone(&augmentations[rank % augmentations.len()]) });
        }
    }
    tasks
}

#[cfg(feature = "threads")]
fn for_each_batch<T: Sync>(
    tasks: &[T],
    size: usize,
    run: impl Fn(&[T]) -> Result<(), PolicyError> + Send + Sync,
) -> Result<(), PolicyError> {
    use rayon::prelude::*;
    // Few instances are spread over the threads instead of forming one batch.
    let size = size.min(tasks.len().div_ceil(rayon::current_num_threads())).max(1);
    if tasks.len() <= size {
        return run(tasks); // on the caller's thread, so that the policy can use all threads
    }
    tasks.par_chunks(size).try_for_each(run)
}

#[cfg(not(feature = "threads"))]
fn for_each_batch<T: Sync>(
    tasks: &[T],
    size: usize,
    run: impl Fn(&[T]) -> Result<(), PolicyError>,
) -> Result<(), PolicyError> {
    tasks.chunks(size).try_for_each(run)
}
