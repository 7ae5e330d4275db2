//! Multi-head attention of some rows of one instance, without ever holding tokens x tokens scores.

use std::f32::consts::LOG2_E;

use super::layer::{Area, CostRows, Costs, MOST_CHANNELS, Sizes, tail};
use super::matmul::{Panels, lanes_mut, last_tile};
use super::simd::{Block, Kernel, LANES, Rows, Simd, tile};
use crate::parallel;

/// Rows whose costs are held at once, or a few more.
pub(super) const CHUNK: usize = 48;

/// Keys and values of one instance, by head, in the kernels' layout.
#[derive(Default)]
pub(super) struct KeyValues {
    pub(super) keys: Vec<Panels>,   // transposed: panels of sixteen tokens, depth dim_head
    pub(super) values: Vec<Panels>, // panels of sixteen numbers, depth tokens
}

impl KeyValues {
    /// Packs the keys and values in an instance's rows of `qkv`.
    pub(super) fn pack(&mut self, qkv: &[f32], tokens: usize, sizes: &Sizes) {
        self.heads(sizes).for_each(|head| pack_head(head, qkv, tokens, sizes));
    }

    /// The same by all threads.
    pub(super) fn pack_together(&mut self, qkv: &[f32], tokens: usize, sizes: &Sizes) {
        parallel::run(self.heads(sizes).collect(), |head| pack_head(head, qkv, tokens, sizes));
    }

    /// Each head's number, keys and values.
    fn heads(&mut self, sizes: &Sizes) -> impl Iterator<Item = (usize, (&mut Panels, &mut Panels))> {
        self.keys.resize_with(sizes.n_heads, Panels::default);
        self.values.resize_with(sizes.n_heads, Panels::default);
        self.keys.iter_mut().zip(&mut self.values).enumerate()
    }
}

fn pack_head((head, (keys, values)): (usize, (&mut Panels, &mut Panels)), qkv: &[f32], tokens: usize, sizes: &Sizes) {
    let (dim, dim_head) = (sizes.dim, sizes.dim_head());
    keys.repack_transposed(&qkv[dim + head * dim_head..], 3 * dim, dim_head, tokens);
    values.repack(&qkv[2 * dim + head * dim_head..], 3 * dim, dim_head, tokens);
}

/// Attention of the rows of `area`.
pub(super) struct Attend<'a> {
    pub(super) sizes: Sizes,
    pub(super) area: Area,
    pub(super) qkv: &'a [f32], // the area's rows: [rows, 3 * dim]
    pub(super) key_values: &'a KeyValues,
    pub(super) costs: Costs<'a>, // of the instance
    pub(super) cost_weights: &'a [f32],
    pub(super) heads: &'a mut [f32],            // out: [rows, dim]
    pub(super) log_sums: Option<&'a mut [f32]>, // out, to base 2: [rows, n_heads]
    pub(super) cost_rows: &'a mut CostRows,
    pub(super) scores: &'a mut Vec<Block>,
}

impl Kernel for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let panels = self.area.tokens.div_ceil(LANES);
        self.scores.resize(S::ROWS * panels, Block::ZERO);
        let whole = self.area;
        let mut first = 0;
        while first < whole.rows {
            let left = whole.rows - first;
            let rows = if left < CHUNK + S::ROWS { left } else { CHUNK }; // no chunk of a few rows at the end
            let chunk = Area { first: whole.first + first, rows, ..whole };
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
        let at = first + row; // among the area's rows
        let scores = &mut self.scores[..R * panels];
        let scale = self.sizes.scale();
        s.call(Scores::<R> {
            queries: Rows { numbers: &self.qkv[head * dim_head..], stride: 3 * dim },
            row: at,
            keys,
            costs: &self.cost_rows.blocks[row * channels * panels..],
            cost_weights: unscaled(&self.cost_weights[head * self.sizes.channels..][..channels], scale),
            channels,
            scores,
        });
        let tail = tail(self.area.tokens);
        let (sums, tops) = s.call(Exponentiate::<R> { scores, scale: scale * LOG2_E, tail });
        if let Some(all) = &mut self.log_sums {
            for r in 0..R {
                all[(at + r) * self.sizes.n_heads + head] = tops[r] + sums[r].log2();
            }
        }
        s.call(Average { scores, sums, values, dim_head, to: &mut self.heads[at * dim + head * dim_head..], dim });
    }
}

/// Cost weights for scores that are yet to be scaled.
#[inline(always)]
fn unscaled(weights: &[f32], scale: f32) -> [f32; MOST_CHANNELS] {
    std::array::from_fn(|channel| weights.get(channel).map_or(0.0, |weight| weight / scale))
}

/// Scores of R rows of a head, yet to be scaled.
struct Scores<'a, const R: usize> {
    queries: Rows<'a>,
    row: usize,
    keys: &'a Panels,
    costs: &'a [Block], // from the first row on: [rows, channels, panels]
    cost_weights: [f32; MOST_CHANNELS],
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

/// Turns rows of scores into 2^(scale * (score - the row's largest)); gives each row's sum and scale * largest.
struct Exponentiate<'a, const R: usize> {
    scores: &'a mut [Block], // [R, panels]
    scale: f32,
    tail: [f32; LANES],
}

impl<const R: usize> Kernel for Exponentiate<'_, R> {
    type Output = ([f32; R], [f32; R]);

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> ([f32; R], [f32; R]) {
        let panels = self.scores.len() / R;
        let (mut sums, mut tops) = ([0.0; R], [0.0; R]);
        // All rows' largest first: then exponentials of one row need not wait for those of the row before.
        for (row, top) in self.scores.chunks_exact_mut(panels).zip(&mut tops) {
            let last = &mut row[panels - 1].0;
            s.store(s.add(s.load(last), s.load(&self.tail)), last);
            let largest = row.iter().fold(s.splat(f32::MIN), |largest, block| s.max(largest, s.load(&block.0)));
            *top = self.scale * s.largest(largest);
        }
        for ((row, top), sum) in self.scores.chunks_exact_mut(panels).zip(tops).zip(&mut sums) {
            let (scale, top) = (s.splat(self.scale), s.splat(-top));
            let mut total = s.splat(0.0);
            for block in row {
                let e = s.exp2(s.fma(s.load(&block.0), scale, top));
                s.store(e, &mut block.0);
                total = s.add(total, e);
            }
            *sum = s.sum(total);
        }
        (sums, tops)
    }
}

/// Values averaged by the weights of R rows.
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
        let weights = Rows { numbers: Block::floats(self.scores), stride: self.scores.len() / R * LANES };
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

/// Stores the first `width` lanes.
#[inline(always)]
pub(super) fn store_part<S: Simd>(s: S, x: S::Floats, to: &mut [f32], from: usize, width: usize) {
    if width == LANES {
        s.store(x, lanes_mut(to, from));
    } else {
        to[from..from + width].copy_from_slice(&s.array(x)[..width]);
    }
}
