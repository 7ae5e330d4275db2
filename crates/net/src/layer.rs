//! The transformer layer: attention and feed-forward block, each added to the residual stream.

use bqnco_core::Random;
use bqnco_kernels::{NORM_EPSILON, ProductPrecision};
use burn::module::{Module, Param};
use burn::tensor::activation::{relu, softmax};
use burn::tensor::module::linear;
use burn::tensor::{Bool, Device, Tensor, TensorData};
use std::iter::repeat_n;
use std::sync::Arc;

use crate::init::{constant, uniform};
use crate::{BatchCosts, Config, CostBias, Residual, fused};

/// One layer of the encoder. Attention has no bias on queries, keys and values: on keys it has no effect, on values it
/// is part of `out_bias`.
#[derive(Module, Debug)]
pub struct Layer {
    /// Queries, keys, values, heads side by side in each: `[dim, 3 * dim]`.
    pub qkv: Param<Tensor<2>>,
    /// From the heads back to the stream: `[dim, dim]`.
    pub out: Param<Tensor<2>>,
    /// `[dim]`.
    pub out_bias: Param<Tensor<1>>,
    /// The feed-forward block.
    pub feed_forward: FeedForward,
    /// ReZero: the two alphas, `[2]`. PreNorm: the gains of the two norms, `[2 * dim]`.
    pub residual_params: Param<Tensor<1>>,
    /// Weights of the costs and alpha values in the attention scores, by head, then channel: `[n_heads * channels]`.
    pub cost_weights: Option<Param<Tensor<1>>>,
    #[module(skip)]
    shape: LayerShape,
    #[module(skip)]
    packed: fused::PackedCache,
}

/// Two linear maps with a ReLU in between.
#[derive(Module, Debug)]
pub struct FeedForward {
    /// `[dim, dim_ff]`.
    pub up: Param<Tensor<2>>,
    /// `[dim_ff]`.
    pub up_bias: Param<Tensor<1>>,
    /// `[dim_ff, dim]`.
    pub down: Param<Tensor<2>>,
    /// `[dim]`.
    pub down_bias: Param<Tensor<1>>,
}

impl FeedForward {
    /// A block with random weights.
    pub(crate) fn new(dim: usize, dim_ff: usize, random: &mut Random, device: &Device) -> Self {
        FeedForward {
            up: uniform([dim, dim_ff], dim, random, device),
            up_bias: uniform([dim_ff], dim, random, device),
            down: uniform([dim_ff, dim], dim_ff, random, device),
            down_bias: uniform([dim], dim_ff, random, device),
        }
    }

    /// # Shapes
    /// - stream, output: `[batch, tokens, dim]`
    pub fn forward(&self, stream: Tensor<3>) -> Tensor<3> {
        let hidden = relu(linear(stream, self.up.val(), Some(self.up_bias.val())));
        linear(hidden, self.down.val(), Some(self.down_bias.val()))
    }
}

/// What the shapes of the tensors do not tell about a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerShape {
    /// Attention heads.
    pub n_heads: usize,
    /// How the blocks are added to the stream.
    pub residual: Residual,
}

/// What a layer needs to know about a batch besides the stream.
#[derive(Clone, Debug)]
pub struct Context {
    /// Tokens of each observation.
    pub lengths: Arc<[usize]>,
    /// Costs between tokens.
    pub costs: BatchCosts,
    /// ProductPrecision of the matrix products of the fused operation; gradients are always of the path's own.
    pub precision: ProductPrecision,
}

impl Layer {
    /// A layer with random weights.
    pub fn new(config: &Config, random: &mut Random, device: &Device) -> Self {
        let dim = config.dim;
        Layer {
            qkv: uniform([dim, 3 * dim], dim, random, device),
            out: uniform([dim, dim], dim, random, device),
            out_bias: constant(vec![0.0; dim], device),
            feed_forward: FeedForward::new(dim, config.dim_ff, random, device),
            residual_params: match config.residual {
                Residual::ReZero => constant(vec![0.0; 2], device),
                Residual::PreNorm => constant(vec![1.0; 2 * dim], device),
            },
            cost_weights: match config.costs {
                CostBias::Unseen => None,
                _ => Some(constant(cost_weights(config), device)),
            },
            shape: LayerShape { n_heads: config.n_heads, residual: config.residual },
            packed: fused::PackedCache::default(),
        }
    }

    /// Number of cost matrices that enter its attention scores.
    pub fn channels(&self) -> usize {
        self.cost_weights.as_ref().map_or(0, |weights| weights.val().dims()[0] / self.shape.n_heads)
    }

    /// What the shapes of the tensors do not tell about it.
    pub fn shape(&self) -> LayerShape {
        self.shape
    }

    /// The stream after this layer.
    ///
    /// On the CPU this is one fused operation, elsewhere [`Layer::plain`].
    ///
    /// # Shapes
    /// - stream, output: `[batch, tokens, dim]`
    pub fn forward(&self, stream: Tensor<3>, context: &Context) -> Tensor<3> {
        if fused::is_supported(&stream, self) {
            fused::forward(stream, self, &self.packed, context)
        } else {
            self.plain(stream, context)
        }
    }

