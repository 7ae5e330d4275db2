//! A greedy construction that shows what the policy said at every state.

use std::sync::Arc;

use super::beam::log_probabilities;
use super::construct::{Lane, candidates};
use super::look::{End, looks};
use super::stride::likely_steps;
use super::{Decoding, Options, Stride};
use crate::{Policy, PolicyError, Problem, Subproblem, random};

/// One look of a policy at a state.
pub struct Look<'a, P: Problem> {
    /// The whole state; the policy may have been shown a shortlist of it ([`Options::shortlist`]).
    pub state: &'a Subproblem<P>,
    /// The steps that were scored with their probabilities, the likeliest first.
    pub candidates: &'a [(P::Step, f64)],
    /// The steps that were taken: one, or several if the policy was sure of them ([`Stride::follow`]).
    pub taken: &'a [P::Step],
}

/// Constructs a solution greedily and shows every look of the policy; the steps are those of [`solve`](super::solve) with
/// the same options at one end. Decoding and augmentations are ignored.
///
/// # Errors
/// When the policy fails, and [`PolicyError::Stopped`] at the deadline; what was shown until then remains valid.
pub fn watch<P: Problem>(
    policy: &dyn Policy<P>,
    instance: Arc<P::Instance>,
    options: &Options<'_>,
    show: &mut dyn FnMut(&Look<'_, P>),
) -> Result<Vec<P::Step>, PolicyError> {
    let stride = Stride { verified: false, both_ends: false, ..options.stride };
    let options = Options { decoding: Decoding::Greedy, stride, ..*options };
    let mut lane = Lane::new(0, Subproblem::<P>::whole(instance), random(options.seed, &[]));
    while !lane.state.is_finished() {
        let look = looks(policy, &[&lane.state], &options)?.into_iter().flatten().next();
        let Some(look) = look else { return Err(PolicyError::Stopped) };
        let (shown, outlook) = (look.shown(&lane.state), &look.outlook);
        let likely = likely_steps(shown, outlook, options.stride.follow)?;
        let mut scored: Vec<(P::Step, f64)> = log_probabilities(candidates(shown, &outlook.scores)?)
            .into_iter()
            .map(|(step, log)| (step, log.exp()))
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable: ties stay in slot order
        let (before, first) = (lane.state.clone(), lane.steps.len());
        lane.take(End::Front, likely.into_iter().map(|(step, _)| step));
        show(&Look { state: &before, candidates: &scored, taken: &lane.steps[first..] });
    }
    Ok(lane.steps)
}
