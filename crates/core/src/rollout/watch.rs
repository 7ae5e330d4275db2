//! A greedy construction that shows what the policy said at every state.

use std::sync::Arc;

use super::beam::log_probabilities;
use super::construct::{Lane, candidates};
use super::follow::likely_steps;
use super::{Decoding, Options};
use crate::{Policy, PolicyError, Problem, Subproblem, random};

/// One look of a policy at a state.
pub struct Look<'a, P: Problem> {
    /// The whole state; the policy may have been shown a shortlist of it ([`Options::shortlist`]).
    pub state: &'a Subproblem<P>,
    /// The steps that were scored with their probabilities, the likeliest first.
    pub candidates: &'a [(P::Step, f64)],
    /// The steps that were taken: one, or several if the policy was sure of them ([`Options::follow`]).
    pub taken: &'a [P::Step],
}

/// Constructs a solution greedily and shows every look of the policy; the steps are those of [`solve`](super::solve) with
/// the same options. Decoding and augmentations are ignored.
///
/// # Errors
/// When the policy fails, and [`PolicyError::Stopped`] at the deadline; what was shown until then remains valid.
pub fn watch<P: Problem>(
    policy: &dyn Policy<P>,
    instance: Arc<P::Instance>,
    options: &Options<'_>,
    show: &mut dyn FnMut(&Look<'_, P>),
) -> Result<Vec<P::Step>, PolicyError> {
    let options = Options { decoding: Decoding::Greedy, ..*options };
    let mut lane = Lane::new(0, Subproblem::<P>::whole(instance), random(options.seed, &[]));
    while !lane.state.is_finished() {
        if (options.stop)() {
            return Err(PolicyError::Stopped);
        }
        let cut = options.shortlist.map(|k| lane.state.shortlist(k));
        let shown = cut.as_ref().unwrap_or(&lane.state);
        let mut outlooks = match options.follow {
            Some(_) => policy.outlooks(&[shown])?,
            None => policy
                .scores(&[shown])?
                .into_iter()
                .map(|scores| crate::Outlook { scores, ..Default::default() })
                .collect(),
        };
        let outlook = outlooks.pop().unwrap_or_default();
        // Without successors, and so without `follow`, there is one likely step.
        let likely = likely_steps(shown, &outlook, options.follow.unwrap_or(1.0))?;
        let mut scored: Vec<(P::Step, f64)> = log_probabilities(candidates(shown, &outlook.scores)?)
            .into_iter()
            .map(|(step, log)| (step, log.exp()))
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable: ties stay in slot order
        let (before, first) = (lane.state.clone(), lane.steps.len());
        lane.take(&likely);
        show(&Look { state: &before, candidates: &scored, taken: &lane.steps[first..] });
    }
    Ok(lane.steps)
}
