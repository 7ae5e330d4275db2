//! The backward pass of the layer, derived by hand.
//!
//! `d_x` is the gradient of the loss with respect to `x`. The layer is y = x + a1 * (attention(x') out + b) followed by
//! z = y + a2 * (relu(y' up + b) down + c), where x' and y' are x and y or their norms; the gradients follow from z
//! back to x. Attention weights are recomputed from the saved log-sums, so no tokens x tokens matrix is saved.

use std::ops::Range;

use crate::attention_backward::{AttendBackward, Workspace};
use crate::epilogue::{Add, inverse_rms};
use crate::forward::{LayerPass, SavedActivations, gather, scatter, split};
use crate::gradients::{WeightGradients, add_up};
use crate::layer::{LayerSizes, PackedWeights, Residual};
use crate::matmul::{Epilogue, lanes, lanes_mut};
use crate::product::{PackedRhs, product, product_transposed};
use crate::simd::{Bf16Unit, Kernel, LANES, Rows, Simd, dispatch};
use crate::{parallel, pool};

/// Rows per task: every task reads and writes all weight gradients, which takes as long as the products of some rows.
fn group_rows() -> usize {
    if Bf16Unit::get().is_some() { 256 } else { 96 }
}

/// Partial sums of the weight gradients, each added up by one task; half as many for small batches. The number does not
/// depend on the threads, so the results do not either.
const PARTS: usize = 8;

impl LayerPass<'_> {
    /// Gradients of the stream before the layer and of the parameters.
    ///
    /// # Shapes
    /// - before (the input of [`LayerPass::train`]), d_after (gradient of its output): `[batch, padded, dim]`
    pub fn backward(&self, before: &[f32], saved: &SavedActivations, d_after: &[f32]) -> (Vec<f32>, WeightGradients) {
        let transposed = PackedWeights::transposed(&self.weights, &self.sizes);
        let groups = self.groups(group_rows(), PARTS);
        let mut firsts = vec![0; groups.len() + 1]; // first row of each group, padding not counted
        for (k, group) in groups.iter().enumerate() {
            firsts[k + 1] = firsts[k] + self.lengths[group.clone()].iter().sum::<usize>();
        }
        let count = if groups.len() < 2 * PARTS { groups.len().min(PARTS / 2) } else { PARTS };
        let parts: Vec<Range<usize>> =
            (0..count).map(|part| groups.len() * part / count..groups.len() * (part + 1) / count).collect();
        let stride = self.padded * self.sizes.dim;
        let is_full = self.lengths.iter().all(|&length| length == self.padded);
        // Padding has no gradient.
        let mut d_before = if is_full { pool::take(before.len()) } else { pool::zeros(before.len()) };
        let sizes = parts.iter().map(|part| groups[part.clone()].iter().map(|group| group.len() * stride).sum());
        let mut sums: Vec<WeightGradients> = parts.iter().map(|_| WeightGradients::zeros(&self.sizes)).collect();
        let tasks = split(&mut d_before, sizes).into_iter().zip(&parts).zip(&mut sums).collect();
        parallel::run(tasks, |((d_before, part), sums): ((&mut [f32], &Range<usize>), &mut WeightGradients)| {
            let mut work = GroupBackward { pass: self, transposed: &transposed, sums, buffers: Buffers::default() };
            let mut offset = 0;
            for k in part.clone() {
                let group = &groups[k];
                let whole = group.start * stride..group.end * stride;
                let len = whole.len();
                let rows = SavedRows::of(saved, firsts[k]..firsts[k + 1], &self.sizes);
                work.run(group, &before[whole.clone()], rows, &d_after[whole], &mut d_before[offset..offset + len]);
                offset += len;
            }
        });
        (d_before, add_up(sums, &self.sizes))
    }
}

/// The saved activations of the rows of a group.
#[derive(Clone, Copy)]
struct SavedRows<'a> {
    qkv: &'a [f32],
    heads: &'a [f32],
    middle: &'a [f32],
    hidden: &'a [f32],
    log_sums: &'a [f32],
}

