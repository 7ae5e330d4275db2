//! The layer's forward pass.
//!
//! Many instances: a task takes a few whole instances through all stages, so that its numbers stay in the cache.
//! Few instances: each is cut into blocks of rows. Rows only meet in the attention, so the two stages (queries, keys
//! and values; the rest) are parallel over blocks.

use std::cell::Cell;
use std::ops::Range;

use super::attention::{Attend, KeyValues};
use super::epilogue::{Join, Normalise, Relu, Store};
use super::layer::{Area, CostRows, Costs, Packed, Sizes, Weights};
use super::pool;
use super::product::product;
use super::simd::{Amx, Block, TILE_ROWS, TileRows, dispatch};
use crate::parallel;

/// Rows whose feed-forward block fits the second-level cache; many, for the weights come from further away each time.
const CACHED_ROWS: usize = 168;

/// Rows that are worth a task of their own.
const BLOCK_ROWS: usize = 24;

/// A layer, ready to run.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// Sizes and choices.
    pub sizes: Sizes,
    /// Vectors and (for their shapes) matrices.
    pub weights: Weights<'a>,
    /// The matrices, packed.
    pub packed: &'a Packed,
    /// Tokens of each instance.
    pub lengths: &'a [usize],
    /// Tokens of the longest.
    pub padded: usize,
    /// Costs of the batch.
    pub costs: Costs<'a>,
}

/// What the backward pass needs of the forward pass, for the rows that are not padding.
#[derive(Debug, Default)]
pub struct Saved {
    pub(super) qkv: Vec<f32>,      // [rows, 3 * dim]
    pub(super) heads: Vec<f32>,    // attention before `out`: [rows, dim]
    pub(super) middle: Vec<f32>,   // the stream between the blocks: [rows, dim]
    pub(super) hidden: Vec<f32>,   // after the ReLU: [rows, dim_ff]
    pub(super) log_sums: Vec<f32>, // of the attention's exponentials, to base 2: [rows, n_heads]
}

impl Drop for Saved {
    fn drop(&mut self) {
        let Saved { qkv, heads, middle, hidden, log_sums } = self;
        for buffer in [qkv, heads, middle, hidden, log_sums] {
            pool::give(std::mem::take(buffer));
        }
    }
}

/// The same numbers for the rows of one task, in saved or in passing memory.
struct Traces<'a> {
    qkv: &'a mut [f32],
    heads: &'a mut [f32],
    hidden: &'a mut [f32],
    kept: Option<(&'a mut [f32], &'a mut [f32])>, // middle, log_sums
}

/// Memory that tasks reuse.
#[derive(Default)]
pub(super) struct Scratch {
    stream: Vec<f32>,
    pub(super) normed: Vec<f32>,
    qkv: Vec<f32>,
    heads: Vec<f32>,
    hidden: Vec<f32>,
    pub(super) key_values: KeyValues,
    pub(super) cost_rows: CostRows,
    pub(super) scores: Vec<Block>,
}

thread_local! {
    static SCRATCH: Cell<Vec<Scratch>> = const { Cell::new(Vec::new()) };
}

/// Lends a thread's memory. Taken out while in use: a waiting thread may be given another task.
pub(super) fn with_scratch<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut pool = SCRATCH.take();
    let mut scratch = pool.pop().unwrap_or_default();
    SCRATCH.set(pool);
    let result = work(&mut scratch);
    let mut pool = SCRATCH.take();
    pool.push(scratch);
    SCRATCH.set(pool);
    result
}

