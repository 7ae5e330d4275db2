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

    /// As [`Expert::solve`] or, from a start, [`Expert::improve`], calling back whenever there is a better solution. Here:
    /// once, at the end.
    ///
    /// # Errors
    /// As [`Expert::improve`].
    fn search(
        &self,
        instance: &P::Instance,
        start: Option<Solution<P::Step>>,
        effort: &Effort<'_>,
        improved: Improved<'_, P::Step>,
    ) -> Result<Solution<P::Step>, ExpertError> {
        let solution = match start {
            Some(start) => self.improve(instance, start, effort)?,
            None => self.solve(instance, effort)?,
        };
        improved(&|| solution.steps.clone());
        Ok(solution)
    }
}

/// Hears of better solutions while an expert works. The steps are made only if they are asked for.
pub type Improved<'a, S> = &'a dyn Fn(&dyn Fn() -> Vec<S>);

/// The cheaper of two solutions, the first where they cost the same.
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
