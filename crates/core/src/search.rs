//! Search around a policy: parts of a solution are taken out and rebuilt, and what is better stays.
//!
//! A part of a solution is itself a tail subproblem ([`Fragment`]), so the policy that builds solutions can rebuild
//! them, without training for it (random re-construct, Luo et al., NeurIPS 2023). A round takes every solution apart at
//! random places into fragments that do not touch each other and rebuilds them in one batch.

use std::sync::Arc;

use rand::RngExt;

use crate::rollout::{self, Decoding, Views};
use crate::{Fragment, Policy, PolicyError, Problem, Random, Solution, Stop, Subproblem, never, random};

/// Options of [`reconstruct`].
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Fragments have up to so many steps; every round draws their length.
    pub longest: usize,
    /// How many fragments of an instance a round rebuilds at most, so that large instances improve bit by bit.
    pub most: usize,
    /// How many rounds; `None`: until `stop` fires.
    pub rounds: Option<u64>,
    /// Score only this many likely candidates per step.
    pub shortlist: Option<usize>,
    /// Whether a fragment is shown to the policy as it is or in a random symmetric image.
    pub views: Views,
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
            longest: 50,
            most: 64,
            rounds: None,
            shortlist: None,
            views: Views::Symmetric,
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
    let mut works: Vec<Work<P>> =
        instances.iter().zip(starts).map(|(instance, best)| Work::new(instance, best, options)).collect();
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
        let (mut cuts, mut states) = (Vec::with_capacity(works.len()), Vec::new());
        for (index, work) in works.iter().enumerate() {
            let mut random = random(options.seed, &[options.first + index as u64, round]);
            let fragments = work.take_apart(length, &mut random);
            states.extend(fragments.iter().take(options.most).map(|fragment| work.show(fragment, &mut random)));
            cuts.push(fragments);
        }
        let mut rebuilt = rollout::finish(policy, &states, &rollout)?.into_iter();
        for (index, (work, fragments)) in works.iter_mut().zip(cuts).enumerate() {
            let count = fragments.len().min(options.most);
            if work.improve(fragments, rebuilt.by_ref().take(count)) {
                let (improvements, cost) = (work.improvements, work.best.cost);
                report(&Progress { index, round: round + 1, improvements, cost }, &work.best);
            }
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
    fn new(instance: &Arc<P::Instance>, best: Solution<P::Step>, options: &Options<'_>) -> Self {
        let mut views = vec![Arc::clone(instance)];
        if options.views == Views::Symmetric {
            views.extend(P::symmetries(instance).into_iter().skip(1).map(Arc::new)); // the first is the identity
        }
        Work { views, best, improvements: 0 }
    }

    fn take_apart(&self, length: usize, random: &mut Random) -> Vec<Fragment<P>> {
        P::fragments(&self.views[0], &self.best.steps, length, random)
    }

    /// The fragment's tail as the policy shall see it.
    fn show(&self, fragment: &Fragment<P>, random: &mut Random) -> (Subproblem<P>, Random) {
        let view = &self.views[random.random_range(0..self.views.len())];
        (Subproblem::new(Arc::clone(view), fragment.tail.clone()), random.clone())
    }

    /// Puts better steps in the place of old ones. False if nothing has become better.
    fn improve(
        &mut self,
        mut fragments: Vec<Fragment<P>>,
        rebuilt: impl Iterator<Item = Option<Vec<P::Step>>>,
    ) -> bool {
        let instance = &self.views[0];
        let mut improvements = 0;
        for (fragment, steps) in fragments.iter_mut().zip(rebuilt) {
            let Some(steps) = steps else { continue };
            let (old, new) = (fragment.earned(instance, &fragment.steps), fragment.earned(instance, &steps));
            // Sums of the same numbers in another order are no gain.
            if new > old + 1e-12 * old.abs() {
                fragment.steps = steps;
                improvements += 1;
            }
        }
        if improvements == 0 {
            return false;
        }
        let whole = Solution::new::<P>(instance, P::rejoin(instance, &fragments));
        let is_better = whole.cost < self.best.cost && P::check(instance, &whole.steps).is_ok();
        if is_better {
            self.best = whole;
            self.improvements += improvements;
        }
        is_better
    }
}
