//! Parts of a solution that can be rebuilt by themselves: the paper's tail recursion, used as local search.

use std::fmt;

use crate::{Problem, last_steps};

/// A part of a solution that is a tail subproblem: whatever solves the tail may take the place of its steps, and the
/// solution's cost changes by what the two earn.
pub struct Fragment<P: Problem> {
    /// Steps ahead of the part, which stay as they are.
    pub before: Vec<P::Step>,
    /// What is to be solved.
    pub tail: P::Tail,
    /// The steps that solve it at present.
    pub steps: Vec<P::Step>,
    /// Steps behind the part, which stay as they are.
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

    /// What steps earn from the fragment's tail on.
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
