//! Search with a policy: parts of a solution are removed and rebuilt, and improvements are kept.
//!
//! A part of a solution is itself a tail subproblem ([`Fragment`]), so the policy that builds solutions can rebuild
//! them without being trained for it (random re-construct, Luo et al., NeurIPS 2023). A round cuts every solution at
//! random places into independent fragments and rebuilds them in one batch. A greedy policy solves a tail in the same
//! way every time, so a tail that did not get better is not rebuilt again.

use std::collections::VecDeque;
use std::sync::Arc;

use rand::RngExt;

use crate::rollout::{self, Augmentations, Decoding, Stride};
use crate::{Fragment, Policy, PolicyError, Random, Rebuild, Solution, Stop, Subproblem, never, random};

/// Options of [`reconstruct`].
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Largest number of steps of a fragment; the length is drawn in every round.
    pub longest: usize,
    /// Smallest number of fragments of an instance per round: small instances are taken apart several times, and the best
    /// result is kept.
    pub least: usize,
    /// Largest number of fragments of an instance per round, so that large instances report progress in between.
    pub most: usize,
    /// Number of rounds; `None`: until `stop` returns true.
    pub rounds: Option<u64>,
    /// Candidates scored per step ([`Problem::shortlist`](crate::Problem::shortlist)); `None`: all.
    pub shortlist: Option<usize>,
    /// As [`rollout::Options::stride`].
    pub stride: Stride,
    /// Whether the policy sees a fragment as it is or in a random symmetric image.
    pub augmentations: Augmentations,
    /// Source of all random choices.
    pub seed: u64,
    /// Index of the first instance, so that a part of a set is solved as it would be within the whole.
    pub first: u64,
    /// Number of states scored at once.
    pub batch: usize,
    /// The deadline. Fragments that are unfinished then keep their old steps.
    pub stop: Stop<'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            longest: 100,
            least: 4,
            most: 64,
            rounds: None,
            shortlist: None,
            stride: Stride::default(),
            augmentations: Augmentations::Symmetric,
            seed: 0,
            first: 0,
            batch: 16,
            stop: &never,
        }
    }
}

/// State of the search on one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Index of the instance.
    pub index: usize,
    /// Rounds so far.
    pub round: u64,
    /// Fragments that were replaced by better ones so far.
    pub improvements: u64,
    /// Cost of the best solution.
    pub cost: f64,
}

/// Improves one solution per instance by rebuilding its fragments with a policy; none gets worse. Calls `report` whenever
/// a solution has improved. Equal seeds and rounds give equal solutions unless `stop` ends the search.
///
/// # Errors
/// When the policy fails.
pub fn reconstruct<P: Rebuild>(
    policy: &dyn Policy<P>,
    instances: &[Arc<P::Instance>],
    starts: Vec<Solution<P::Step>>,
    options: &Options<'_>,
    report: &mut dyn FnMut(&Progress, &Solution<P::Step>),
) -> Result<Vec<Solution<P::Step>>, PolicyError> {
    let mut works: Vec<Work<P>> = instances
        .iter()
        .zip(starts)
        .map(|(instance, best)| Work::new(options.augmentations.of(instance, policy), best))
        .collect();
    let rollout = rollout::Options {
        decoding: Decoding::Greedy,
        shortlist: options.shortlist,
        stride: options.stride,
        batch: options.batch,
        stop: options.stop,
        ..rollout::Options::default()
    };
    for round in 0..options.rounds.unwrap_or(u64::MAX) {
        if (options.stop)() {
            break;
        }
        let length = length(round, options);
        let (mut plans, mut states) = (Vec::with_capacity(works.len()), Vec::new());
        for (index, work) in works.iter().enumerate() {
            let mut random = random(options.seed, &[options.first + index as u64, round]);
            let plan = work.plan(length, options, &mut random);
            let fragments = plan.iter().flat_map(Apart::to_rebuild);
            states.extend(fragments.map(|fragment| work.state(fragment, &mut random)));
            plans.push(plan);
        }
        let rebuilt = rollout::finish(policy, &states, &rollout)?;
        let is_over = rebuilt.iter().any(Option::is_none); // the deadline has passed, or is too near for the policy
        let mut rebuilt = rebuilt.into_iter();
        for (index, (work, plan)) in works.iter_mut().zip(plans).enumerate() {
            if work.improve(plan, &mut rebuilt) {
                let (improvements, cost) = (work.improvements, work.best.cost);
                report(&Progress { index, round: round + 1, improvements, cost }, &work.best);
            }
        }
        if is_over {
            break;
        }
    }
    Ok(works.into_iter().map(|work| work.best).collect())
}

