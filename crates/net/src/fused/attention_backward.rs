//! Gradients of the attention of one instance, head by head.

use super::attention::store_part;
use super::layout::{Area, CostRows, Costs, Sizes, tail};
use super::matmul::{Epilogue, Panels, Rows, matmul, matmul_transposed, tile};
use super::simd::{Block, Kernel, LANES, Simd};

/// Memory for one instance and head, reused for the next.
#[derive(Default)]
pub(super) struct Workspace {
    cost_rows: CostRows,
    weights: Vec<Block>,  // attention weights: [tokens, panels]
    d_scores: Vec<Block>, // [tokens, panels]
    keys_across: Panels,  // panels of sixteen tokens
    values_across: Panels,
    queries: Panels, // panels of sixteen numbers, depth tokens
    keys: Panels,
    d_heads: Panels,
}

/// From the gradient of the heads' outputs to those of queries, keys, values and cost weights.
pub(super) struct AttendBackward<'a> {
    pub(super) sizes: Sizes,
    pub(super) tokens: usize,
    pub(super) padded: usize,
    pub(super) qkv: &'a [f32],
    pub(super) heads: &'a [f32],
    pub(super) log_sums: &'a [f32],
    pub(super) d_heads: &'a [f32],
    pub(super) costs: Costs<'a>,
    pub(super) cost_weights: &'a [f32],
    pub(super) d_qkv: &'a mut [f32],          // out, every number
    pub(super) d_cost_weights: &'a mut [f32], // added to
    pub(super) workspace: &'a mut Workspace,
}

impl Kernel for AttendBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let area = Area { first: 0, rows: self.tokens, tokens: self.tokens, padded: self.padded };
        self.workspace.cost_rows.fill(s, self.costs, area, self.costs.channels(&self.sizes));
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
        w.keys_across.repack_transposed(part(1), 3 * dim, dim_head, tokens);
        w.values_across.repack_transposed(part(2), 3 * dim, dim_head, tokens);
        w.queries.repack(part(0), 3 * dim, dim_head, tokens);
        w.keys.repack(part(1), 3 * dim, dim_head, tokens);
        w.d_heads.repack(&self.d_heads[head * dim_head..], dim, dim_head, tokens);
    }

    /// Attention weights and gradients of the scores.
    #[inline(always)]
    fn scores<S: Simd>(&mut self, s: S, head: usize) {
        let mut row = 0;
        while row + 6 <= self.tokens {
            self.scores_tile::<S, 6>(s, head, row);
            row += 6;
        }
        while row < self.tokens {
            self.scores_tile::<S, 1>(s, head, row);
            row += 1;
        }
    }

    #[inline(always)]
    fn scores_tile<S: Simd, const R: usize>(&mut self, s: S, head: usize, row: usize) {
        let (dim, dim_head) = (self.sizes.dim, self.sizes.dim_head());
        let panels = self.workspace.keys_across.len();
        let channels = self.costs.channels(&self.sizes);
        let queries = Rows { numbers: &self.qkv[head * dim_head..], stride: 3 * dim };
        let d_heads = Rows { numbers: &self.d_heads[head * dim_head..], stride: dim };
        // Sum over j of weight(i, j) * d_weight(i, j), by way of the head's output.
        let through: [f32; R] = std::array::from_fn(|r| {
            let from = (row + r) * dim + head * dim_head;
            let (o, d) = (&self.heads[from..from + dim_head], &self.d_heads[from..from + dim_head]);
            o.iter().zip(d).map(|(o, d)| o * d).sum()
        });
        let w = &mut *self.workspace;
        let mut slopes = [s.splat(0.0); 2]; // of the cost weights, by channel
        for p in 0..panels {
            let products = tile::<S, R>(s, queries, row, w.keys_across.panel(p));
            let d_weights = tile::<S, R>(s, d_heads, row, w.values_across.panel(p));
            for r in 0..R {
                let log_sum = self.log_sums[(row + r) * self.sizes.n_heads + head];
                let mut x = s.fma(products[r], s.splat(self.sizes.scale()), s.splat(-log_sum));
                for channel in 0..channels {
                    let weight = s.splat(self.cost_weights[head * self.sizes.channels + channel]);
                    let costs = &w.cost_rows.blocks[((row + r) * channels + channel) * panels + p];
                    x = s.fma(weight, s.load(&costs.0), x);
                }
                if p + 1 == panels {
                    x = s.add(x, s.load(&tail(self.tokens)));
                }
                let weight = s.exp(x);
                let d_score = s.mul(weight, s.sub(d_weights[r], s.splat(through[r])));
                s.store(weight, &mut w.weights[(row + r) * panels + p].0);
                s.store(d_score, &mut w.d_scores[(row + r) * panels + p].0);
                for (channel, slope) in slopes.iter_mut().enumerate().take(channels) {
                    let costs = &w.cost_rows.blocks[((row + r) * channels + channel) * panels + p];
                    *slope = s.fma(d_score, s.load(&costs.0), *slope);
                }
            }
        }
        for (channel, slope) in slopes.into_iter().enumerate().take(channels) {
            self.d_cost_weights[head * self.sizes.channels + channel] += s.sum(slope);
        }
    }

    #[inline(always)]
    fn gradients<S: Simd>(&mut self, s: S, head: usize) {
        let (dim, dim_head, scale) = (self.sizes.dim, self.sizes.dim_head(), self.sizes.scale());
        let w = &*self.workspace;
        let stride = w.keys_across.len() * LANES;
        let d_scores = Rows { numbers: Block::floats(&w.d_scores), stride };
        let weights = Rows { numbers: Block::floats(&w.weights), stride };
        let to = &mut *self.d_qkv;
        let at = |k: usize| k * dim + head * dim_head;
        let mut d_queries = Part { to, from: at(0), stride: 3 * dim, width: dim_head, by: scale };
        matmul(s, d_scores, self.tokens, &w.keys, &mut d_queries);
        let mut d_keys = Part { to: d_queries.to, from: at(1), stride: 3 * dim, width: dim_head, by: scale };
        matmul_transposed(s, d_scores, self.tokens, &w.queries, &mut d_keys);
        let mut d_values = Part { to: d_keys.to, from: at(2), stride: 3 * dim, width: dim_head, by: 1.0 };
        matmul_transposed(s, weights, self.tokens, &w.d_heads, &mut d_values);
    }
}

/// by * results, into some columns of a wider matrix.
struct Part<'a> {
    to: &'a mut [f32],
    from: usize,
    stride: usize,
    width: usize,
    by: f32,
}

impl Epilogue for Part<'_> {
    #[inline(always)]
    fn take<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let width = LANES.min(self.width - panel * LANES);
        let at = self.from + row * self.stride + panel * LANES;
        store_part(s, s.mul(results, s.splat(self.by)), self.to, at, width);
    }
}
