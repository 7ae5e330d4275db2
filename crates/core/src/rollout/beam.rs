//! Beam search over log-probabilities.

use std::sync::Arc;

use super::best::Best;
use super::construct::{candidates, complete};
use super::look::{End, looks};
use super::{Options, Task};
use crate::{Policy, PolicyError, Problem, Stop, Subproblem};

/// Successors between two polls of the deadline: each is compared with all that are kept.
const ASK_EVERY: usize = 256;

/// A kept partial solution.
struct Hypothesis<P: Problem> {
    state: Subproblem<P>,
    history: Option<usize>, // its last step in the task's arena
    log_probability: f64,
    earned: f64, // sum of rewards
}

/// The beam of one task. Histories share their beginnings in an arena of (previous, end, step).
struct Beam<'t, P: Problem> {
    task: &'t Task<P>,
    kept: Vec<Hypothesis<P>>,
    arena: Vec<(Option<usize>, End, P::Step)>,
    solved: bool,
}

/// What a beam keeps: the fields of [`Decoding::Beam`](super::Decoding::Beam).
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub width: usize,
    pub keep: f64,
    pub merge: bool,
}

/// The steps that a hypothesis may take next, at one end, with their log-probabilities.
struct Branches<S> {
    end: End,
    steps: Vec<(S, f64)>,
}

/// Runs all tasks to their ends and offers the solutions to `best`.
pub(super) fn run<P: Problem>(
    policy: &dyn Policy<P>,
    tasks: &[Task<P>],
    limits: Limits,
    options: &Options<'_>,
    best: &Best<'_, P>,
) -> Result<(), PolicyError> {
    let mut beams: Vec<Beam<P>> = tasks.iter().map(Beam::new).collect();
    beams.iter_mut().for_each(|beam| beam.offer_finished(best));
    beams.retain(|beam| !beam.kept.is_empty());
    while !beams.is_empty() {
        if (options.stop)() {
            beams.into_iter().for_each(|beam| beam.give_up(best));
            return Ok(());
        }
        let states: Vec<_> = beams.iter().flat_map(|beam| &beam.kept).map(|hypothesis| &hypothesis.state).collect();
        let looks = match looks(policy, &states, options) {
            Err(PolicyError::Stopped) => {
                beams.into_iter().for_each(|beam| beam.give_up(best));
                return Ok(());
            }
            looks => looks?,
        };
        let mut branches = Vec::with_capacity(states.len());
        for (state, looks) in states.iter().zip(&looks) {
            let surest = &looks[0];
            let steps = log_probabilities(candidates(surest.shown(state), &surest.outlook.scores)?);
            branches.push(Branches { end: surest.end, steps });
        }
        let mut branches = branches.into_iter();
        for beam in &mut beams {
            let own: Vec<_> = branches.by_ref().take(beam.kept.len()).collect();
            beam.advance(&own, limits, options.stop);
            beam.offer_finished(best);
        }
        beams.retain(|beam| !beam.kept.is_empty());
    }
    Ok(())
}

impl<'t, P: Problem> Beam<'t, P> {
    fn new(task: &'t Task<P>) -> Self {
        let state = Subproblem::whole(Arc::clone(&task.image));
        let start = Hypothesis { state, history: None, log_probability: 0.0, earned: 0.0 };
        Beam { task, kept: vec![start], arena: Vec::new(), solved: false }
    }

    /// Replaces the kept hypotheses by the `width` most probable successors with different tails, without those less
    /// probable than the share `keep` of the most probable one.
    ///
    /// Equal tails have the same future, so only the one with the larger return so far is kept, unless nothing is to be
    /// merged. When it is time to stop, the successors found so far are kept, which are the most probable ones.
    fn advance(&mut self, branches: &[Branches<P::Step>], limits: Limits, stop: Stop<'_>) {
        let Limits { width, keep, merge } = limits;
        let mut successors: Vec<(f64, usize, P::Step)> = Vec::new();
        for (parent, branch) in branches.iter().enumerate() {
            let so_far = self.kept[parent].log_probability;
            let steps = branch.steps.iter();
            successors.extend(steps.map(|&(step, log_probability)| (so_far + log_probability, parent, step)));
        }
        successors.sort_by(|a, b| b.0.total_cmp(&a.0)); // stable: ties stay in parent and slot order
        let least = successors.first().map_or(0.0, |first| first.0) + keep.ln(); // -inf: all are kept
        let mut next: Vec<Hypothesis<P>> = Vec::new();
        for (tried, (log_probability, parent, step)) in successors.into_iter().enumerate() {
            let is_improbable = tried > 0 && log_probability < least;
            if next.len() == width || is_improbable || (tried % ASK_EVERY == ASK_EVERY - 1 && stop()) {
                break;
            }
            let (parent, end) = (&self.kept[parent], branches[parent].end);
            let mut state = parent.state.clone();
            let reward = match end {
                End::Front => state.take(step),
                End::Back => state.take_behind(step),
            };
            let earned = parent.earned + reward;
            self.arena.push((parent.history, end, step));
            let history = Some(self.arena.len() - 1);
            match next.iter_mut().find(|other| merge && other.state.tail() == state.tail()) {
                Some(twin) if earned > twin.earned => (twin.history, twin.earned) = (history, earned),
                Some(_) => {}
                None => next.push(Hypothesis { state, history, log_probability, earned }),
            }
        }
        self.kept = next;
    }

    fn offer_finished(&mut self, best: &Best<'_, P>) {
        let (finished, kept) = std::mem::take(&mut self.kept).into_iter().partition(|h| h.state.is_finished());
        self.kept = kept;
        for hypothesis in finished {
            self.solved = true;
            let (mut steps, behind) = self.steps(hypothesis.history);
            steps.extend(behind);
            best.offer(self.task, steps);
        }
    }

    /// The steps of a history at the front and at the back, in the order of the solution.
    fn steps(&self, history: Option<usize>) -> (Vec<P::Step>, Vec<P::Step>) {
        let links = || std::iter::successors(history, |&link| self.arena[link].0).map(|link| &self.arena[link]);
        // The last step taken comes first: at the back, that is the order of the solution.
        let at = |wanted: End| links().filter(move |(_, end, _)| *end == wanted).map(|&(_, _, step)| step).collect();
        let (mut front, behind): (Vec<P::Step>, Vec<P::Step>) = (at(End::Front), at(End::Back));
        front.reverse();
        (front, behind)
    }

    /// After the deadline: completes the most probable hypothesis if the instance may still lack a solution.
    fn give_up(mut self, best: &Best<'_, P>) {
        if self.task.rank == 0 && !self.solved {
            let mut first = self.kept.swap_remove(0);
            let (mut steps, behind) = self.steps(first.history);
            complete(&mut first.state, &mut steps);
            steps.extend(behind);
            best.offer(self.task, steps);
        }
    }
}

/// Log-softmax over the candidates.
pub(super) fn log_probabilities<S>(candidates: Vec<(S, f32)>) -> Vec<(S, f64)> {
    let highest = candidates.iter().map(|&(_, score)| score).fold(f32::NEG_INFINITY, f32::max);
    let shifted = |score: f32| if score == highest { 0.0 } else { f64::from(score - highest) };
    let total: f64 = candidates.iter().map(|&(_, score)| shifted(score).exp()).sum();
    candidates.into_iter().map(|(step, score)| (step, shifted(score) - total.ln())).collect()
}
