//! Search around a policy: parts of a solution are taken out and rebuilt, and what is better stays.
//!
//! A part of a solution is itself a tail subproblem ([`Fragment`]), so the policy that builds solutions can rebuild
//! them, without training for it (random re-construct, Luo et al., NeurIPS 2023). A round takes every solution apart at
//! random places into fragments that do not touch each other and rebuilds them in one batch.

use std::sync::Arc;

use rand::RngExt;

use crate::rollout::{self, Augmentations, Decoding};
use crate::{Fragment, Policy, PolicyError, Problem, Random, Solution, Stop, Subproblem, never, random};

/// Options of [`reconstruct`].
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Fragments have up to so many steps; every round draws their length.
    pub longest: usize,
    /// How many fragments of an instance a round rebuilds at least: small instances are taken apart several times, and
    /// the best result counts.
    pub least: usize,
    /// How many fragments of an instance a round rebuilds at most, so that large instances improve bit by bit.
    pub most: usize,
    /// How many rounds; `None`: until `stop` fires.
    pub rounds: Option<u64>,
    /// Score only this many likely candidates per step.
    pub shortlist: Option<usize>,
    /// Whether a fragment is shown to the policy as it is or in a random symmetric image.
    pub views: Augmentations,
    /// Source of all random choices.
    pub seed: u64,
    /// Index of the first instance, so that a part of a set is solved as it would be within the whole.
    pub first: u64,
    /// How many states are scored at once.
    pub batch: usize,
    /// The deadline. When it strikes, fragments that are not finished stay as they were.
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
            views: Augmentations::Symmetric,
            seed: 0,
            first: 0,
            batch: 16,
            stop: &never,
        }
    }
}

/// How far a search has come with one instance.
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

/// Improves one solution per instance by rebuilding its fragments with a policy; none gets worse. Calls back whenever a
/// solution has improved. Equal seeds and rounds give equal solutions if `stop` never fires.
///
/// # Errors
/// When the policy fails.
pub fn reconstruct<P: Problem>(
    policy: &dyn Policy<P>,
    instances: &[Arc<P::Instance>],
    starts: Vec<Solution<P::Step>>,
    options: &Options<'_>,
    report: &mut dyn FnMut(&Progress, &Solution<P::Step>),
) -> Result<Vec<Solution<P::Step>>, PolicyError> {
    let mut works: Vec<Work<P>> = instances
        .iter()
        .zip(starts)
        .map(|(instance, best)| Work::new(options.views.of(instance, policy), best))
        .collect();
    let rollout = rollout::Options {
        decoding: Decoding::Greedy,
        shortlist: options.shortlist,
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
            let fragments = plan.iter().flat_map(|apart| apart.iter().take(options.most));
            states.extend(fragments.map(|fragment| work.show(fragment, &mut random)));
            plans.push(plan);
        }
        let rebuilt = rollout::finish(policy, &states, &rollout)?;
        let is_over = rebuilt.iter().any(Option::is_none); // the deadline struck, or is too near for the policy
        let mut rebuilt = rebuilt.into_iter();
        for (index, (work, plan)) in works.iter_mut().zip(plans).enumerate() {
            if work.improve(plan, options.most, &mut rebuilt) {
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

/// The fragments' length in a round: the same for all instances, so that they make an even batch.
fn length(round: u64, options: &Options<'_>) -> usize {
    let longest = options.longest.max(1);
    random(options.seed, &[round]).random_range(longest.div_ceil(4)..=longest)
}

/// An instance under work.
struct Work<P: Problem> {
    views: Vec<Arc<P::Instance>>, // the instance itself first
    best: Solution<P::Step>,
    improvements: u64,
}

impl<P: Problem> Work<P> {
    fn new(views: Vec<Arc<P::Instance>>, best: Solution<P::Step>) -> Self {
        Work { views, best, improvements: 0 }
    }

    /// Ways to take the best solution apart: one, or several where one makes few fragments.
    fn plan(&self, length: usize, options: &Options<'_>, random: &mut Random) -> Vec<Vec<Fragment<P>>> {
        let mut plan: Vec<Vec<Fragment<P>>> = Vec::new();
        while plan.iter().map(Vec::len).sum::<usize>() < options.least.max(1) {
            let apart = P::fragments(&self.views[0], &self.best.steps, length, random);
            if apart.is_empty() {
                break;
            }
            plan.push(apart);
        }
        plan
    }

    /// The fragment's tail as the policy shall see it.
    fn show(&self, fragment: &Fragment<P>, random: &mut Random) -> Subproblem<P> {
        let view = &self.views[random.random_range(0..self.views.len())];
        Subproblem::new(Arc::clone(view), fragment.tail.clone())
    }

    /// Puts better steps in the place of old ones, in each way the solution was taken apart; the best result counts.
    /// False if nothing has become better.
    fn improve(
        &mut self,
        plan: Vec<Vec<Fragment<P>>>,
        most: usize,
        rebuilt: &mut impl Iterator<Item = Option<Vec<P::Step>>>,
    ) -> bool {
        let before = self.best.cost;
        for mut fragments in plan {
            let count = fragments.len().min(most);
            let improvements = replace_by_better::<P>(&self.views[0], &mut fragments, rebuilt.by_ref().take(count));
            if improvements == 0 {
                continue;
            }
            let whole = Solution::new::<P>(&self.views[0], P::rejoin(&self.views[0], &fragments));
            if whole.cost < self.best.cost && P::check(&self.views[0], &whole.steps).is_ok() {
                self.best = whole;
                self.improvements += improvements;
            }
        }
        self.best.cost < before
    }
}

/// Replaces steps by those that earn more; returns how many fragments have changed.
fn replace_by_better<P: Problem>(
    instance: &P::Instance,
    fragments: &mut [Fragment<P>],
    rebuilt: impl Iterator<Item = Option<Vec<P::Step>>>,
) -> u64 {
    let mut improvements = 0;
    // The new steps come first, so that all of them are taken from the iterator, however many fragments there are.
    for (steps, fragment) in rebuilt.zip(fragments) {
        let Some(steps) = steps else { continue };
        let (old, new) = (fragment.earned(instance, &fragment.steps), fragment.earned(instance, &steps));
        // Sums of the same numbers in another order are no gain.
        if new > old + 1e-12 * old.abs() {
            fragment.steps = steps;
            improvements += 1;
        }
    }
    improvements
}
