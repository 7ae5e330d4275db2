//! Gradients of the parameters of a layer, and their sums.

use crate::layer::{LayerSizes, Residual};
use crate::{parallel, pool};

/// Gradients of the parameters of a layer, in the shapes of [`LayerWeights`](crate::LayerWeights).
#[derive(Clone, Debug)]
pub struct WeightGradients {
    /// Of [`qkv`](crate::LayerWeights::qkv).
    pub qkv: Vec<f32>,
    /// Of [`out`](crate::LayerWeights::out).
    pub out: Vec<f32>,
    /// Of [`out_bias`](crate::LayerWeights::out_bias).
    pub out_bias: Vec<f32>,
    /// Of [`up`](crate::LayerWeights::up).
    pub up: Vec<f32>,
    /// Of [`up_bias`](crate::LayerWeights::up_bias).
    pub up_bias: Vec<f32>,
    /// Of [`down`](crate::LayerWeights::down).
    pub down: Vec<f32>,
    /// Of [`down_bias`](crate::LayerWeights::down_bias).
    pub down_bias: Vec<f32>,
    /// Of [`residual_params`](crate::LayerWeights::residual_params).
    pub residual_params: Vec<f32>,
    /// Of [`cost_weights`](crate::LayerWeights::cost_weights).
    pub cost_weights: Vec<f32>,
}

impl WeightGradients {
    pub(crate) fn zeros(sizes: &LayerSizes) -> Self {
        let (dim, dim_ff) = (sizes.dim, sizes.dim_ff);
        WeightGradients {
            qkv: pool::zeros(dim * 3 * dim),
            out: pool::zeros(dim * dim),
            out_bias: vec![0.0; dim],
            up: pool::zeros(dim * dim_ff),
            up_bias: vec![0.0; dim_ff],
            down: pool::zeros(dim_ff * dim),
            down_bias: vec![0.0; dim],
            residual_params: match sizes.residual {
                Residual::ReZero => vec![0.0; 2],
                Residual::PreNorm => vec![0.0; 2 * dim],
            },
            cost_weights: vec![0.0; sizes.n_heads * sizes.channels],
        }
    }

    /// All gradients, in the order of the fields.
    pub fn into_parts(self) -> [Vec<f32>; 9] {
        let WeightGradients { qkv, out, out_bias, up, up_bias, down, down_bias, residual_params, cost_weights } = self;
        [qkv, out, out_bias, up, up_bias, down, down_bias, residual_params, cost_weights]
    }

    fn parts_mut(&mut self) -> [&mut Vec<f32>; 9] {
        let WeightGradients { qkv, out, out_bias, up, up_bias, down, down_bias, residual_params, cost_weights } = self;
        [qkv, out, out_bias, up, up_bias, down, down_bias, residual_params, cost_weights]
    }
}

/// Floats per task of [`add_up`].
const CHUNK: usize = 1 << 14;

/// The sum of the parts, in their order.
pub(crate) fn add_up(sums: Vec<WeightGradients>, sizes: &LayerSizes) -> WeightGradients {
    let mut sums = sums.into_iter();
    let mut total = sums.next().unwrap_or_else(|| WeightGradients::zeros(sizes));
    let others: Vec<_> = sums.map(WeightGradients::into_parts).collect();
    let mut tasks = Vec::new();
    for (matrix, total) in total.parts_mut().into_iter().enumerate() {
        tasks.extend(total.chunks_mut(CHUNK).enumerate().map(|(k, chunk)| (matrix, k * CHUNK, chunk)));
    }
    parallel::run(tasks, |(matrix, first, total): (usize, usize, &mut [f32])| {
        for other in &others {
            total.iter_mut().zip(&other[matrix][first..]).for_each(|(total, part)| *total += part);
        }
    });
    others.into_iter().flatten().for_each(pool::recycle);
    total
}