impl<'a> SavedRows<'a> {
    fn of(saved: &'a SavedActivations, rows: Range<usize>, sizes: &LayerSizes) -> Self {
        let part = |all: &'a [f32], width: usize| &all[rows.start * width..rows.end * width];
        SavedRows {
            qkv: part(&saved.qkv, 3 * sizes.dim),
            heads: part(&saved.heads, sizes.dim),
            middle: part(&saved.middle, sizes.dim),
            hidden: part(&saved.hidden, sizes.dim_ff),
            log_sums: part(&saved.log_sums, sizes.n_heads),
        }
    }
}

/// Buffers for one group, reused for the next.
#[derive(Default)]
struct Buffers {
    rows: Vec<f32>,
    d_rows: Vec<f32>,
    d_hidden: Vec<f32>,
    d_heads: Vec<f32>,
    d_qkv: Vec<f32>,
    d_normed: Vec<f32>,
    normed: Vec<f32>,
    rhs: PackedRhs,
    copy: Vec<f32>,
    workspace: Workspace,
}

struct GroupBackward<'a> {
    pass: &'a LayerPass<'a>,
    transposed: &'a PackedWeights,
    sums: &'a mut WeightGradients,
    buffers: Buffers,
}

impl GroupBackward<'_> {
    fn run(
        &mut self,
        group: &Range<usize>,
        before: &[f32],
        saved: SavedRows<'_>,
        d_after: &[f32],
        d_before: &mut [f32],
    ) {
        let (lengths, dim) = (&self.pass.lengths[group.clone()], self.pass.sizes.dim);
        if lengths.iter().all(|&length| length == self.pass.padded) {
            d_before.copy_from_slice(d_after);
            return self.blocks(group, before, saved, d_before);
        }
        let stride = self.pass.padded * dim;
        let mut rows = std::mem::take(&mut self.buffers.rows);
        let mut d_rows = std::mem::take(&mut self.buffers.d_rows);
        gather(before, lengths, stride, dim, &mut rows);
        gather(d_after, lengths, stride, dim, &mut d_rows);
        self.blocks(group, &rows, saved, &mut d_rows);
        scatter(&d_rows, lengths, stride, dim, d_before);
        (self.buffers.rows, self.buffers.d_rows) = (rows, d_rows);
    }

    /// From d_z to d_x, both in `d_stream`, for rows without padding.
    fn blocks(&mut self, group: &Range<usize>, before: &[f32], saved: SavedRows<'_>, d_stream: &mut [f32]) {
        let mut b = std::mem::take(&mut self.buffers);
        self.feed_forward(&mut b, saved, d_stream);
        self.attention(&mut b, group, before, saved, d_stream);
        self.buffers = b;
    }

    /// From d_z to d_y, both in `d_stream`.
    fn feed_forward(&mut self, b: &mut Buffers, saved: SavedRows<'_>, d_stream: &mut [f32]) {
        let (sizes, weights) = (self.pass.sizes, self.pass.weights);
        let (dim, dim_ff, alpha) = (sizes.dim, sizes.dim_ff, weights.alpha(&sizes, 1));
        let rows = d_stream.len() / dim;
        b.d_hidden.resize(rows * dim_ff, 0.0);
        let gated = Scaled { to: &mut b.d_hidden, stride: dim_ff, by: alpha, forward: saved.hidden, gated: true };
        let d_alpha = product_sum(d_stream, dim, &self.transposed.down, gated);
        let column_sums = column_sums(d_stream, dim);
        self.alpha_gradient(1, d_alpha + dot(&column_sums, weights.down_bias));
        add_scaled(&mut self.sums.down_bias, &column_sums, alpha);
        b.rhs.repack(d_stream, dim);
        weight_gradient(saved.hidden, dim_ff, (&b.rhs, &mut b.copy), &mut self.sums.down, dim, alpha);

        let input = self.pass.normed(saved.middle, 1, &mut b.normed);
        b.rhs.repack(&b.d_hidden, dim_ff);
        weight_gradient(input, dim, (&b.rhs, &mut b.copy), &mut self.sums.up, dim_ff, 1.0);
        add_scaled(&mut self.sums.up_bias, &self::column_sums(&b.d_hidden, dim_ff), 1.0);
        self.pass_to_stream(1, saved.middle, (&b.d_hidden, dim_ff), &mut b.d_normed, d_stream);
    }

    /// From d_y to d_x, both in `d_stream`.
    fn attention(
        &mut self,
        b: &mut Buffers,
        group: &Range<usize>,
        before: &[f32],
        saved: SavedRows<'_>,
        d_stream: &mut [f32],
    ) {
        let (sizes, weights) = (self.pass.sizes, self.pass.weights);
        let (dim, alpha) = (sizes.dim, weights.alpha(&sizes, 0));
        let rows = d_stream.len() / dim;
        b.d_heads.resize(rows * dim, 0.0);
        let scaled = Scaled { to: &mut b.d_heads, stride: dim, by: alpha, forward: saved.heads, gated: false };
        let d_alpha = product_sum(d_stream, dim, &self.transposed.out, scaled);
        let column_sums = column_sums(d_stream, dim);
        self.alpha_gradient(0, d_alpha + dot(&column_sums, weights.out_bias));
        add_scaled(&mut self.sums.out_bias, &column_sums, alpha);
        b.rhs.repack(d_stream, dim);
        weight_gradient(saved.heads, dim, (&b.rhs, &mut b.copy), &mut self.sums.out, dim, alpha);

        b.d_qkv.resize(rows * 3 * dim, 0.0);
        let mut first = 0;
        for instance in group.clone() {
            let tokens = self.pass.lengths[instance];
            let part = |width: usize| first * width..(first + tokens) * width;
            dispatch(AttendBackward {
                sizes,
                tokens,
                padded: self.pass.padded,
                qkv: &saved.qkv[part(3 * dim)],
                heads: &saved.heads[part(dim)],
                log_sums: &saved.log_sums[part(sizes.n_heads)],
                d_heads: &b.d_heads[part(dim)],
                costs: self.pass.costs.of(instance, self.pass.padded, sizes.channels),
                cost_weights: weights.cost_weights,
                d_qkv: &mut b.d_qkv[part(3 * dim)],
                d_cost_weights: &mut self.sums.cost_weights,
                workspace: &mut b.workspace,
            });
            first += tokens;
        }
        let input = self.pass.normed(before, 0, &mut b.normed);
        b.rhs.repack(&b.d_qkv, 3 * dim);
        weight_gradient(input, dim, (&b.rhs, &mut b.copy), &mut self.sums.qkv, 3 * dim, 1.0);
        self.pass_to_stream(0, before, (&b.d_qkv, 3 * dim), &mut b.d_normed, d_stream);
    }

    fn alpha_gradient(&mut self, block: usize, gradient: f32) {
        if self.pass.sizes.residual == Residual::ReZero {
            self.sums.residual_params[block] += gradient;
        }
    }

    /// Adds the gradient through the first matrix (and the norm) of a block to the gradient of the stream.
    fn pass_to_stream(
        &mut self,
        block: usize,
        input: &[f32],
        (d_results, depth): (&[f32], usize),
        d_normed: &mut Vec<f32>,
        d_stream: &mut [f32],
    ) {
        let (sizes, dim) = (self.pass.sizes, self.pass.sizes.dim);
        let matrix = if block == 0 { &self.transposed.qkv } else { &self.transposed.up };
        let Some(gain) = self.pass.weights.gain(&sizes, block) else {
            return product(d_results, depth, matrix, Add { to: d_stream, stride: dim, by: 1.0 });
        };
        d_normed.clear();
        d_normed.resize(input.len(), 0.0);
        product(d_results, depth, matrix, Add { to: d_normed, stride: dim, by: 1.0 });
        let d_gain = &mut self.sums.residual_params[block * dim..(block + 1) * dim];
        dispatch(NormBackward { input, gain, d_normed, d_stream, d_gain });
    }
}

