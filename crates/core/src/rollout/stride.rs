//! How far a construction goes between two looks of the policy.

use super::Decoding;
use super::Options;
use super::construct::score_at;
use super::look::{End, Look};
use crate::{Outlook, PolicyError, Problem, Subproblem};

/// How far a construction goes between two looks of the policy, and at which ends of the remaining path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stride {
    /// Greedy: several steps are taken at once while their joint probability is at least this, if the policy knows the
    /// successors of tokens ([`Policy::outlooks`](crate::Policy::outlooks)); `None`: one step at a time.
    pub follow: Option<f64>,
    /// Greedy: the states between these steps are scored in one batch, and only the steps that the policy would have taken
    /// one by one are kept. The solution is that of one step at a time.
    pub verified: bool,
    /// Whether a path that can be reversed ([`Problem::reverse`]) also grows at its other end. Every state is then looked
    /// at from both ends, and the policy steps where it is surer. Not together with `verified`.
    pub both_ends: bool,
}

impl Options<'_> {
    /// Whether the policy's view of further steps is of use.
    pub(super) fn looks_ahead(&self) -> bool {
        self.stride.follow.is_some() && self.decoding == Decoding::Greedy
    }
}

/// Steps from one look at one end.
pub(super) struct Chain<S> {
    pub end: End,
    pub steps: LikelySteps<S>,
}

/// Steps, each with the joint probability of the steps so far.
type LikelySteps<S> = Vec<(S, f64)>;

impl<S> Chain<S> {
    /// The probability of its first step.
    fn certainty(&self) -> f64 {
        self.steps.first().map_or(0.0, |&(_, probability)| probability)
    }
}

/// The steps to take after looks at a state, surest end first: the best step at the surest end, and further ones at both
/// ends while their joint probability is high enough.
pub(super) fn chains<P: Problem>(
    state: &Subproblem<P>,
    looks: &[Look<P>],
    follow: Option<f64>,
) -> Result<Vec<Chain<P::Step>>, PolicyError> {
    let mut chains = Vec::with_capacity(2);
    for look in looks {
        let steps = likely_steps(look.shown(state), &look.outlook, follow)?;
        chains.push(Chain { end: look.end, steps });
        if let (true, Some(least)) = (look.for_both_ends, follow) {
            let steps = steps_before_destination(state, &look.outlook, least);
            chains.push(Chain { end: End::Back, steps });
        }
    }
    if chains.len() == 2 && chains[1].certainty() > chains[0].certainty() {
        chains.swap(0, 1);
    }
    for chain in chains.iter_mut().skip(1) {
        chain.steps.retain(|&(_, probability)| follow.is_some_and(|least| probability >= least));
    }
    Ok(chains)
}

/// The likeliest last step of a state, and the steps before it while their joint probability is at least `least`, last
/// step first. A token precedes another with the probability that the other is its successor, relative to all tokens.
fn steps_before_destination<P: Problem>(state: &Subproblem<P>, outlook: &Outlook, least: f64) -> LikelySteps<P::Step> {
    let tokens = outlook.successors.len().isqrt();
    let Some(mut at) = outlook.destination.filter(|&token| token < tokens) else { return Vec::new() };
    let direct = state.allowed().filter(|(slot, _)| slot.is_multiple_of(P::KINDS));
    let open: Vec<(usize, P::Step)> = direct.map(|(slot, step)| (slot / P::KINDS, step)).collect();
    // Logarithms of the rows' sums of exponentials.
    let row = |token: usize| &outlook.successors[token * tokens..(token + 1) * tokens];
    let log_sum = |row: &[f32]| {
        let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        highest + row.iter().map(|score| (score - highest).exp()).sum::<f32>().ln()
    };
    let log_sums: Vec<f32> = open.iter().map(|&(token, _)| log_sum(row(token))).collect();
    let mut open: Vec<_> = open.into_iter().zip(log_sums).map(|((token, step), sum)| (token, step, sum)).collect();
    let (mut chain, mut probability) = (LikelySteps::new(), 1.0);
    while !open.is_empty() {
        let share = |&(token, _, sum): &(usize, P::Step, f32)| f64::from(row(token)[at] - sum).exp();
        let total: f64 = open.iter().map(share).sum();
        let (mut best, mut highest) = (0, f64::NEG_INFINITY);
        for (k, share) in open.iter().map(share).enumerate() {
            if share > highest {
                (best, highest) = (k, share);
            }
        }
        probability *= highest / total;
        if !probability.is_finite() || (probability < least && !chain.is_empty()) {
            break;
        }
        let (token, step, _) = open.swap_remove(best);
        chain.push((step, probability));
        if probability < least {
            break;
        }
        at = token;
    }
    chain
}

/// The step with the best score, and the steps that follow it while their joint probability is at least `follow`. Whether
/// a further step is allowed in its own state is for the caller to check.
pub(super) fn likely_steps<P: Problem>(
    state: &Subproblem<P>,
    outlook: &Outlook,
    follow: Option<f64>,
) -> Result<LikelySteps<P::Step>, PolicyError> {
    let tokens = if follow.is_some() { outlook.successors.len().isqrt() } else { 0 };
    // Of a token's kinds of steps the first one leads to it directly.
    let mut direct: Vec<Option<P::Step>> = vec![None; tokens];
    let (mut best, mut total) = (None, 0.0);
    let highest = state
        .allowed()
        .map(|(slot, _)| score_at(&outlook.scores, slot))
        .try_fold(f32::NEG_INFINITY, |highest, score| score.map(|score| highest.max(score)))?;
    for (slot, step) in state.allowed() {
        let score = score_at(&outlook.scores, slot)?;
        total += if score == highest { 1.0 } else { f64::from(score - highest).exp() };
        if score == highest && best.is_none() {
            best = Some((slot / P::KINDS, step));
        }
        if slot.is_multiple_of(P::KINDS) && slot / P::KINDS < tokens {
            direct[slot / P::KINDS] = Some(step);
        }
    }
    let (mut token, first) = best.expect("a state that is not finished allows a step");
    let mut probability = 1.0 / total;
    let mut steps = vec![(first, probability)];
    let mut visited = vec![false; tokens];
    while token < tokens {
        visited[token] = true;
        let row = &outlook.successors[token * tokens..(token + 1) * tokens];
        let Some((next, share)) = likeliest(row, &visited) else { break };
        probability *= share;
        match direct[next] {
            Some(step) if follow.is_some_and(|least| probability >= least) => steps.push((step, probability)),
            _ => break,
        }
        token = next;
    }
    Ok(steps)
}

/// The likeliest token that is not yet visited, with its probability among them.
fn likeliest(row: &[f32], visited: &[bool]) -> Option<(usize, f64)> {
    let open = || row.iter().zip(visited).enumerate().filter(|(_, (_, visited))| !**visited);
    let (next, highest) = open().map(|(k, (&score, _))| (k, score)).reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let total: f64 = open().map(|(_, (&score, _))| f64::from(score - highest).exp()).sum();
    total.is_finite().then_some((next, 1.0 / total))
}
