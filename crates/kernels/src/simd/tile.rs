//! The innermost loop of all f32 products: a tile of results that stays in registers over the whole depth.

use std::array::from_fn;

use super::{Block, Simd};

/// A row-major matrix with rows `stride` apart.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) data: &'a [f32], // from the first element of the first row on
    pub(crate) stride: usize,
}

/// R rows of the left matrix times P panels, which are stored one after the other.
#[inline(always)]
pub(crate) fn tile<S: Simd, const R: usize, const P: usize>(
    s: S,
    left: Rows<'_>,
    row: usize,
    panels: &[Block],
) -> [[S::Floats; R]; P] {
    let (from, depth) = (row * left.stride, panels.len() / P);
    assert!(from + (R - 1) * left.stride + depth <= left.data.len(), "the left matrix has the tile's rows");
    let mut sums = [[s.splat(0.0); R]; P];
    for k in 0..depth {
        // SAFETY: k < depth and p < P, so p * depth + k < P * depth <= panels.len().
        let b: [_; P] = from_fn(|p| s.load(unsafe { &panels.get_unchecked(p * depth + k).0 }));
        for r in 0..R {
            // SAFETY: r <= R - 1 and k < depth, so the index is below the bound that the assertion checks.
            let a = s.splat(unsafe { *left.data.get_unchecked(from + r * left.stride + k) });
            for (sums, &b) in sums.iter_mut().zip(&b) {
                sums[r] = s.fma(a, b, sums[r]);
            }
        }
    }
    sums
}

/// R columns of the left matrix, transposed, times P panels.
#[inline(always)]
pub(crate) fn tile_transposed<S: Simd, const R: usize, const P: usize>(
    s: S,
    left: Rows<'_>,
    column: usize,
    panels: &[Block],
) -> [[S::Floats; R]; P] {
    let depth = panels.len() / P;
    let last = depth.saturating_sub(1) * left.stride;
    assert!(column + R + last <= left.data.len(), "the left matrix has as many rows as the panels");
    let mut sums = [[s.splat(0.0); R]; P];
    for k in 0..depth {
        // SAFETY: k < depth and p < P, so p * depth + k < P * depth <= panels.len().
        let b: [_; P] = from_fn(|p| s.load(unsafe { &panels.get_unchecked(p * depth + k).0 }));
        for r in 0..R {
            // SAFETY: k <= depth - 1 and r < R, so the index is below the bound that the assertion checks.
            let a = s.splat(unsafe { *left.data.get_unchecked(k * left.stride + column + r) });
            for (sums, &b) in sums.iter_mut().zip(&b) {
                sums[r] = s.fma(a, b, sums[r]);
            }
        }
    }
    sums
}
