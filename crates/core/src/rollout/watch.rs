//! A greedy construction that shows what the policy said at every state.

use std::sync::Arc;

use super::beam::log_probabilities;
use super::construct::{Lane, candidates};
use super::look::{End, looks};
use super::stride::{Chain, chains};
use super::{Decoding, Options, Stride};
use crate::{Policy, PolicyError, Problem, Subproblem, random};

/// One look of a policy at a state.
pub struct Look<'a, P: Problem> {
    /// The whole state; the policy may have been shown a shortlist of it ([`Options::shortlist`]).
    pub state: &'a Subproblem<P>,
    /// The end at which these steps were scored: the one where the policy was surer ([`Stride::both_ends`]).
    pub end: End,
    /// The steps that were scored with their probabilities, the likeliest first.
    pub candidates: &'a [(P::Step, f64)],
    /// The steps that were taken, and where: one, or several if the policy was sure of them ([`Stride::follow`]).
    pub taken: &'a [(End, P::Step)],
}

/// Constructs a solution greedily and shows every look of the policy; the steps are those of [`solve`](super::solve) with
/// the same options. Decoding, augmentations and [`Stride::verified`] are ignored.
///
/// # Errors
/// When the policy fails, and [`PolicyError::Stopped`] at the deadline; what was shown until then remains valid.
pub fn watch<P: Problem>(
    policy: &dyn Policy<P>,
    instance: Arc<P::Instance>,
    options: &Options<'_>,
    show: &mut dyn FnMut(&Look<'_, P>),
) -> Result<Vec<P::Step>, PolicyError> {
    let stride = Stride { verified: false, ..options.stride };
    let options = Options { decoding: Decoding::Greedy, stride, ..*options };
    let mut lane = Lane::new(0, Subproblem::<P>::whole(instance), random(options.seed, &[]));
    while !lane.state.is_finished() {
        let looks = looks(policy, &[&lane.state], &options)?.remove(0);
        let Some(surest) = looks.first() else { return Err(PolicyError::Stopped) };
        let mut scored: Vec<(P::Step, f64)> =
            log_probabilities(candidates(surest.shown(&lane.state), &surest.outlook.scores)?)
                .into_iter()
                .map(|(step, log)| (step, log.exp()))
                .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable: ties stay in slot order
        let (before, mut taken) = (lane.state.clone(), Vec::new());
        for Chain { end, steps } in chains(&lane.state, &looks, options.stride.follow)? {
            let first = lane.at(end).len();
            lane.take(end, steps.into_iter().map(|(step, _)| step));
            taken.extend(lane.at(end)[first..].iter().map(|&step| (end, step)));
        }
        show(&Look { state: &before, end: surest.end, candidates: &scored, taken: &taken });
    }
    Ok(lane.into_steps())
}
