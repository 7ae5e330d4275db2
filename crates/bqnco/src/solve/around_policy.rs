//! Searches with a policy, for batches of instances.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bqnco_core::rollout::{self, Augmentations, Decoding, Stride, solve_reporting};
use bqnco_core::search::{self, Progress, reconstruct};
use bqnco_core::{Effort, Policy, Solution, SolutionSpace, Subproblem};
use bqnco_net::Network;
use rayon::prelude::*;

use super::{Found, Job, OTHER_SEARCH, Rebuilt, at_most, no_expert};
use crate::deadline::Deadline;
use crate::time_limited::TimeLimitedPolicy;
use crate::{Builtin, Guide, RebuildEffort, Result, Search};

/// A search may spend this share of its time on a network's construction; otherwise it starts from a simpler one.
const START_SHARE: f64 = 0.5;

/// A construction that needs so many times the time left is not begun.
const HOPELESS: f64 = 4.0;

/// Steps that a network which follows successors takes per pass, at least: benchmarks/construction.md.
const USUAL_STEPS_PER_PASS: f64 = 1.3;

/// States that a policy of the caller's scores at once: it has one thread, and a call may be costly.
const GIVEN_BATCH: usize = 1024;

/// One solution per instance.
type Solutions<P> = Vec<Solution<<P as SolutionSpace>::Step>>;

/// Instances that are solved together.
pub struct AroundPolicy<'a, P: Builtin> {
    job: &'a Job<'a, P>,
    guide: Guide,
    shortlist: Option<usize>,
    stride: Stride,
    instances: &'a [Arc<P::Instance>],
    first: usize, // index of the first instance in the job
    started: Instant,
    deadline: Deadline<'a>, // of the whole search
    policy_deadline: Deadline<'a>,
}

impl<'a, P: Builtin> AroundPolicy<'a, P> {
    /// The time starts now.
    pub fn new(job: &'a Job<'a, P>, instances: &'a [Arc<P::Instance>], first: usize) -> Self {
        let guide = job.search.guide().cloned().unwrap_or_default();
        let shortlist = guide.shortlist.candidates(job.network.map(Network::config));
        let stride = job.search.stride(job.network.map(Network::config));
        // The expert of a hybrid search gets three quarters of the time.
        let shares = if let Search::Hybrid { .. } = job.search { 4 } else { 1 };
        let policy_deadline = Deadline::after(job.time_limit.map(|time| time / shares), job.cancel);
        let deadline = Deadline::after(job.time_limit, job.cancel);
        AroundPolicy {
            job,
            guide,
            shortlist,
            stride,
            instances,
            first,
            started: Instant::now(),
            deadline,
            policy_deadline,
        }
    }

    /// Solves the instances.
    pub fn solve(&self) -> Result<Vec<Found<P::Step>>> {
        let left = || self.policy_deadline.left();
        let learnt = self.guide.learnt::<P>(self.job.network);
        let time_limited = learnt.map(|policy| TimeLimitedPolicy::new(policy, &left));
        let policy: &dyn Policy<P> = match &time_limited {
            Some(time_limited) => time_limited,
            None => self.guide.rule::<P>(),
        };
        match self.job.search {
            Search::Reconstruct { rebuild, .. } | Search::Hybrid { rebuild, .. } => {
                self.rebuild(policy, time_limited.as_ref(), rebuild)
            }
            Search::Construct { decoding, .. } => self.roll_out(policy, time_limited.as_ref(), *decoding),
            // They have no policy.
            Search::Auto { .. } | Search::Expert { .. } | Search::External { .. } => Ok(Vec::new()),
        }
    }

