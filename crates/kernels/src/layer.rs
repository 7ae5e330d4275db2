//! Sizes, weights and costs of a layer as the kernels see them.

use super::matmul::lanes;
use super::product::Right;
use super::simd::{Block, LANES, Simd};

/// Cost matrices per instance: forward and backward.
pub(super) const MOST_CHANNELS: usize = 2;

/// Keeps the norm of an all-zero token finite.
pub const NORM_EPSILON: f32 = 1e-6;

/// How attention and feed-forward blocks join the residual stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residual {
    /// `x + alpha * block(x)`.
    ReZero,
    /// `x + block(rms_norm(x))`.
    PreNorm,
}

/// Sizes and choices of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Numbers per token.
    pub dim: usize,
    /// Width of the feed-forward block.
    pub dim_ff: usize,
    /// Attention heads.
    pub n_heads: usize,
    /// Cost matrices per instance that enter the attention scores.
    pub channels: usize,
    /// How blocks join the stream.
    pub residual: Residual,
}

impl Sizes {
    /// Numbers per head.
    pub fn dim_head(&self) -> usize {
        self.dim / self.n_heads
    }

    /// Scale of the dot products.
    pub fn scale(&self) -> f32 {
        (self.dim_head() as f32).powf(-0.5)
    }
}

/// A layer's weights, row-major.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    /// `[dim, 3 * dim]`.
    pub qkv: &'a [f32],
    /// `[dim, dim]`.
    pub out: &'a [f32],
    /// `[dim]`.
    pub out_bias: &'a [f32],
    /// `[dim, dim_ff]`.
    pub up: &'a [f32],
    /// `[dim_ff]`.
    pub up_bias: &'a [f32],
    /// `[dim_ff, dim]`.
    pub down: &'a [f32],
    /// `[dim]`.
    pub down_bias: &'a [f32],
    /// `[2]` or `[2 * dim]`.
    pub joints: &'a [f32],
    /// `[n_heads * channels]`.
    pub cost_weights: &'a [f32],
}

impl<'a> Weights<'a> {
    /// Scale of a block (0: attention, 1: feed-forward) in the stream.
    pub fn alpha(&self, sizes: &Sizes, block: usize) -> f32 {
        match sizes.residual {
            Residual::ReZero => self.joints[block],
            Residual::PreNorm => 1.0,
        }
    }

    /// Gain of the norm before a block, if there is one.
    pub fn gain(&self, sizes: &Sizes, block: usize) -> Option<&'a [f32]> {
        match sizes.residual {
            Residual::ReZero => None,
            Residual::PreNorm => Some(&self.joints[block * sizes.dim..(block + 1) * sizes.dim]),
        }
    }
}

/// The four matrices, packed for the forward pass.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    pub(super) qkv: Right,
    pub(super) out: Right,
    pub(super) up: Right,
    pub(super) down: Right,
}

impl Packed {
    /// Packs a layer's matrices.
    pub fn new(weights: &Weights<'_>, sizes: &Sizes) -> Self {
        Packed {
            qkv: Right::pack(weights.qkv, 3 * sizes.dim),
            out: Right::pack(weights.out, sizes.dim),
            up: Right::pack(weights.up, sizes.dim_ff),
            down: Right::pack(weights.down, sizes.dim),
        }
    }

    /// Packs the transposes, for the backward pass.
    pub fn transposed(weights: &Weights<'_>, sizes: &Sizes) -> Self {
        Packed {
            qkv: Right::pack_transposed(weights.qkv, 3 * sizes.dim),
            out: Right::pack_transposed(weights.out, sizes.dim),
            up: Right::pack_transposed(weights.up, sizes.dim_ff),
            down: Right::pack_transposed(weights.down, sizes.dim),
        }
    }
}

/// Costs of a padded batch.
#[derive(Clone, Copy)]
pub enum Costs<'a> {
    /// None.
    None,
    /// `[batch, tokens, 2]`.
    Planar(&'a [f32]),
    /// `[batch, channels, tokens, tokens]`.
    Matrix(&'a [f32]),
}

impl<'a> Costs<'a> {
    /// The costs of one instance, in a batch padded to `tokens`.
    pub fn of(&self, instance: usize, tokens: usize, channels: usize) -> Costs<'a> {
        let part = |all: &'a [f32], size: usize| &all[instance * size..(instance + 1) * size];
        match *self {
            Costs::None => Costs::None,
            Costs::Planar(places) => Costs::Planar(part(places, tokens * 2)),
            Costs::Matrix(matrices) => Costs::Matrix(part(matrices, channels * tokens * tokens)),
        }
    }

    /// Cost matrices in use.
    pub fn channels(&self, sizes: &Sizes) -> usize {
        match self {
            Costs::None => 0,
            Costs::Planar(_) => 1,
            Costs::Matrix(_) => sizes.channels,
        }
    }
}

