//! Expert solutions as trajectories of the BQ-MDP (paper, section 4, "Trajectory generation").

use std::sync::Arc;

use rand::Rng;

use crate::{Problem, Subproblem};

/// A problem whose expert solutions can be turned into training samples.
pub trait Imitate: Problem {
    /// Whether the order of an expert's steps matters. If not, every remaining expert step is a correct next step.
    const ORDERED: bool = true;

    /// A random tail on an expert's trajectory with `length` expert steps left (at most all), and these steps. If one
    /// solution corresponds to several trajectories, one of them is drawn at random.
    ///
    /// Default: the solution's last steps.
    fn sample_subproblem(
        instance: &Self::Instance,
        solution: &[Self::Step],
        length: usize,
        _rng: &mut impl Rng,
    ) -> (Self::Tail, Vec<Self::Step>) {
        last_steps::<Self>(instance, solution, length)
    }

    /// Names of the orders in which the parts of a solution can be walked, the usual one first (paper, appendix E.3); empty
    /// if there is nothing to choose.
    const ORDERS: &'static [&'static str] = &[];

    /// As [`Imitate::sample_subproblem`], with the parts of the solution in one of the [`Imitate::ORDERS`].
    fn sample_in_order(
        instance: &Self::Instance,
        solution: &[Self::Step],
        length: usize,
        _order: &str,
        rng: &mut impl Rng,
    ) -> (Self::Tail, Vec<Self::Step>) {
        Self::sample_subproblem(instance, solution, length, rng)
    }

    /// The tokens of a tail in the order in which the remaining steps of a solution visit them, from the origin to the
    /// destination, as targets of auxiliary losses. `None` stands for a node that a shortlist has removed from the tail.
    ///
    /// Default: empty, for problems whose solutions are not paths.
    fn path(_instance: &Self::Instance, _tail: &Self::Tail, _steps: &[Self::Step]) -> Vec<Option<usize>> {
        Vec::new()
    }
}

impl<P: Imitate> Subproblem<P> {
    /// The score slots of correct next steps, given the expert's remaining steps: that of the first one, or, if their
    /// order does not matter, those of all. Empty if a shortlist has removed them.
    pub fn targets(&self, steps: &[P::Step]) -> Vec<usize> {
        let correct = if P::ORDERED { &steps[..steps.len().min(1)] } else { steps };
        self.allowed().filter(|(_, step)| correct.contains(step)).map(|(slot, _)| slot).collect()
    }
}

/// The tail before the last `length` steps of a solution (at most all), and these steps.
pub fn last_steps<P: Problem>(instance: &P::Instance, solution: &[P::Step], length: usize) -> (P::Tail, Vec<P::Step>) {
    let (taken, left) = solution.split_at(solution.len().saturating_sub(length));
    let mut tail = P::whole(instance);
    taken.iter().for_each(|&step| P::advance(instance, &mut tail, step));
    (tail, left.to_vec())
}

/// The score slot of every step of a solution, each in the state where it is taken.
///
/// # Errors
/// Names the first step that is not allowed.
pub fn replay<P: Problem>(instance: &Arc<P::Instance>, solution: &[P::Step]) -> Result<Vec<usize>, NotReplayable> {
    let mut state = Subproblem::<P>::whole(Arc::clone(instance));
    let mut slots = Vec::with_capacity(solution.len());
    for (position, &step) in solution.iter().enumerate() {
        let Some((slot, _)) = state.allowed().find(|&(_, allowed)| allowed == step) else {
            return Err(NotReplayable { position, step: format!("{step:?}") });
        };
        slots.push(slot);
        state.take(step);
    }
    if !P::may_stop(state.instance(), state.tail()) {
        return Err(NotReplayable { position: solution.len(), step: "its end".into() });
    }
    Ok(slots)
}

/// The solution contains a step that the MDP does not allow at its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {position} of the solution, {step}, is not allowed there")]
pub struct NotReplayable {
    /// Position in the solution, from 0.
    pub position: usize,
    /// The step.
    pub step: String,
}