/// The fragments' length in a round: the same for all instances, so that batches are even.
fn length(round: u64, options: &Options<'_>) -> usize {
    let longest = options.longest.max(1);
    random(options.seed, &[round]).random_range(longest.div_ceil(4)..=longest)
}

/// A solution taken apart.
struct Apart<P: Rebuild> {
    fragments: Vec<Fragment<P>>,
    chosen: Vec<usize>, // those to be rebuilt, in ascending order
}

impl<P: Rebuild> Apart<P> {
    fn to_rebuild(&self) -> impl Iterator<Item = &Fragment<P>> {
        self.chosen.iter().map(|&k| &self.fragments[k])
    }
}

/// An instance with its best solution so far.
struct Work<P: Rebuild> {
    images: Vec<Arc<P::Instance>>, // the instance itself first
    best: Solution<P::Step>,
    improvements: u64,
    tried: VecDeque<P::Tail>, // the latest tails that did not get better, if the policy sees them in one image only
}

/// Tails that are remembered: enough for all that small instances have, and compared in microseconds.
const MEMORY: usize = 4096;

impl<P: Rebuild> Work<P> {
    fn new(images: Vec<Arc<P::Instance>>, best: Solution<P::Step>) -> Self {
        Work { images, best, improvements: 0, tried: VecDeque::new() }
    }

    /// One way to take the best solution apart, or several if one yields few fragments that are new.
    fn plan(&self, length: usize, options: &Options<'_>, random: &mut Random) -> Vec<Apart<P>> {
        let least = options.least.max(1);
        let (mut plan, mut count) = (Vec::new(), 0);
        for _ in 0..4 * least {
            let fragments = P::fragments(&self.images[0], &self.best.steps, length, random);
            let mut chosen: Vec<usize> = (0..fragments.len()).filter(|&k| self.is_new(&fragments[k].tail)).collect();
            chosen.truncate(options.most);
            if chosen.is_empty() {
                continue;
            }
            count += chosen.len();
            plan.push(Apart { fragments, chosen });
            if count >= least {
                break;
            }
        }
        plan
    }

    fn is_new(&self, tail: &P::Tail) -> bool {
        !self.tried.contains(tail)
    }

    fn remember(&mut self, tail: &P::Tail) {
        if self.images.len() == 1 {
            self.tried.truncate(MEMORY - 1);
            self.tried.push_front(tail.clone());
        }
    }

    /// The fragment's tail in a random image of the instance.
    fn state(&self, fragment: &Fragment<P>, random: &mut Random) -> Subproblem<P> {
        let image = &self.images[random.random_range(0..self.images.len())];
        Subproblem::new(Arc::clone(image), fragment.tail.clone())
    }

    /// Replaces steps by better ones in each way the solution was taken apart and keeps the best result. Returns whether
    /// the solution has improved.
    fn improve(&mut self, plan: Vec<Apart<P>>, rebuilt: &mut impl Iterator<Item = Option<Vec<P::Step>>>) -> bool {
        let before = self.best.cost;
        for mut apart in plan {
            let improvements = self.replace_by_better(&mut apart, rebuilt);
            if improvements == 0 {
                continue;
            }
            let whole = Solution::new::<P>(&self.images[0], P::rejoin(&self.images[0], &apart.fragments));
            if whole.cost < self.best.cost && P::check(&self.images[0], &whole.steps).is_ok() {
                self.best = whole;
                self.improvements += improvements;
            }
        }
        self.best.cost < before
    }

    /// Replaces steps by those with a larger return; returns the number of changed fragments. Tails that did not get better
    /// are remembered; of the others another plan of the same round may be the one that is kept.
    fn replace_by_better(
        &mut self,
        apart: &mut Apart<P>,
        rebuilt: &mut impl Iterator<Item = Option<Vec<P::Step>>>,
    ) -> u64 {
        let mut improvements = 0;
        for &k in &apart.chosen {
            let fragment = &mut apart.fragments[k];
            let Some(steps) = rebuilt.next().flatten() else { continue };
            let instance = &self.images[0];
            let (old, new) = (fragment.earned(instance, &fragment.steps), fragment.earned(instance, &steps));
            // A difference from adding the same numbers in another order is no gain.
            if new > old + 1e-12 * old.abs() {
                fragment.steps = steps;
                improvements += 1;
            } else {
                self.remember(&fragment.tail);
            }
        }
        improvements
    }
}
