//! Expert solutions replayed in the BQ-MDP (paper, section 4, "Trajectory generation").

use std::sync::Arc;

use crate::{Problem, Subproblem};

/// A solution seen as a walk through tail subproblems.
pub struct Trajectory<P: Problem> {
    instance: Arc<P::Instance>,
    steps: Vec<P::Step>,
}

/// The solution contains a step that the MDP does not allow at its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {position} of the solution, {step}, is not allowed there")]
pub struct NotReplayable {
    /// Position in the solution, from 0.
    pub position: usize,
    /// The step.
    pub step: String,
}

impl<P: Problem> Trajectory<P> {
    /// Replays a solution from the whole instance.
    ///
    /// # Errors
    /// Names the first step that is not allowed.
    pub fn new(instance: Arc<P::Instance>, steps: Vec<P::Step>) -> Result<Self, NotReplayable> {
        let mut state = Subproblem::<P>::whole(Arc::clone(&instance));
        for (position, &step) in steps.iter().enumerate() {
            if !state.allowed().any(|(_, allowed)| allowed == step) {
                return Err(NotReplayable { position, step: format!("{step:?}") });
            }
            state.take(step);
        }
        if !P::may_stop(state.instance(), state.tail()) {
            return Err(NotReplayable { position: steps.len(), step: "its end".into() });
        }
        Ok(Trajectory { instance, steps })
    }

    /// Every state on the way with the score slots that are right there: that of the next step, or, where order means
    /// nothing, those of all remaining steps.
    pub fn examples(&self) -> impl Iterator<Item = (Subproblem<P>, Vec<usize>)> {
        let mut state = Subproblem::<P>::whole(Arc::clone(&self.instance));
        (0..self.steps.len()).map(move |t| {
            let example = state.clone();
            let right = if P::ORDERED { &self.steps[t..=t] } else { &self.steps[t..] };
            let slots = state.allowed().filter(|(_, step)| right.contains(step)).map(|(slot, _)| slot).collect();
            state.take(self.steps[t]);
            (example, slots)
        })
    }
}

/// The tail before the last `length` steps of a solution (at most all), and these steps.
pub fn last_steps<P: Problem>(instance: &P::Instance, solution: &[P::Step], length: usize) -> (P::Tail, Vec<P::Step>) {
    let (taken, left) = solution.split_at(solution.len().saturating_sub(length));
    let mut tail = P::whole(instance);
    taken.iter().for_each(|&step| P::advance(instance, &mut tail, step));
    (tail, left.to_vec())
}
