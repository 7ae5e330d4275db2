//! Beam search over log-probabilities.

use std::sync::Arc;

use super::best::Best;
use super::construct::{candidates, complete};
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

/// The beam of one task. Histories share their beginnings in an arena of (previous, step).
struct Beam<'t, P: Problem> {
    task: &'t Task<P>,
    kept: Vec<Hypothesis<P>>,
    arena: Vec<(Option<usize>, P::Step)>,
    solved: bool,
}

/// Runs all tasks to their ends and offers the solutions to `best`.
pub(super) fn run<P: Problem>(
    policy: &dyn Policy<P>,
    tasks: &[Task<P>],
    width: usize,
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
        let states = || beams.iter().flat_map(|beam| &beam.kept).map(|hypothesis| &hypothesis.state);
        // Shortlists of many hypotheses on a large instance take a while.
        let cut = |state: &Subproblem<P>| (!(options.stop)()).then(|| options.shortlist.map(|k| state.shortlist(k)));
        let Some(cuts) = states().map(cut).collect::<Option<Vec<_>>>() else {
            beams.into_iter().for_each(|beam| beam.give_up(best));
            return Ok(());
        };
        let shown: Vec<_> = states().zip(&cuts).map(|(state, cut)| cut.as_ref().unwrap_or(state)).collect();
        let scores = match policy.scores(&shown) {
            Err(PolicyError::Stopped) => {
                beams.into_iter().for_each(|beam| beam.give_up(best));
                return Ok(());
            }
            scores => scores?,
        };
        let mut branches = Vec::with_capacity(shown.len());
        for (state, scores) in shown.iter().zip(&scores) {
            branches.push(log_probabilities(candidates(state, scores)?));
        }
        let mut branches = branches.into_iter();
        for beam in &mut beams {
            let own: Vec<_> = branches.by_ref().take(beam.kept.len()).collect();
            beam.advance(&own, width, options.stop);
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

    /// Replaces the kept hypotheses by the `width` most probable successors with different tails.
    ///
    /// Equal tails have the same future, so only the one with the larger return so far is kept. When it is time to stop,
    /// the successors found so far are kept, which are the most probable ones.
    fn advance(&mut self, branches: &[Vec<(P::Step, f64)>], width: usize, stop: Stop<'_>) {
        let mut successors: Vec<(f64, usize, P::Step)> = Vec::new();
        for (parent, branch) in branches.iter().enumerate() {
            let so_far = self.kept[parent].log_probability;
            successors.extend(branch.iter().map(|&(step, log_probability)| (so_far + log_probability, parent, step)));
        }
        successors.sort_by(|a, b| b.0.total_cmp(&a.0)); // stable: ties stay in parent and slot order
        let mut next: Vec<Hypothesis<P>> = Vec::new();
        for (tried, (log_probability, parent, step)) in successors.into_iter().enumerate() {
            if next.len() == width || (tried % ASK_EVERY == ASK_EVERY - 1 && stop()) {
                break;
            }
            let parent = &self.kept[parent];
            let mut state = parent.state.clone();
            let earned = parent.earned + state.take(step);
            self.arena.push((parent.history, step));
            let history = Some(self.arena.len() - 1);
            match next.iter_mut().find(|other| other.state.tail() == state.tail()) {
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
            best.offer(self.task, self.steps(hypothesis.history));
        }
    }

    fn steps(&self, history: Option<usize>) -> Vec<P::Step> {
        let links = std::iter::successors(history, |&link| self.arena[link].0);
        let mut steps: Vec<P::Step> = links.map(|link| self.arena[link].1).collect();
        steps.reverse();
        steps
    }

    /// After the deadline: completes the most probable hypothesis if the instance may still lack a solution.
    fn give_up(mut self, best: &Best<'_, P>) {
        if self.task.rank == 0 && !self.solved {
            let first = self.kept.swap_remove(0);
            let steps = self.steps(first.history);
            best.offer(self.task, complete(first.state, steps));
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
