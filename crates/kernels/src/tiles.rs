//! Products by the CPU's matrix units: both sides split into tiles of 16 bits, the rest as in [`super::matmul`].

use std::cell::Cell;

use super::matmul::Epilogue;
use super::simd::{Amx, Block, LANES, Products, Rows, Simd, SplitTile, TILE_DEPTH, TILE_ROWS, TileRow};

/// One side of a product: blocks of sixteen rows of the left or columns of the right side, each as deep as the product.
#[derive(Clone, Debug, Default)]
pub struct Tiles {
    tiles: Vec<SplitTile>, // [blocks, depth], and what was needed before
    blocks: usize,
    depth: usize, // in tiles
}

/// How a side lies in a row-major matrix.
#[derive(Clone, Copy)]
pub enum Lie {
    /// A row of the matrix is one row (or column) of the side.
    Along,
    /// A column of the matrix is one row (or column) of the side.
    Across,
}

/// Which side: the left one has its numbers in rows, the right one in columns.
#[derive(Clone, Copy)]
pub enum Side {
    /// `[rows, depth]`.
    Left,
    /// `[depth, columns]`.
    Right,
}

impl Tiles {
    /// Takes in a side of `count` rows or columns and a depth, from a matrix with rows `stride` apart.
    pub fn fill(&mut self, amx: Amx, matrix: Rows<'_>, (side, lie): (Side, Lie), count: usize, depth: usize) {
        const EMPTY: SplitTile = [[TileRow([0; LANES]); TILE_ROWS]; 2];
        self.depth = depth.div_ceil(TILE_DEPTH);
        // Right sides are used in pairs of blocks; what is beyond the last column is zero.
        let blocks = match side {
            Side::Left => count.div_ceil(TILE_ROWS),
            Side::Right => count.div_ceil(2 * TILE_ROWS) * 2,
        };
        self.blocks = blocks;
        if self.tiles.len() < blocks * self.depth {
            self.tiles.resize(blocks * self.depth, EMPTY);
        }
        for (k, tile) in self.tiles[..blocks * self.depth].iter_mut().enumerate() {
            let (outer, inner) = (k / self.depth * TILE_ROWS, k % self.depth * TILE_DEPTH);
            match lie {
                _ if outer >= count => *tile = EMPTY,
                Lie::Along => amx.along(matrix, [outer, inner], [count, depth], tile),
                Lie::Across => amx.across(matrix, [inner, outer], [depth, count], tile),
            }
            // Tiles come as the left side wants them from rows, and as the right side wants them from columns.
            if matches!((side, lie), (Side::Left, Lie::Across) | (Side::Right, Lie::Along)) {
                amx.transpose(tile);
            }
        }
    }

    fn block(&self, k: usize) -> &[SplitTile] {
        &self.tiles[k * self.depth..(k + 1) * self.depth]
    }
}

thread_local! {
    static LEFT: Cell<Tiles> = const { Cell::new(Tiles { tiles: Vec::new(), blocks: 0, depth: 0 }) };
}

/// Lends a thread's memory for left sides.
pub fn with_left<R>(work: impl FnOnce(&mut Tiles) -> R) -> R {
    let mut tiles = LEFT.take();
    let result = work(&mut tiles);
    LEFT.set(tiles);
    result
}

/// `left * right` into the epilogue; the product is `[rows, columns]`.
#[inline(always)]
pub fn multiply<S: Simd, E: Epilogue>(
    s: S,
    (amx, left, right): (Amx, &Tiles, &Tiles),
    [rows, columns]: [usize; 2],
    epilogue: &mut E,
) {
    let units = amx.open();
    let mut products: Products = [[[Block::ZERO; TILE_ROWS]; 2]; 2];
    for p in (0..right.blocks).step_by(2) {
        let pair = [right.block(p), right.block(p + 1)];
        for first in (0..left.blocks).step_by(2) {
            if first + 1 < left.blocks {
                units.multiply([left.block(first), left.block(first + 1)], pair, &mut products);
            } else {
                units.multiply_one(left.block(first), pair, &mut products);
            }
            let first_row = first * TILE_ROWS;
            for (k, part) in products.iter().enumerate() {
                let from = first_row + k * TILE_ROWS;
                for (q, tile) in part.iter().enumerate().filter(|(q, _)| (p + q) * TILE_ROWS < columns) {
                    for (r, results) in tile.iter().enumerate().take(rows.saturating_sub(from)) {
                        epilogue.take(s, from + r, p + q, s.load(&results.0));
                    }
                }
            }
        }
    }
}
