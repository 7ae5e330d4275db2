//! Sizes, weights and costs of a layer.

use crate::cpu::ProductPrecision;
use crate::product::PackedRhs;
use crate::simd::{Block, LANES, Simd};

/// At most this many matrices per instance: costs and alpha values, forward and backward.
pub(crate) const MAX_CHANNELS: usize = 4;

/// Added to the mean square under the root, so that the norm of a zero token is finite.
pub const NORM_EPSILON: f32 = 1e-6;

/// How attention and feed-forward blocks join the residual stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residual {
    /// `x + alpha * block(x)`.
    ReZero,
    /// `x + block(rms_norm(x))`.
    PreNorm,
}

/// Sizes of a layer, and its kind of residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerSizes {
    /// Floats per token; a multiple of [`LANES`].
    pub dim: usize,
    /// Width of the feed-forward block; a multiple of [`LANES`].
    pub dim_ff: usize,
    /// Attention heads.
    pub n_heads: usize,
    /// Matrices per instance that enter the attention scores like costs: at most 3.
    pub channels: usize,
    /// How blocks join the stream.
    pub residual: Residual,
}

impl LayerSizes {
    /// Floats per head.
    pub(crate) fn dim_head(&self) -> usize {
        self.dim / self.n_heads
    }

    /// Scale of the dot products.
    pub(crate) fn scale(&self) -> f32 {
        (self.dim_head() as f32).powf(-0.5)
    }
}

/// The parameters of a layer, row-major.
#[derive(Clone, Copy)]
pub struct LayerWeights<'a> {
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
    /// ReZero: the alphas of both blocks, `[2]`. PreNorm: the gains of both norms, `[2 * dim]`.
    pub residual_params: &'a [f32],
    /// By head, then channel: `[n_heads * channels]`.
    pub cost_weights: &'a [f32],
}

impl<'a> LayerWeights<'a> {
    /// Factor of the output of a block (0: attention, 1: feed-forward) in the stream.
    pub(crate) fn alpha(&self, sizes: &LayerSizes, block: usize) -> f32 {
        match sizes.residual {
            Residual::ReZero => self.residual_params[block],
            Residual::PreNorm => 1.0,
        }
    }

    /// Gain of the norm before a block, if there is one.
    pub(crate) fn gain(&self, sizes: &LayerSizes, block: usize) -> Option<&'a [f32]> {
        match sizes.residual {
            Residual::ReZero => None,
            Residual::PreNorm => Some(&self.residual_params[block * sizes.dim..(block + 1) * sizes.dim]),
        }
    }
}

/// The four matrices of a layer, packed for the path in use.
#[derive(Clone, Debug, Default)]
pub struct PackedWeights {
    pub(crate) qkv: PackedRhs,
    pub(crate) out: PackedRhs,
    pub(crate) up: PackedRhs,
    pub(crate) down: PackedRhs,
}

impl PackedWeights {
    /// Packs the matrices for a forward pass of this precision.
    pub fn new(weights: &LayerWeights<'_>, sizes: &LayerSizes, precision: ProductPrecision) -> Self {
        PackedWeights {
            qkv: PackedRhs::pack(weights.qkv, 3 * sizes.dim, precision),
            out: PackedRhs::pack(weights.out, sizes.dim, precision),
            up: PackedRhs::pack(weights.up, sizes.dim_ff, precision),
            down: PackedRhs::pack(weights.down, sizes.dim, precision),
        }
    }

    /// Packs the transposes for the backward pass.
    pub(crate) fn transposed(weights: &LayerWeights<'_>, sizes: &LayerSizes) -> Self {
        PackedWeights {
            qkv: PackedRhs::pack_transposed(weights.qkv, 3 * sizes.dim),
            out: PackedRhs::pack_transposed(weights.out, sizes.dim),
            up: PackedRhs::pack_transposed(weights.up, sizes.dim_ff),
            down: PackedRhs::pack_transposed(weights.down, sizes.dim),
        }
    }
}

/// Costs between the tokens of a padded batch.
#[derive(Clone, Copy)]
pub enum Costs<'a> {
    /// No costs.
    None,
    /// Coordinates, whose Euclidean distances are the costs: `[batch, tokens, 2]`.
    Planar(&'a [f32]),
    /// Cost matrices: `[batch, channels, tokens, tokens]`.
    Matrix(&'a [f32]),
}

impl<'a> Costs<'a> {
    /// The costs of one instance, in a batch padded to `tokens`.
    pub(crate) fn of(&self, instance: usize, tokens: usize, channels: usize) -> Costs<'a> {
        let part = |all: &'a [f32], size: usize| &all[instance * size..(instance + 1) * size];
        match *self {
            Costs::None => Costs::None,
            Costs::Planar(coordinates) => Costs::Planar(part(coordinates, tokens * 2)),
            Costs::Matrix(matrices) => Costs::Matrix(part(matrices, channels * tokens * tokens)),
        }
    }

    /// Cost matrices in use.
    pub(crate) fn channels(&self, sizes: &LayerSizes) -> usize {
        match self {
            Costs::None => 0,
            Costs::Planar(_) => 1,
            Costs::Matrix(_) => sizes.channels,
        }
    }
}

/// Some rows of the cost matrices of an instance.
#[derive(Default)]
pub(crate) struct CostRows {
    pub(crate) blocks: Vec<Block>, // [rows, channels, panels]
    coordinates: [Vec<Block>; 2],  // of all tokens: x, y
}

impl CostRows {
    /// Computes or copies the rows of `at`; `costs` are those of the instance.
    #[inline(always)]
    pub(crate) fn fill<S: Simd>(&mut self, s: S, costs: Costs<'_>, at: RowRange, channels: usize) {
        let panels = at.tokens.div_ceil(LANES);
        self.blocks.resize(at.rows * channels * panels, Block::ZERO);
        match costs {
            Costs::None => {}
            Costs::Planar(coordinates) => self.distances(s, coordinates, at, panels),
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
    fn distances<S: Simd>(&mut self, s: S, coordinates: &[f32], at: RowRange, panels: usize) {
        for (axis, blocks) in self.coordinates.iter_mut().enumerate() {
            blocks.clear();
            blocks.resize(panels, Block::ZERO);
            let floats = Block::floats_mut(blocks).iter_mut();
            floats.zip(coordinates.chunks(2).take(at.tokens)).for_each(|(x, point)| *x = point[axis]);
        }
        let [xs, ys] = &self.coordinates;
        for (k, row) in self.blocks.chunks_mut(panels).enumerate() {
            let token = at.first + k;
            let (x, y) = (s.splat(coordinates[2 * token]), s.splat(coordinates[2 * token + 1]));
            for ((block, xs), ys) in row.iter_mut().zip(xs).zip(ys) {
                let (dx, dy) = (s.sub(s.load(&xs.0), x), s.sub(s.load(&ys.0), y));
                s.store(s.sqrt(s.fma(dx, dx, s.mul(dy, dy))), &mut block.0);
            }
        }
    }
}

/// Consecutive rows of one instance.
#[derive(Clone, Copy)]
pub(crate) struct RowRange {
    pub(crate) first: usize,
    pub(crate) rows: usize,
    pub(crate) tokens: usize, // of the instance
    pub(crate) padded: usize, // tokens of the longest instance of the batch
}

/// Mask to add to the scores of the last panel: 0 for tokens, -1e30 for the lanes beyond them.
pub(crate) fn tail_mask(tokens: usize) -> [f32; LANES] {
    let used = (tokens + LANES - 1) % LANES + 1;
    std::array::from_fn(|lane| if lane < used { 0.0 } else { -1e30 })
}
