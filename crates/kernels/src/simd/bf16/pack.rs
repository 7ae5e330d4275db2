//! From floats to bf16 tiles, with AVX-512F.

use std::arch::x86_64::*;

use super::super::{LANES, Rows, TILE_ROWS, TileRow};

/// Up to sixteen floats of a slice, zeros beyond `count`.
#[target_feature(enable = "avx512f")]
fn load(data: &[f32], from: usize, count: usize) -> __m512 {
    let data = &data[from..from + count.min(LANES)];
    let mask = if count >= LANES { u16::MAX } else { (1 << count) - 1 };
    // SAFETY: the mask selects `data.len()` lanes; the others are not read.
    unsafe { _mm512_maskz_loadu_ps(mask, data.as_ptr()) }
}

/// Two vectors as words of two bf16 values (`a` in the lower half): the high parts, the low parts. An infinite float
/// has a NaN as its low part.
#[target_feature(enable = "avx512f")]
fn split(a: __m512, b: __m512) -> [__m512i; 2] {
    let half = _mm512_set1_epi32(0x8000);
    let upper = _mm512_set1_epi32(-0x1_0000);
    let rounded = |x| _mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x), half), upper);
    let words = |a, b| _mm512_or_si512(_mm512_srli_epi32::<16>(a), b);
    let (high_a, high_b) = (rounded(a), rounded(b));
    let low = |x, high| rounded(_mm512_sub_ps(x, _mm512_castsi512_ps(high)));
    [words(high_a, high_b), words(low(a, high_a), low(b, high_b))]
}

/// Stores one row of as many parts as `to` has.
#[target_feature(enable = "avx512f")]
fn store(words: [__m512i; 2], to: &mut [[TileRow; TILE_ROWS]], row: usize) {
    for (words, part) in words.into_iter().zip(to) {
        // SAFETY: a TileRow has the size and the alignment of the vector.
        unsafe { _mm512_store_si512(part[row].0.as_mut_ptr().cast(), words) }
    }
}

/// [`super::Bf16Unit::pack_rows`], into as many parts as `to` has.
#[target_feature(enable = "avx512f")]
pub(super) fn pack_rows(
    matrix: Rows<'_>,
    [row, column]: [usize; 2],
    [rows, columns]: [usize; 2],
    to: &mut [[TileRow; TILE_ROWS]],
) {
    let left = columns - column;
    for k in 0..TILE_ROWS {
        let mut pair = [_mm512_setzero_ps(); 2];
        if row + k < rows {
            let from = (row + k) * matrix.stride + column;
            pair[0] = load(matrix.data, from, left);
            if left > LANES {
                pair[1] = load(matrix.data, from + LANES, left - LANES);
            }
        }
        store(split(pair[0], pair[1]), to, k);
    }
}

/// [`super::Bf16Unit::pack_columns`], into as many parts as `to` has.
#[target_feature(enable = "avx512f")]
pub(super) fn pack_columns(
    matrix: Rows<'_>,
    [row, column]: [usize; 2],
    [rows, columns]: [usize; 2],
    to: &mut [[TileRow; TILE_ROWS]],
) {
    let values = |row: usize| match row < rows {
        true => load(matrix.data, row * matrix.stride + column, columns - column),
        false => _mm512_setzero_ps(),
    };
    for k in 0..TILE_ROWS {
        store(split(values(row + k), values(row + TILE_ROWS + k)), to, k);
    }
}

/// Transposes sixteen rows of sixteen words: words within pairs of rows, pairs within fours, then 128-bit quarters.
#[target_feature(enable = "avx512f")]
pub(super) fn transpose(part: &mut [TileRow; TILE_ROWS]) {
    // SAFETY: a TileRow has the size and the alignment of the vector.
    let rows = part.map(|row| unsafe { _mm512_load_si512(row.0.as_ptr().cast()) });
    let pair = |k: usize| match k % 2 {
        0 => _mm512_unpacklo_epi32(rows[k], rows[k + 1]),
        _ => _mm512_unpackhi_epi32(rows[k - 1], rows[k]),
    };
    let mut pairs = rows;
    (0..TILE_ROWS).for_each(|k| pairs[k] = pair(k));
    let mut fours = rows;
    for k in (0..TILE_ROWS).step_by(4) {
        fours[k] = _mm512_unpacklo_epi64(pairs[k], pairs[k + 2]);
        fours[k + 1] = _mm512_unpackhi_epi64(pairs[k], pairs[k + 2]);
        fours[k + 2] = _mm512_unpacklo_epi64(pairs[k + 1], pairs[k + 3]);
        fours[k + 3] = _mm512_unpackhi_epi64(pairs[k + 1], pairs[k + 3]);
    }
    // Quarter q of fours[4 i + c] holds column 4 q + c of rows 4 i to 4 i + 3.
    for c in 0..4 {
        let even = |k: usize| _mm512_shuffle_i32x4::<0x88>(fours[k + c], fours[k + 4 + c]);
        let odd = |k: usize| _mm512_shuffle_i32x4::<0xdd>(fours[k + c], fours[k + 4 + c]);
        let columns = [
            _mm512_shuffle_i32x4::<0x88>(even(0), even(8)),
            _mm512_shuffle_i32x4::<0x88>(odd(0), odd(8)),
            _mm512_shuffle_i32x4::<0xdd>(even(0), even(8)),
            _mm512_shuffle_i32x4::<0xdd>(odd(0), odd(8)),
        ];
        for (quarter, column) in columns.into_iter().enumerate() {
            // SAFETY: as for the loads; `part` is borrowed exclusively.
            unsafe { _mm512_store_si512(part[4 * quarter + c].0.as_mut_ptr().cast(), column) }
        }
    }
}
