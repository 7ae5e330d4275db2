//! Matrix products of the layer's sizes: row-major left side, packed right side, the rest of the work in the epilogue.
//!
//! The right side is cut into panels of sixteen columns, each stored row after row ([`Panels`]). A tile of
//! `Simd::ROWS` x 16 results stays in registers over the whole depth and then goes through an [`Epilogue`], which
//! adds biases, residuals and the like on its way to memory.

use super::simd::{Block, LANES, Simd};

/// A packed matrix: panels of sixteen columns, zeros beyond the last column.
#[derive(Clone, Debug, Default)]
pub struct Panels {
    blocks: Vec<Block>, // [panels, depth]
    depth: usize,
}

impl Panels {
    /// Packs a row-major matrix `[depth, columns]`.
    pub fn pack(matrix: &[f32], columns: usize) -> Self {
        let mut panels = Panels::default();
        panels.repack(matrix, columns, columns, matrix.len() / columns.max(1));
        panels
    }

    /// Packs the transpose of a row-major matrix `[rows, depth]`: panels of sixteen rows.
    pub fn pack_transposed(matrix: &[f32], depth: usize) -> Self {
        let mut panels = Panels::default();
        panels.repack_transposed(matrix, depth, depth, matrix.len() / depth.max(1));
        panels
    }

    /// [`Panels::pack`] of `depth` rows that lie `stride` apart, into the memory at hand.
    pub fn repack(&mut self, matrix: &[f32], stride: usize, columns: usize, depth: usize) {
        self.reset(columns, depth);
        for (p, panel) in self.blocks.chunks_mut(depth.max(1)).enumerate() {
            let width = LANES.min(columns - p * LANES);
            for (k, block) in panel.iter_mut().enumerate() {
                let from = k * stride + p * LANES;
                block.0[..width].copy_from_slice(&matrix[from..from + width]);
                block.0[width..].fill(0.0);
            }
        }
    }

    /// [`Panels::pack_transposed`] of `rows` rows that lie `stride` apart, into the memory at hand.
    pub fn repack_transposed(&mut self, matrix: &[f32], stride: usize, depth: usize, rows: usize) {
        self.reset(rows, depth);
        for (p, panel) in self.blocks.chunks_mut(depth.max(1)).enumerate() {
            let width = LANES.min(rows - p * LANES);
            for lane in 0..LANES {
                if lane < width {
                    let from = (p * LANES + lane) * stride;
                    for (block, &x) in panel.iter_mut().zip(&matrix[from..from + depth]) {
                        block.0[lane] = x;
                    }
                } else {
                    panel.iter_mut().for_each(|block| block.0[lane] = 0.0);
                }
            }
        }
    }

    fn reset(&mut self, columns: usize, depth: usize) {
        self.depth = depth;
        self.blocks.resize(columns.div_ceil(LANES) * depth, Block::ZERO);
    }

    /// Number of panels.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.blocks.len() / self.depth.max(1)
    }

    /// The rows of a panel.
    #[inline(always)]
    pub fn panel(&self, p: usize) -> &[Block] {
        &self.blocks[p * self.depth..(p + 1) * self.depth]
    }
}

/// What happens to sixteen finished results.
pub trait Epilogue {
    /// Takes the results of a row in columns `16 * panel ..`; must be `inline(always)`.
    fn take<S: Simd>(&mut self, simd: S, row: usize, panel: usize, results: S::Floats);
}

/// A row-major matrix of which rows are read: numbers, distance between rows.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// The numbers, from the first row's first on.
    pub numbers: &'a [f32],
    /// Distance between rows.
    pub stride: usize,
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub(super) fn row(&self, row: usize, depth: usize) -> &'a [f32] {
        &self.numbers[row * self.stride..row * self.stride + depth]
    }
}

