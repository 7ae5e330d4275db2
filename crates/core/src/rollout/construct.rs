//! Greedy and sampled constructions, many in lockstep.

use rand::RngExt;

use super::follow::likely_steps;
use super::{Decoding, Options};
use crate::{Policy, PolicyError, Problem, Random, Subproblem};

/// A construction in progress.
pub(super) struct Lane<P: Problem> {
    pub id: usize, // the caller's
    pub state: Subproblem<P>,
    pub steps: Vec<P::Step>,
    random: Random,
}

impl<P: Problem> Lane<P> {
    pub fn new(id: usize, state: Subproblem<P>, random: Random) -> Self {
        Lane { id, state, steps: Vec::new(), random }
    }

    /// Takes a step that is allowed, and further ones as long as they are, too.
    pub fn take(&mut self, steps: &[P::Step]) {
        for (k, &step) in steps.iter().enumerate() {
            if k > 0 && !self.state.allowed().any(|(_, allowed)| allowed == step) {
                return;
            }
            self.state.take(step);
            self.steps.push(step);
        }
    }
}

/// Runs constructions to their ends and passes each to `finished` with its id; returns those that the deadline
/// interrupted.
pub(super) fn run<P: Problem>(
    policy: &dyn Policy<P>,
    lanes: Vec<Lane<P>>,
    options: &Options<'_>,
    finished: &dyn Fn(usize, Vec<P::Step>),
) -> Result<Vec<Lane<P>>, PolicyError> {
    let mut lanes = deliver(lanes, finished);
    while !lanes.is_empty() && !(options.stop)() {
        match choices(policy, &mut lanes, options) {
            Ok(steps) => lanes.iter_mut().zip(&steps).for_each(|(lane, steps)| lane.take(steps)),
            Err(PolicyError::Stopped) => break,
            Err(error) => return Err(error),
        }
        lanes = deliver(lanes, finished);
    }
    Ok(lanes)
}

/// The next step of every lane, and the steps that follow it with a high probability.
fn choices<P: Problem>(
    policy: &dyn Policy<P>,
    lanes: &mut [Lane<P>],
    options: &Options<'_>,
) -> Result<Vec<Vec<P::Step>>, PolicyError> {
    let dice: Vec<f64> = lanes.iter_mut().map(|lane| lane.random.random()).collect();
    let cuts: Vec<_> = lanes.iter().map(|lane| options.shortlist.map(|k| lane.state.shortlist(k))).collect();
    let states: Vec<_> = lanes.iter().zip(&cuts).map(|(lane, cut)| cut.as_ref().unwrap_or(&lane.state)).collect();
    if let (Some(least), Decoding::Greedy) = (options.follow, options.decoding) {
        let outlooks = policy.outlooks(&states)?;
        return states.iter().zip(&outlooks).map(|(state, outlook)| likely_steps(state, outlook, least)).collect();
    }
    let scores = policy.scores(&states)?;
    let scored = states.iter().zip(&scores).zip(dice);
    scored.map(|((state, scores), die)| Ok(vec![choose(state, scores, options.decoding, die)?])).collect()
}

/// Passes on what is finished and returns the rest.
fn deliver<P: Problem>(lanes: Vec<Lane<P>>, finished: &dyn Fn(usize, Vec<P::Step>)) -> Vec<Lane<P>> {
    let (ended, rest): (Vec<_>, Vec<_>) = lanes.into_iter().partition(|lane| lane.state.is_finished());
    ended.into_iter().for_each(|lane| finished(lane.id, lane.steps));
    rest
}

/// Allowed steps considered per step after the deadline: all of them would take seconds on large instances.
const CANDIDATES: usize = 256;

/// Completes a solution quickly after the deadline: the step with the best greedy score among the first few allowed ones.
pub(super) fn complete<P: Problem>(mut state: Subproblem<P>, mut steps: Vec<P::Step>) -> Vec<P::Step> {
    loop {
        let candidates = state.allowed().take(CANDIDATES).map(|(_, step)| (step, state.greedy_score(step)));
        let Some((step, _)) = candidates.reduce(|best, other| if other.1 > best.1 { other } else { best }) else {
            return steps;
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
fn highest<P: Problem>(state: &Subproblem<P>, scores: &[f32]) -> Result<P::Step, PolicyError> {
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
