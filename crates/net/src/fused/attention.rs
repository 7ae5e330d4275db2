//! Multi-head attention of some rows of one instance, without ever holding tokens x tokens scores.

use super::layout::{Area, CostRows, Costs, Sizes, tail};
use super::matmul::{Panels, Rows, lanes_mut, tile};
use super::simd::{Block, Kernel, LANES, Simd};

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
        let panels = keys.len();
        let at = first + row; // among the area's rows
        let mut largest = [s.splat(f32::MIN); R];
        for p in 0..panels {
            let queries = Rows { numbers: &self.qkv[head * dim_head..], stride: 3 * dim };
            let products = tile::<S, R>(s, queries, at, keys.panel(p));
            for r in 0..R {
                let mut x = s.mul(products[r], s.splat(self.sizes.scale()));
                x = self.biased(s, x, head, row + r, p, panels);
                if p + 1 == panels {
                    x = s.add(x, s.load(&tail(self.area.tokens)));
                }
                s.store(x, &mut self.scores[r * panels + p].0);
                largest[r] = s.max(largest[r], x);
            }
        }
        let mut inverse = [0.0; R];
        for r in 0..R {
            let (top, sum) = exponentiate(s, largest[r], &mut self.scores[r * panels..(r + 1) * panels]);
            inverse[r] = 1.0 / sum;
            if let Some(log_sums) = &mut self.log_sums {
                log_sums[(at + r) * self.sizes.n_heads + head] = top + sum.ln();
            }
        }
        let weights = Rows { numbers: Block::floats(self.scores), stride: panels * LANES };
        for p in 0..values.len() {
            let sums = tile::<S, R>(s, weights, 0, values.panel(p));
            let width = LANES.min(dim_head - p * LANES);
            for r in 0..R {
                let sum = s.mul(sums[r], s.splat(inverse[r]));
                store_part(s, sum, self.heads, (at + r) * dim + head * dim_head + p * LANES, width);
            }
        }
    }

    /// Scores with the costs' bias.
    #[inline(always)]
    fn biased<S: Simd>(&self, s: S, scores: S::Floats, head: usize, row: usize, p: usize, panels: usize) -> S::Floats {
        let channels = self.costs.channels(&self.sizes);
        let mut x = scores;
        for channel in 0..channels {
            let weight = s.splat(self.cost_weights[head * self.sizes.channels + channel]);
            let costs = &self.cost_rows.blocks[(row * channels + channel) * panels + p];
            x = s.fma(weight, s.load(&costs.0), x);
        }
        x
    }
}

/// Turns a row of scores into e^(score - top); gives the top and the sum.
#[inline(always)]
fn exponentiate<S: Simd>(s: S, largest: S::Floats, row: &mut [Block]) -> (f32, f32) {
    let top = s.largest(largest);
    let mut sums = s.splat(0.0);
    for block in row {
        let e = s.exp(s.sub(s.load(&block.0), s.splat(top)));
        s.store(e, &mut block.0);
        sums = s.add(sums, e);
    }
    (top, s.sum(sums))
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
