//! The best solution of every instance so far, shared by all threads.

use std::sync::{Arc, Mutex, PoisonError};

use super::Task;
use crate::{Problem, Solution};

/// Called with the instance's index and its new best solution.
pub(super) type Report<'a, S> = &'a (dyn Fn(usize, &Solution<S>) + Sync);

/// The best solutions of the constructions.
pub(super) struct Best<'a, P: Problem> {
    instances: &'a [Arc<P::Instance>],
    report: Report<'a, P::Step>,
    found: Mutex<Vec<Option<Found<P::Step>>>>,
}

struct Found<S> {
    solution: Solution<S>,
    rank: usize, // of the task that found it
}

impl<'a, P: Problem> Best<'a, P> {
    pub(super) fn new(instances: &'a [Arc<P::Instance>], report: Report<'a, P::Step>) -> Self {
        Best { instances, report, found: Mutex::new(instances.iter().map(|_| None).collect()) }
    }

    /// Takes a finished construction. In case of a tie the earliest task wins, so that threads cannot change the result.
    pub(super) fn offer(&self, task: &Task<P>, steps: Vec<P::Step>) {
        let solution = Solution::new::<P>(&self.instances[task.index], steps);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let so_far = &mut found[task.index];
        let is_cheaper = so_far.as_ref().is_none_or(|other| solution.cost < other.solution.cost);
        let is_earlier = so_far.as_ref().is_some_and(|o| solution.cost == o.solution.cost && task.rank < o.rank);
        if is_cheaper {
            (self.report)(task.index, &solution);
        }
        if is_cheaper || is_earlier {
            *so_far = Some(Found { solution, rank: task.rank });
        }
    }

    /// One solution per instance, once all constructions have ended.
    pub(super) fn into_solutions(self) -> Vec<Solution<P::Step>> {
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let solution =
            |found: Option<Found<P::Step>>| found.expect("every instance's first task ends in a solution").solution;
        found.into_iter().map(solution).collect()
    }
}
