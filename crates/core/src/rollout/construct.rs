//! Greedy and sampled constructions, many in lock step.

use std::sync::Arc;

use rand::RngExt;

use super::best::Best;
use super::{Decoding, Options, Task};
use crate::{Policy, PolicyError, Problem, Random, Subproblem, random};

/// A construction under way.
struct Lane<'t, P: Problem> {
    task: &'t Task<P>,
    state: Subproblem<P>,
    steps: Vec<P::Step>,
    random: Random,
}

/// Runs all tasks to their ends and offers the solutions.
pub(super) fn run<P: Problem>(
    policy: &dyn Policy<P>,
    tasks: &[Task<P>],
    options: &Options<'_>,
    best: &Best<'_, P>,
) -> Result<(), PolicyError> {
    let mut lanes = offer_finished(tasks.iter().map(|task| Lane::new(task, options)).collect(), best);
    while !lanes.is_empty() {
        if (options.stop)() {
            lanes.into_iter().filter(|lane| lane.task.rank == 0).for_each(|lane| {
                let task = lane.task;
                best.offer(task, complete(lane.state, lane.steps));
            });
            return Ok(());
        }
        let dice: Vec<f64> = lanes.iter_mut().map(|lane| lane.random.random()).collect();
        let cuts: Vec<_> = lanes.iter().map(|lane| options.shortlist.map(|k| lane.state.shortlist(k))).collect();
        let views: Vec<_> = lanes.iter().zip(&cuts).map(|(lane, cut)| cut.as_ref().unwrap_or(&lane.state)).collect();
        let scores = policy.scores(&views)?;
        let mut chosen = Vec::with_capacity(lanes.len());
        for ((view, scores), die) in views.iter().zip(&scores).zip(dice) {
            chosen.push(choose(view, scores, options.decoding, die)?);
        }
        for (lane, step) in lanes.iter_mut().zip(chosen) {
            lane.take(step);
        }
        lanes = offer_finished(lanes, best);
    }
    Ok(())
}

/// Offers what is finished and returns the rest.
fn offer_finished<'t, P: Problem>(lanes: Vec<Lane<'t, P>>, best: &Best<'_, P>) -> Vec<Lane<'t, P>> {
    let (finished, unfinished): (Vec<_>, Vec<_>) = lanes.into_iter().partition(|lane| lane.state.is_finished());
    finished.into_iter().for_each(|lane| best.offer(lane.task, lane.steps));
    unfinished
}

impl<'t, P: Problem> Lane<'t, P> {
    fn new(task: &'t Task<P>, options: &Options<'_>) -> Self {
        let state = Subproblem::whole(Arc::clone(&task.view));
        let random = random(options.seed, &[options.first + task.index as u64, task.rank as u64]);
        Lane { task, state, steps: Vec::new(), random }
    }

    fn take(&mut self, step: P::Step) {
        self.state.take(step);
        self.steps.push(step);
    }
}

/// How many allowed steps are looked at once the deadline has passed: all of them would take seconds on large instances.
const CANDIDATES: usize = 256;

/// A quick way to a solution, for when the deadline has passed: the most attractive of the first few allowed steps.
pub(super) fn complete<P: Problem>(mut state: Subproblem<P>, mut steps: Vec<P::Step>) -> Vec<P::Step> {
    loop {
        let candidates = state.allowed().take(CANDIDATES).map(|(_, step)| (step, state.attraction(step)));
        let Some((step, _)) = candidates.reduce(|best, other| if other.1 > best.1 { other } else { best }) else {
            return steps;
        };
        state.take(step);
        steps.push(step);
    }
}

fn choose<P: Problem>(
    view: &Subproblem<P>,
    scores: &[f32],
    decoding: Decoding,
    die: f64,
) -> Result<P::Step, PolicyError> {
    match decoding {
        Decoding::Sample { temperature, top_k, .. } => {
            let mut candidates = candidates(view, scores)?;
            if let Some(k) = top_k {
                candidates.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable: ties stay in slot order
                candidates.truncate(k.max(1));
            }
            Ok(draw(&candidates, temperature, die))
        }
        _ => highest(view, scores),
    }
}

/// The allowed steps with their scores, in slot order. Never empty for a state that is not finished.
pub(super) fn candidates<P: Problem>(view: &Subproblem<P>, scores: &[f32]) -> Result<Vec<(P::Step, f32)>, PolicyError> {
    view.allowed().map(|(slot, step)| Ok((step, score_at(scores, slot)?))).collect()
}

fn score_at(scores: &[f32], slot: usize) -> Result<f32, PolicyError> {
    match scores.get(slot) {
        Some(score) if !score.is_nan() => Ok(*score),
        other => Err(PolicyError::BadScore { slot, score: other.copied().unwrap_or(f32::NAN) }),
    }
}

/// The step with the best score; among equals the first slot.
fn highest<P: Problem>(view: &Subproblem<P>, scores: &[f32]) -> Result<P::Step, PolicyError> {
    let mut best = None;
    for (slot, step) in view.allowed() {
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
    candidates[candidates.len() - 1].0 // rounding ate the last bit
}
