//! Experts: solvers whose (near-)optimal solutions are the labels of imitation learning.

use crate::{Problem, Solution, Stop, never};

/// A classical solver.
pub trait Expert<P: Problem>: Send + Sync {
    /// A feasible solution, as good as the effort allows.
    ///
    /// # Errors
    /// When the expert cannot solve this instance; it never returns an infeasible solution.
    fn solve(&self, instance: &P::Instance, effort: &Effort<'_>) -> Result<Solution<P::Step>, ExpertError>;

    /// A solution that is no worse than `start`. Default, for experts that take no start: the better of `start` and a
    /// new solution.
    ///
    /// # Errors
    /// As [`Expert::solve`]; also when `start` is not feasible and the expert builds on it.
    fn improve(
        &self,
        instance: &P::Instance,
        start: Solution<P::Step>,
        effort: &Effort<'_>,
    ) -> Result<Solution<P::Step>, ExpertError> {
        Ok(better(start, self.solve(instance, effort)?))
    }
}

/// The cheaper of two solutions, the first in case of a tie.
pub fn better<S>(first: Solution<S>, second: Solution<S>) -> Solution<S> {
    if second.cost < first.cost { second } else { first }
}

/// How long an expert may work. Equal seeds and rounds give equal solutions unless `stop` ends the search.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Source of all random choices.
    pub seed: u64,
    /// The expert's own unit of work (kicks, generations); `None`: until `stop` returns true.
    pub rounds: Option<u64>,
    /// Polled often; true means return the best so far.
    pub stop: Stop<'a>,
}

impl Effort<'_> {
    /// A fixed number of rounds, without a deadline.
    pub fn rounds(rounds: u64, seed: u64) -> Effort<'static> {
        Effort { seed, rounds: Some(rounds), stop: &never }
    }
}

/// Why an expert has no solution.
#[derive(Debug, thiserror::Error)]
pub enum ExpertError {
    /// The search was stopped before it had a first solution.
    #[error("stopped before {0}")]
    Stopped(&'static str),
    /// The expert does not support the instance.
    #[error("{expert} cannot solve this instance: {reason}")]
    Unsupported {
        /// The expert.
        expert: &'static str,
        /// The reason, and what to do instead.
        reason: String,
    },
    /// An external solver failed.
    #[error("{0}")]
    External(String),
}
