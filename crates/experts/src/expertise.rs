//! The classical solvers that a problem offers to the rest of the library.

use std::sync::Arc;

use bqnco_core::rollout::{self, Options};
use bqnco_core::{Effort, Expert, ExpertError, GreedyHeuristic, Problem, Solution, SolutionSpace};

/// The classical solvers of a problem. A problem without any is solved by its network, or by the greedy heuristic.
pub struct Expertise<P: Problem> {
    /// The expert, used for labels, references and `--search expert`.
    pub expert: &'static dyn Expert<P>,
    /// Constructions by name, the best first.
    pub constructions: &'static [(&'static str, Construct<P>)],
    /// Number of expert rounds that gives a good training label for an instance of this size.
    pub label_rounds: fn(size: usize) -> u64,
    /// Number of expert rounds that gives a reference for gaps if no optimum is known.
    pub reference_rounds: fn(size: usize) -> u64,
    /// Number of rounds without a better solution after which more are unlikely to help.
    pub patience: fn(size: usize) -> u64,
    /// Whether the expert depends on the seed; if not, a second search would find the same.
    pub is_random: bool,
}

/// Builds a solution of an instance.
pub type Construct<P> =
    fn(&<P as SolutionSpace>::Instance, &Effort<'_>) -> Result<Solution<<P as SolutionSpace>::Step>, ExpertError>;

/// The construction of the greedy heuristic, which every problem has.
///
/// # Errors
/// None: the heuristic has no weights, so it cannot fail.
pub fn greedy_heuristic<P: Problem>(
    instance: &P::Instance,
    effort: &Effort<'_>,
) -> Result<Solution<P::Step>, ExpertError> {
    let options = Options { stop: effort.stop, ..Options::default() };
    let found = rollout::solve::<P>(&GreedyHeuristic, &[Arc::new(instance.clone())], &options);
    Ok(found.expect("a policy without weights does not fail").remove(0))
}

/// Rejects a start that is not a solution.
pub(crate) fn feasible<P: Problem>(
    expert: &'static str,
    instance: &P::Instance,
    start: &Solution<P::Step>,
) -> Result<(), ExpertError> {
    P::check(instance, &start.steps).map_err(|why| ExpertError::Unsupported {
        expert,
        reason: format!("the solution to improve is not feasible: {why}"),
    })
}
