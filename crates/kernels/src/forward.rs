//! The forward pass of the layer.
//!
//! Many instances: a task takes a few whole instances through all stages, so that their activations stay in the cache.
//! Few instances: each is divided into blocks of rows. Rows depend on each other in the attention only, so two stages
//! (queries, keys and values; the rest) are parallel over blocks.

use std::cell::Cell;
use std::ops::Range;

use crate::attention::{Attend, KeyValues};
use crate::epilogue::{AddToStream, Normalise, Relu, Store};
use crate::layer::{CostRows, Costs, LayerSizes, LayerWeights, PackedWeights, RowRange};
use crate::product::product;
use crate::simd::{Block, LANES, dispatch};
use crate::{parallel, pool};

/// Rows whose feed-forward activations fit the L2 cache; as many as do, since the weights do not and are fetched per
/// block.
const CACHED_ROWS: usize = 168;

/// Rows that are worth a task.
const BLOCK_ROWS: usize = 24;

/// Floats of the largest buffers that a thread keeps: 64 MB, some 8,000 tokens of the paper's network. For more tokens
/// the attention takes a hundred times as long as the system takes to give that memory again.
const MOST_KEPT: usize = 16 << 20;

/// A layer applied to a batch.
#[derive(Clone, Copy)]
pub struct LayerPass<'a> {
    /// Sizes of the layer.
    pub sizes: LayerSizes,
    /// Parameters of the layer.
    pub weights: LayerWeights<'a>,
    /// The matrices among the parameters, packed. The backward pass packs their transposes itself and does not read
    /// this.
    pub packed: &'a PackedWeights,
    /// Tokens of each instance.
    pub lengths: &'a [usize],
    /// Tokens that all instances are padded to.
    pub padded: usize,
    /// Costs between the tokens.
    pub costs: Costs<'a>,
}

/// Activations of the forward pass that the backward pass needs, for the rows that are not padding.
#[derive(Debug, Default)]
pub struct SavedActivations {
    pub(crate) qkv: Vec<f32>,      // [rows, 3 * dim]
    pub(crate) heads: Vec<f32>,    // output of the heads, before `out`: [rows, dim]
    pub(crate) middle: Vec<f32>,   // the stream between the two blocks: [rows, dim]
    pub(crate) hidden: Vec<f32>,   // after the ReLU: [rows, dim_ff]
    pub(crate) log_sums: Vec<f32>, // log2 of the softmax denominators: [rows, n_heads]
}

impl Drop for SavedActivations {
    fn drop(&mut self) {
        let SavedActivations { qkv, heads, middle, hidden, log_sums } = self;
        for buffer in [qkv, heads, middle, hidden, log_sums] {
            pool::recycle(std::mem::take(buffer));
        }
    }
}

/// The activations of one task, in [`SavedActivations`] or in scratch memory.
struct Activations<'a> {
    qkv: &'a mut [f32],
    heads: &'a mut [f32],
    hidden: &'a mut [f32],
    saved: Option<(&'a mut [f32], &'a mut [f32])>, // middle, log_sums; in training only
}

/// Buffers that tasks reuse.
#[derive(Default)]
struct Scratch {
    stream: Vec<f32>,
    normed: Vec<f32>,
    qkv: Vec<f32>,
    heads: Vec<f32>,
    hidden: Vec<f32>,
    key_values: KeyValues,
    cost_rows: CostRows,
    scores: Vec<Block>,
}

impl Scratch {
    /// Floats that its buffers have memory for.
    fn floats(&self) -> usize {
        let rows = [&self.stream, &self.normed, &self.qkv, &self.heads, &self.hidden].map(Vec::capacity);
        let blocks = self.cost_rows.blocks.capacity() + self.scores.capacity();
        rows.iter().sum::<usize>() + blocks * LANES + self.key_values.floats()
    }
}

thread_local! {
    static SCRATCH: Cell<Vec<Scratch>> = const { Cell::new(Vec::new()) };
}