/// `left[..rows] * right`, tile by tile into the epilogue.
#[inline(always)]
pub fn matmul<S: Simd, E: Epilogue>(s: S, left: Rows<'_>, rows: usize, right: &Panels, epilogue: &mut E) {
    for p in 0..right.len() {
        let panel = right.panel(p);
        let mut row = 0;
        while row + S::ROWS <= rows {
            match S::ROWS {
                12 => emit(s, row, p, tile::<S, 12>(s, left, row, panel), epilogue),
                6 => emit(s, row, p, tile::<S, 6>(s, left, row, panel), epilogue),
                _ => emit(s, row, p, tile::<S, 2>(s, left, row, panel), epilogue),
            }
            row += S::ROWS;
        }
        while row + 4 <= rows {
            emit(s, row, p, tile::<S, 4>(s, left, row, panel), epilogue);
            row += 4;
        }
        while row < rows {
            emit(s, row, p, tile::<S, 1>(s, left, row, panel), epilogue);
            row += 1;
        }
    }
}

#[inline(always)]
fn emit<S: Simd, E: Epilogue, const R: usize>(s: S, row: usize, p: usize, tile: [S::Floats; R], epilogue: &mut E) {
    for (r, results) in tile.into_iter().enumerate() {
        epilogue.take(s, row + r, p, results);
    }
}

/// R rows of the left side times one panel.
#[inline(always)]
pub fn tile<S: Simd, const R: usize>(s: S, left: Rows<'_>, row: usize, panel: &[Block]) -> [S::Floats; R] {
    let depth = panel.len();
    let a: [&[f32]; R] = std::array::from_fn(|r| left.row(row + r, depth));
    let mut sums = [s.splat(0.0); R];
    for k in 0..depth {
        let b = s.load(&panel[k].0);
        for r in 0..R {
            sums[r] = s.fma(s.splat(a[r][k]), b, sums[r]);
        }
    }
    sums
}

/// `transpose(left[.., columns]) * right` for `depth` rows of both: the product of weight gradients.
#[inline(always)]
pub fn matmul_transposed<S: Simd, E: Epilogue>(s: S, left: Rows<'_>, columns: usize, right: &Panels, e: &mut E) {
    for p in 0..right.len() {
        let panel = right.panel(p);
        let mut column = 0;
        while column + S::ROWS <= columns {
            match S::ROWS {
                12 => emit(s, column, p, tile_transposed::<S, 12>(s, left, column, panel), e),
                6 => emit(s, column, p, tile_transposed::<S, 6>(s, left, column, panel), e),
                _ => emit(s, column, p, tile_transposed::<S, 2>(s, left, column, panel), e),
            }
            column += S::ROWS;
        }
        while column + 4 <= columns {
            emit(s, column, p, tile_transposed::<S, 4>(s, left, column, panel), e);
            column += 4;
        }
        while column < columns {
            emit(s, column, p, tile_transposed::<S, 1>(s, left, column, panel), e);
            column += 1;
        }
    }
}

#[inline(always)]
fn tile_transposed<S: Simd, const R: usize>(s: S, left: Rows<'_>, column: usize, panel: &[Block]) -> [S::Floats; R] {
    let mut sums = [s.splat(0.0); R];
    let mut from = column;
    for block in panel {
        let a: &[f32; R] = left.numbers[from..].first_chunk().expect("the left side has as many rows as the panel");
        let b = s.load(&block.0);
        for r in 0..R {
            sums[r] = s.fma(s.splat(a[r]), b, sums[r]);
        }
        from += left.stride;
    }
    sums
}

/// Sixteen floats of a slice.
#[inline(always)]
pub fn lanes(floats: &[f32], from: usize) -> &[f32; LANES] {
    floats[from..].first_chunk().expect("sixteen floats")
}

/// Sixteen floats of a slice.
#[inline(always)]
pub fn lanes_mut(floats: &mut [f32], from: usize) -> &mut [f32; LANES] {
    floats[from..].first_chunk_mut().expect("sixteen floats")
}