    /// [`Layer::forward`] in plain tensor operations: for any device, and the reference of the fused operation in
    /// tests.
    pub fn plain(&self, stream: Tensor<3>, context: &Context) -> Tensor<3> {
        let attended = self.attention(self.norm(stream.clone(), 0), context);
        let stream = self.add_block(stream, attended, 0);
        let block_output = self.feed_forward.forward(self.norm(stream.clone(), 1));
        self.add_block(stream, block_output, 1)
    }

    fn norm(&self, stream: Tensor<3>, block: usize) -> Tensor<3> {
        let dim = stream.dims()[2];
        match self.shape.residual {
            Residual::ReZero => stream,
            Residual::PreNorm => rms_norm(stream, self.residual_params.val().narrow(0, block * dim, dim)),
        }
    }

    fn add_block(&self, stream: Tensor<3>, block_output: Tensor<3>, block: usize) -> Tensor<3> {
        match self.shape.residual {
            Residual::ReZero => stream + block_output * self.residual_params.val().narrow(0, block, 1).unsqueeze(),
            Residual::PreNorm => stream + block_output,
        }
    }

    fn attention(&self, stream: Tensor<3>, context: &Context) -> Tensor<3> {
        let [batch, tokens, dim] = stream.dims();
        let heads = self.shape.n_heads;
        let qkv = stream.matmul(self.qkv.val().unsqueeze()).reshape([batch, tokens, 3 * heads, dim / heads]);
        let qkv = qkv.swap_dims(1, 2); // [batch, 3 * heads, tokens, dim / heads]
        let part = |k: usize| qkv.clone().narrow(1, k * heads, heads);
        let scale = ((dim / heads) as f64).powf(-0.5);
        let mut scores = part(0).matmul(part(1).transpose()) * scale; // [batch, heads, tokens, tokens]
        if let (Some(weights), Some(costs)) = (&self.cost_weights, cost_tensor(&context.costs)) {
            let channels = costs.dims()[1];
            let weights = weights.val().reshape([1, heads, channels, 1, 1]);
            let costs: Tensor<5> = costs.unsqueeze_dim(1); // [batch, 1, channels, tokens, tokens]
            scores = scores + (costs * weights).sum_dim(2).squeeze_dim(2);
        }
        if let Some(padding) = padding(context, tokens, &scores.device()) {
            scores = scores.mask_fill(padding, f32::MIN / 2.0);
        }
        let attended = softmax(scores, 3).matmul(part(2)); // [batch, heads, tokens, dim / heads]
        let attended = attended.swap_dims(1, 2).reshape([batch, tokens, dim]);
        attended.matmul(self.out.val().unsqueeze()) + self.out_bias.val().unsqueeze()
    }
}

/// `x / rms(x) * gain` over the last dimension (Zhang and Sennrich, 2019).
pub(crate) fn rms_norm(stream: Tensor<3>, gain: Tensor<1>) -> Tensor<3> {
    let mean_square = stream.clone().square().mean_dim(2);
    stream / (mean_square + NORM_EPSILON).sqrt() * gain.unsqueeze()
}

/// Costs as matrices: `[batch, channels, tokens, tokens]`.
pub(crate) fn cost_tensor(costs: &BatchCosts) -> Option<Tensor<4>> {
    match costs {
        BatchCosts::None => None,
        BatchCosts::Matrix(matrices) => Some(matrices.clone()),
        BatchCosts::Planar(coordinates) => {
            let from: Tensor<4> = coordinates.clone().unsqueeze_dim(2);
            let to: Tensor<4> = coordinates.clone().unsqueeze_dim(1);
            let squares: Tensor<3> = (from - to).square().sum_dim(3).squeeze_dim(3);
            Some(squares.sqrt().unsqueeze_dim(1))
        }
    }
}

impl BatchCosts {
    /// The first channels, as many as a layer has weights for; a batch may have more, for other parts of a network.
    pub(crate) fn first_channels(&self, channels: usize) -> BatchCosts {
        match self {
            _ if channels == 0 => BatchCosts::None,
            BatchCosts::Matrix(matrices) if matrices.dims()[1] > channels => {
                BatchCosts::Matrix(matrices.clone().narrow(1, 0, channels))
            }
            costs => costs.clone(),
        }
    }
}

/// Mask of the padding, `[batch, 1, 1, tokens]`; `None` if no observation is padded.
pub(crate) fn padding(context: &Context, tokens: usize, device: &Device) -> Option<Tensor<4, Bool>> {
    if context.lengths.iter().all(|&length| length == tokens) {
        return None;
    }
    let mask: Vec<bool> = context.lengths.iter().flat_map(|&n| (0..tokens).map(move |k| k >= n)).collect();
    Some(Tensor::from_data(TensorData::new(mask, [context.lengths.len(), 1, 1, tokens]), device))
}

/// Initial weights by head, then channel: of the costs from -8 (attends to near tokens only) to 0 (ignores costs) over the
/// heads, divided among the directions; of alpha values 0.
fn cost_weights(config: &Config) -> Vec<f32> {
    let (heads, costs) = (config.n_heads, config.costs.channels());
    let weight = |head: usize| -8.0 * (1.0 - head as f32 / (heads.max(2) - 1) as f32) / costs as f32;
    let others = config.channels() - costs;
    (0..heads).flat_map(|head| repeat_n(weight(head), costs).chain(repeat_n(0.0, others))).collect()
}
