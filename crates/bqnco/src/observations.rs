//! Batches of observations as plain arrays: what policies outside the library see.

use bqnco_core::{Costs, Frame, Observation, Observe, Subproblem};
use rayon::prelude::*;

/// Observations of several states with the steps that are allowed there, padded to the same number of tokens.
///
/// A step has a slot, `token * kinds + kind`; a policy gives every slot a score.
///
/// ```
/// use std::sync::Arc;
///
/// use bqnco::ObservationBatch;
/// use bqnco::core::{Frame, Generate, Subproblem, random};
/// use bqnco::problems::Tsp;
///
/// let states = [3, 5].map(|size| Subproblem::<Tsp>::whole(Arc::new(Tsp::generate(size, &mut random(0, &[])))));
/// let batch = ObservationBatch::of(&states.each_ref(), Frame::Instance, 0);
/// assert_eq!((batch.len(), batch.tokens, &batch.lengths[..]), (2, 6, &[4, 6][..])); // both ends of a tour are tokens
/// assert_eq!(batch.mask[..6], [false, true, true, false, false, false]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationBatch {
    /// Features per token ([`Observe::FEATURES`]).
    pub width: usize,
    /// Scores per token ([`Problem::KINDS`](bqnco_core::Problem::KINDS)).
    pub kinds: usize,
    /// Tokens of every observation, with padding.
    pub tokens: usize,
    /// Tokens of each observation, without padding.
    pub lengths: Vec<usize>,
    /// `[batch, tokens, width]`; padding is zero.
    pub features: Vec<f32>,
    /// The token of the current position of each observation.
    pub origins: Vec<Option<usize>>,
    /// The token where the construction of each observation must end.
    pub destinations: Vec<Option<usize>>,
    /// Costs between tokens; those of a matrix are `[batch, tokens, tokens]`, padding is zero.
    pub costs: Costs,
    /// Whether a step is allowed: `[batch, tokens * kinds]`; padding is not.
    pub mask: Vec<bool>,
}

/// States per task of a thread: one takes about a microsecond.
pub(crate) const STATES_PER_TASK: usize = 128;

/// An observation and the slots of the allowed steps.
pub(crate) type Seen = (Observation, Vec<usize>);

impl ObservationBatch {
    /// The observations of some states, padded to the longest of them, or to `tokens` if that is more.
    pub fn of<P: Observe>(states: &[&Subproblem<P>], frame: Frame, tokens: usize) -> Self {
        let see = |state: &&Subproblem<P>| (state.observe(frame), state.allowed().map(|(slot, _)| slot).collect());
        Self::pack::<P>(&states.par_iter().with_min_len(STATES_PER_TASK).map(see).collect::<Vec<Seen>>(), tokens)
    }

    pub(crate) fn pack<P: Observe>(seen: &[Seen], tokens: usize) -> Self {
        let (width, kinds) = (P::FEATURES, P::KINDS);
        let tokens = seen.iter().map(|(observation, _)| observation.tokens).max().unwrap_or(0).max(tokens);
        let (slots, size) = (tokens * kinds, tokens * width);
        let mut features = vec![0.0; seen.len() * size];
        let mut mask = vec![false; seen.len() * slots];
        let rows = features.par_chunks_mut(size.max(1)).zip(mask.par_chunks_mut(slots.max(1)));
        rows.zip(seen).with_min_len(STATES_PER_TASK).for_each(|((features, mask), (observation, allowed))| {
            features[..observation.features.len()].copy_from_slice(&observation.features);
            allowed.iter().for_each(|&slot| mask[slot] = true);
        });
        let all = || seen.iter().map(|(observation, _)| observation);
        ObservationBatch {
            width,
            kinds,
            tokens,
            lengths: all().map(|observation| observation.tokens).collect(),
            features,
            origins: all().map(|observation| observation.origin).collect(),
            destinations: all().map(|observation| observation.destination).collect(),
            costs: costs(&all().collect::<Vec<_>>(), tokens),
            mask,
        }
    }

    /// Number of observations.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Slots of every observation, with padding.
    pub fn slots(&self) -> usize {
        self.tokens * self.kinds
    }

    /// The observations without padding, as input of a [`Network`](bqnco_net::Network).
    pub fn observations(&self) -> Vec<Observation> {
        let observation = |(k, &tokens): (usize, &usize)| Observation {
            tokens,
            features: self.features[k * self.tokens * self.width..][..tokens * self.width].to_vec(),
            origin: self.origins[k],
            destination: self.destinations[k],
            costs: match &self.costs {
                Costs::Matrix(padded) => {
                    let rows = padded.chunks(self.tokens.max(1)).skip(k * self.tokens).take(tokens);
                    Costs::Matrix(rows.flat_map(|row| &row[..tokens]).copied().collect())
                }
                other => other.clone(),
            },
        };
        self.lengths.iter().enumerate().map(observation).collect()
    }
}

/// The costs of all observations, which have the same kind, padded.
fn costs(seen: &[&Observation], tokens: usize) -> Costs {
    if !seen.iter().any(|observation| matches!(observation.costs, Costs::Matrix(_))) {
        return seen.iter().find(|one| one.tokens > 0).map_or(Costs::None, |one| one.costs.clone());
    }
    let mut padded = vec![0.0; seen.len() * tokens * tokens];
    for (to, observation) in padded.chunks_mut(tokens * tokens).zip(seen) {
        if let Costs::Matrix(matrix) = &observation.costs {
            let rows = matrix.chunks(observation.tokens.max(1));
            to.chunks_mut(tokens).zip(rows).for_each(|(to, row)| to[..row.len()].copy_from_slice(row));
        }
    }
    Costs::Matrix(padded)
}
