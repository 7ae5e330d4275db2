//! f32 matrix products: row-major left side, packed right side, fused epilogue.
//!
//! The right side is packed into panels of sixteen columns, each stored row by row ([`Panels`]). A tile of `Simd::ROWS`
//! rows by 16 or 32 columns (`Simd::PANELS`) stays in registers over the whole depth. An [`Epilogue`] then adds biases,
//! residuals and the like and stores the results.

use std::array::from_fn;

use crate::simd::{Block, LANES, Rows, Simd, tile, tile_transposed};

/// A packed matrix: panels of sixteen columns, zeros beyond the last column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panels {
    blocks: Vec<Block>, // [panels, depth]
    depth: usize,
}

impl Panels {
    /// Packs a row-major matrix `[depth, columns]` with rows `stride` apart, reusing the memory.
    pub(crate) fn repack(&mut self, matrix: &[f32], stride: usize, columns: usize, depth: usize) {
        self.reset(columns, depth);
        for (p, panel) in self.blocks.chunks_mut(depth.max(1)).enumerate() {
            let width = LANES.min(columns - p * LANES);
            let rows = panel.iter_mut().enumerate().map(|(k, block)| (k * stride + p * LANES, block));
            if width == LANES {
                rows.for_each(|(from, block)| block.0 = *lanes(matrix, from));
                continue;
            }
            for (from, block) in rows {
                block.0[..width].copy_from_slice(&matrix[from..from + width]);
                block.0[width..].fill(0.0);
            }
        }
    }

    /// Packs the transpose of a row-major matrix `[rows, depth]`: a panel holds sixteen of its rows.
    pub(crate) fn repack_transposed(&mut self, matrix: &[f32], stride: usize, depth: usize, rows: usize) {
        self.reset(rows, depth);
        for (p, panel) in self.blocks.chunks_mut(depth.max(1)).enumerate() {
            let (first, width) = (p * LANES * stride, LANES.min(rows - p * LANES));
            let squares = if width == LANES { depth / LANES * LANES } else { 0 };
            let (front, rest) = panel.split_at_mut(squares);
            for (t, tile) in front.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                let rows: [&[f32; LANES]; LANES] = from_fn(|lane| lanes(matrix, first + lane * stride + t * LANES));
                for (k, block) in tile.iter_mut().enumerate() {
                    block.0 = from_fn(|lane| rows[lane][k]);
                }
            }
            for (k, block) in rest.iter_mut().enumerate() {
                let value = |lane| matrix[first + lane * stride + squares + k];
                block.0 = from_fn(|lane| if lane < width { value(lane) } else { 0.0 });
            }
        }
    }

    fn reset(&mut self, columns: usize, depth: usize) {
        self.depth = depth;
        self.blocks.resize(columns.div_ceil(LANES) * depth, Block::ZERO);
    }

    /// Floats that there is memory for.
    pub(crate) fn floats(&self) -> usize {
        self.blocks.capacity() * LANES
    }

    /// Number of panels.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.blocks.len() / self.depth.max(1)
    }

    /// The blocks of P panels from panel `p` on.
    #[inline(always)]
    pub(crate) fn panels<const P: usize>(&self, p: usize) -> &[Block] {
        &self.blocks[p * self.depth..(p + P) * self.depth]
    }

    /// The blocks of all panels from panel `p` on.
    #[inline(always)]
    fn from(&self, p: usize) -> &[Block] {
        &self.blocks[p * self.depth..]
    }
}

/// What is done with sixteen results before they go to memory.
pub(crate) trait Epilogue {
    /// Takes the results of a row in columns `16 * panel ..`. Implementations must be `inline(always)`.
    fn apply<S: Simd>(&mut self, simd: S, row: usize, panel: usize, results: S::Floats);
}

/// `left[..rows] * right`, tile by tile into the epilogue.
#[inline(always)]
pub(crate) fn matmul<S: Simd, E: Epilogue>(s: S, left: Rows<'_>, rows: usize, right: &Panels, epilogue: &mut E) {
    let mut p = 0;
    while S::PANELS == 2 && p + 2 <= right.count() {
        multiply::<S, E, 2>(s, left, rows, (right, p), epilogue);
        p += 2;
    }
    while p < right.count() {
        multiply::<S, E, 1>(s, left, rows, (right, p), epilogue);
        p += 1;
    }
}

