//! PerceiverIO (Jaegle et al., 2022) as the paper uses it (appendix E.1): linear in the number of tokens.

use bqnco_core::Random;
use burn::module::{Module, Param};
use burn::tensor::activation::softmax;
use burn::tensor::module::linear;
use burn::tensor::{Bool, Device, Tensor};

use crate::init::{constant, uniform};
use crate::layer::{Context, FeedForward, padding};
use crate::transformer::EmbedAndHead;
use crate::{Batch, BatchCosts, Config, CostBias, Layer, Residual};

/// Tokens to latents, self-attention among latents, latents back to tokens.
#[derive(Module, Debug)]
pub struct Perceiver {
    /// From inputs to tokens, and from tokens to scores.
    pub embed_and_head: EmbedAndHead,
    /// The learned latent array: `[n_latents, dim_latent]`.
    pub latents: Param<Tensor<2>>,
    /// Latents attend to tokens.
    pub read: CrossLayer,
    /// Latents attend to each other.
    pub layers: Vec<LatentLayer>,
    /// Tokens attend to latents; the output query is the input array.
    pub write: CrossLayer,
}

/// Self-attention among latents.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // a network has a few of them, all of the same variant
pub enum LatentLayer {
    /// As in the paper, with layer norms: what [`Residual::ReZero`] selects here.
    Paper(CrossLayer),
    /// A transformer layer: what [`Residual::PreNorm`] selects. On the CPU it is one fused operation.
    Transformer(Layer),
}

/// Cross-attention and feed-forward, with layer norms before both (as in the paper's PerceiverIO).
#[derive(Module, Debug)]
pub struct CrossLayer {
    /// `[dim, n_heads * dim_head]`, from the attending stream.
    pub query: Param<Tensor<2>>,
    /// Keys, then values, from the attended source: `[dim_source, 2 * n_heads * dim_head]`.
    pub key_value: Param<Tensor<2>>,
    /// `[n_heads * dim_head, dim]`.
    pub out: Param<Tensor<2>>,
    /// `[dim]`.
    pub out_bias: Param<Tensor<1>>,
    /// The feed-forward block.
    pub feed_forward: FeedForward,
    /// Norm of the attended source.
    pub source_norm: Norm,
    /// Norm of the attending stream.
    pub stream_norm: Norm,
    /// Norm before the feed-forward block.
    pub up_norm: Norm,
    #[module(skip)]
    n_heads: usize,
}

/// Layer normalisation (Ba et al., 2016).
#[derive(Module, Debug)]
pub struct Norm {
    /// `[dim]`.
    pub gain: Param<Tensor<1>>,
    /// `[dim]`.
    pub bias: Param<Tensor<1>>,
}

impl Norm {
    fn new(dim: usize, device: &Device) -> Self {
        Norm { gain: constant(vec![1.0; dim], device), bias: constant(vec![0.0; dim], device) }
    }

    fn forward(&self, stream: Tensor<3>) -> Tensor<3> {
        let centred = stream.clone() - stream.mean_dim(2);
        let deviation = (centred.clone().square().mean_dim(2) + 1e-5).sqrt();
        centred / deviation * self.gain.val().unsqueeze() + self.bias.val().unsqueeze()
    }
}

impl CrossLayer {
    fn new(config: &Config, dims: [usize; 2], random: &mut Random, device: &Device) -> Self {
        let [source, dim] = dims;
        // Heads divide the source, as in the paper's PerceiverIO: reading uses wide heads, writing narrow ones.
        CrossLayer {
            query: uniform([dim, source], dim, random, device),
            key_value: uniform([source, 2 * source], source, random, device),
            out: uniform([source, dim], source, random, device),
            out_bias: constant(vec![0.0; dim], device),
            feed_forward: FeedForward::new(dim, config.dim_ff, random, device),
            source_norm: Norm::new(source, device),
            stream_norm: Norm::new(dim, device),
            up_norm: Norm::new(dim, device),
            n_heads: config.n_heads,
        }
    }

    /// `stream` attends to `source`.
    ///
    /// # Shapes
    /// - source: `[batch, n, dim_source]`, padding: `[batch, 1, 1, n]`
    /// - stream, output: `[batch, m, dim]`
    pub fn forward(&self, source: Tensor<3>, stream: Tensor<3>, padding: Option<Tensor<4, Bool>>) -> Tensor<3> {
        let normed = self.source_norm.forward(source);
        let attended = self.attention(normed, self.stream_norm.forward(stream.clone()), padding);
        let stream = stream + linear(attended, self.out.val(), Some(self.out_bias.val()));
        stream.clone() + self.feed_forward.forward(self.up_norm.forward(stream))
    }

    fn attention(&self, source: Tensor<3>, stream: Tensor<3>, padding: Option<Tensor<4, Bool>>) -> Tensor<3> {
        let ([batch, n, width], [_, m, _]) = (source.dims(), stream.dims());
        let (heads, dim_head) = (self.n_heads, width / self.n_heads);
        let query = stream.matmul(self.query.val().unsqueeze()).reshape([batch, m, heads, dim_head]).swap_dims(1, 2);
        let key_value = source.matmul(self.key_value.val().unsqueeze()).reshape([batch, n, 2 * heads, dim_head]);
        let key_value = key_value.swap_dims(1, 2); // [batch, 2 * heads, n, dim_head]
        let (key, value) = (key_value.clone().narrow(1, 0, heads), key_value.narrow(1, heads, heads));
        let mut scores = query.matmul(key.transpose()) * (dim_head as f64).powf(-0.5);
        if let Some(padding) = padding {
            scores = scores.mask_fill(padding, f32::MIN / 2.0);
        }
        softmax(scores, 3).matmul(value).swap_dims(1, 2).reshape([batch, m, width])
    }
}

impl Perceiver {
    /// A network with random weights.
    pub fn new(config: &Config, random: &mut Random, device: &Device) -> Self {
        let (dim, latent) = (config.dim, config.dim_latent);
        let read = CrossLayer::new(config, [dim, latent], random, device);
        let write = CrossLayer::new(config, [latent, dim], random, device);
        let among_latents = Config { dim: latent, costs: CostBias::Unseen, ..config.clone() };
        let layers = (0..config.n_layers).map(|_| match config.residual {
            Residual::ReZero => LatentLayer::Paper(CrossLayer::new(config, [latent, latent], random, device)),
            Residual::PreNorm => LatentLayer::Transformer(Layer::new(&among_latents, random, device)),
        });
        let layers = layers.collect();
        Perceiver {
            embed_and_head: EmbedAndHead::new(config, random, device),
            latents: uniform([config.n_latents, latent], latent, random, device),
            read,
            layers,
            write,
        }
    }

    /// The tokens before the head: `[batch, tokens, dim]`.
    pub fn encode(&self, batch: &Batch) -> Tensor<3> {
        let tokens = self.embed_and_head.embed(batch.inputs.clone());
        let context = Context { costs: BatchCosts::None, ..batch.context() };
        let padding = padding(&context, batch.tokens(), &tokens.device());
        let [n_latents, latent] = self.latents.val().dims();
        let latents = self.latents.val().unsqueeze::<3>().expand([batch.len(), n_latents, latent]);
        let mut state = self.read.forward(tokens.clone(), latents, padding);
        let latents = Context { lengths: vec![n_latents; batch.len()].into(), ..context.clone() };
        for layer in &self.layers {
            state = match layer {
                LatentLayer::Paper(layer) => layer.forward(state.clone(), state, None),
                LatentLayer::Transformer(layer) => layer.forward(state, &latents),
            };
        }
        self.write.forward(state, tokens, None)
    }
}
