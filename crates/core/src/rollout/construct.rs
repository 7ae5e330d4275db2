//! Greedy and sampled constructions, many in lockstep.

use rand::RngExt;

use super::look::{End, Look, looks};
use super::stride::chains;
use super::{Decoding, Finished, Options};
use crate::{Policy, PolicyError, Problem, Random, Subproblem};

/// A construction in progress.
pub(super) struct Lane<P: Problem> {
    pub id: usize, // the caller's
    pub state: Subproblem<P>,
    pub steps: Vec<P::Step>, // at the front
    behind: Vec<P::Step>,    // at the back, the last one of the solution first
    random: Random,
}

impl<P: Problem> Lane<P> {
    pub fn new(id: usize, state: Subproblem<P>, random: Random) -> Self {
        Lane { id, state, steps: Vec::new(), behind: Vec::new(), random }
    }

    /// Takes steps at an end as long as they are allowed.
    pub fn take(&mut self, end: End, steps: impl Iterator<Item = P::Step>) {
        for step in steps {
            match end {
                End::Front if self.state.allowed().any(|(_, allowed)| allowed == step) => {
                    self.state.take(step);
                    self.steps.push(step);
                }
                End::Back if self.state.allowed_behind(step) => {
                    self.state.take_behind(step);
                    self.behind.push(step);
                }
                _ => return,
            }
        }
    }

    /// The steps that were taken at an end, in the order in which they were taken.
    pub fn at(&self, end: End) -> &[P::Step] {
        match end {
            End::Front => &self.steps,
            End::Back => &self.behind,
        }
    }

    /// All its steps, in the order of the solution.
    pub fn into_steps(mut self) -> Vec<P::Step> {
        self.steps.extend(self.behind.into_iter().rev());
        self.steps
    }

    /// Its steps and those of a quick completion after the deadline.
    pub fn complete(mut self) -> Vec<P::Step> {
        complete(&mut self.state, &mut self.steps);
        self.into_steps()
    }
}

/// Runs constructions to their ends and passes each to `finished` with its id; returns those that the deadline
/// interrupted.
pub(super) fn run<P: Problem>(
    policy: &dyn Policy<P>,
    lanes: Vec<Lane<P>>,
    options: &Options<'_>,
    finished: Finished<'_, P>,
) -> Result<Vec<Lane<P>>, PolicyError> {
    let mut lanes = deliver(lanes, finished);
    while !lanes.is_empty() && !(options.stop)() {
        let states: Vec<&Subproblem<P>> = lanes.iter().map(|lane| &lane.state).collect();
        match looks(policy, &states, options) {
            Ok(looks) => {
                for (lane, looks) in lanes.iter_mut().zip(&looks) {
                    advance(lane, looks, options)?;
                }
            }
            Err(PolicyError::Stopped) => break,
            Err(error) => return Err(error),
        }
        lanes = deliver(lanes, finished);
    }
    Ok(lanes)
}

/// Takes the steps that follow from looks at a construction, surest end first.
fn advance<P: Problem>(lane: &mut Lane<P>, looks: &[Look<P>], options: &Options<'_>) -> Result<(), PolicyError> {
    if options.decoding == Decoding::Greedy {
        let chains = chains(&lane.state, looks, options.stride.follow)?;
        for chain in chains {
            lane.take(chain.end, chain.steps.into_iter().map(|(step, _)| step));
        }
        return Ok(());
    }
    let die = lane.random.random();
    let Some(look) = looks.first() else { return Ok(()) };
    let step = choose(look.shown(&lane.state), &look.outlook.scores, options.decoding, die)?;
    lane.take(look.end, std::iter::once(step));
    Ok(())
}

/// Passes on what is finished and returns the rest.
pub(super) fn deliver<P: Problem>(lanes: Vec<Lane<P>>, finished: Finished<'_, P>) -> Vec<Lane<P>> {
    let (ended, rest): (Vec<_>, Vec<_>) = lanes.into_iter().partition(|lane| lane.state.is_finished());
    ended.into_iter().for_each(|lane| finished(lane.id, lane.into_steps()));
    rest
}

/// Allowed steps considered per step after the deadline: all of them would take seconds on large instances.
const CANDIDATES: usize = 256;

/// Completes a solution quickly after the deadline: the step with the best greedy score among the first few allowed ones.
pub(super) fn complete<P: Problem>(state: &mut Subproblem<P>, steps: &mut Vec<P::Step>) {
    loop {
        let candidates = state.allowed().take(CANDIDATES).map(|(_, step)| (step, state.greedy_score(step)));
        let Some((step, _)) = candidates.reduce(|best, other| if other.1 > best.1 { other } else { best }) else {
            return;
        };
        state.take(step);
        steps.push(step);
    }
}

fn choose<P: Problem>(
    state: &Subproblem<P>,
    scores: &[f32],
    decoding: Decoding,
    die: f64,
) -> Result<P::Step, PolicyError> {
    match decoding {
        Decoding::Sample { temperature, top_k, .. } => {
            let mut candidates = candidates(state, scores)?;
            if let Some(k) = top_k {
                candidates.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable: ties stay in slot order
                candidates.truncate(k.max(1));
            }
            Ok(draw(&candidates, temperature, die))
        }
        _ => highest(state, scores),
    }
}

/// The allowed steps with their scores, in slot order. Never empty for a state that is not finished.
pub(super) fn candidates<P: Problem>(
    state: &Subproblem<P>,
    scores: &[f32],
) -> Result<Vec<(P::Step, f32)>, PolicyError> {
    state.allowed().map(|(slot, step)| Ok((step, score_at(scores, slot)?))).collect()
}

pub(super) fn score_at(scores: &[f32], slot: usize) -> Result<f32, PolicyError> {
    match scores.get(slot) {
        Some(score) if !score.is_nan() => Ok(*score),
        other => Err(PolicyError::BadScore { slot, score: other.copied().unwrap_or(f32::NAN) }),
    }
}

/// The step with the best score; the first slot in case of a tie.
pub(super) fn highest<P: Problem>(state: &Subproblem<P>, scores: &[f32]) -> Result<P::Step, PolicyError> {
    let mut best = None;
    for (slot, step) in state.allowed() {
        let score = score_at(scores, slot)?;
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((step, score));
        }
    }
    Ok(best.expect("a state that is not finished allows a step").0)
}

/// Draws from the softmax of the scores over the temperature, with a die from [0, 1).
fn draw<S: Copy>(candidates: &[(S, f32)], temperature: f32, die: f64) -> S {
    let highest = candidates.iter().map(|&(_, score)| score).fold(f32::NEG_INFINITY, f32::max);
    let weight = |score: f32| if score == highest { 1.0 } else { f64::from((score - highest) / temperature).exp() };
    let total: f64 = candidates.iter().map(|&(_, score)| weight(score)).sum();
    let mut left = die * total;
    for &(step, score) in candidates {
        left -= weight(score);
        if left < 0.0 {
            return step;
        }
    }
    candidates[candidates.len() - 1].0 // `left` can stay positive by rounding
}