/// Runs work with buffers of this thread. They are removed from the pool while in use: a thread that waits for other
/// tasks may run another task meanwhile. Those of a very large instance are freed: the thread may never see another.
fn with_scratch<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut pool = SCRATCH.take();
    let mut scratch = pool.pop().unwrap_or_default();
    SCRATCH.set(pool);
    let result = work(&mut scratch);
    if scratch.floats() <= MOST_KEPT {
        let mut pool = SCRATCH.take();
        pool.push(scratch);
        SCRATCH.set(pool);
    }
    result
}

/// The first `len` floats of a buffer, which grows if necessary; arbitrary contents.
fn sized(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

/// Splits a slice into consecutive parts of these sizes.
pub(crate) fn split(mut slice: &mut [f32], sizes: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let mut parts = Vec::new();
    for size in sizes {
        let (part, rest) = slice.split_at_mut(size);
        parts.push(part);
        slice = rest;
    }
    parts
}

impl LayerPass<'_> {
    /// Applies the layer to the stream `[batch, padded, dim]`, in place. Padding is left unchanged.
    pub fn infer(&self, stream: &mut [f32]) {
        let many = self.lengths.len() >= 2 * parallel::width();
        if many || parallel::width() == 1 || self.padded < 2 * BLOCK_ROWS {
            let groups = self.groups(CACHED_ROWS, 4 * parallel::width());
            let sizes = groups.iter().map(|group| group.len() * self.padded * self.sizes.dim);
            let tasks = split(stream, sizes).into_iter().zip(groups.iter().cloned()).collect();
            parallel::run(tasks, |(stream, group)| self.infer_group(stream, group));
        } else {
            let size = self.padded * self.sizes.dim;
            for (instance, stream) in stream.chunks_mut(size.max(1)).enumerate() {
                self.infer_split(&mut stream[..self.lengths[instance] * self.sizes.dim], instance);
            }
        }
    }

    /// [`LayerPass::infer`] for training: the stream after the layer, and what [`LayerPass::backward`] needs.
    pub fn train(&self, before: &[f32]) -> (Vec<f32>, SavedActivations) {
        let mut after = pool::take(before.len());
        let (rows, sizes) = (self.lengths.iter().sum::<usize>(), &self.sizes);
        let mut saved = SavedActivations {
            qkv: pool::take(rows * 3 * sizes.dim),
            heads: pool::take(rows * sizes.dim),
            middle: pool::take(rows * sizes.dim),
            hidden: pool::take(rows * sizes.dim_ff),
            log_sums: pool::take(rows * sizes.n_heads),
        };
        let groups = self.groups(CACHED_ROWS, 4 * parallel::width());
        let counts: Vec<usize> = groups.iter().map(|group| self.lengths[group.clone()].iter().sum()).collect();
        let per_row = |width: usize| counts.iter().map(move |&rows| rows * width);
        let mut qkv = split(&mut saved.qkv, per_row(3 * sizes.dim)).into_iter();
        let mut heads = split(&mut saved.heads, per_row(sizes.dim)).into_iter();
        let mut middle = split(&mut saved.middle, per_row(sizes.dim)).into_iter();
        let mut hidden = split(&mut saved.hidden, per_row(sizes.dim_ff)).into_iter();
        let mut log_sums = split(&mut saved.log_sums, per_row(sizes.n_heads)).into_iter();
        let stride = self.padded * sizes.dim;
        let padded = groups.iter().map(|group| group.len() * stride);
        let mut tasks = Vec::new();
        for (stream, group) in split(&mut after, padded).into_iter().zip(groups.iter().cloned()) {
            let activations = Activations {
                qkv: qkv.next().expect("one part per group"),
                heads: heads.next().expect("one part per group"),
                hidden: hidden.next().expect("one part per group"),
                saved: middle.next().zip(log_sums.next()),
            };
            tasks.push((stream, group, activations));
        }
        parallel::run(tasks, |(stream, group, activations)| {
            stream.copy_from_slice(&before[group.start * stride..group.end * stride]);
            with_scratch(|scratch| {
                self.compact(stream, &group, scratch, |s, scratch| self.run(s, &group, activations, scratch))
            });
        });
        (after, saved)
    }

    /// Ranges of instances, one per task: about `most` rows each, fewer if that gives `tasks` tasks.
    pub(crate) fn groups(&self, most: usize, tasks: usize) -> Vec<Range<usize>> {
        let rows: usize = self.lengths.iter().sum();
        let target = (rows / tasks).clamp(1, most);
        let mut groups = Vec::new();
        let (mut first, mut held) = (0, 0);
        for (instance, length) in self.lengths.iter().enumerate() {
            held += length;
            if held + length / 2 >= target || instance + 1 == self.lengths.len() {
                groups.push(first..instance + 1);
                (first, held) = (instance + 1, 0);
            }
        }
        groups
    }

    fn infer_group(&self, stream: &mut [f32], group: Range<usize>) {
        with_scratch(|scratch| {
            let rows: usize = self.lengths[group.clone()].iter().sum();
            let mut qkv = std::mem::take(&mut scratch.qkv);
            let mut heads = std::mem::take(&mut scratch.heads);
            let mut hidden = std::mem::take(&mut scratch.hidden);
            let activations = Activations {
                qkv: sized(&mut qkv, rows * 3 * self.sizes.dim),
                heads: sized(&mut heads, rows * self.sizes.dim),
                hidden: sized(&mut hidden, rows * self.sizes.dim_ff),
                saved: None,
            };
            self.compact(stream, &group, scratch, |stream, scratch| self.run(stream, &group, activations, scratch));
            (scratch.qkv, scratch.heads, scratch.hidden) = (qkv, heads, hidden);
        });
    }

    /// Runs work on the rows of a group without the padding between them.
    fn compact(
        &self,
        stream: &mut [f32],
        group: &Range<usize>,
        scratch: &mut Scratch,
        work: impl FnOnce(&mut [f32], &mut Scratch),
    ) {
        let lengths = &self.lengths[group.clone()];
        if lengths.iter().all(|&length| length == self.padded) {
            return work(stream, scratch);
        }
        let mut rows = std::mem::take(&mut scratch.stream);
        gather(stream, lengths, self.padded * self.sizes.dim, self.sizes.dim, &mut rows);
        work(&mut rows, scratch);
        scatter(&rows, lengths, self.padded * self.sizes.dim, self.sizes.dim, stream);
        scratch.stream = rows;
    }

    /// All stages, for whole instances.
    fn run(&self, stream: &mut [f32], group: &Range<usize>, mut activations: Activations<'_>, scratch: &mut Scratch) {
        self.project(stream, activations.qkv, &mut scratch.normed);
        let mut first = 0;
        for instance in group.clone() {
            let tokens = self.lengths[instance];
            let qkv = &activations.qkv[first * 3 * self.sizes.dim..];
            scratch.key_values.pack(qkv, tokens, &self.sizes);
            let key_values = std::mem::take(&mut scratch.key_values);
            let heads = &mut activations.heads[first * self.sizes.dim..];
            let log_sums = activations.saved.as_mut().map(|(_, log_sums)| &mut log_sums[first * self.sizes.n_heads..]);
            let range = RowRange { first: 0, rows: tokens, tokens, padded: self.padded };
            self.attend(instance, range, (qkv, &key_values), (heads, log_sums), scratch);
            scratch.key_values = key_values;
            first += tokens;
        }
        self.finish(
            stream,
            activations.heads,
            activations.hidden,
            activations.saved.map(|(middle, _)| middle),
            &mut scratch.normed,
        );
    }

    /// One instance, blocks of its rows in parallel.
    fn infer_split(&self, stream: &mut [f32], instance: usize) {
        let (tokens, dim) = (self.lengths[instance], self.sizes.dim);
        let count = (2 * parallel::width()).min(tokens / BLOCK_ROWS).max(1);
        let blocks = blocks(tokens, count, self.packed.qkv.tile_rows());
        with_scratch(|shared| {
            let mut qkv = std::mem::take(&mut shared.qkv);
            let qkv_rows = sized(&mut qkv, tokens * 3 * dim);
            let parts = split(qkv_rows, blocks.iter().map(|block| block.len() * 3 * dim));
            let tasks = parts.into_iter().zip(split(stream, blocks.iter().map(|block| block.len() * dim))).collect();
            parallel::run(tasks, |(qkv, stream)| {
                with_scratch(|scratch| self.project(stream, qkv, &mut scratch.normed))
            });
            shared.key_values.pack_parallel(qkv_rows, tokens, &self.sizes);
            let (qkv_rows, key_values) = (&*qkv_rows, &shared.key_values);
            let parts = split(stream, blocks.iter().map(|block| block.len() * dim));
            let tasks = parts.into_iter().zip(blocks.iter().cloned()).collect();
            parallel::run(tasks, |(stream, block)| {
                with_scratch(|scratch| {
                    let range = RowRange { first: block.start, rows: block.len(), tokens, padded: self.padded };
                    let mut heads = std::mem::take(&mut scratch.heads);
                    let mut hidden = std::mem::take(&mut scratch.hidden);
                    let heads_rows = sized(&mut heads, block.len() * dim);
                    let sources = (&qkv_rows[block.start * 3 * dim..], key_values);
                    self.attend(instance, range, sources, (heads_rows, None), scratch);
                    let hidden_rows = sized(&mut hidden, block.len() * self.sizes.dim_ff);
                    self.finish(stream, heads_rows, hidden_rows, None, &mut scratch.normed);
                    (scratch.heads, scratch.hidden) = (heads, hidden);
                });
            });
            shared.qkv = qkv;
        });
    }

    /// Queries, keys and values of some rows.
    fn project(&self, stream: &[f32], qkv: &mut [f32], normed: &mut Vec<f32>) {
        let input = self.normed(stream, 0, normed);
        let epilogue = Store { to: qkv, stride: 3 * self.sizes.dim };
        product(input, self.sizes.dim, &self.packed.qkv, epilogue);
    }

    fn attend(
        &self,
        instance: usize,
        range: RowRange,
        (qkv, key_values): (&[f32], &KeyValues),
        (heads, log_sums): (&mut [f32], Option<&mut [f32]>),
        scratch: &mut Scratch,
    ) {
        dispatch(Attend {
            sizes: self.sizes,
            range,
            qkv,
            key_values,
            costs: self.costs.of(instance, self.padded, self.sizes.channels),
            cost_weights: self.weights.cost_weights,
            heads,
            log_sums,
            cost_rows: &mut scratch.cost_rows,
            scores: &mut scratch.scores,
        });
    }

    /// Everything after the attention, for blocks of rows that stay in the cache.
    fn finish(
        &self,
        stream: &mut [f32],
        heads: &[f32],
        hidden: &mut [f32],
        mut middle: Option<&mut [f32]>,
        normed: &mut Vec<f32>,
    ) {
        let (dim, dim_ff) = (self.sizes.dim, self.sizes.dim_ff);
        let rows = stream.len() / dim;
        for first in (0..rows).step_by(CACHED_ROWS) {
            let last = rows.min(first + CACHED_ROWS);
            let part = first * dim..last * dim;
            let middle = middle.as_mut().map(|middle| &mut middle[part.clone()]);
            let hidden = &mut hidden[first * dim_ff..last * dim_ff];
            self.finish_part(&mut stream[part.clone()], &heads[part], hidden, middle, normed);
        }
    }

    fn finish_part(
        &self,
        stream: &mut [f32],
        heads: &[f32],
        hidden: &mut [f32],
        middle: Option<&mut [f32]>,
        normed: &mut Vec<f32>,
    ) {
        let (dim, dim_ff, w) = (self.sizes.dim, self.sizes.dim_ff, &self.weights);
        let add = AddToStream { stream, dim, bias: w.out_bias, alpha: w.alpha(&self.sizes, 0) };
        product(heads, dim, &self.packed.out, add);
        if let Some(middle) = middle {
            middle.copy_from_slice(stream);
        }
        let input = self.normed(stream, 1, normed);
        product(input, dim, &self.packed.up, Relu { to: hidden, stride: dim_ff, bias: w.up_bias });
        let add = AddToStream { stream, dim, bias: w.down_bias, alpha: w.alpha(&self.sizes, 1) };
        product(hidden, dim_ff, &self.packed.down, add);
    }

    /// The input of a block: the stream or its normalisation.
    pub(crate) fn normed<'b>(&self, stream: &'b [f32], block: usize, normed: &'b mut Vec<f32>) -> &'b [f32] {
        match self.weights.gain(&self.sizes, block) {
            None => stream,
            Some(gain) => {
                let normed = sized(normed, stream.len());
                dispatch(Normalise { stream, gain, normed });
                normed
            }
        }
    }
}