/// `left[..rows]` times P panels. Each tile prefetches its share of the next panels.
#[inline(always)]
fn multiply<S: Simd, E: Epilogue, const P: usize>(
    s: S,
    left: Rows<'_>,
    rows: usize,
    (right, p): (&Panels, usize),
    epilogue: &mut E,
) {
    let panels = right.panels::<P>(p);
    let (next, share) = (right.from(p + P), panels.len().div_ceil((rows / S::ROWS).max(1)));
    let mut row = 0;
    while row + S::ROWS <= rows {
        next.iter().skip(row / S::ROWS * share).take(share).for_each(|block| s.prefetch(block));
        match S::ROWS {
            12 => emit(s, row, p, &tile::<S, 12, P>(s, left, row, panels), epilogue),
            6 => emit(s, row, p, &tile::<S, 6, P>(s, left, row, panels), epilogue),
            _ => emit(s, row, p, &tile::<S, 2, P>(s, left, row, panels), epilogue),
        }
        row += S::ROWS;
    }
    match last_tile(S::ROWS, row, rows) {
        0 => {}
        2 => emit_from(s, row, (rows - 2, p), &tile::<S, 2, P>(s, left, rows - 2, panels), epilogue),
        4 => emit_from(s, row, (rows - 4, p), &tile::<S, 4, P>(s, left, rows - 4, panels), epilogue),
        6 => emit_from(s, row, (rows - 6, p), &tile::<S, 6, P>(s, left, rows - 6, panels), epilogue),
        8 => emit_from(s, row, (rows - 8, p), &tile::<S, 8, P>(s, left, rows - 8, panels), epilogue),
        12 => emit_from(s, row, (rows - 12, p), &tile::<S, 12, P>(s, left, rows - 12, panels), epilogue),
        _ => (row..rows).for_each(|row| emit(s, row, p, &tile::<S, 1, P>(s, left, row, panels), epilogue)),
    }
}

/// Rows of the tile for the last rows, `row .. rows`. It may overlap rows that are done, since a tile of one row takes
/// as long as one of four. 0: no rows are left; 1: row by row, the matrix has too few rows for a larger tile.
#[inline(always)]
pub(crate) fn last_tile(most: usize, row: usize, rows: usize) -> usize {
    match rows - row {
        0 => 0,
        left => [2, 4, 6, 8, 12].into_iter().find(|&tile| left <= tile && tile <= most.min(rows)).unwrap_or(1),
    }
}

#[inline(always)]
fn emit<S: Simd, E: Epilogue, const R: usize, const P: usize>(
    s: S,
    row: usize,
    p: usize,
    tile: &[[S::Floats; R]; P],
    epilogue: &mut E,
) {
    for (k, panel) in tile.iter().enumerate() {
        for (r, results) in panel.iter().enumerate() {
            epilogue.apply(s, row + r, p + k, *results);
        }
    }
}

/// [`emit`] for the rows from `first` on; the rows before are done.
#[inline(always)]
fn emit_from<S: Simd, E: Epilogue, const R: usize, const P: usize>(
    s: S,
    first: usize,
    (row, p): (usize, usize),
    tile: &[[S::Floats; R]; P],
    epilogue: &mut E,
) {
    for (k, panel) in tile.iter().enumerate() {
        for (r, results) in panel.iter().enumerate().filter(|(r, _)| row + r >= first) {
            epilogue.apply(s, row + r, p + k, *results);
        }
    }
}

/// `transpose(left[.., columns]) * right`, summed over the rows of both: the product of weight gradients.
///
/// Columns are copied out a few at a time: with a stride of a power of two, rows would compete for the same cache sets.
#[inline(always)]
pub(crate) fn matmul_transposed<S: Simd, E: Epilogue>(
    s: S,
    left: Rows<'_>,
    columns: usize,
    right: &Panels,
    (copy, epilogue): (&mut Vec<f32>, &mut E),
) {
    for first in (0..columns).step_by(COLUMNS) {
        let width = COLUMNS.min(columns - first);
        copy.resize(right.depth * width, 0.0);
        for (to, from) in copy.chunks_exact_mut(width).zip(left.data.chunks(left.stride)) {
            let from = &from[first..first + width];
            match (to.as_mut_array::<COLUMNS>(), from.as_array::<COLUMNS>()) {
                (Some(to), Some(from)) => *to = *from, // avoids a call of memcpy
                _ => to.copy_from_slice(from),
            }
        }
        let left = Rows { data: copy, stride: width };
        let mut p = 0;
        while S::PANELS == 2 && p + 2 <= right.count() {
            multiply_transposed::<S, E, 2>(s, (left, first), (right, p), epilogue);
            p += 2;
        }
        while p < right.count() {
            multiply_transposed::<S, E, 1>(s, (left, first), (right, p), epilogue);
            p += 1;
        }
    }
}

