//! Observations of several states as tensors.

use std::borrow::Cow;
use std::sync::Arc;

use bqnco_core::{Costs, Observation};
use bqnco_kernels::{ProductPrecision, parallel};
use burn::tensor::{Device, Tensor, TensorData};

use crate::ascent::Ascent;
use crate::layer::Context;
use crate::{Config, CostBias, NetError};

/// Observations padded to the longest. Networks ignore the padding.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Features, 1 at the origin, 1 at the destination, then what the network takes of the costs to and from both, and of
    /// an ascent: `[batch, tokens, width]`.
    pub inputs: Tensor<3>,
    /// Costs between tokens, as the network takes them.
    pub costs: BatchCosts,
    /// Tokens of each observation, without padding.
    pub lengths: Arc<[usize]>,
    /// ProductPrecision of the layers' matrix products where no gradients are needed.
    pub precision: ProductPrecision,
}

/// Costs between the tokens of a [`Batch`].
#[derive(Clone, Debug)]
pub enum BatchCosts {
    /// The network does not use them, or there are none.
    None,
    /// Coordinates, whose Euclidean distances are the costs: `[batch, tokens, 2]`.
    Planar(Tensor<3>),
    /// Matrices, one per channel (costs forward, costs backward, then alpha values in the same directions): `[batch,
    /// channels, tokens, tokens]`.
    Matrix(Tensor<4>),
}

impl Batch {
    /// Pads observations to tensors.
    ///
    /// # Errors
    /// When the sizes of an observation contradict each other or the network.
    pub fn new(config: &Config, observations: &[Observation], device: &Device) -> Result<Self, NetError> {
        for (index, observation) in observations.iter().enumerate() {
            check(config, index, observation)?;
        }
        let tokens = observations.iter().map(|o| o.tokens).max().unwrap_or(0);
        let width = config.width();
        let ascents = ascents(config, observations);
        let mut inputs = vec![0.0; observations.len() * tokens * width];
        for (k, (rows, observation)) in inputs.chunks_mut((tokens * width).max(1)).zip(observations).enumerate() {
            let features = observation.features.chunks(config.features.max(1));
            for (row, features) in rows.chunks_mut(width).zip(features) {
                row[..features.len()].copy_from_slice(features);
            }
            for (role, token) in [observation.origin, observation.destination].into_iter().enumerate() {
                if let Some(token) = token {
                    rows[token * width + config.features + role] = 1.0;
                }
            }
            for (token, row) in rows.chunks_mut(width).take(observation.tokens).enumerate() {
                let (ends, of_ascent) = row[config.features + 2..].split_at_mut(config.n_end_costs());
                end_costs(observation, config.features, token, ends);
                if let Some(ascent) = ascents.get(k) {
                    fill_from_ascent(ascent, observation, token, of_ascent);
                }
            }
        }
        let shape = [observations.len(), tokens, width];
        Ok(Batch {
            inputs: Tensor::from_data(TensorData::new(inputs, shape), device),
            costs: costs(config, observations, &ascents, tokens, device),
            lengths: observations.iter().map(|o| o.tokens).collect(),
            precision: ProductPrecision::F32,
        })
    }

    /// What the layers need to know about it.
    pub(crate) fn context(&self) -> Context {
        Context { lengths: self.lengths.clone(), costs: self.costs.clone(), precision: self.precision }
    }

    /// Number of observations.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// True when there is nothing to score.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Tokens of the longest observation.
    pub fn tokens(&self) -> usize {
        self.inputs.dims()[1]
    }
}

fn check(config: &Config, index: usize, observation: &Observation) -> Result<(), NetError> {
    let tokens = observation.tokens;
    let require = |what, expected, found| match expected == found {
        true => Ok(()),
        false => Err(NetError::BadObservation { index, what, expected, found }),
    };
    require("features", tokens * config.features, observation.features.len())?;
    for token in [observation.origin, observation.destination].into_iter().flatten() {
        if token >= tokens {
            return Err(NetError::BadObservation {
                index,
                what: "as the number of a token",
                expected: tokens,
                found: token,
            });
        }
    }
    match &observation.costs {
        Costs::Matrix(matrix) => require("costs", tokens * tokens, matrix.len()),
        Costs::Planar if config.features < 2 => require("features to take coordinates from", 2, config.features),
        Costs::Planar | Costs::None => Ok(()),
    }
}

/// The ascents over the observations, if the network takes them.
fn ascents(config: &Config, observations: &[Observation]) -> Vec<Ascent> {
    if config.ascent == 0 {
        return Vec::new();
    }
    let directed = config.costs == CostBias::BothWays;
    parallel::map(observations, |o| Ascent::new(config.ascent, directed, o, &cost_matrix(o, config.features)))
}

