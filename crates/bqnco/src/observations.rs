//! Batches of observations as plain arrays: what policies outside the library see.

use bqnco_core::{Costs, Frame, Observation, Observe, Relations, Subproblem};
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

/// What is written of one observation: its number of tokens, and how they are related.
pub(crate) type Row = (usize, Relations);

impl ObservationBatch {
    /// The observations of some states, padded to the longest of them, or to `tokens` if that is more.
    pub fn of<P: Observe>(states: &[&Subproblem<P>], frame: Frame, tokens: usize) -> Self {
        let longest = states.iter().map(|state| state.tokens()).max().unwrap_or(0);
        let mut batch = Self::empty::<P>(longest.max(tokens));
        batch.fill(states.par_iter(), |state, features, mask| observe(state, frame, features, mask));
        batch
    }

    /// No observations, of at most so many tokens.
    pub(crate) fn empty<P: Observe>(tokens: usize) -> Self {
        ObservationBatch {
            width: P::FEATURES,
            kinds: P::KINDS,
            tokens,
            lengths: Vec::new(),
            features: Vec::new(),
            origins: Vec::new(),
            destinations: Vec::new(),
            costs: Costs::None,
            mask: Vec::new(),
        }
    }

    /// Replaces all observations by those of some states, in the memory that is there. `write` sets the features of all
    /// tokens of a state and the slots of its allowed steps.
    pub(crate) fn fill<T: Send>(
        &mut self,
        states: impl IndexedParallelIterator<Item = T>,
        write: impl Fn(T, &mut [f32], &mut [bool]) -> Row + Sync,
    ) {
        let (count, width, size, slots) = (states.len(), self.width, self.tokens * self.width, self.slots());
        // Without tokens there is nothing to write, but still a row per state.
        self.features.resize(count * size.max(1), 0.0);
        self.mask.resize(count * slots.max(1), false);
        let room = self.features.par_chunks_mut(size.max(1)).zip(self.mask.par_chunks_mut(slots.max(1)));
        let padded = |((features, mask), state): ((&mut [f32], &mut [bool]), T)| {
            pad(features, mask, width, |features, mask| write(state, features, mask))
        };
        let rows: Vec<Row> = room.zip(states).with_min_len(STATES_PER_TASK).map(padded).collect();
        self.features.truncate(count * size);
        self.mask.truncate(count * slots);
        self.lengths.resize(count, 0);
        self.origins.resize(count, None);
        self.destinations.resize(count, None);
        rows.into_iter().enumerate().for_each(|(index, row)| self.relate(index, row));
    }

    /// Replaces one observation, as [`ObservationBatch::fill`] replaces all.
    pub(crate) fn replace(&mut self, index: usize, write: impl FnOnce(&mut [f32], &mut [bool]) -> Row) {
        let (width, size, slots) = (self.width, self.tokens * self.width, self.slots());
        let features = &mut self.features[index * size..][..size];
        let row = pad(features, &mut self.mask[index * slots..][..slots], width, write);
        self.relate(index, row);
    }

    /// Notes how the tokens of an observation are related. All observations have the same kind of costs.
    fn relate(&mut self, index: usize, (tokens, relations): Row) {
        self.lengths[index] = tokens;
        self.origins[index] = relations.origin;
        self.destinations[index] = relations.destination;
        let size = self.tokens * self.tokens;
        if matches!(relations.costs, Costs::Matrix(_)) && !matches!(self.costs, Costs::Matrix(_)) {
            self.costs = Costs::Matrix(vec![0.0; self.lengths.len() * size]);
        }
        match &mut self.costs {
            Costs::None => self.costs = relations.costs,
            Costs::Planar => {}
            Costs::Matrix(all) => pad_costs(&mut all[index * size..][..size], self.tokens, tokens, &relations.costs),
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

/// Writes the features of a state and the slots of its allowed steps.
pub(crate) fn observe<P: Observe>(state: &Subproblem<P>, frame: Frame, features: &mut [f32], mask: &mut [bool]) -> Row {
    let tokens = state.tokens();
    state.allowed().for_each(|(slot, _)| mask[slot] = true);
    (tokens, state.observe_into(frame, &mut features[..tokens * P::FEATURES]))
}

/// Lets an observation be written, and clears what is padding.
fn pad(
    features: &mut [f32],
    mask: &mut [bool],
    width: usize,
    write: impl FnOnce(&mut [f32], &mut [bool]) -> Row,
) -> Row {
    mask.fill(false);
    let (tokens, relations) = write(features, mask);
    features[tokens * width..].fill(0.0);
    (tokens, relations)
}

/// Copies a matrix for `own` tokens into one for `tokens`; other costs are none.
fn pad_costs(padded: &mut [f32], tokens: usize, own: usize, costs: &Costs) {
    padded.fill(0.0);
    if let Costs::Matrix(matrix) = costs {
        let rows = padded.chunks_mut(tokens.max(1)).zip(matrix.chunks(own.max(1)));
        rows.for_each(|(to, row)| to[..own].copy_from_slice(row));
    }
}
