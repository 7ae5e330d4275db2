//! Searches around a policy, for instances that are solved communicator.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bqnco::core::rollout::{self, solve_reporting};
use bqnco::core::search::{self, Progress, reconstruct};
use bqnco::core::{Effort, GreedyHeuristic, Policy, Solution, SolutionSpace, Subproblem, Uniform};
use bqnco::net::Network;
use bqnco::{Builtin, Deadline, TimeLimitedPolicy};
use rayon::prelude::*;

use super::options::{Method, Scorer};
use super::search::{Emit, Job, Rebuilt, Timed};
use crate::failure::Failure;
use crate::output::figure;

/// The share of its time that a search may spend on a network's construction; a simpler one is the start otherwise.
const START: u32 = 2;

/// One solution per instance, of a problem's steps.
type Solutions<P> = Vec<Solution<<P as SolutionSpace>::Step>>;

/// Instances that are solved communicator.
pub struct Batch<'a, P: Builtin> {
    job: &'a Job<'a, P>,
    network: Option<&'a Network>, // or a policy that needs none
    shortlist: Option<usize>,
    instances: &'a [Arc<P::Instance>],
    first: usize, // index of the first instance within the job
    started: Instant,
    deadline: Deadline<'a>, // of all the work
    around: Deadline<'a>,   // of the work around the policy
}

impl<'a, P: Builtin> Batch<'a, P> {
    /// The time begins now.
    pub fn new(
        job: &'a Job<'a, P>,
        network: Option<&'a Network>,
        instances: &'a [Arc<P::Instance>],
        first: usize,
    ) -> Self {
        let shortlist = job.search.shortlist(network.and_then(|network| network.config().shortlist));
        let (time, interrupted) = (job.limit.time, job.limit.interrupted);
        let shares = if job.search.method() == Method::Hybrid { 2 } else { 1 };
        let around = Deadline::after(time.map(|time| time / shares), interrupted);
        let deadline = Deadline::after(time, interrupted);
        Batch { job, network, shortlist, instances, first, started: Instant::now(), deadline, around }
    }

    /// Solves the instances.
    pub fn solve(&self, emit: Emit<'_, P::Step>) -> Result<(), Failure> {
        let left = || self.around.left();
        let time_limited = self.network.map(|network| TimeLimitedPolicy::new(network, &left));
        let policy: &dyn Policy<P> = match (&time_limited, self.job.search.policy) {
            (Some(time_limited), _) => time_limited,
            (None, Some(Scorer::Uniform)) => &Uniform,
            (None, _) => &GreedyHeuristic,
        };
        match self.job.search.method() {
            Method::Reconstruct | Method::Hybrid => self.rebuild(policy, time_limited.as_ref(), emit),
            _ => self.roll_out(policy, time_limited.as_ref(), emit),
        }
    }

    fn roll_out(
        &self,
        policy: &dyn Policy<P>,
        time_limited: Option<&TimeLimitedPolicy<'_, P>>,
        emit: Emit<'_, P::Step>,
    ) -> Result<(), Failure> {
        let (solutions, struck) = self.construct(policy)?;
        let cut_short = struck || has_stopped(time_limited);
        // Where the policy was stopped early, something simple may be better than what there is.
        let simple = if cut_short && !self.around.has_passed() { self.simple_starts()? } else { (Vec::new(), "") };
        let (mut simple, start) = (simple.0.into_iter(), simple.1);
        let (seconds, images) = (self.seconds(), self.images(policy));
        for (index, found) in solutions.into_iter().enumerate() {
            let (solution, rebuilt) = match simple.next() {
                Some(simple) if simple.cost < found.cost => (simple, Some(Rebuilt { start, improvements: 0 })),
                _ => (found, None),
            };
            emit(self.first + index, Ok(Timed { solution, seconds, cut_short, rebuilt, images }))?;
        }
        Ok(())
    }

    /// Constructions by the policy, and whether the deadline struck before all were finished.
    fn construct(&self, policy: &dyn Policy<P>) -> Result<(Solutions<P>, bool), Failure> {
        let struck = AtomicBool::new(false);
        let search = self.job.search;
        let options = rollout::Options {
            decoding: search.decoding(),
            shortlist: self.shortlist,
            augmentations: search.augmentations(),
            seed: search.seed,
            first: self.place(0),
            stop: &|| {
                self.around.has_passed() && {
                    struck.store(true, Ordering::Relaxed);
                    true
                }
            },
            ..rollout::Options::default()
        };
        let solved = Mutex::new(HashSet::new());
        let is_all = !matches!(search.method(), Method::Reconstruct | Method::Hybrid);
        let report = |index: usize, best: &Solution<P::Step>| {
            if is_all && solved.lock().unwrap_or_else(PoisonError::into_inner).insert(index) {
                self.job.progress.inc(1);
            }
            self.job.progress.set_message(objective::<P>(best.cost));
        };
        let solutions = solve_reporting::<P>(policy, self.instances, &options, &report)?;
        Ok((solutions, struck.into_inner()))
    }

