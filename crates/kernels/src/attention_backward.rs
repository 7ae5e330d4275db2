//! Gradients of the attention of one instance, head by head.

use std::f32::consts::LOG2_E;

use crate::epilogue::store_part;
use crate::layer::{CostRows, Costs, LayerSizes, MAX_CHANNELS, RowRange, tail_mask};
use crate::matmul::{Epilogue, Panels, matmul, matmul_transposed};
use crate::simd::{Block, Kernel, LANES, Rows, Simd, tile};

/// Buffers for one instance and head, reused for the next.
#[derive(Default)]
pub(crate) struct Workspace {
    cost_rows: CostRows,
    weights: Vec<Block>,     // attention weights: [tokens, panels]
    d_scores: Vec<Block>,    // [tokens, panels]
    keys_transposed: Panels, // panels of sixteen tokens, depth dim_head
    values_transposed: Panels,
    queries: Panels, // panels of sixteen columns of the head, depth tokens
    keys: Panels,
    d_heads: Panels,
    copy: Vec<f32>,
}

/// From the gradient of the heads' outputs to those of queries, keys, values and cost weights.
pub(crate) struct AttendBackward<'a> {
    pub(crate) sizes: LayerSizes,
    pub(crate) tokens: usize,
    pub(crate) padded: usize,
    pub(crate) qkv: &'a [f32],
    pub(crate) heads: &'a [f32],
    pub(crate) log_sums: &'a [f32],
    pub(crate) d_heads: &'a [f32],
    pub(crate) costs: Costs<'a>,
    pub(crate) cost_weights: &'a [f32],
    pub(crate) d_qkv: &'a mut [f32],          // out, overwritten
    pub(crate) d_cost_weights: &'a mut [f32], // added to
    pub(crate) workspace: &'a mut Workspace,
}

impl Kernel for AttendBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let range = RowRange { first: 0, rows: self.tokens, tokens: self.tokens, padded: self.padded };
        self.workspace.cost_rows.fill(s, self.costs, range, self.costs.channels(&self.sizes));
        let blocks = self.tokens * self.tokens.div_ceil(LANES);
        self.workspace.weights.resize(blocks, Block::ZERO);
        self.workspace.d_scores.resize(blocks, Block::ZERO);
        for head in 0..self.sizes.n_heads {
            self.pack(head);
            self.scores(s, head);
            self.gradients(s, head);
        }
    }
}

impl AttendBackward<'_> {
    fn pack(&mut self, head: usize) {
        let (dim, dim_head, tokens) = (self.sizes.dim, self.sizes.dim_head(), self.tokens);
        let part = |k: usize| &self.qkv[k * dim + head * dim_head..];
        let w = &mut *self.workspace;
        w.keys_transposed.repack_transposed(part(1), 3 * dim, dim_head, tokens);
        w.values_transposed.repack_transposed(part(2), 3 * dim, dim_head, tokens);
        w.queries.repack(part(0), 3 * dim, dim_head, tokens);
        w.keys.repack(part(1), 3 * dim, dim_head, tokens);
        w.d_heads.repack(&self.d_heads[head * dim_head..], dim, dim_head, tokens);
    }

    /// Attention weights and gradients of the scores.
    #[inline(always)]
    fn scores<S: Simd>(&mut self, s: S, head: usize) {
        let mut row = 0;
        while S::ROWS == 12 && row + 12 <= self.tokens {
            self.scores_tile::<S, 12>(s, head, row);
            row += 12;
        }
        while row + 6 <= self.tokens {
            self.scores_tile::<S, 6>(s, head, row);
            row += 6;
        }
        while row + 3 <= self.tokens {
            self.scores_tile::<S, 3>(s, head, row);
            row += 3;
        }
        while row < self.tokens {
            self.scores_tile::<S, 1>(s, head, row);
            row += 1;
        }
    }

    #[inline(always)]
    fn scores_tile<S: Simd, const R: usize>(&mut self, s: S, head: usize, row: usize) {
        let (dim, dim_head) = (self.sizes.dim, self.sizes.dim_head());
        let channels = self.costs.channels(&self.sizes);
        let w = &mut *self.workspace;
        let panels = w.keys_transposed.count();
        let mut weighted = [0.0; R];
        let mut log_sums = [0.0; R];
        for r in 0..R {
            let from = (row + r) * dim + head * dim_head;
            let (o, d) = (&self.heads[from..from + dim_head], &self.d_heads[from..from + dim_head]);
            weighted[r] = o.iter().zip(d).map(|(o, d)| o * d).sum();
            log_sums[r] = self.log_sums[(row + r) * self.sizes.n_heads + head];
        }
        let d_cost_weights = s.call(ScoresBackward::<R> {
            queries: Rows { data: &self.qkv[head * dim_head..], stride: 3 * dim },
            d_heads: Rows { data: &self.d_heads[head * dim_head..], stride: dim },
            row,
            keys: &w.keys_transposed,
            values: &w.values_transposed,
            scale: self.sizes.scale(),
            log_sums,
            weighted,
            costs: &w.cost_rows.blocks[row * channels * panels..],
            cost_weights: &self.cost_weights[head * self.sizes.channels..][..channels],
            tail_mask: tail_mask(self.tokens),
            weights: &mut w.weights[row * panels..(row + R) * panels],
            d_scores: &mut w.d_scores[row * panels..(row + R) * panels],
        });
        for (channel, d_cost_weight) in d_cost_weights.into_iter().enumerate().take(channels) {
            self.d_cost_weights[head * self.sizes.channels + channel] += d_cost_weight;
        }
    }

    #[inline(always)]
    fn gradients<S: Simd>(&mut self, s: S, head: usize) {
        let (dim, dim_head, scale) = (self.sizes.dim, self.sizes.dim_head(), self.sizes.scale());
        let w = &mut *self.workspace;
        let stride = w.keys_transposed.count() * LANES;
        let d_scores = Rows { data: Block::floats(&w.d_scores), stride };
        let weights = Rows { data: Block::floats(&w.weights), stride };
        let (rows, to, copy) = (self.tokens, &mut *self.d_qkv, &mut w.copy);
        let at = |k: usize| k * dim + head * dim_head;
        let mut part = Columns { to, from: at(0), stride: 3 * dim, width: dim_head, by: scale };
        s.call(Multiply { left: d_scores, rows, right: &w.keys, part: &mut part });
        part.from = at(1);
        s.call(MultiplyTransposed { left: d_scores, columns: rows, right: &w.queries, part: &mut part, copy });
        (part.from, part.by) = (at(2), 1.0);
        s.call(MultiplyTransposed { left: weights, columns: rows, right: &w.d_heads, part: &mut part, copy });
    }
}

