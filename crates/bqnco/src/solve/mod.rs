//! The implementation of [`Solver`](crate::Solver) for one problem: runs a [`Search`] on typed instances.

mod around_policy;
pub(crate) mod external;
mod race;

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bqnco_core::{Effort, Expert, Solution};
use bqnco_net::Network;

use self::around_policy::AroundPolicy;
use self::race::Race;
use crate::deadline::Deadline;
use crate::parallel::{in_parallel, on_threads};
use crate::{Builtin, CancelToken, Construct, Error, ProblemName, Result, Search, UnfitStart};

/// A solution, its time, and whether the search was stopped before it was complete.
#[derive(Debug)]
pub struct Found<S> {
    /// The solution.
    pub solution: Solution<S>,
    /// Seconds of work, per instance if several are solved together.
    pub seconds: f64,
    /// Whether the search was stopped before it was complete.
    pub cut_short: bool,
    /// The construction whose solution it is, if that was better than what the policy could build in time.
    pub construction: Option<&'static str>,
    /// Statistics of a reconstruction.
    pub rebuilt: Option<Rebuilt>,
    /// Number of symmetries of the instance that were tried.
    pub symmetries: usize,
    /// Passes of a network, per instance if several are solved together.
    pub passes: Option<f64>,
    /// Whether an exact expert has proven it optimal; `None`: the search proves nothing.
    pub optimal: Option<bool>,
}

/// Statistics of a reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// Its initial solution: `policy`, `given solution`, or the name of a construction.
    pub start: &'static str,
    /// Number of parts that were replaced by better ones.
    pub improvements: u64,
}

/// Receives the solution of an instance, or why there is none. An error ends the job.
pub type Emit<'a, S> = &'a mut dyn FnMut(usize, Result<Found<S>>) -> Result<()>;

/// A solution and whether it is proven optimal; `None`: nothing was to be proven.
type Proof<S> = (Solution<S>, Option<bool>);

/// Called for every better solution, also from other threads.
pub type Improved<'a, S> = &'a (dyn Fn(usize, &Solution<S>) + Sync);

/// Number of instances that are solved together without a time limit.
const TOGETHER: usize = 256;

/// Experts improve thousands of times a second; their improvements are reported at this interval.
const REPORT_INTERVAL: Duration = Duration::from_millis(20);

/// Seeds of an instance's searches differ by this: a large odd number, so that they are not those of other instances.
const FURTHER_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// A search that keeps improving ends after this many times its patience.
const PATIENCES: u64 = 5;

/// Instances with at most this many possible steps are tiny: there are at most 720 orders of them.
const TINY: u64 = 6;

/// Rounds of a search per solution of a tiny instance.
const ROUNDS_PER_SOLUTION: u64 = 10;

/// Instances to solve, with the settings of the search.
///
/// ```
/// use std::sync::Arc;
///
/// use bqnco::core::{Generate, random};
/// use bqnco::problems::Tsp;
/// use bqnco::solve::Job;
/// use bqnco::{CancelToken, Search};
///
/// let instances = [Arc::new(Tsp::generate(10, &mut random(0, &[])))];
/// let (search, cancel) = (Search::expert(), CancelToken::new());
/// let job = Job::<Tsp> {
///     search: &search,
///     network: None,
///     instances: &instances,
///     first: 0,
///     start: None,
///     seed: 0,
///     time_limit: None,
///     cancel: &cancel,
///     pool: None,
///     improved: &|_, _| (),
/// };
/// job.run(&mut |index, found| {
///     println!("{index}: {}", found?.solution.cost);
///     Ok(())
/// })?;
/// # Ok::<(), bqnco::Error>(())
/// ```
pub struct Job<'a, P: Builtin> {
    /// The search.
    pub search: &'a Search,
    /// The network that the search's policy names, already loaded.
    pub network: Option<&'a Network>,
    /// The instances.
    pub instances: &'a [Arc<P::Instance>],
    /// Index of the first instance in the set that they are part of: each is solved as it would be within the whole
    /// set.
    pub first: usize,
    /// The initial solution, if there is one; for a single instance.
    pub start: Option<Solution<P::Step>>,
    /// Random seed.
    pub seed: u64,
    /// Per instance.
    pub time_limit: Option<Duration>,
    /// Ends the job early.
    pub cancel: &'a CancelToken,
    /// The thread pool; `None`: rayon's global pool.
    pub pool: Option<&'a rayon::ThreadPool>,
    /// Called for every better solution.
    pub improved: Improved<'a, P::Step>,
}