fn costs(
    config: &Config,
    observations: &[Observation],
    ascents: &[Ascent],
    tokens: usize,
    device: &Device,
) -> BatchCosts {
    let channels = match config.architecture {
        crate::Architecture::GcnTransformer => 2,
        _ => config.channels(),
    };
    let matrices = observations.iter().any(|o| matches!(o.costs, Costs::Matrix(_))) || channels > 1;
    let any = observations.iter().any(|o| o.costs != Costs::None);
    if channels == 0 || !any {
        return BatchCosts::None;
    }
    if !matrices && observations.iter().all(|o| o.costs == Costs::Planar) {
        debug_assert_eq!(config.costs, CostBias::Forward, "one channel");
        let mut coordinates = vec![0.0; observations.len() * tokens * 2];
        for (rows, o) in coordinates.chunks_mut((tokens * 2).max(1)).zip(observations) {
            for (point, features) in rows.chunks_mut(2).zip(o.features.chunks(config.features)) {
                point.copy_from_slice(&features[..2]);
            }
        }
        return BatchCosts::Planar(Tensor::from_data(
            TensorData::new(coordinates, [observations.len(), tokens, 2]),
            device,
        ));
    }
    let mut matrices = vec![0.0; observations.len() * channels * tokens * tokens];
    let directions = config.costs.channels();
    for (k, (all, o)) in matrices.chunks_mut((channels * tokens * tokens).max(1)).zip(observations).enumerate() {
        let costs = cost_matrix(o, config.features);
        for (channel, matrix) in all.chunks_mut((tokens * tokens).max(1)).enumerate() {
            match ascents.get(k) {
                Some(ascent) if channel >= directions => {
                    fill(matrix, tokens, o.tokens, &ascent.alphas, channel > directions);
                    matrix.iter_mut().for_each(|alpha| *alpha *= ALPHA_WEIGHT);
                }
                _ => fill(matrix, tokens, o.tokens, &costs, channel == 1),
            }
        }
    }
    let shape = [observations.len(), channels, tokens, tokens];
    BatchCosts::Matrix(Tensor::from_data(TensorData::new(matrices, shape), device))
}

/// The costs of an observation, `[tokens, tokens]`.
fn cost_matrix(o: &Observation, features: usize) -> Cow<'_, [f32]> {
    match &o.costs {
        Costs::Matrix(given) => given.into(),
        Costs::Planar => {
            let axis = |axis: usize| -> Vec<f32> { o.features.iter().skip(axis).step_by(features).copied().collect() };
            let (xs, ys) = (axis(0), axis(1));
            let mut costs = Vec::with_capacity(o.tokens * o.tokens);
            for (x0, y0) in xs.iter().zip(&ys) {
                costs.extend(xs.iter().zip(&ys).map(|(x, y)| ((x - x0) * (x - x0) + (y - y0) * (y - y0)).sqrt()));
            }
            costs.into()
        }
        Costs::None => vec![0.0; o.tokens * o.tokens].into(),
    }
}

/// Writes costs into a padded matrix; `backward`: from column to row.
fn fill(matrix: &mut [f32], stride: usize, tokens: usize, costs: &[f32], backward: bool) {
    for (i, row) in matrix.chunks_mut(stride).take(tokens).enumerate() {
        if backward {
            row.iter_mut().zip(costs.iter().skip(i).step_by(tokens)).for_each(|(to, cost)| *to = *cost);
        } else {
            row[..tokens].copy_from_slice(&costs[i * tokens..][..tokens]);
        }
    }
}

/// Weight of an alpha value in the scores where a head's weight is one: the smaller, the higher the score. Weights start at
/// zero and move little.
const ALPHA_WEIGHT: f32 = -2.0;

/// Writes the potentials of a token and its alpha values with the ends.
fn fill_from_ascent(ascent: &Ascent, o: &Observation, token: usize, to: &mut [f32]) {
    let alpha = |from: Option<usize>, to: Option<usize>| match (from, to) {
        (Some(from), Some(to)) if from != to => ascent.alphas[from * o.tokens + to],
        _ => 0.0,
    };
    let with_ends = [alpha(o.origin, Some(token)), alpha(Some(token), o.destination)];
    let numbers = ascent.potentials.iter().map(|potentials| potentials[token]).chain(with_ends);
    to.iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
}

/// Writes the costs from the origin and to the destination and, if `to` has room for four, those in the other
/// direction.
fn end_costs(o: &Observation, features: usize, token: usize, to: &mut [f32]) {
    let (origin, destination) = (o.origin.unwrap_or(token), o.destination.unwrap_or(token));
    let pairs = [(origin, token), (token, destination), (token, origin), (destination, token)];
    to.iter_mut().zip(pairs).for_each(|(to, (from, target))| *to = cost(o, features, from, target));
}

fn cost(o: &Observation, features: usize, from: usize, to: usize) -> f32 {
    match &o.costs {
        Costs::Matrix(given) => given[from * o.tokens + to],
        Costs::Planar => {
            let point = |token: usize| (o.features[token * features], o.features[token * features + 1]);
            let ((x0, y0), (x1, y1)) = (point(from), point(to));
            (x0 - x1).hypot(y0 - y1)
        }
        Costs::None => 0.0,
    }
}
