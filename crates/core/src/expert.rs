//! Experts: solvers whose (near-)optimal solutions are the labels of imitation learning.

use crate::{Problem, Solution, Stop, never};

/// A classical solver.
pub trait Expert<P: Problem>: Send + Sync {
    /// A feasible solution, as good as the effort allows and no worse than `start`; calls back whenever there is a better
    /// one. Experts that take no start return the better of `start` and a new solution ([`no_worse`]).
    ///
    /// # Errors
    /// When the expert cannot solve this instance, or `start` is not feasible and the expert builds on it. It never
    /// returns an infeasible solution.
    fn search(
        &self,
        instance: &P::Instance,
        start: Option<Solution<P::Step>>,
        effort: &Effort<'_>,
        improved: Improved<'_, P::Step>,
    ) -> Result<Solution<P::Step>, ExpertError>;

    /// Like [`Expert::search`], with what is known about the solution's optimality: `Some(true)` if it is proven,
    /// `Some(false)` if an exact expert could not complete its proof, `None` from a heuristic (the default).
    ///
    /// # Errors
    /// As [`Expert::search`].
    fn search_and_prove(
        &self,
        instance: &P::Instance,
        start: Option<Solution<P::Step>>,
        effort: &Effort<'_>,
        improved: Improved<'_, P::Step>,
    ) -> Result<(Solution<P::Step>, Option<bool>), ExpertError> {
        Ok((self.search(instance, start, effort, improved)?, None))
    }

    /// A solution from scratch.
    ///
    /// # Errors
    /// As [`Expert::search`].
    fn solve(&self, instance: &P::Instance, effort: &Effort<'_>) -> Result<Solution<P::Step>, ExpertError> {
        self.search(instance, None, effort, &|_| ())
    }

    /// A solution that is no worse than `start`.
    ///
    /// # Errors
    /// As [`Expert::search`].
    fn improve(
        &self,
        instance: &P::Instance,
        start: Solution<P::Step>,
        effort: &Effort<'_>,
    ) -> Result<Solution<P::Step>, ExpertError> {
        self.search(instance, Some(start), effort, &|_| ())
    }
}

/// Hears of better solutions while an expert works. The steps are made only if they are asked for.
pub type Improved<'a, S> = &'a dyn Fn(&dyn Fn() -> Vec<S>);

/// The cheaper of a start, if there is one, and what was found; the start if they cost the same.
pub fn no_worse<S>(start: Option<Solution<S>>, found: Solution<S>) -> Solution<S> {
    match start {
        Some(start) if found.cost >= start.cost => start,
        _ => found,
    }
}

/// How long an expert may work. Equal seeds and rounds give equal solutions unless `stop` ends the search.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Source of all random choices.
    pub seed: u64,
    /// The expert's own unit of work (kicks, generations); `None`: unlimited.
    pub rounds: Option<u64>,
    /// Rounds without a better solution after which the search ends; `None`: unlimited.
    pub patience: Option<u64>,
    /// Polled often; true means return the best so far.
    pub stop: Stop<'a>,
}

impl Effort<'_> {
    /// A fixed number of rounds, without a deadline.
    pub fn rounds(rounds: u64, seed: u64) -> Effort<'static> {
        Effort { seed, rounds: Some(rounds), patience: None, stop: &never }
    }

    /// Whether the effort is spent after this many rounds, the last `idle` of them without a better solution.
    /// Does not poll `stop`.
    pub fn is_spent(&self, rounds: u64, idle: u64) -> bool {
        self.rounds.is_some_and(|most| rounds >= most) || self.patience.is_some_and(|most| idle >= most)
    }
}

/// Why an expert has no solution.
#[derive(Debug, thiserror::Error)]
pub enum ExpertError {
    /// The search was stopped before it had a first solution.
    #[error("stopped before {0}")]
    Stopped(&'static str),
    /// The effort was spent before there was a solution that meets a tight constraint.
    #[error("no solution with {wanted} was found in the time given; {advice}")]
    NoneFound {
        /// The constraint: "at most 5 vehicles".
        wanted: String,
        /// What to do: "allow more vehicles or more time".
        advice: &'static str,
    },
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