/// Attention weights of R rows of a head and gradients of the scores; gives the gradients of the cost weights.
struct ScoresBackward<'a, const R: usize> {
    queries: Rows<'a>,
    d_heads: Rows<'a>,
    row: usize,
    keys: &'a Panels,
    values: &'a Panels,
    scale: f32,
    log_sums: [f32; R], // to base 2
    weighted: [f32; R], // sum over j of weight(i, j) * d_weight(i, j), which is head output * its gradient
    costs: &'a [Block], // from the first row on: [rows, channels, panels]
    cost_weights: &'a [f32],
    tail_mask: [f32; LANES],
    weights: &'a mut [Block],  // out: [R, panels]
    d_scores: &'a mut [Block], // out: [R, panels]
}

impl<const R: usize> Kernel for ScoresBackward<'_, R> {
    type Output = [f32; MAX_CHANNELS];

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> [f32; MAX_CHANNELS] {
        let (panels, channels) = (self.keys.count(), self.cost_weights.len());
        let mut d_cost_weights = [s.splat(0.0); MAX_CHANNELS];
        for p in 0..panels {
            let [products] = tile::<S, R, 1>(s, self.queries, self.row, self.keys.panels::<1>(p));
            for (r, &product) in products.iter().enumerate() {
                let mut x = s.fma(product, s.splat(self.scale * LOG2_E), s.splat(-self.log_sums[r]));
                for (channel, &weight) in self.cost_weights.iter().enumerate() {
                    let costs = &self.costs[(r * channels + channel) * panels + p];
                    x = s.fma(s.splat(weight * LOG2_E), s.load(&costs.0), x);
                }
                if p + 1 == panels {
                    x = s.add(x, s.load(&self.tail_mask));
                }
                s.store(s.exp2(x), &mut self.weights[r * panels + p].0);
            }
        }
        for p in 0..panels {
            let [d_weights] = tile::<S, R, 1>(s, self.d_heads, self.row, self.values.panels::<1>(p));
            for (r, &d_weight) in d_weights.iter().enumerate() {
                let weight = s.load(&self.weights[r * panels + p].0);
                let d_score = s.mul(weight, s.sub(d_weight, s.splat(self.weighted[r])));
                s.store(d_score, &mut self.d_scores[r * panels + p].0);
                for (channel, d_cost_weight) in d_cost_weights.iter_mut().enumerate().take(channels) {
                    let costs = &self.costs[(r * channels + channel) * panels + p];
                    *d_cost_weight = s.fma(d_score, s.load(&costs.0), *d_cost_weight);
                }
            }
        }
        d_cost_weights.map(|sum| s.sum(sum))
    }
}

struct Multiply<'a, 'b> {
    left: Rows<'a>,
    rows: usize,
    right: &'a Panels,
    part: &'a mut Columns<'b>,
}

impl Kernel for Multiply<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        matmul(s, self.left, self.rows, self.right, self.part);
    }
}

struct MultiplyTransposed<'a, 'b> {
    left: Rows<'a>,
    columns: usize,
    right: &'a Panels,
    part: &'a mut Columns<'b>,
    copy: &'a mut Vec<f32>,
}

impl Kernel for MultiplyTransposed<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        matmul_transposed(s, self.left, self.columns, self.right, (self.copy, self.part));
    }
}

/// `by * results`, into some columns of a wider matrix.
struct Columns<'a> {
    to: &'a mut [f32],
    from: usize,
    stride: usize,
    width: usize,
    by: f32,
}

impl Epilogue for Columns<'_> {
    #[inline(always)]
    fn apply<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let width = LANES.min(self.width - panel * LANES);
        let at = self.from + row * self.stride + panel * LANES;
        store_part(s, s.mul(results, s.splat(self.by)), self.to, at, width);
    }
}
