//! Looks at states: what a policy is shown of them, from one end or from both, and what it answers.

use super::Options;
use super::construct::score_at;
use crate::{Outlook, Policy, PolicyError, Problem, Subproblem};

/// The end of the remaining path at which a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After the current position.
    Front,
    /// Before the destination.
    Back,
}

/// A look at a state from one of its ends.
pub(super) struct Look<P: Problem> {
    pub end: End,
    shown: Option<Subproblem<P>>, // what the policy saw; `None`: the state itself
    pub outlook: Outlook,
    pub for_both_ends: bool, // its successors tell of the other end, too
}

impl<P: Problem> Look<P> {
    /// What the policy saw of a state.
    pub fn shown<'a>(&'a self, state: &'a Subproblem<P>) -> &'a Subproblem<P> {
        self.shown.as_ref().unwrap_or(state)
    }

    /// The probability of the likeliest step.
    pub fn certainty(&self, state: &Subproblem<P>) -> Result<f64, PolicyError> {
        let (mut highest, mut total) = (f32::NEG_INFINITY, 0.0);
        for (slot, _) in self.shown(state).allowed() {
            let score = score_at(&self.outlook.scores, slot)?;
            if score > highest {
                total *= f64::from(highest - score).exp();
                highest = score;
            }
            total += if score == highest { 1.0 } else { f64::from(score - highest).exp() };
        }
        Ok(1.0 / total)
    }
}

/// Looks at every state, from both ends if the options say so and the state can be reversed: the surer end first. One look
/// is enough if the policy knows successors and sees the whole state.
pub(super) fn looks<P: Problem>(
    policy: &dyn Policy<P>,
    states: &[&Subproblem<P>],
    options: &Options<'_>,
) -> Result<Vec<Vec<Look<P>>>, PolicyError> {
    let mut views = Vec::with_capacity(states.len());
    for (index, state) in states.iter().enumerate() {
        if (options.stop)() {
            return Err(PolicyError::Stopped); // shortlists of many states of a large instance take a while
        }
        let front = options.shortlist.map(|k| state.cut_to(k, policy.cut()));
        let back = options.stride.both_ends.then(|| state.reversed()).flatten();
        let is_whole = front.as_ref().is_none_or(|shown| shown.tail() == state.tail());
        let for_both_ends = back.is_some() && is_whole && options.looks_ahead() && policy.knows_successors();
        views.push((index, End::Front, front, for_both_ends));
        if let Some(back) = back.filter(|_| !for_both_ends) {
            let shown = options.shortlist.map_or_else(|| back.clone(), |k| back.cut_to(k, policy.cut()));
            views.push((index, End::Back, Some(shown), false));
        }
    }
    let shown: Vec<&Subproblem<P>> =
        views.iter().map(|(index, _, shown, _)| shown.as_ref().unwrap_or(states[*index])).collect();
    let outlooks = if options.looks_ahead() {
        policy.outlooks(&shown)?
    } else {
        policy.scores(&shown)?.into_iter().map(Outlook::of_scores).collect()
    };
    let mut looks: Vec<Vec<Look<P>>> = states.iter().map(|_| Vec::new()).collect();
    for ((index, end, shown, for_both_ends), outlook) in views.into_iter().zip(outlooks) {
        looks[index].push(Look { end, shown, outlook, for_both_ends });
    }
    for (looks, state) in looks.iter_mut().zip(states) {
        if looks.len() == 2 && looks[1].certainty(state)? > looks[0].certainty(state)? {
            looks.swap(0, 1);
        }
    }
    Ok(looks)
}