    fn roll_out(
        &self,
        policy: &dyn Policy<P>,
        time_limited: Option<&TimeLimitedPolicy<'_, P>>,
        decoding: Decoding,
    ) -> Result<Vec<Found<P::Step>>> {
        let constructions = match decoding {
            Decoding::Greedy => 1,
            Decoding::Beam { width, .. } => width,
            Decoding::Sample { count, .. } => count,
        };
        // If the policy will be stopped, a simple construction may be better than its result, and surely is if most steps
        // would have to be completed without the policy, which on large instances also takes seconds.
        let needed = self.share_of_time(policy, time_limited, constructions)?;
        let (simple, name) = if needed > 1.0 { self.simple_starts()? } else { (Vec::new(), "") };
        if needed > HOPELESS {
            return Ok(simple.into_iter().map(|solution| self.without_policy(solution, name)).collect());
        }
        let mut simple = simple.into_iter();
        let (solutions, struck) = self.construct(policy, decoding)?;
        let cut_short = struck || has_stopped(time_limited);
        let (seconds, symmetries, passes) = (self.seconds(), self.symmetries(policy), self.passes(time_limited));
        let found = solutions.into_iter().map(|found| {
            let (solution, construction) = match simple.next() {
                Some(simple) if simple.cost < found.cost => (simple, Some(name)),
                _ => (found, None),
            };
            let (rebuilt, optimal) = (None, None);
            Found { solution, seconds, cut_short, construction, rebuilt, symmetries, passes, optimal }
        });
        Ok(found.collect())
    }

    /// What was found if there was no time for the policy.
    fn without_policy(&self, solution: Solution<P::Step>, name: &'static str) -> Found<P::Step> {
        let (construction, rebuilt, optimal) = (Some(name), None, None);
        let (seconds, cut_short, symmetries, passes) = (self.seconds(), true, 1, None);
        Found { solution, seconds, cut_short, construction, rebuilt, symmetries, passes, optimal }
    }

    /// Constructions by the policy, and whether the deadline passed before all were finished.
    fn construct(&self, policy: &dyn Policy<P>, decoding: Decoding) -> Result<(Solutions<P>, bool)> {
        let struck = AtomicBool::new(false);
        let options = rollout::Options {
            decoding,
            shortlist: self.shortlist,
            stride: self.stride,
            augmentations: self.augmentations(),
            seed: self.job.seed,
            first: self.place(0),
            stop: &|| {
                self.policy_deadline.has_passed() && {
                    struck.store(true, Ordering::Relaxed);
                    true
                }
            },
            batch: if self.guide.policy.given().is_some() { GIVEN_BATCH } else { rollout::Options::default().batch },
        };
        let report = |index: usize, best: &Solution<P::Step>| self.improved(index, best);
        let solutions = solve_reporting::<P>(policy, self.instances, &options, &report)?;
        Ok((solutions, struck.into_inner()))
    }

    fn rebuild(
        &self,
        policy: &dyn Policy<P>,
        time_limited: Option<&TimeLimitedPolicy<'_, P>>,
        rebuild: &RebuildEffort,
    ) -> Result<Vec<Found<P::Step>>> {
        let (starts, start) = self.starts(policy, time_limited)?;
        let options = search::Options {
            longest: rebuild.segment,
            rounds: self.rounds(rebuild),
            shortlist: self.shortlist,
            stride: self.stride,
            seed: self.job.seed,
            first: self.place(0),
            stop: &|| self.policy_deadline.has_passed(),
            ..search::Options::default()
        };
        let mut improvements = vec![0; self.instances.len()];
        let mut report = |progress: &Progress, best: &Solution<P::Step>| {
            improvements[progress.index] = progress.improvements;
            self.improved(progress.index, best);
        };
        let solutions = reconstruct::<P>(policy, self.instances, starts, &options, &mut report)?;
        let lacks_rounds = rebuild.rounds.is_some() && (self.policy_deadline.has_passed() || has_stopped(time_limited));
        let is_hybrid = matches!(self.job.search, Search::Hybrid { .. });
        let solutions = if is_hybrid { self.polish(solutions)? } else { solutions };
        let cut_short = lacks_rounds || self.job.cancel.is_cancelled();
        let (seconds, symmetries, passes) = (self.seconds(), self.symmetries(policy), self.passes(time_limited));
        let found = solutions.into_iter().zip(improvements).map(|(solution, improvements)| {
            let (construction, rebuilt, optimal) = (None, Some(Rebuilt { start, improvements }), None);
            Found { solution, seconds, cut_short, construction, rebuilt, symmetries, passes, optimal }
        });
        Ok(found.collect())
    }

    /// Rounds of rebuilding: as asked for, else no more than the instances need; `None`: until the deadline.
    fn rounds(&self, rebuild: &RebuildEffort) -> Option<u64> {
        let needed = (0..self.instances.len()).map(|index| self.job.enough_rounds(self.first + index));
        let enough = needed.reduce(|one, other| one.zip(other).map(|(one, other)| one.max(other))).flatten();
        rebuild.rounds.or_else(|| at_most(rebuild.rounds(self.job.time_limit.is_some()), enough))
    }

