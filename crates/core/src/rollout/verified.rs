//! Greedy constructions in fewer passes one after the other: the steps that the policy expects are verified in one batch.

use super::construct::{Lane, deliver, highest};
use super::look::looks;
use super::stride::likely_steps;
use super::{Finished, Options};
use crate::{Outlook, Policy, PolicyError, Problem, Subproblem};

/// A construction whose state has been scored.
struct Scored<P: Problem> {
    lane: Lane<P>,
    shown: Subproblem<P>,
    outlook: Outlook,
}

/// As [`super::construct::run`], with exactly the same solutions as one step at a time.
pub(super) fn run<P: Problem>(
    policy: &dyn Policy<P>,
    lanes: Vec<Lane<P>>,
    options: &Options<'_>,
    finished: Finished<'_, P>,
) -> Result<Vec<Lane<P>>, PolicyError> {
    let lanes = deliver(lanes, finished);
    let states: Vec<&Subproblem<P>> = lanes.iter().map(|lane| &lane.state).collect();
    let scored = match score(policy, &states, options) {
        Err(PolicyError::Stopped) => return Ok(lanes),
        scored => scored?,
    };
    let scored = lanes.into_iter().zip(scored);
    let mut under_way: Vec<_> = scored.map(|(lane, (shown, outlook))| Scored { lane, shown, outlook }).collect();
    while !under_way.is_empty() && !(options.stop)() {
        match round(policy, &mut under_way, options) {
            Err(PolicyError::Stopped) => break,
            done => done?,
        }
        let (ended, rest): (Vec<_>, Vec<_>) = under_way.into_iter().partition(|scored| scored.lane.state.is_finished());
        deliver(ended.into_iter().map(|scored| scored.lane).collect(), finished);
        under_way = rest;
    }
    Ok(under_way.into_iter().map(|scored| scored.lane).collect())
}

/// Takes at least one step in every construction.
fn round<P: Problem>(
    policy: &dyn Policy<P>,
    under_way: &mut [Scored<P>],
    options: &Options<'_>,
) -> Result<(), PolicyError> {
    let mut expected = Vec::with_capacity(under_way.len()); // steps and the states after them, per construction
    for scored in &*under_way {
        let chain = likely_steps(&scored.shown, &scored.outlook, options.stride.follow)?;
        let mut state = scored.lane.state.clone();
        let mut path = Vec::with_capacity(chain.len());
        for (step, _) in chain {
            if !path.is_empty() && !state.allowed().any(|(_, allowed)| allowed == step) {
                break;
            }
            state.take(step);
            path.push((step, state.clone()));
        }
        expected.push(path);
    }
    let open = |path: &Vec<(P::Step, Subproblem<P>)>| path.iter().filter(|(_, state)| !state.is_finished()).count();
    let counts: Vec<usize> = expected.iter().map(open).collect();
    let states: Vec<&Subproblem<P>> =
        expected.iter().zip(&counts).flat_map(|(path, &count)| path[..count].iter().map(|(_, state)| state)).collect();
    let mut answers = score(policy, &states, options)?.into_iter();
    for ((scored, path), count) in under_way.iter_mut().zip(expected).zip(counts) {
        let answers: Vec<_> = answers.by_ref().take(count).collect();
        scored.keep_agreed(path, answers)?;
    }
    Ok(())
}

impl<P: Problem> Scored<P> {
    /// Takes the expected steps up to the first at which the policy, asked there, prefers another one.
    fn keep_agreed(
        &mut self,
        path: Vec<(P::Step, Subproblem<P>)>,
        answers: Vec<(Subproblem<P>, Outlook)>,
    ) -> Result<(), PolicyError> {
        let mut answers = answers.into_iter();
        let mut preferred = None;
        for (step, state) in path {
            if preferred.is_some_and(|preferred| preferred != step) {
                break;
            }
            self.lane.steps.push(step);
            self.lane.state = state;
            if let Some((shown, outlook)) = answers.next() {
                preferred = Some(highest(&shown, &outlook.scores)?);
                (self.shown, self.outlook) = (shown, outlook);
            }
        }
        Ok(())
    }
}

/// What the policy says about states, with what it was shown of them.
fn score<P: Problem>(
    policy: &dyn Policy<P>,
    states: &[&Subproblem<P>],
    options: &Options<'_>,
) -> Result<Vec<(Subproblem<P>, Outlook)>, PolicyError> {
    let answers = looks(policy, states, options)?.into_iter().zip(states);
    Ok(answers
        .flat_map(|(looks, state)| looks.into_iter().map(|look| (look.shown(state).clone(), look.outlook)))
        .collect())
}