/// `sums += by * transpose(left) * right`; `left` is `[rows, columns]`.
fn weight_gradient(
    left: &[f32],
    columns: usize,
    (right, copy): (&PackedRhs, &mut Vec<f32>),
    sums: &mut [f32],
    stride: usize,
    by: f32,
) {
    product_transposed(Rows { data: left, stride: columns }, right, copy, Add { to: sums, stride, by });
}

/// A product into a [`Scaled`] epilogue; gives the sum of unscaled results times forward activations.
fn product_sum(left: &[f32], depth: usize, right: &PackedRhs, mut scaled: Scaled<'_>) -> f32 {
    let mut totals = [0.0; LANES];
    product(left, depth, right, ScaledSum { scaled: &mut scaled, totals: &mut totals });
    totals.iter().sum()
}

/// `by * results`; if gated, zero where the ReLU was inactive in the forward pass.
struct Scaled<'a> {
    to: &'a mut [f32],
    stride: usize,
    by: f32,
    forward: &'a [f32], // activations
    gated: bool,
}

struct ScaledSum<'a, 'b> {
    scaled: &'a mut Scaled<'b>,
    totals: &'a mut [f32; LANES],
}

impl Epilogue for ScaledSum<'_, '_> {
    #[inline(always)]
    fn apply<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let at = row * self.scaled.stride + panel * LANES;
        let forward = s.load(lanes(self.scaled.forward, at));
        s.store(s.fma(results, forward, s.load(self.totals)), self.totals);
        let scaled = s.mul(results, s.splat(self.scaled.by));
        let scaled = if self.scaled.gated { s.gate(scaled, forward) } else { scaled };
        s.store(scaled, lanes_mut(self.scaled.to, at));
    }
}