    /// The solutions to rebuild: the given one, the policy's own, or a simple one if the policy's would take too long.
    fn starts(
        &self,
        policy: &dyn Policy<P>,
        time_limited: Option<&TimeLimitedPolicy<'_, P>>,
    ) -> Result<(Solutions<P>, &'static str)> {
        if let Some(start) = &self.job.start {
            return Ok((vec![start.clone()], "given solution"));
        }
        if self.share_of_time(policy, time_limited, 1)? > START_SHARE {
            return self.simple_starts();
        }
        Ok((self.construct(policy, Decoding::Greedy)?.0, "policy"))
    }

    /// The share of the time left that so many constructions of an instance need; 0 if there is no limit.
    fn share_of_time(
        &self,
        policy: &dyn Policy<P>,
        time_limited: Option<&TimeLimitedPolicy<'_, P>>,
        constructions: usize,
    ) -> Result<f64> {
        let (Some(time_limited), Some(_)) = (time_limited, self.policy_deadline.left()) else { return Ok(0.0) };
        let whole = Subproblem::whole(Arc::clone(&self.instances[0]));
        let predicted = time_limited.predict(&whole, self.shortlist)?.as_secs_f64();
        let steps_per_pass = if self.stride.follow.is_some() { USUAL_STEPS_PER_PASS } else { 1.0 };
        let all = predicted * (constructions * self.symmetries(policy)) as f64 / steps_per_pass;
        let left = self.policy_deadline.left().unwrap_or_default(); // the prediction has taken some of it
        Ok(if left.is_zero() { f64::INFINITY } else { all / left.as_secs_f64() })
    }

    /// Constructions without a policy, with their name.
    fn simple_starts(&self) -> Result<(Solutions<P>, &'static str)> {
        let stop = || self.policy_deadline.has_passed();
        let effort = Effort { seed: self.job.seed, rounds: None, patience: None, stop: &stop };
        let (name, construct) = P::constructions()[0];
        let starts = self.instances.iter().map(|instance| construct(instance, &effort));
        Ok((starts.collect::<std::result::Result<_, _>>()?, name))
    }

    /// The expert's search, on one thread per instance.
    fn polish(&self, solutions: Solutions<P>) -> Result<Solutions<P>> {
        let expert = P::expertise().ok_or_else(|| no_expert::<P>(OTHER_SEARCH))?.expert;
        let stop = || self.deadline.has_passed();
        let polish = |(index, solution): (usize, Solution<P::Step>)| {
            let rounds = self.job.rounds(self.first + index);
            let seed = self.job.seed.wrapping_add(self.place(index));
            let effort = Effort { seed, rounds, patience: None, stop: &stop };
            let polished = expert.improve(&self.instances[index], solution, &effort)?;
            self.improved(index, &polished);
            Ok(polished)
        };
        solutions.into_par_iter().enumerate().map(polish).collect()
    }

    fn improved(&self, index: usize, best: &Solution<P::Step>) {
        (self.job.improved)(self.first + index, best);
    }

    /// An instance's index in the set that the job is part of, which its random choices depend on.
    fn place(&self, index: usize) -> u64 {
        (self.job.first + self.first + index) as u64
    }

    fn augmentations(&self) -> Augmentations {
        if self.guide.symmetries { Augmentations::Symmetric } else { Augmentations::One }
    }

    /// Number of symmetries of an instance that a construction tries.
    fn symmetries(&self, policy: &dyn Policy<P>) -> usize {
        self.augmentations().of(&self.instances[0], policy).len()
    }

    /// Passes of the network, per instance.
    fn passes(&self, time_limited: Option<&TimeLimitedPolicy<'_, P>>) -> Option<f64> {
        time_limited.map(|policy| policy.scored() as f64 / self.instances.len().max(1) as f64)
    }

    /// Per instance.
    fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64() / self.instances.len().max(1) as f64
    }
}

/// Whether a policy has declined work that would not have finished in time.
fn has_stopped<P: Builtin>(time_limited: Option<&TimeLimitedPolicy<'_, P>>) -> bool {
    time_limited.is_some_and(TimeLimitedPolicy::has_stopped)
}
