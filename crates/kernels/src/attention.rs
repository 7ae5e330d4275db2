//! Multi-head attention of some rows of one instance, without a tokens x tokens score matrix in memory.

use std::f32::consts::LOG2_E;

use crate::epilogue::store_part;
use crate::layer::{CostRows, Costs, LayerSizes, MAX_CHANNELS, RowRange, tail_mask};
use crate::matmul::{Panels, last_tile};
use crate::parallel;
use crate::simd::{Block, Kernel, LANES, Rows, Simd, tile};

/// Rows whose costs are in memory at once; the last chunk may have up to `Simd::ROWS` more.
const CHUNK: usize = 48;

/// Packed keys and values of one instance, by head.
#[derive(Default)]
pub(crate) struct KeyValues {
    pub(crate) keys: Vec<Panels>,   // transposed: panels of sixteen tokens, depth dim_head
    pub(crate) values: Vec<Panels>, // panels of sixteen columns of the head, depth tokens
}

impl KeyValues {
    /// Packs the keys and values of an instance, whose rows `qkv` holds.
    pub(crate) fn pack(&mut self, qkv: &[f32], tokens: usize, sizes: &LayerSizes) {
        self.heads(sizes).for_each(|head| pack_head(head, qkv, tokens, sizes));
    }

    /// [`KeyValues::pack`], heads in parallel.
    pub(crate) fn pack_parallel(&mut self, qkv: &[f32], tokens: usize, sizes: &LayerSizes) {
        parallel::run(self.heads(sizes).collect(), |head| pack_head(head, qkv, tokens, sizes));
    }

    /// Floats that there is memory for.
    pub(crate) fn floats(&self) -> usize {
        self.keys.iter().chain(&self.values).map(Panels::floats).sum()
    }

    /// Index, keys and values of each head.
    fn heads(&mut self, sizes: &LayerSizes) -> impl Iterator<Item = (usize, (&mut Panels, &mut Panels))> {
        self.keys.resize_with(sizes.n_heads, Panels::default);
        self.values.resize_with(sizes.n_heads, Panels::default);
        self.keys.iter_mut().zip(&mut self.values).enumerate()
    }
}

fn pack_head(
    (head, (keys, values)): (usize, (&mut Panels, &mut Panels)),
    qkv: &[f32],
    tokens: usize,
    sizes: &LayerSizes,
) {
    let (dim, dim_head) = (sizes.dim, sizes.dim_head());
    keys.repack_transposed(&qkv[dim + head * dim_head..], 3 * dim, dim_head, tokens);
    values.repack(&qkv[2 * dim + head * dim_head..], 3 * dim, dim_head, tokens);
}

/// Attention of the rows of `range`.
pub(crate) struct Attend<'a> {
    pub(crate) sizes: LayerSizes,
    pub(crate) range: RowRange,
    pub(crate) qkv: &'a [f32], // of the rows: [rows, 3 * dim]
    pub(crate) key_values: &'a KeyValues,
    pub(crate) costs: Costs<'a>, // of the instance
    pub(crate) cost_weights: &'a [f32],
    pub(crate) heads: &'a mut [f32],            // out: [rows, dim]
    pub(crate) log_sums: Option<&'a mut [f32]>, // out, to base 2: [rows, n_heads]
    pub(crate) cost_rows: &'a mut CostRows,
    pub(crate) scores: &'a mut Vec<Block>,
}

impl Kernel for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let panels = self.range.tokens.div_ceil(LANES);
        self.scores.resize(S::ROWS * panels, Block::ZERO);
        let whole = self.range;
        let mut first = 0;
        while first < whole.rows {
            let left = whole.rows - first;
            let rows = if left < CHUNK + S::ROWS { left } else { CHUNK }; // a chunk of a few rows would be slow
            let chunk = RowRange { first: whole.first + first, rows, ..whole };
            self.cost_rows.fill(s, self.costs, chunk, self.costs.channels(&self.sizes));
            for head in 0..self.sizes.n_heads {
                self.head(s, head, first, rows);
            }
            first += rows;
        }
    }
}

impl Attend<'_> {
    #[inline(always)]
    fn head<S: Simd>(&mut self, s: S, head: usize, first: usize, rows: usize) {
        let mut row = 0;
        while row + S::ROWS <= rows {
            match S::ROWS {
                12 => self.tile::<S, 12>(s, head, first, row),
                6 => self.tile::<S, 6>(s, head, first, row),
                _ => self.tile::<S, 2>(s, head, first, row),
            }
            row += S::ROWS;
        }
        match last_tile(S::ROWS, row, rows) {
            0 => {}
            2 => self.tile::<S, 2>(s, head, first, rows - 2),
            4 => self.tile::<S, 4>(s, head, first, rows - 4),
            6 => self.tile::<S, 6>(s, head, first, rows - 6),
            8 => self.tile::<S, 8>(s, head, first, rows - 8),
            12 => self.tile::<S, 12>(s, head, first, rows - 12),
            _ => (row..rows).for_each(|row| self.tile::<S, 1>(s, head, first, row)),
        }
    }

    /// R rows of one head: scores, softmax, weighted sum of values.
    #[inline(always)]
    fn tile<S: Simd, const R: usize>(&mut self, s: S, head: usize, first: usize, row: usize) {
        let (dim, dim_head) = (self.sizes.dim, self.sizes.dim_head());
        let (keys, values) = (&self.key_values.keys[head], &self.key_values.values[head]);
        let (panels, channels) = (keys.count(), self.costs.channels(&self.sizes));
        let at = first + row; // within the range
        let scores = &mut self.scores[..R * panels];
        let scale = self.sizes.scale();
        s.call(Scores::<R> {
            queries: Rows { data: &self.qkv[head * dim_head..], stride: 3 * dim },
            row: at,
            keys,
            costs: &self.cost_rows.blocks[row * channels * panels..],
            cost_weights: unscaled(&self.cost_weights[head * self.sizes.channels..][..channels], scale),
            channels,
            scores,
        });
        let tail_mask = tail_mask(self.range.tokens);
        let (sums, maxima) = s.call(Exponentiate::<R> { scores, scale: scale * LOG2_E, tail_mask });
        if let Some(all) = &mut self.log_sums {
            for r in 0..R {
                all[(at + r) * self.sizes.n_heads + head] = maxima[r] + sums[r].log2();
            }
        }
        s.call(Average { scores, sums, values, dim_head, to: &mut self.heads[at * dim + head * dim_head..], dim });
    }
}