/// Backward pass of `x * r * gain` with r = 1 / rms(x): d_x = r * g - x * r^3 * mean(x * g), where g = gain * d_normed.
struct NormBackward<'a> {
    input: &'a [f32],
    gain: &'a [f32],
    d_normed: &'a [f32],
    d_stream: &'a mut [f32],
    d_gain: &'a mut [f32],
}

impl Kernel for NormBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let dim = self.gain.len();
        let rows = self.input.chunks_exact(dim).zip(self.d_normed.chunks_exact(dim));
        for ((input, d_normed), d_stream) in rows.zip(self.d_stream.chunks_exact_mut(dim)) {
            let r = inverse_rms(s, input);
            let mut products = s.splat(0.0);
            for k in (0..dim).step_by(LANES) {
                let (x, d) = (s.load(lanes(input, k)), s.load(lanes(d_normed, k)));
                let xd = s.mul(x, d);
                products = s.fma(xd, s.load(lanes(self.gain, k)), products);
                let place = lanes_mut(self.d_gain, k);
                s.store(s.fma(xd, s.splat(r), s.load(place)), place);
            }
            let factor = s.splat(-r * r * r * s.sum(products) / dim as f32);
            for k in (0..dim).step_by(LANES) {
                let g = s.mul(s.load(lanes(d_normed, k)), s.load(lanes(self.gain, k)));
                let place = lanes_mut(d_stream, k);
                let sum = s.fma(g, s.splat(r), s.load(place));
                s.store(s.fma(s.load(lanes(input, k)), factor, sum), place);
            }
        }
    }
}

fn column_sums(rows: &[f32], width: usize) -> Vec<f32> {
    let mut sums = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    sums
}

fn add_scaled(to: &mut [f32], values: &[f32], by: f32) {
    to.iter_mut().zip(values).for_each(|(to, x)| *to += by * x);
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