/// About `n` blocks of equal size, in multiples of the rows of a tile.
fn blocks(rows: usize, n: usize, tile: usize) -> Vec<Range<usize>> {
    let cut = |k: usize| if k == n { rows } else { (rows * k / n + tile / 2) / tile * tile };
    (0..n).map(|k| cut(k)..cut(k + 1)).filter(|block| !block.is_empty()).collect()
}

/// Copies rows that are not padding.
pub(crate) fn gather(padded: &[f32], lengths: &[usize], stride: usize, dim: usize, rows: &mut Vec<f32>) {
    rows.clear();
    for (instance, &length) in lengths.iter().enumerate() {
        rows.extend_from_slice(&padded[instance * stride..instance * stride + length * dim]);
    }
}

/// Copies rows back to where [`gather`] took them from.
pub(crate) fn scatter(rows: &[f32], lengths: &[usize], stride: usize, dim: usize, padded: &mut [f32]) {
    let mut first = 0;
    for (instance, &length) in lengths.iter().enumerate() {
        let len = length * dim;
        padded[instance * stride..instance * stride + len].copy_from_slice(&rows[first..first + len]);
        first += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::ProductPrecision;
    use crate::layer::Residual;

    /// One pass of a narrow layer, whose feed-forward block is wide.
    fn infer(tokens: usize) {
        let sizes = LayerSizes { dim: 16, dim_ff: 5120, n_heads: 1, channels: 0, residual: Residual::ReZero };
        let (square, wide) = (vec![0.0; 3 * sizes.dim * sizes.dim], vec![0.0; sizes.dim * sizes.dim_ff]);
        let weights = LayerWeights {
            qkv: &square,
            out: &square[..sizes.dim * sizes.dim],
            out_bias: &square[..sizes.dim],
            up: &wide,
            up_bias: &wide[..sizes.dim_ff],
            down: &wide,
            down_bias: &square[..sizes.dim],
            residual_params: &[0.0; 2],
            cost_weights: &[],
        };
        let packed = PackedWeights::new(&weights, &sizes, ProductPrecision::F32);
        let (lengths, costs) = (&[tokens], Costs::None);
        let pass = LayerPass { sizes, weights, packed: &packed, lengths, padded: tokens, costs };
        pass.infer_group(&mut vec![1.0; tokens * sizes.dim], 0..1);
    }

    /// Floats that this thread has kept.
    fn kept() -> usize {
        let pool = SCRATCH.take();
        let floats = pool.iter().map(Scratch::floats).sum();
        SCRATCH.set(pool);
        floats
    }

    #[test]
    fn buffers_of_a_very_large_instance_are_not_kept() {
        infer(10);
        let small = kept();
        assert!((10 * 5120..MOST_KEPT / 10).contains(&small), "{small} floats for the next instance");
        infer(4000);
        assert_eq!(kept(), 0);
        infer(10);
        assert_eq!(kept(), small);
    }
}