    fn rebuild(
        &self,
        policy: &dyn Policy<P>,
        time_limited: Option<&TimeLimitedPolicy<'_, P>>,
        emit: Emit<'_, P::Step>,
    ) -> Result<(), Failure> {
        let (starts, start) = self.starts(policy, time_limited)?;
        let search = self.job.search;
        let options = search::Options {
            longest: search.segment(),
            rounds: search.rounds(self.job.limit.time.is_some()),
            shortlist: self.shortlist,
            seed: search.seed,
            first: self.place(0),
            stop: &|| self.around.has_passed(),
            ..search::Options::default()
        };
        let mut improvements = vec![0; self.instances.len()];
        let mut report = |progress: &Progress, best: &Solution<P::Step>| {
            improvements[progress.index] = progress.improvements;
            let Progress { round, improvements, .. } = progress;
            let best = objective::<P>(best.cost);
            self.job.progress.set_message(format!("{best}, {improvements} improvements, round {round}"));
        };
        let solutions = reconstruct::<P>(policy, self.instances, starts, &options, &mut report)?;
        let lacks_rounds = search.wants_rounds() && (self.around.has_passed() || has_stopped(time_limited));
        let solutions = if search.method() == Method::Hybrid { self.polish(solutions)? } else { solutions };
        let cut_short = lacks_rounds || self.job.limit.interrupted.load(Ordering::Relaxed);
        let (seconds, images) = (self.seconds(), self.images(policy));
        for (index, (solution, improvements)) in solutions.into_iter().zip(improvements).enumerate() {
            let rebuilt = Some(Rebuilt { start, improvements });
            self.job.progress.inc(1);
            emit(self.first + index, Ok(Timed { solution, seconds, cut_short, rebuilt, images }))?;
        }
        Ok(())
    }

    /// What is rebuilt: the given solution, the policy's own, or a simple one where the policy's would take too long.
    fn starts(
        &self,
        policy: &dyn Policy<P>,
        time_limited: Option<&TimeLimitedPolicy<'_, P>>,
    ) -> Result<(Solutions<P>, &'static str), Failure> {
        if let Some(start) = &self.job.start {
            return Ok((vec![start.clone()], "file"));
        }
        if let (Some(time_limited), Some(left)) = (time_limited, self.around.left()) {
            let whole = Subproblem::whole(Arc::clone(&self.instances[0]));
            if time_limited.predict(&whole, self.shortlist)? * self.images(policy) as u32 > left / START {
                return self.simple_starts();
            }
        }
        Ok((self.construct(policy)?.0, "policy"))
    }

    /// Constructions without a policy, with their name.
    fn simple_starts(&self) -> Result<(Solutions<P>, &'static str), Failure> {
        let stop = || self.around.has_passed();
        let effort = Effort { seed: self.job.search.seed, rounds: None, stop: &stop };
        let (name, construct) = P::constructions()[0];
        let starts = self.instances.iter().map(|instance| construct(instance, &effort));
        Ok((starts.collect::<Result<_, _>>()?, name))
    }

    /// The classical local search, on one thread per instance.
    fn polish(&self, solutions: Solutions<P>) -> Result<Solutions<P>, Failure> {
        let stop = || self.deadline.has_passed();
        let polish = |(index, solution): (usize, Solution<P::Step>)| {
            let instance = &self.instances[index];
            let rounds = self.job.search.effort::<P>(instance, self.job.limit.time.is_some());
            let seed = self.job.search.seed.wrapping_add(self.place(index));
            P::expertise().expect("every problem has an expert").expert.improve(
                instance,
                solution,
                &Effort { seed, rounds, stop: &stop },
            )
        };
        Ok(solutions.into_par_iter().enumerate().map(polish).collect::<Result<_, _>>()?)
    }

    /// An instance's place in the set that the job is part of, which its random choices depend on.
    fn place(&self, index: usize) -> u64 {
        (self.job.first + self.first + index) as u64
    }

    /// Augmentations of an instance that a construction tries.
    fn images(&self, policy: &dyn Policy<P>) -> usize {
        self.job.search.augmentations().of(&self.instances[0], policy).len()
    }

    /// Per instance.
    fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64() / self.instances.len().max(1) as f64
    }
}

/// Whether a policy would not begin what it could not have ended in time.
fn has_stopped<P: Builtin>(time_limited: Option<&TimeLimitedPolicy<'_, P>>) -> bool {
    time_limited.is_some_and(TimeLimitedPolicy::has_stopped)
}

/// The objective as a person reads it.
fn objective<P: Builtin>(cost: f64) -> String {
    let (objective, sign) = P::OBJECTIVE;
    format!("{objective} {}", figure(sign * cost))
}
