//! Parts of a solution that can be rebuilt independently: the paper's tail recursion, used as local search.

use std::fmt;

use rand::Rng;

use crate::{Problem, last_steps};

/// A problem whose solutions can be taken apart and rebuilt by [`search::reconstruct`](crate::search::reconstruct).
///
/// The defaults rebuild the last steps of a solution: `impl Rebuild for MyProblem {}` is enough to begin with.
pub trait Rebuild: Problem {
    /// A solution cut at random places into fragments of about `length` steps. Each can be replaced independently of the
    /// others.
    ///
    /// Default: a single one, the solution's last steps.
    fn fragments(
        instance: &Self::Instance,
        solution: &[Self::Step],
        length: usize,
        _rng: &mut impl Rng,
    ) -> Vec<Fragment<Self>> {
        vec![Fragment::last(instance, solution, length)]
    }

    /// The solution made of all fragments that [`Rebuild::fragments`] returned, in their order, each with steps that
    /// solve its tail.
    ///
    /// Default: their steps, concatenated.
    fn rejoin(_instance: &Self::Instance, fragments: &[Fragment<Self>]) -> Vec<Self::Step> {
        fragments.iter().flat_map(Fragment::all_steps).collect()
    }
}

/// A part of a solution that is a tail subproblem: any solution of the tail may replace its steps, and the solution's
/// cost then changes by the difference of their returns.
pub struct Fragment<P: Problem> {
    /// Fixed steps ahead of the part.
    pub before: Vec<P::Step>,
    /// The subproblem to solve.
    pub tail: P::Tail,
    /// The steps that currently solve it.
    pub steps: Vec<P::Step>,
    /// Fixed steps behind the part.
    pub after: Vec<P::Step>,
}

impl<P: Problem> Fragment<P> {
    /// The last steps of a solution.
    pub fn last(instance: &P::Instance, solution: &[P::Step], length: usize) -> Self {
        let (tail, steps) = last_steps::<P>(instance, solution, length);
        let before = solution[..solution.len() - steps.len()].to_vec();
        Fragment { before, tail, steps, after: Vec::new() }
    }

    /// All its steps, in order.
    pub fn all_steps(&self) -> impl Iterator<Item = P::Step> {
        self.before.iter().chain(&self.steps).chain(&self.after).copied()
    }

    /// The return of steps taken from the fragment's tail: the sum of their rewards.
    pub fn earned(&self, instance: &P::Instance, steps: &[P::Step]) -> f64 {
        let mut tail = self.tail.clone();
        let mut earned = 0.0;
        for &step in steps {
            earned += P::reward(instance, &tail, step);
            P::advance(instance, &mut tail, step);
        }
        earned
    }
}

impl<P: Problem> fmt::Debug for Fragment<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fragment { before, tail, steps, after } = self;
        write!(f, "{before:?} ({tail:?}: {steps:?}) {after:?}")
    }
}
