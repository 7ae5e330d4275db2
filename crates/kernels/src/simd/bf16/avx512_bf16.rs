//! AVX-512-BF16: vector instructions with bf16 products, for CPUs without AMX.

use std::arch::x86_64::*;

use super::super::{LANES, Products, SplitTile, TILE_ROWS, TileRow};

/// Proof that the CPU has AVX-512F and AVX-512-BF16.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512Bf16(());

impl Avx512Bf16 {
    /// Asks the CPU.
    pub(super) fn detect() -> Option<Avx512Bf16> {
        let found = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16");
        found.then_some(Avx512Bf16(()))
    }

    /// The high parts of the first `rows` rows of left sides (one or two, sixteen rows each) times those of two right
    /// sides (sixteen columns each), summed over the depth. Rows beyond may hold anything afterwards.
    pub(super) fn multiply_high(self, left: &[&[SplitTile]], rows: usize, right: [&[SplitTile]; 2], to: &mut Products) {
        // SAFETY: `self` proves that the CPU has the features that the function enables.
        unsafe { multiply_high(left, rows, right, to) }
    }
}

/// Rows whose sums, for two right sides, fit the registers.
const ROWS: usize = 8;

/// One step multiplies a word of the left side, two bf16 values, with sixteen such pairs of the right side.
#[target_feature(enable = "avx512f,avx512bf16")]
fn multiply_high(left: &[&[SplitTile]], rows: usize, right: [&[SplitTile]; 2], to: &mut Products) {
    for (k, (left, to)) in left.iter().zip(to).enumerate() {
        for first in (0..TILE_ROWS.min(rows - k * TILE_ROWS)).step_by(ROWS) {
            let mut sums = [[_mm512_setzero_ps(); ROWS]; 2];
            for ([a, _], ([b, _], [c, _])) in left.iter().zip(right[0].iter().zip(right[1])) {
                for k in 0..LANES {
                    let (b, c) = (load(&b[k]), load(&c[k]));
                    for r in 0..ROWS {
                        let a = broadcast(a[first + r].0[k]);
                        sums[0][r] = _mm512_dpbf16_ps(sums[0][r], a, b);
                        sums[1][r] = _mm512_dpbf16_ps(sums[1][r], a, c);
                    }
                }
            }
            for (sums, to) in sums.iter().zip(to.iter_mut()) {
                for (sum, to) in sums.iter().zip(&mut to[first..]) {
                    // SAFETY: a Block has the size and the alignment of the vector.
                    unsafe { _mm512_store_ps(to.0.as_mut_ptr(), *sum) }
                }
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn load(row: &TileRow) -> __m512bh {
    // SAFETY: a TileRow has the size and the alignment of the vector.
    let words = unsafe { _mm512_load_si512(row.0.as_ptr().cast()) };
    // SAFETY: both types are 512-bit vectors in which every bit pattern is valid.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(words) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn broadcast(word: u32) -> __m512bh {
    // SAFETY: both types are 512-bit vectors in which every bit pattern is valid.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(_mm512_set1_epi32(word as i32)) }
}