/// Rows of one instance's cost matrices, padded to whole blocks: `[rows, channels, panels]`.
#[derive(Default)]
pub struct CostRows {
    pub(super) blocks: Vec<Block>,
    places: [Vec<Block>; 2],
}

impl CostRows {
    /// Fills in rows `first .. first + rows` of an instance of `tokens` tokens in a batch padded to `padded`.
    #[inline(always)]
    pub(super) fn fill<S: Simd>(&mut self, s: S, costs: Costs<'_>, at: Area, channels: usize) {
        let panels = at.tokens.div_ceil(LANES);
        self.blocks.resize(at.rows * channels * panels, Block::ZERO);
        match costs {
            Costs::None => {}
            Costs::Planar(places) => self.measure(s, places, at, panels),
            Costs::Matrix(matrices) => {
                for (k, row) in self.blocks.chunks_mut(panels).enumerate() {
                    let (token, channel) = (at.first + k / channels, k % channels);
                    let from = (channel * at.padded + token) * at.padded;
                    let row = &mut Block::floats_mut(row)[..at.tokens];
                    row.copy_from_slice(&matrices[from..from + at.tokens]);
                }
            }
        }
    }

    #[inline(always)]
    fn measure<S: Simd>(&mut self, s: S, places: &[f32], at: Area, panels: usize) {
        for (axis, blocks) in self.places.iter_mut().enumerate() {
            blocks.clear();
            blocks.resize(panels, Block::ZERO);
            let along = Block::floats_mut(blocks).iter_mut();
            along.zip(places.chunks(2).take(at.tokens)).for_each(|(x, place)| *x = place[axis]);
        }
        let [xs, ys] = &self.places;
        for (k, row) in self.blocks.chunks_mut(panels).enumerate() {
            let token = at.first + k;
            let (x, y) = (s.splat(places[2 * token]), s.splat(places[2 * token + 1]));
            for ((block, xs), ys) in row.iter_mut().zip(xs).zip(ys) {
                let (dx, dy) = (s.sub(s.load(&xs.0), x), s.sub(s.load(&ys.0), y));
                s.store(s.sqrt(s.fma(dx, dx, s.mul(dy, dy))), &mut block.0);
            }
        }
    }
}

/// Some rows of one instance.
#[derive(Clone, Copy)]
pub struct Area {
    /// The first row.
    pub first: usize,
    /// How many.
    pub rows: usize,
    /// Tokens of the instance.
    pub tokens: usize,
    /// Tokens of the batch's longest instance.
    pub padded: usize,
}

/// Zero for the tokens of the last panel, minus infinity (nearly) for the lanes beyond them.
pub(super) fn tail(tokens: usize) -> [f32; LANES] {
    let used = (tokens + LANES - 1) % LANES + 1;
    std::array::from_fn(|lane| if lane < used { 0.0 } else { -1e30 })
}

/// `x / rms(x) * gain`, row by row.
#[inline(always)]
pub(super) fn normalise<S: Simd>(s: S, stream: &[f32], gain: &[f32], normed: &mut [f32]) {
    let dim = gain.len();
    for (from, to) in stream.chunks_exact(dim).zip(normed.chunks_exact_mut(dim)) {
        let scale = s.splat(inverse_rms(s, from));
        for k in (0..dim).step_by(LANES) {
            let x = s.mul(s.load(lanes(from, k)), scale);
            s.store(s.mul(x, s.load(lanes(gain, k))), super::matmul::lanes_mut(to, k));
        }
    }
}

/// 1 / rms of a row.
#[inline(always)]
pub(super) fn inverse_rms<S: Simd>(s: S, row: &[f32]) -> f32 {
    let mut squares = s.splat(0.0);
    for k in (0..row.len()).step_by(LANES) {
        let x = s.load(lanes(row, k));
        squares = s.fma(x, x, squares);
    }
    (s.sum(squares) / row.len() as f32 + NORM_EPSILON).sqrt().recip()
}
