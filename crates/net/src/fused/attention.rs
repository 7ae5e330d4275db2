//! Multi-head attention of some rows of one instance, without ever holding tokens x tokens scores.

use super::layout::{Area, CostRows, Costs, Sizes, tail};
use super::matmul::{Panels, lanes_mut};
use super::simd::{Block, Kernel, LANES, Rows, Simd, tile};

/// Rows whose costs are held at once.
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
        let (dim, dim_head) = (sizes.dim, sizes.dim_head());
        self.keys.resize_with(sizes.n_heads, Panels::default);
        self.values.resize_with(sizes.n_heads, Panels::default);
        for (head, (keys, values)) in self.keys.iter_mut().zip(&mut self.values).enumerate() {
            keys.repack_transposed(&qkv[dim + head * dim_head..], 3 * dim, dim_head, tokens);
            values.repack(&qkv[2 * dim + head * dim_head..], 3 * dim, dim_head, tokens);
        }
    }
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
    pub(super) log_sums: Option<&'a mut [f32]>, // out: [rows, n_heads]
    pub(super) cost_rows: &'a mut CostRows,
    pub(super) scores: &'a mut Vec<Block>,
}

impl Kernel for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let panels = self.area.tokens.div_ceil(LANES);
        self.scores.resize(S::ROWS.max(4) * panels, Block::ZERO);
        let whole = self.area;
        for first in (0..whole.rows).step_by(CHUNK) {
            let rows = CHUNK.min(whole.rows - first);
            let chunk = Area { first: whole.first + first, rows, ..whole };
            self.cost_rows.fill(s, self.costs, chunk, self.costs.channels(&self.sizes));
            for head in 0..self.sizes.n_heads {
                self.head(s, head, first, rows);
            }
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
        while row + 4 <= rows {
            self.tile::<S, 4>(s, head, first, row);
            row += 4;
        }
        while row < rows {
            self.tile::<S, 1>(s, head, first, row);
            row += 1;
        }
    }

    /// R rows of one head: scores, softmax, weighted sum of values.
    #[inline(always)]
    fn tile<S: Simd, const R: usize>(&mut self, s: S, head: usize, first: usize, row: usize) {
        let (dim, dim_head) = (self.sizes.dim, self.sizes.dim_head());
        let (keys, values) = (&self.key_values.keys[head], &self.key_values.values[head]);
        let (panels, channels) = (keys.len(), self.costs.channels(&self.sizes));
        let at = first + row; // among the area's rows
        let scores = &mut self.scores[..R * panels];
        let tops = s.call(Scores::<R> {
            queries: Rows { numbers: &self.qkv[head * dim_head..], stride: 3 * dim },
            row: at,
            keys,
            scale: self.sizes.scale(),
            costs: &self.cost_rows.blocks[row * channels * panels..],
            cost_weights: &self.cost_weights[head * self.sizes.channels..][..channels],
            tail: tail(self.area.tokens),
            scores,
        });
        let sums = s.call(Exponentiate { scores, tops });
        if let Some(log_sums) = &mut self.log_sums {
            for r in 0..R {
                log_sums[(at + r) * self.sizes.n_heads + head] = tops[r] + sums[r].ln();
            }
        }
        s.call(Average { scores, sums, values, dim_head, to: &mut self.heads[at * dim + head * dim_head..], dim });
    }
}

/// Scores of R rows of a head; gives each row's largest.
struct Scores<'a, const R: usize> {
    queries: Rows<'a>,
    row: usize,
    keys: &'a Panels,
    scale: f32,
    costs: &'a [Block], // from the first row on: [rows, channels, panels]
    cost_weights: &'a [f32],
    tail: [f32; LANES],
    scores: &'a mut [Block], // out: [R, panels]
}

impl<const R: usize> Kernel for Scores<'_, R> {
    type Output = [f32; R];

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> [f32; R] {
        let (panels, channels) = (self.keys.len(), self.cost_weights.len());
        let mut largest = [s.splat(f32::MIN); R];
        for p in 0..panels {
            let products = tile::<S, R>(s, self.queries, self.row, self.keys.panel(p));
            for r in 0..R {
                let mut x = s.mul(products[r], s.splat(self.scale));
                for (channel, &weight) in self.cost_weights.iter().enumerate() {
                    let costs = &self.costs[(r * channels + channel) * panels + p];
                    x = s.fma(s.splat(weight), s.load(&costs.0), x);
                }
                if p + 1 == panels {
                    x = s.add(x, s.load(&self.tail));
                }
                s.store(x, &mut self.scores[r * panels + p].0);
                largest[r] = s.max(largest[r], x);
            }
        }
        let mut tops = [0.0; R];
        for r in 0..R {
            tops[r] = s.largest(largest[r]);
        }
        tops
    }
}

/// Turns rows of scores into e^(score - top); gives each row's sum.
struct Exponentiate<'a, const R: usize> {
    scores: &'a mut [Block], // [R, panels]
    tops: [f32; R],
}

impl<const R: usize> Kernel for Exponentiate<'_, R> {
    type Output = [f32; R];

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> [f32; R] {
        let panels = self.scores.len() / R;
        let mut sums = [0.0; R];
        for (r, row) in self.scores.chunks_exact_mut(panels).enumerate() {
            let top = s.splat(self.tops[r]);
            let mut sum = s.splat(0.0);
            for block in row {
                let e = s.exp(s.sub(s.load(&block.0), top));
                s.store(e, &mut block.0);
                sum = s.add(sum, e);
            }
            sums[r] = s.sum(sum);
        }
        sums
    }
}

/// Values averaged by the weights of R rows.
struct Average<'a, const R: usize> {
    scores: &'a [Block], // e^..: [R, panels]
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
        for p in 0..self.values.len() {
            let sums = tile::<S, R>(s, weights, 0, self.values.panel(p));
            let width = LANES.min(self.dim_head - p * LANES);
            for (r, sum) in sums.into_iter().enumerate() {
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
