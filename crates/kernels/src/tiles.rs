//! Matrix products by bf16 tiles: both sides are packed into tiles; the epilogues are those of [`crate::matmul`].

use std::cell::Cell;

use crate::matmul::Epilogue;
use crate::simd::{Bf16Unit, Block, Products, Rows, Simd, SplitTile, TILE_DEPTH, TILE_ROWS, ZERO_TILE};

/// One side of a product: blocks of sixteen rows of the left or columns of the right side, over the whole depth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tiles {
    tiles: Vec<SplitTile>, // [blocks, depth]; may be longer than in use
    blocks: usize,
    depth: usize, // in tiles
}

/// How a side is stored in a row-major matrix.
#[derive(Clone, Copy)]
pub(crate) enum Layout {
    /// The depth runs along the rows of the matrix: left sides as they are, right sides transposed.
    DepthInRows,
    /// The depth runs down the columns of the matrix: left sides transposed, right sides as they are.
    DepthInColumns,
}

/// Which operand of the product.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    /// `[rows, depth]`.
    Left,
    /// `[depth, columns]`.
    Right,
}

impl Tiles {
    /// Packs a side of `count` rows (left) or columns (right) and this depth, reusing the memory.
    pub(crate) fn repack(
        &mut self,
        unit: Bf16Unit,
        matrix: Rows<'_>,
        (side, layout): (Side, Layout),
        count: usize,
        depth: usize,
    ) {
        self.depth = depth.div_ceil(TILE_DEPTH);
        // Right sides are read in pairs of blocks; columns beyond the last are zero.
        let blocks = match side {
            Side::Left => count.div_ceil(TILE_ROWS),
            Side::Right => count.div_ceil(2 * TILE_ROWS) * 2,
        };
        self.blocks = blocks;
        if self.tiles.len() < blocks * self.depth {
            self.tiles.resize(blocks * self.depth, ZERO_TILE);
        }
        for (k, tile) in self.tiles[..blocks * self.depth].iter_mut().enumerate() {
            let (outer, inner) = (k / self.depth * TILE_ROWS, k % self.depth * TILE_DEPTH);
            match layout {
                _ if outer >= count => *tile = ZERO_TILE,
                Layout::DepthInRows => unit.pack_rows(matrix, [outer, inner], [count, depth], tile),
                Layout::DepthInColumns => unit.pack_columns(matrix, [inner, outer], [depth, count], tile),
            }
            // `pack_rows` gives tiles of the left side, `pack_columns` tiles of the right side.
            if matches!((side, layout), (Side::Left, Layout::DepthInColumns) | (Side::Right, Layout::DepthInRows)) {
                unit.transpose(tile);
            }
        }
    }

    fn block(&self, k: usize) -> &[SplitTile] {
        &self.tiles[k * self.depth..(k + 1) * self.depth]
    }
}

/// Tiles of the largest buffer that a thread keeps: 16 MB, some 20,000 tokens of the paper's network. With more, what
/// follows the product takes far longer than the system takes to give that memory again.
const MOST_KEPT: usize = (16 << 20) / size_of::<SplitTile>();

thread_local! {
    static LEFT: Cell<Tiles> = const { Cell::new(Tiles { tiles: Vec::new(), blocks: 0, depth: 0 }) };
}

/// Runs work with the thread's buffer for left sides. One that has become very large is freed.
pub(crate) fn with_left<R>(work: impl FnOnce(&mut Tiles) -> R) -> R {
    let mut tiles = LEFT.take();
    let result = work(&mut tiles);
    if tiles.tiles.capacity() <= MOST_KEPT {
        LEFT.set(tiles);
    }
    result
}

/// `left * right` into the epilogue; the product is `[rows, columns]`.
#[inline(always)]
pub(crate) fn multiply_tiles<S: Simd, E: Epilogue>(
    s: S,
    (unit, left, right): (Bf16Unit, &Tiles, &Tiles),
    [rows, columns]: [usize; 2],
    epilogue: &mut E,
) {
    let session = unit.start();
    let mut products: Products = [[[Block::ZERO; TILE_ROWS]; 2]; 2];
    for p in (0..right.blocks).step_by(2) {
        let pair = [right.block(p), right.block(p + 1)];
        for first in (0..left.blocks).step_by(2) {
            let first_row = first * TILE_ROWS;
            if first + 1 < left.blocks {
                session.multiply([left.block(first), left.block(first + 1)], pair, &mut products);
            } else {
                session.multiply_one(left.block(first), rows - first_row, pair, &mut products);
            }
            for (k, part) in products.iter().enumerate() {
                let from = first_row + k * TILE_ROWS;
                for (q, tile) in part.iter().enumerate().filter(|(q, _)| (p + q) * TILE_ROWS < columns) {
                    for (r, results) in tile.iter().enumerate().take(rows.saturating_sub(from)) {
                        epilogue.apply(s, from + r, p + q, s.load(&results.0));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_very_large_left_side_is_not_kept() {
        let capacity = || with_left(|left| left.tiles.capacity());
        with_left(|left| left.tiles.reserve_exact(MOST_KEPT));
        assert_eq!(capacity(), MOST_KEPT);
        with_left(|left| left.tiles.reserve_exact(MOST_KEPT + 1));
        assert_eq!(capacity(), 0);
    }
}
