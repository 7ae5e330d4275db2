//! Experts: makers of (near-)optimal solutions, the teachers of imitation.

use crate::{Problem, Solution, Stop, never};

/// Solves whole instances by classical means.
pub trait Expert<P: Problem>: Send + Sync {
    /// A feasible solution, as good as the effort allows.
    ///
    /// # Errors
    /// When the expert cannot answer for this instance, never with a wrong answer.
    fn solve(&self, instance: &P::Instance, effort: &Effort<'_>) -> Result<Solution<P::Step>, ExpertError>;

    /// A solution that is no worse than `start`. Here, for experts that take no start: the better of `start` and a new
    /// solution.
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

/// How long an expert may work. Equal seeds and rounds give equal solutions if `stop` never fires.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Source of all random choices.
    pub seed: u64,
    /// The expert's own measure of work (kicks, generations); `None`: until `stop` fires.
    pub rounds: Option<u64>,
    /// Asked often; true means give the best so far.
    pub stop: Stop<'a>,
}

impl Effort<'_> {
    /// A fixed number of rounds, without a deadline.
    pub fn rounds(rounds: u64, seed: u64) -> Effort<'static> {
        Effort { seed, rounds: Some(rounds), stop: &never }
    }
}

/// Why an expert has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ExpertError {
    /// The search was stopped before it had what it promises.
    #[error("stopped before {0}")]
    Stopped(&'static str),
    /// The instance is outside what the expert can do.
    #[error("{expert} cannot solve this instance: {reason}")]
    Unsupported {
        /// The expert.
        expert: &'static str,
        /// Why not, and what to do.
        reason: String,
    },
    /// A program that the user plugged in failed.
    #[error("{0}")]
    External(String),
}
