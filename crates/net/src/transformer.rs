//! The paper's network (section 4), with or without graph convolutions.

use bqnco_core::Random;
use burn::module::{Module, Param};
use burn::tensor::module::linear;
use burn::tensor::{Device, Tensor};

use crate::gcn::{Adjacency, Convolution};
use crate::init::{constant, uniform, zeros};
use crate::layer::{Context, rms_norm};
use crate::{Batch, Config, Layer, Residual};

/// Embedding, layers, linear head.
#[derive(Module, Debug)]
pub struct Transformer {
    /// From inputs to tokens, and from tokens to scores.
    pub embed_and_head: EmbedAndHead,
    /// The layers, first to last.
    pub layers: Vec<Layer>,
    /// Graph convolutions: one before each layer, or none.
    pub convolutions: Vec<Convolution>,
    /// PreNorm: the gain of the last norm, `[dim]`.
    pub last_gain: Option<Param<Tensor<1>>>,
}

/// The first and the last linear map, the same in all architectures.
#[derive(Module, Debug)]
pub struct EmbedAndHead {
    /// Embedding of the features: `[features, dim]`.
    pub embed: Param<Tensor<2>>,
    /// `[dim]`.
    pub embed_bias: Param<Tensor<1>>,
    /// Vectors added to the origin and the destination: `[2, dim]`.
    pub roles: Param<Tensor<2>>,
    /// Embedding of the costs to and from origin and destination, if they are inputs: `[2 or 4, dim]`.
    pub end_costs: Option<Param<Tensor<2>>>,
    /// Embedding of the potentials and alpha values of an ascent, if they are inputs: `[3 or 4, dim]`.
    pub ascent: Option<Param<Tensor<2>>>,
    /// From tokens to scores: `[dim, kinds]`.
    pub head: Param<Tensor<2>>,
    /// `[kinds]`.
    pub head_bias: Param<Tensor<1>>,
}

impl EmbedAndHead {
    /// Random weights.
    pub fn new(config: &Config, random: &mut Random, device: &Device) -> Self {
        EmbedAndHead {
            embed: uniform([config.features, config.dim], config.features, random, device),
            embed_bias: uniform([config.dim], config.features, random, device),
            roles: uniform([2, config.dim], 1, random, device),
            // Zero, so that training that continues from a network without them starts with the same scores.
            end_costs: (config.n_end_costs() > 0).then(|| zeros([config.n_end_costs(), config.dim], device)),
            ascent: (config.ascent > 0).then(|| zeros([config.n_ascent(), config.dim], device)),
            head: uniform([config.dim, config.kinds], config.dim, random, device),
            head_bias: constant(vec![0.0; config.kinds], device),
        }
    }

    /// `[batch, tokens, width]` ([`Batch::inputs`]) to `[batch, tokens, dim]`.
    pub fn embed(&self, inputs: Tensor<3>) -> Tensor<3> {
        let mut weights = vec![self.embed.val(), self.roles.val()]; // in the order of the inputs
        weights.extend([&self.end_costs, &self.ascent].into_iter().flatten().map(|weights| weights.val()));
        linear(inputs, Tensor::cat(weights, 0), Some(self.embed_bias.val()))
    }

    /// [`EmbedAndHead::embed`] without the vectors of origin and destination.
    pub(crate) fn embed_features(&self, inputs: Tensor<3>) -> Tensor<3> {
        let features = self.embed.val().dims()[0];
        linear(inputs.narrow(2, 0, features), self.embed.val(), Some(self.embed_bias.val()))
    }

    /// Only the vectors of origin and destination.
    pub(crate) fn embed_roles(&self, inputs: Tensor<3>) -> Tensor<3> {
        let features = self.embed.val().dims()[0];
        linear(inputs.narrow(2, features, 2), self.roles.val(), None)
    }

    /// `[batch, tokens, dim]` to `[batch, tokens, kinds]`.
    pub fn score(&self, stream: Tensor<3>) -> Tensor<3> {
        linear(stream, self.head.val(), Some(self.head_bias.val()))
    }
}

impl Transformer {
    /// A network with random weights.
    pub fn new(config: &Config, random: &mut Random, device: &Device) -> Self {
        let graph = config.architecture == crate::Architecture::GcnTransformer;
        let n_convolutions = if graph { config.n_layers } else { 0 };
        Transformer {
            embed_and_head: EmbedAndHead::new(config, random, device),
            layers: (0..config.n_layers).map(|_| Layer::new(config, random, device)).collect(),
            convolutions: (0..n_convolutions).map(|_| Convolution::new(config, random, device)).collect(),
            last_gain: match config.residual {
                Residual::ReZero => None,
                Residual::PreNorm => Some(constant(vec![1.0; config.dim], device)),
            },
        }
    }

    /// The tokens before the head: `[batch, tokens, dim]`.
    pub fn encode(&self, batch: &Batch) -> Tensor<3> {
        let context = batch.context();
        let mut stream = self.embed_and_head.embed(batch.inputs.clone());
        let adjacency = if self.convolutions.is_empty() { None } else { Adjacency::new(&context, batch.tokens()) };
        let channels = self.layers.first().map_or(0, Layer::channels);
        let context = Context { costs: batch.costs.first_channels(channels), ..context };
        for (k, layer) in self.layers.iter().enumerate() {
            if let (Some(convolution), Some(adjacency)) = (self.convolutions.get(k), &adjacency) {
                stream = convolution.forward(stream, adjacency);
            }
            stream = layer.forward(stream, &context);
        }
        self.normed(stream)
    }

    /// From the stream after the last layer to the input of the head.
    pub(crate) fn normed(&self, stream: Tensor<3>) -> Tensor<3> {
        match &self.last_gain {
            None => stream,
            Some(gain) => rms_norm(stream, gain.val()),
        }
    }
}