/// Grows a buffer to a length and gives that much of it, holding anything.
pub(super) fn sized(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

/// Cuts a slice into consecutive parts.
pub(super) fn split(mut slice: &mut [f32], sizes: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let mut parts = Vec::new();
    for size in sizes {
        let (part, rest) = slice.split_at_mut(size);
        parts.push(part);
        slice = rest;
    }
    parts
}

impl<'a> Pass<'a> {
    /// Takes the stream `[batch, padded, dim]` through the layer, in place. Padding is left alone.
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

    /// As [`Pass::infer`] from `before` to `after`, and keeps what the backward pass needs.
    pub fn train(&self, before: &[f32], after: &mut [f32]) -> Saved {
        let (rows, sizes) = (self.lengths.iter().sum::<usize>(), &self.sizes);
        let mut saved = Saved {
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
        for (stream, group) in split(after, padded).into_iter().zip(groups.iter().cloned()) {
            let traces = Traces {
                qkv: qkv.next().expect("one part per group"),
                heads: heads.next().expect("one part per group"),
                hidden: hidden.next().expect("one part per group"),
                kept: middle.next().zip(log_sums.next()),
            };
            tasks.push((stream, group, traces));
        }
        parallel::run(tasks, |(stream, group, traces)| {
            stream.copy_from_slice(&before[group.start * stride..group.end * stride]);
            with_scratch(|scratch| {
                self.compact(stream, &group, scratch, |s, scratch| self.run(s, &group, traces, scratch))
            });
        });
        saved
    }

    /// Consecutive instances for one task each: about `most` rows, fewer where that makes `tasks` tasks.
    pub(super) fn groups(&self, most: usize, tasks: usize) -> Vec<Range<usize>> {
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
            let traces = Traces {
                qkv: sized(&mut qkv, rows * 3 * self.sizes.dim),
                heads: sized(&mut heads, rows * self.sizes.dim),
                hidden: sized(&mut hidden, rows * self.sizes.dim_ff),
                kept: None,
            };
            self.compact(stream, &group, scratch, |stream, scratch| self.run(stream, &group, traces, scratch));
            (scratch.qkv, scratch.heads, scratch.hidden) = (qkv, heads, hidden);
        });
    }

    /// Lets work see a group's rows without the padding between them.
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

    /// All stages for whole instances.
    fn run(&self, stream: &mut [f32], group: &Range<usize>, mut traces: Traces<'_>, scratch: &mut Scratch) {
        self.project(stream, traces.qkv, &mut scratch.normed);
        let mut first = 0;
        for instance in group.clone() {
            let tokens = self.lengths[instance];
            let qkv = &traces.qkv[first * 3 * self.sizes.dim..];
            scratch.key_values.pack(qkv, tokens, &self.sizes);
            let key_values = std::mem::take(&mut scratch.key_values);
            let heads = &mut traces.heads[first * self.sizes.dim..];
            let log_sums = traces.kept.as_mut().map(|(_, log_sums)| &mut log_sums[first * self.sizes.n_heads..]);
            let area = Area { first: 0, rows: tokens, tokens, padded: self.padded };
            self.attend(instance, area, (qkv, &key_values), (heads, log_sums), scratch);
            scratch.key_values = key_values;
            first += tokens;
        }
        self.finish(stream, traces.heads, traces.hidden, traces.kept.map(|(middle, _)| middle), &mut scratch.normed);
    }

    /// One instance, its rows cut into blocks that run side by side.
    fn infer_split(&self, stream: &mut [f32], instance: usize) {
        let (tokens, dim) = (self.lengths[instance], self.sizes.dim);
        let blocks = blocks(tokens, (2 * parallel::width()).min(tokens / BLOCK_ROWS).max(1));
        with_scratch(|shared| {
            let mut qkv = std::mem::take(&mut shared.qkv);
            let qkv_rows = sized(&mut qkv, tokens * 3 * dim);
            let parts = split(qkv_rows, blocks.iter().map(|block| block.len() * 3 * dim));
            let tasks = parts.into_iter().zip(split(stream, blocks.iter().map(|block| block.len() * dim))).collect();
            parallel::run(tasks, |(qkv, stream)| {
                with_scratch(|scratch| self.project(stream, qkv, &mut scratch.normed))
            });
            shared.key_values.pack_together(qkv_rows, tokens, &self.sizes);
            let (qkv_rows, key_values) = (&*qkv_rows, &shared.key_values);
            let parts = split(stream, blocks.iter().map(|block| block.len() * dim));
            let tasks = parts.into_iter().zip(blocks.iter().cloned()).collect();
            parallel::run(tasks, |(stream, block)| {
                with_scratch(|scratch| {
                    let area = Area { first: block.start, rows: block.len(), tokens, padded: self.padded };
                    let mut heads = std::mem::take(&mut scratch.heads);
                    let mut hidden = std::mem::take(&mut scratch.hidden);
                    let heads_rows = sized(&mut heads, block.len() * dim);
                    let sources = (&qkv_rows[block.start * 3 * dim..], key_values);
                    self.attend(instance, area, sources, (heads_rows, None), scratch);
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
        area: Area,
        (qkv, key_values): (&[f32], &KeyValues),
        (heads, log_sums): (&mut [f32], Option<&mut [f32]>),
        scratch: &mut Scratch,
    ) {
        dispatch(Attend {
            sizes: self.sizes,
            area,
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

    /// Everything after the attention, for some rows; a few at a time, so that they stay in the cache.
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
        let join = Join { stream, dim, bias: w.out_bias, alpha: w.alpha(&self.sizes, 0) };
        product(heads, dim, &self.packed.out, join);
        if let Some(middle) = middle {
            middle.copy_from_slice(stream);
        }
        let input = self.normed(stream, 1, normed);
        product(input, dim, &self.packed.up, Relu { to: hidden, stride: dim_ff, bias: w.up_bias });
        let join = Join { stream, dim, bias: w.down_bias, alpha: w.alpha(&self.sizes, 1) };
        product(hidden, dim_ff, &self.packed.down, join);
    }

    /// The input of a block: the stream itself or its normalisation.
    pub(super) fn normed<'b>(&self, stream: &'b [f32], block: usize, normed: &'b mut Vec<f32>) -> &'b [f32] {
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

/// About `n` equal blocks of rows, cut where no tile of the CPU is cut.
fn blocks(rows: usize, n: usize) -> Vec<Range<usize>> {
    let tile = if Amx::get().is_some() { TILE_ROWS } else { dispatch(TileRows) };
    let cut = |k: usize| if k == n { rows } else { (rows * k / n + tile / 2) / tile * tile };
    (0..n).map(|k| cut(k)..cut(k + 1)).filter(|block| !block.is_empty()).collect()
}

/// Copies rows that are not padding.
pub(super) fn gather(padded: &[f32], lengths: &[usize], stride: usize, dim: usize, rows: &mut Vec<f32>) {
    rows.clear();
    for (instance, &length) in lengths.iter().enumerate() {
        rows.extend_from_slice(&padded[instance * stride..instance * stride + length * dim]);
    }
}

/// The way back.
pub(super) fn scatter(rows: &[f32], lengths: &[usize], stride: usize, dim: usize, padded: &mut [f32]) {
    let mut first = 0;
    for (instance, &length) in lengths.iter().enumerate() {
        let len = length * dim;
        padded[instance * stride..instance * stride + len].copy_from_slice(&rows[first..first + len]);
        first += len;
    }
}