/// Cost weights divided by the scale, for scores that are scaled later.
#[inline(always)]
fn unscaled(weights: &[f32], scale: f32) -> [f32; MAX_CHANNELS] {
    std::array::from_fn(|channel| weights.get(channel).map_or(0.0, |weight| weight / scale))
}

/// Scores of R rows of a head, not yet scaled.
struct Scores<'a, const R: usize> {
    queries: Rows<'a>,
    row: usize,
    keys: &'a Panels,
    costs: &'a [Block], // from the first row on: [rows, channels, panels]
    cost_weights: [f32; MAX_CHANNELS],
    channels: usize,
    scores: &'a mut [Block], // out: [R, panels]
}

impl<const R: usize> Kernel for Scores<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let (mut p, panels) = (0, self.keys.count());
        let mut scores = self;
        while S::PANELS == 2 && p + 2 <= panels {
            scores.panels::<S, 2>(s, p);
            p += 2;
        }
        while p < panels {
            scores.panels::<S, 1>(s, p);
            p += 1;
        }
    }
}

impl<const R: usize> Scores<'_, R> {
    #[inline(always)]
    fn panels<S: Simd, const P: usize>(&mut self, s: S, first: usize) {
        let panels = self.keys.count();
        let products = tile::<S, R, P>(s, self.queries, self.row, self.keys.panels::<P>(first));
        for (k, products) in products.iter().enumerate() {
            let p = first + k;
            for (r, &product) in products.iter().enumerate() {
                let mut x = product;
                for (channel, &weight) in self.cost_weights.iter().enumerate().take(self.channels) {
                    let costs = &self.costs[(r * self.channels + channel) * panels + p];
                    x = s.fma(s.splat(weight), s.load(&costs.0), x);
                }
                s.store(x, &mut self.scores[r * panels + p].0);
            }
        }
    }
}

/// Replaces scores by 2^(scale * (score - maximum of the row)); gives the sum of each row and its scale * maximum.
struct Exponentiate<'a, const R: usize> {
    scores: &'a mut [Block], // [R, panels]
    scale: f32,
    tail_mask: [f32; LANES],
}

impl<const R: usize> Kernel for Exponentiate<'_, R> {
    type Output = ([f32; R], [f32; R]);

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> ([f32; R], [f32; R]) {
        let panels = self.scores.len() / R;
        let (mut sums, mut maxima) = ([0.0; R], [0.0; R]);
        // The maxima of all rows first, so that the exponentials of one row do not depend on those of the row before.
        for (row, maximum) in self.scores.chunks_exact_mut(panels).zip(&mut maxima) {
            let last = &mut row[panels - 1].0;
            s.store(s.add(s.load(last), s.load(&self.tail_mask)), last);
            let largest = row.iter().fold(s.splat(f32::MIN), |largest, block| s.max(largest, s.load(&block.0)));
            *maximum = self.scale * s.largest(largest);
        }
        for ((row, maximum), sum) in self.scores.chunks_exact_mut(panels).zip(maxima).zip(&mut sums) {
            let (scale, minus_maximum) = (s.splat(self.scale), s.splat(-maximum));
            let mut total = s.splat(0.0);
            for block in row {
                let e = s.exp2(s.fma(s.load(&block.0), scale, minus_maximum));
                s.store(e, &mut block.0);
                total = s.add(total, e);
            }
            *sum = s.sum(total);
        }
        (sums, maxima)
    }
}

/// The values, averaged with the weights of R rows.
struct Average<'a, const R: usize> {
    scores: &'a [Block], // weights: [R, panels]
    sums: [f32; R],
    values: &'a Panels,
    dim_head: usize,
    to: &'a mut [f32], // out, from the first row and the head's first column on: [R, dim]
    dim: usize,
}

impl<const R: usize> Kernel for Average<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let weights = Rows { data: Block::floats(self.scores), stride: self.scores.len() / R * LANES };
        for p in 0..self.values.count() {
            let [sums] = tile::<S, R, 1>(s, weights, 0, self.values.panels::<1>(p));
            let width = LANES.min(self.dim_head - p * LANES);
            for (r, &sum) in sums.iter().enumerate() {
                let mean = s.mul(sum, s.splat(1.0 / self.sums[r]));
                store_part(s, mean, self.to, r * self.dim + p * LANES, width);
            }
        }
    }
}
