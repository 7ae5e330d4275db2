//! Several steps from one look at a state: a policy that knows which token follows which need not be asked again as long
//! as it is sure.

use super::construct::score_at;
use crate::{Outlook, PolicyError, Problem, Subproblem};

/// The step with the best score, and the steps that follow it while their joint probability is at least `least`. Whether
/// a further step is allowed in its own state is for the caller to check.
pub(super) fn likely_steps<P: Problem>(
    state: &Subproblem<P>,
    outlook: &Outlook,
    least: f64,
) -> Result<Vec<P::Step>, PolicyError> {
    let tokens = outlook.successors.len().isqrt();
    // Of a token's kinds of steps the first one leads to it directly.
    let mut direct: Vec<Option<P::Step>> = vec![None; tokens];
    let (mut best, mut total) = (None, 0.0);
    let highest = state
        .allowed()
        .map(|(slot, _)| score_at(&outlook.scores, slot))
        .try_fold(f32::NEG_INFINITY, |highest, score| score.map(|score| highest.max(score)))?;
    for (slot, step) in state.allowed() {
        let score = score_at(&outlook.scores, slot)?;
        total += f64::from(score - highest).exp();
        if score == highest && best.is_none() {
            best = Some((slot / P::KINDS, step));
        }
        if slot.is_multiple_of(P::KINDS) && slot / P::KINDS < tokens {
            direct[slot / P::KINDS] = Some(step);
        }
    }
    let (mut token, first) = best.expect("a state that is not finished allows a step");
    let (mut steps, mut probability) = (vec![first], 1.0 / total);
    let mut visited = vec![false; tokens];
    while token < tokens {
        visited[token] = true;
        let row = &outlook.successors[token * tokens..(token + 1) * tokens];
        let Some((next, share)) = likeliest(row, &visited) else { break };
        probability *= share;
        match direct[next] {
            Some(step) if probability >= least => steps.push(step),
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