/// `transpose(left)` times P panels; column 0 of `left` is row `first` of the product.
#[inline(always)]
fn multiply_transposed<S: Simd, E: Epilogue, const P: usize>(
    s: S,
    (left, first): (Rows<'_>, usize),
    (right, p): (&Panels, usize),
    epilogue: &mut E,
) {
    let panels = right.panels::<P>(p);
    let mut column = 0;
    while column + S::ROWS <= left.stride {
        let at = first + column;
        match S::ROWS {
            12 => emit(s, at, p, &tile_transposed::<S, 12, P>(s, left, column, panels), epilogue),
            6 => emit(s, at, p, &tile_transposed::<S, 6, P>(s, left, column, panels), epilogue),
            _ => emit(s, at, p, &tile_transposed::<S, 2, P>(s, left, column, panels), epilogue),
        }
        column += S::ROWS;
    }
    while column + 4 <= left.stride {
        emit(s, first + column, p, &tile_transposed::<S, 4, P>(s, left, column, panels), epilogue);
        column += 4;
    }
    while column < left.stride {
        emit(s, first + column, p, &tile_transposed::<S, 1, P>(s, left, column, panels), epilogue);
        column += 1;
    }
}

/// Columns that are copied out at once: a multiple of the rows of every tile.
const COLUMNS: usize = 48;

/// Sixteen floats of a slice, from an index on.
#[inline(always)]
pub(crate) fn lanes(floats: &[f32], from: usize) -> &[f32; LANES] {
    floats[from..].first_chunk().expect("sixteen floats")
}

/// Sixteen floats of a slice, from an index on.
#[inline(always)]
pub(crate) fn lanes_mut(floats: &mut [f32], from: usize) -> &mut [f32; LANES] {
    floats[from..].first_chunk_mut().expect("sixteen floats")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, Portable, dispatch};

    struct Accumulate<'a>(&'a mut [f32], usize);

    impl Epilogue for Accumulate<'_> {
        #[inline(always)]
        fn apply<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
            let width = LANES.min(self.1 - panel * LANES);
            let at = row * self.1 + panel * LANES;
            // Added up, so that a result that is emitted twice is noticed.
            self.0[at..at + width].iter_mut().zip(s.array(results)).for_each(|(sum, x)| *sum += x);
        }
    }

    /// Both products of integer matrices: exact, whatever the order of the additions.
    struct Both<'a>(&'a [f32], &'a [f32], [usize; 3]);

    impl Kernel for Both<'_> {
        type Output = [Vec<f32>; 2];

        #[inline(always)]
        fn run<S: Simd>(self, s: S) -> [Vec<f32>; 2] {
            let [m, k, n] = self.2;
            let (mut plain, mut transposed) = (vec![0.0; m * n], vec![0.0; m * n]);
            let mut right = Panels::default();
            right.repack(self.1, n, n, k);
            matmul(s, Rows { data: self.0, stride: k }, m, &right, &mut Accumulate(&mut plain, n));
            // The same left side, given as columns.
            let columns: Vec<f32> = (0..k).flat_map(|p| (0..m).map(move |i| self.0[i * k + p])).collect();
            let sums = &mut Accumulate(&mut transposed, n);
            matmul_transposed(s, Rows { data: &columns, stride: m }, m, &right, (&mut Vec::new(), sums));
            [plain, transposed]
        }
    }

    #[test]
    fn every_tile_size_gives_the_product() {
        for (m, k, n) in
            [(1, 1, 1), (5, 3, 16), (12, 7, 17), (13, 4, 50), (14, 5, 33), (23, 20, 40), (64, 2, 33), (101, 16, 8)]
        {
            let integers = |len: usize, by: usize| (0..len).map(|x| (x * by % 7) as f32 - 3.0).collect::<Vec<f32>>();
            let (a, b) = (integers(m * k, 5), integers(k * n, 11));
            let product = |i: usize, j: usize| (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum::<f32>();
            let expected: Vec<f32> =
                (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| product(i, j)).collect();
            let both = || Both(&a, &b, [m, k, n]);
            let found =
                [both().run(Portable::<2>), both().run(Portable::<6>), both().run(Portable::<12>), dispatch(both())];
            for [plain, transposed] in found {
                assert_eq!(plain, expected, "{m} x {k} x {n}");
                assert_eq!(transposed, expected, "{m} x {k} x {n}, transposed");
            }
        }
    }

    #[test]
    fn packing_transposed_equals_packing_the_transpose() {
        let matrix: Vec<f32> = (0..21 * 5).map(|x| x as f32).collect(); // [21, 5]
        let transposed: Vec<f32> = (0..5).flat_map(|j| (0..21).map(move |i| (i * 5 + j) as f32)).collect(); // [5, 21]
        let (mut a, mut b) = (Panels::default(), Panels::default());
        a.repack_transposed(&matrix, 5, 5, 21);
        b.repack(&transposed, 21, 21, 5);
        assert_eq!((a.count(), a.depth), (2, 5));
        assert_eq!(Block::floats(&a.blocks), Block::floats(&b.blocks));
    }
}