impl<P: Builtin> fmt::Debug for Job<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Job { search, instances, first, seed, time_limit, .. } = self;
        let mut debug = f.debug_struct("Job");
        debug.field("search", search).field("instances", &instances.len()).field("first", first);
        debug.field("seed", seed).field("time_limit", time_limit).finish_non_exhaustive()
    }
}

impl<P: Builtin> Job<'_, P> {
    /// Solves all instances and passes on every solution as soon as it is found.
    ///
    /// # Errors
    /// If the search cannot be run at all, or `emit` fails.
    pub fn run(&self, emit: Emit<'_, P::Step>) -> Result<()> {
        let wants_network = self.search.guide().is_some_and(|guide| guide.policy.network::<P>().is_some());
        if wants_network != self.network.is_some() {
            return Err(Error::JobNetwork);
        }
        if self.start.is_some() && self.instances.len() != 1 {
            return Err(UnfitStart::NotOneInstance { instances: self.instances.len() }.into());
        }
        match self.search {
            Search::Auto { .. } | Search::Expert { .. } => {
                let expertise = P::expertise().ok_or_else(|| no_expert::<P>(OTHER_SEARCH))?;
                self.ask(expertise.expert, emit)
            }
            Search::External { command } => self.ask(&external::solver::<P>(command, self.time_limit), emit),
            _ => self.follow(emit),
        }
    }

    /// Searches with a policy.
    fn follow(&self, emit: Emit<'_, P::Step>) -> Result<()> {
        // With a time limit one after the other, so that each has the whole machine for its time.
        let together = if self.time_limit.is_some() { 1 } else { TOGETHER };
        let mut next = 0;
        while next < self.instances.len() && !self.cancel.is_cancelled() {
            let first = next;
            if let Err(error) = seen::<P>(&self.instances[first]) {
                emit(first, Err(error))?;
                next += 1;
                continue;
            }
            let batch = self.instances[first..].iter().take(together);
            next += batch.take_while(|instance| seen::<P>(instance).is_ok()).count();
            let instances = &self.instances[first..next];
            let solve = || AroundPolicy::new(self, instances, first).solve();
            let found = match on_threads(self.search.pool(self.pool), solve) {
                Err(error) if instances.len() == 1 => {
                    emit(first, Err(error))?;
                    continue;
                }
                found => found?,
            };
            for (index, found) in found.into_iter().enumerate() {
                emit(first + index, Ok(found))?;
            }
        }
        Ok(())
    }

    /// Runs an expert. A search of an expert uses one thread, so as many run at a time as there are threads.
    ///
    /// # Errors
    /// If `emit` fails.
    pub fn ask(&self, expert: &dyn Expert<P>, emit: Emit<'_, P::Step>) -> Result<()> {
        let solve = |index: usize, effort: &Effort<'_>| {
            let last = Cell::new(None::<Instant>);
            let improved = |steps: &dyn Fn() -> Vec<P::Step>| {
                if last.get().is_none_or(|last| last.elapsed() >= REPORT_INTERVAL) {
                    (self.improved)(index, &Solution::new::<P>(&self.instances[index], steps()));
                    last.set(Some(Instant::now()));
                }
            };
            Ok(expert.search_and_prove(&self.instances[index], self.start.clone(), effort, &improved)?)
        };
        self.in_parallel(solve, emit)
    }

    /// Builds solutions with a construction that needs no policy.
    ///
    /// # Errors
    /// If `emit` fails.
    pub fn construct(&self, construct: Construct<P>, emit: Emit<'_, P::Step>) -> Result<()> {
        let solve = |index: usize, effort: &Effort<'_>| {
            seen::<P>(&self.instances[index])?;
            Ok((construct(&self.instances[index], effort)?, None))
        };
        self.in_parallel(solve, emit)
    }

    fn in_parallel(
        &self,
        solve: impl Fn(usize, &Effort<'_>) -> Result<Proof<P::Step>> + Sync,
        emit: Emit<'_, P::Step>,
    ) -> Result<()> {
        let searches = self.searches();
        let mut race = Race::new(self.instances.len(), searches);
        let all = (0..self.instances.len() * searches).collect();
        let work = |k: usize| self.timed(k / searches, k % searches, &solve);
        in_parallel(all, self.pool, self.cancel, work, &mut |k, answer| {
            let (index, search) = (k / searches, k % searches);
            race.add(index, search, answer).map_or(Ok(()), |best| emit(index, best))
        })?;
        race.unfinished().try_for_each(|(index, best)| emit(index, best)) // the others were cancelled
    }

    /// Number of searches per instance, with different seeds; the best solution counts.
    fn searches(&self) -> usize {
        let Search::Auto { preset } = self.search else { return 1 };
        match self.time_limit {
            _ if P::expertise().is_some_and(|expertise| !expertise.is_random) => 1,
            Some(_) => (self.threads() / self.instances.len().max(1)).max(1),
            None => preset.searches(),
        }
    }

    /// Number of threads that searches can run on at a time.
    fn threads(&self) -> usize {
        match self.pool {
            Some(pool) => pool.current_num_threads(),
            None if rayon::current_thread_index().is_some() => 1, // the caller is one of them; see `in_parallel`
            None => rayon::current_num_threads(),
        }
    }

    fn timed(
        &self,
        index: usize,
        search: usize,
        solve: &impl Fn(usize, &Effort<'_>) -> Result<Proof<P::Step>>,
    ) -> Result<Found<P::Step>> {
        let started = Instant::now();
        // An external solver knows its time limit and gets a grace period after it.
        let time_limit = if let Search::External { .. } = self.search { None } else { self.time_limit };
        let deadline = Deadline::after(time_limit, self.cancel);
        let stopped = AtomicBool::new(false);
        let stop = || {
            deadline.has_passed() && {
                stopped.store(true, Ordering::Relaxed);
                true
            }
        };
        let seed = self.seed.wrapping_add((self.first + index) as u64);
        let seed = seed.wrapping_add((search as u64).wrapping_mul(FURTHER_SEED));
        let (rounds, patience) = (self.rounds(index), self.patience(index));
        let (solution, optimal) = solve(index, &Effort { seed, rounds, patience, stop: &stop })?;
        (self.improved)(index, &solution);
        // A time limit is no cut if nothing but time was asked for.
        let asked = matches!(self.search, Search::Expert { effort } if effort.rounds.is_some());
        let cut_short = stopped.into_inner() && (asked || self.cancel.is_cancelled());
        let seconds = started.elapsed().as_secs_f64();
        let (construction, rebuilt, symmetries, passes) = (None, None, 1, None);
        Ok(Found { solution, seconds, cut_short, construction, rebuilt, symmetries, passes, optimal })
    }

    /// Rounds without improvement after which the expert ends; `None`: never.
    fn patience(&self, index: usize) -> Option<u64> {
        let Search::Auto { preset } = self.search else { return None };
        let usual = (P::expertise()?.patience)(P::size(&self.instances[index]));
        at_most(preset.effort().rounds(usual, self.time_limit.is_some()), self.enough_rounds(index))
    }

    /// Rounds after which a tiny instance is surely solved: several for each of its solutions. `None` for others.
    fn enough_rounds(&self, index: usize) -> Option<u64> {
        let steps = P::steps(&self.instances[index]).len() as u64;
        (steps <= TINY).then(|| ROUNDS_PER_SOLUTION * (1..=steps).product::<u64>())
    }

    /// Rounds of the expert; `None`: until the deadline.
    fn rounds(&self, index: usize) -> Option<u64> {
        if let Search::Auto { .. } = self.search {
            return self.patience(index).map(|patience| PATIENCES * patience);
        }
        let (Search::Expert { effort } | Search::Hybrid { effort, .. }) = self.search else { return None };
        let size = P::size(&self.instances[index]);
        let usual = P::expertise().map_or(1, |expertise| (expertise.label_rounds)(size));
        if effort.rounds.is_some() {
            return effort.rounds;
        }
        at_most(effort.rounds(usual, self.time_limit.is_some()), self.enough_rounds(index))
    }
}

/// Refuses an instance with a constraint that constructions cannot promise to keep.
pub(crate) fn seen<P: Builtin>(instance: &P::Instance) -> Result<()> {
    match P::unseen_constraint(instance) {
        Some(constraint) => Err(Error::UnseenConstraint { constraint }),
        None => Ok(()),
    }
}

/// The smaller number of rounds; `None`: no limit.
fn at_most(rounds: Option<u64>, enough: Option<u64>) -> Option<u64> {
    rounds.into_iter().chain(enough).min()
}

/// The error for a problem without an expert, with what to do instead.
pub(crate) fn no_expert<P: Builtin>(instead: &'static str) -> Error {
    Error::NoExpert { problem: ProblemName::of::<P>(), instead }
}

/// What to do if a search needs an expert that does not exist.
pub(crate) const OTHER_SEARCH: &str = "use the search `reconstruct`, `beam` or `greedy`";
