//! Graph convolutions weighted by the cost matrix (paper, section 4, the network for the ATSP).

use bqnco_core::Random;
use burn::module::{Module, Param};
use burn::tensor::activation::{relu, softmax};
use burn::tensor::{Device, Tensor};

use crate::init::{constant, uniform};
use crate::layer::{Context, cost_tensor, padding};
use crate::{Config, NetError};

/// A convolution over outgoing and incoming edges, added to the stream with a learned factor.
#[derive(Module, Debug)]
pub struct Convolution {
    /// Weights for outgoing neighbours, incoming neighbours and the token itself: `[3 * dim, dim]`.
    pub weights: Param<Tensor<2>>,
    /// `[dim]`.
    pub bias: Param<Tensor<1>>,
    /// Factor of the convolution in the stream: `[1]`.
    pub alpha: Param<Tensor<1>>,
}

/// Edge weights of a batch: rows sum to one, cheap edges have large weights.
pub struct Adjacency {
    outgoing: Tensor<3>, // [batch, tokens, tokens]
    incoming: Tensor<3>, // [batch, tokens, tokens]
}

impl Adjacency {
    /// The softmax of negated costs, which are standardised row by row. `None` if the batch has no costs.
    pub fn new(context: &Context, tokens: usize) -> Option<Self> {
        let costs = cost_tensor(&context.costs)?; // [batch, 2, tokens, tokens]
        let device = costs.device();
        let padding = padding(context, tokens, &device).map(|mask| {
            let [batch, ..] = costs.dims();
            mask.expand([batch, 2, tokens, tokens])
        });
        let counts: Vec<f32> = context.lengths.iter().map(|&n| n.max(1) as f32).collect();
        let counts = Tensor::<1>::from_floats(counts.as_slice(), &device).reshape([-1, 1, 1, 1]);
        let hide = |tensor: Tensor<4>, value: f32| match &padding {
            None => tensor,
            Some(mask) => tensor.mask_fill(mask.clone(), value),
        };
        let mean = hide(costs.clone(), 0.0).sum_dim(3) / counts.clone();
        let centred = hide(costs - mean, 0.0);
        let deviation = (centred.clone().square().sum_dim(3) / counts).sqrt() + 1e-6;
        let weights = softmax(hide(-centred / deviation, f32::MIN / 2.0), 3);
        let channel = |k: usize| weights.clone().narrow(1, k, 1).squeeze_dim(1);
        Some(Adjacency { outgoing: channel(0), incoming: channel(1) })
    }
}

impl Convolution {
    /// A convolution with random weights that starts with a small effect: a factor of 0.1.
    pub fn new(config: &Config, random: &mut Random, device: &Device) -> Self {
        Convolution {
            weights: uniform([3 * config.dim, config.dim], 3 * config.dim, random, device),
            bias: constant(vec![0.0; config.dim], device),
            alpha: constant(vec![0.1], device),
        }
    }

    /// `[batch, tokens, dim]` to the same.
    pub fn forward(&self, stream: Tensor<3>, adjacency: &Adjacency) -> Tensor<3> {
        let outgoing = adjacency.outgoing.clone().matmul(stream.clone());
        let incoming = adjacency.incoming.clone().matmul(stream.clone());
        let around = Tensor::cat(vec![outgoing, incoming, stream.clone()], 2); // [batch, tokens, 3 * dim]
        let mixed = relu(around.matmul(self.weights.val().unsqueeze()) + self.bias.val().unsqueeze());
        stream + mixed * self.alpha.val().unsqueeze()
    }
}

/// Refuses observations without costs.
pub(crate) fn require_costs(observations: &[bqnco_core::Observation]) -> Result<(), NetError> {
    match observations.iter().position(|o| o.costs == bqnco_core::Costs::None) {
        Some(index) => Err(NetError::NoCosts { index, architecture: "gcn-transformer" }),
        None => Ok(()),
    }
}
