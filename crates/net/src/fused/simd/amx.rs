//! Matrix units of x86 CPUs (AMX): sixteen rows times sixteen columns, thirty-two deep, by one instruction.
//!
//! They multiply numbers of 16 bits (bfloat16) and add up in 32. A float is the sum of two such numbers but for its last
//! 2^-17, so three products (high * high, high * low, low * high) make one of floats to about five digits, several times
//! as fast as vectors do. With the higher parts alone ([`Path::Bf16`]) it is one product, to about three digits: enough to
//! train by; vectors that multiply such numbers (AVX-512 BF16) then stand in for missing matrix units. Rust has no stable
//! names for the matrix units' instructions, hence the assembly.

use std::arch::asm;
use std::arch::x86_64::*;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::LazyLock;

use super::{Block, LANES, Path, Products, Rows, SplitTile, TILE_ROWS, TileRow, best_path};

/// Proof that the CPU has AVX-512, and AMX that the operating system lets this process use or what stands in for it.
#[derive(Clone, Copy, Debug)]
pub struct Amx {
    parts: usize, // of a float that are multiplied: 1 or 2
    means: Means,
}

/// What multiplies tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    /// Matrix units.
    Units,
    /// Vectors of numbers of 16 bits; higher parts only.
    Vectors,
}

/// The better means of this CPU, if it has any.
static MEANS: LazyLock<Option<Means>> = LazyLock::new(|| {
    let means = [(detected(), Means::Units), (is_x86_feature_detected!("avx512bf16"), Means::Vectors)];
    let found = means.into_iter().find(|(is_here, _)| *is_here).map(|(_, means)| means);
    found.filter(|_| is_x86_feature_detected!("avx512f"))
});

impl Amx {
    /// The proof, where there is one.
    pub fn get() -> Option<Amx> {
        let parts = match best_path() {
            Path::Bf16 => 1,
            Path::Amx => 2,
            _ => return None,
        };
        MEANS.map(|means| Amx { parts, means })
    }

    /// With both parts of floats, to about five digits, where that is faster than by floats.
    pub fn exact(self) -> Option<Amx> {
        (self.means == Means::Units).then_some(Amx { parts: 2, ..self })
    }

    /// Sixteen rows by thirty-two columns of a matrix, from `row` and `column` on; zeros beyond `rows` and `columns`.
    pub fn along(self, matrix: Rows<'_>, at: [usize; 2], size: [usize; 2], to: &mut SplitTile) {
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { along(matrix, at, size, &mut to[..self.parts]) }
    }

    /// Thirty-two rows by sixteen columns, as sixteen rows of pairs: row k and row 16 + k.
    pub fn across(self, matrix: Rows<'_>, at: [usize; 2], size: [usize; 2], to: &mut SplitTile) {
        // SAFETY: as above.
        unsafe { across(matrix, at, size, &mut to[..self.parts]) }
    }

    /// Exchanges rows and columns of words.
    pub fn transpose(self, tile: &mut SplitTile) {
        // SAFETY: as above.
        tile[..self.parts].iter_mut().for_each(|part| unsafe { transpose(part) });
    }

    /// The matrix units, ready for this thread until dropped; there must be no others of this thread.
    pub fn open(self) -> Units {
        let units = Units { parts: self.parts, means: self.means, not_send: PhantomData };
        if self.means == Means::Vectors {
            return units;
        }
        assert!(!OPEN.replace(true), "one product at a time");
        #[repr(C, align(64))]
        struct Shape([u8; 64]);
        let mut shape = Shape([0; 64]);
        shape.0[0] = 1; // the one way to lay out tiles that there is
        for tile in 0..8 {
            shape.0[16 + 2 * tile] = size_of::<TileRow>() as u8;
            shape.0[48 + tile] = TILE_ROWS as u8;
        }
        // SAFETY: the shape is one that every AMX unit has; the registers belong to nobody else.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &shape, options(readonly, nostack, preserves_flags)) };
        units
    }
}

/// Configured matrix units; a thread's own, hence not to be sent.
pub struct Units {
    parts: usize,
    means: Means,
    not_send: PhantomData<*const ()>,
}

thread_local! {
    static OPEN: Cell<bool> = const { Cell::new(false) };
}

impl Drop for Units {
    fn drop(&mut self) {
        if self.means == Means::Vectors {
            return;
        }
        OPEN.set(false);
        // SAFETY: gives the registers back, so that nobody has to save them.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
    }
}

impl Units {
    /// Sums over the depth of two left sides (sixteen rows each) times two right sides (sixteen columns each).
    pub fn multiply(&self, left: [&[SplitTile]; 2], right: [&[SplitTile]; 2], to: &mut Products) {
        let depth = left[0].len();
        assert!([left[1], right[0], right[1]].iter().all(|side| side.len() == depth), "sides of one depth");
        match (depth, self.parts, self.means) {
            (0, ..) => to.as_flattened_mut().as_flattened_mut().fill(Block::ZERO),
            // SAFETY: vectors are the means of CPUs that have the instructions.
            (_, _, Means::Vectors) => unsafe { multiply_by_vectors(&left, right, to) },
            (_, 1, _) => self.multiply_higher(left, right, to),
            _ => self.multiply_both(left, right, to),
        }
    }

    /// The higher parts alone.
    fn multiply_higher(&self, left: [&[SplitTile]; 2], right: [&[SplitTile]; 2], to: &mut Products) {
        // SAFETY: as in `multiply_both`.
        unsafe {
            asm!(
                "tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3",
                "2:",
                "tileloadd tmm4, [{a0} + {row}*1]",
                "tileloadd tmm6, [{b0} + {row}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a1} + {row}*1]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {a0}, 2048", "add {a1}, 2048", "add {b0}, 2048", "add {b1}, 2048",
                "dec {depth}",
                "jnz 2b",
                "tilestored [{to} + {row}*1], tmm0",
                "tilestored [{to} + {row}*1 + 1024], tmm1",
                "tilestored [{to} + {row}*1 + 2048], tmm2",
                "tilestored [{to} + {row}*1 + 3072], tmm3",
                a0 = inout(reg) left[0].as_ptr() => _,
                a1 = inout(reg) left[1].as_ptr() => _,
                b0 = inout(reg) right[0].as_ptr() => _,
                b1 = inout(reg) right[1].as_ptr() => _,
                depth = inout(reg) left[0].len() => _,
                row = in(reg) size_of::<TileRow>(),
                to = in(reg) to.as_mut_ptr(),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }

    /// Both parts: three products for one.
    fn multiply_both(&self, left: [&[SplitTile]; 2], right: [&[SplitTile]; 2], to: &mut Products) {
        // SAFETY: each side is read `depth` tiles of 2048 bytes far, which it has; the four results are 1024 bytes each.
        unsafe {
            asm!(
                "tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3",
                "2:",
                // low * high
                "tileloadd tmm4, [{a0} + {row}*1 + 1024]",
                "tileloadd tmm6, [{b0} + {row}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a1} + {row}*1 + 1024]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                // high * high
                "tileloadd tmm4, [{a0} + {row}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a1} + {row}*1]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                // high * low
                "tileloadd tmm6, [{b0} + {row}*1 + 1024]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1 + 1024]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {a0}, 2048", "add {a1}, 2048", "add {b0}, 2048", "add {b1}, 2048",
                "dec {depth}",
                "jnz 2b",
                "tilestored [{to} + {row}*1], tmm0",
                "tilestored [{to} + {row}*1 + 1024], tmm1",
                "tilestored [{to} + {row}*1 + 2048], tmm2",
                "tilestored [{to} + {row}*1 + 3072], tmm3",
                a0 = inout(reg) left[0].as_ptr() => _,
                a1 = inout(reg) left[1].as_ptr() => _,
                b0 = inout(reg) right[0].as_ptr() => _,
                b1 = inout(reg) right[1].as_ptr() => _,
                depth = inout(reg) left[0].len() => _,
                row = in(reg) size_of::<TileRow>(),
                to = in(reg) to.as_mut_ptr(),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }

    /// As [`Units::multiply`] with one left side, into the first half of the products.
    pub fn multiply_one(&self, left: &[SplitTile], right: [&[SplitTile]; 2], to: &mut Products) {
        let depth = left.len();
        assert!(right.iter().all(|side| side.len() == depth), "sides of one depth");
        if depth == 0 {
            return to.as_flattened_mut().as_flattened_mut().fill(Block::ZERO);
        }
        if self.means == Means::Vectors {
            // SAFETY: as above.
            return unsafe { multiply_by_vectors(&[left], right, to) };
        }
        if self.parts == 1 {
            return self.multiply_higher([left; 2], right, to); // the second half is a copy that nobody reads
        }
        // SAFETY: as above.
        unsafe {
            asm!(
                "tilezero tmm0", "tilezero tmm1",
                "2:",
                "tileloadd tmm4, [{a} + {row}*1 + 1024]",
                "tileloadd tmm6, [{b0} + {row}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a} + {row}*1]",
                "tdpbf16ps tmm0, tmm5, tmm6",
                "tdpbf16ps tmm1, tmm5, tmm7",
                "tileloadd tmm6, [{b0} + {row}*1 + 1024]",
                "tdpbf16ps tmm0, tmm5, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1 + 1024]",
                "tdpbf16ps tmm1, tmm5, tmm7",
                "add {a}, 2048", "add {b0}, 2048", "add {b1}, 2048",
                "dec {depth}",
                "jnz 2b",
                "tilestored [{to} + {row}*1], tmm0",
                "tilestored [{to} + {row}*1 + 1024], tmm1",
                a = inout(reg) left.as_ptr() => _,
                b0 = inout(reg) right[0].as_ptr() => _,
                b1 = inout(reg) right[1].as_ptr() => _,
                depth = inout(reg) depth => _,
                row = in(reg) size_of::<TileRow>(),
                to = in(reg) to.as_mut_ptr(),
                out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}

/// Rows whose sums, for two right sides, fit the registers.
const VECTOR_ROWS: usize = 8;

/// The higher parts of left sides (sixteen rows each) times those of two right sides: a word of the left side, that is two
/// numbers, times sixteen pairs of the right side at a time.
#[target_feature(enable = "avx512f,avx512bf16")]
fn multiply_by_vectors(left: &[&[SplitTile]], right: [&[SplitTile]; 2], to: &mut Products) {
    // SAFETY: a row is as long as a vector, here and below; any bits are numbers.
    let row =
        |row: &TileRow| unsafe { std::mem::transmute::<__m512i, __m512bh>(_mm512_load_si512(row.0.as_ptr().cast())) };
    let word = |word: u32| unsafe { std::mem::transmute::<__m512i, __m512bh>(_mm512_set1_epi32(word as i32)) };
    for (left, to) in left.iter().zip(to) {
        for first in (0..TILE_ROWS).step_by(VECTOR_ROWS) {
            let mut sums = [[_mm512_setzero_ps(); VECTOR_ROWS]; 2];
            for ([a, _], ([b, _], [c, _])) in left.iter().zip(right[0].iter().zip(right[1])) {
                for k in 0..LANES {
                    let (b, c) = (row(&b[k]), row(&c[k]));
                    for r in 0..VECTOR_ROWS {
                        let a = word(a[first + r].0[k]);
                        sums[0][r] = _mm512_dpbf16_ps(sums[0][r], a, b);
                        sums[1][r] = _mm512_dpbf16_ps(sums[1][r], a, c);
                    }
                }
            }
            for (sums, to) in sums.iter().zip(to.iter_mut()) {
                for (sum, to) in sums.iter().zip(&mut to[first..]) {
                    // SAFETY: as above.
                    unsafe { _mm512_store_ps(to.0.as_mut_ptr(), *sum) }
                }
            }
        }
    }
}

/// Whether CPU and operating system have AMX for numbers of 16 bits; asks the latter for it.
fn detected() -> bool {
    const TILES_AND_BF16: u32 = 1 << 24 | 1 << 22; // in EDX of leaf 7
    let leaves = __cpuid(0).eax;
    leaves >= 7 && __cpuid_count(7, 0).edx & TILES_AND_BF16 == TILES_AND_BF16 && permitted()
}

/// Linux gives the large registers only to processes that ask.
#[cfg(target_os = "linux")]
fn permitted() -> bool {
    const ARCH_PRCTL: usize = 158;
    const REQUEST_PERMISSION: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let answer: isize;
    // SAFETY: a system call that touches no memory; rcx and r11 are its to change.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL as isize => answer,
            in("rdi") REQUEST_PERMISSION,
            in("rsi") TILE_DATA,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    answer == 0
}

#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}

/// Up to sixteen floats of a slice, zeros beyond `count`.
#[target_feature(enable = "avx512f")]
fn load(numbers: &[f32], from: usize, count: usize) -> __m512 {
    let numbers = &numbers[from..from + count.min(LANES)];
    let mask = if count >= LANES { u16::MAX } else { (1 << count) - 1 };
    // SAFETY: only lanes within the slice are read.
    unsafe { _mm512_maskz_loadu_ps(mask, numbers.as_ptr()) }
}

/// Two vectors as words of two numbers of 16 bits each: the higher parts, the lower parts. What is infinite becomes NaN.
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

#[target_feature(enable = "avx512f")]
fn store(words: [__m512i; 2], to: &mut [[TileRow; TILE_ROWS]], row: usize) {
    for (words, part) in words.into_iter().zip(to) {
        // SAFETY: a row is as long as a vector.
        unsafe { _mm512_store_si512(part[row].0.as_mut_ptr().cast(), words) }
    }
}

#[target_feature(enable = "avx512f")]
fn along(matrix: Rows<'_>, [row, column]: [usize; 2], [rows, columns]: [usize; 2], to: &mut [[TileRow; TILE_ROWS]]) {
    let left = columns - column;
    for k in 0..TILE_ROWS {
        let mut pair = [_mm512_setzero_ps(); 2];
        if row + k < rows {
            let from = (row + k) * matrix.stride + column;
            pair[0] = load(matrix.numbers, from, left);
            if left > LANES {
                pair[1] = load(matrix.numbers, from + LANES, left - LANES);
            }
        }
        store(split(pair[0], pair[1]), to, k);
    }
}

#[target_feature(enable = "avx512f")]
fn across(matrix: Rows<'_>, [row, column]: [usize; 2], [rows, columns]: [usize; 2], to: &mut [[TileRow; TILE_ROWS]]) {
    let numbers = |row: usize| match row < rows {
        true => load(matrix.numbers, row * matrix.stride + column, columns - column),
        false => _mm512_setzero_ps(),
    };
    for k in 0..TILE_ROWS {
        store(split(numbers(row + k), numbers(row + TILE_ROWS + k)), to, k);
    }
}

/// Sixteen rows of sixteen words become columns: by pairs, by fours, then by quarters of rows.
#[target_feature(enable = "avx512f")]
fn transpose(part: &mut [TileRow; TILE_ROWS]) {
    // SAFETY: a row is as long as a vector, here and below.
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
    // Each of the fours has, in its quarter q, column 4 q + c of four rows.
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
            unsafe { _mm512_store_si512(part[4 * quarter + c].0.as_mut_ptr().cast(), column) }
        }
    }
}

/// What this CPU can do of it.
pub(super) fn is_here(path: Path) -> bool {
    match path {
        Path::Bf16 => MEANS.is_some(),
        Path::Amx => *MEANS == Some(Means::Units),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers have no lower parts, so that vectors must find their products exactly.
    #[test]
    fn vectors_multiply_as_matrix_units_do() {
        if !(is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16")) {
            return bqnco_testing::skip(bqnco_testing::Absent::Cpu, "no AVX-512 BF16");
        }
        let means = Amx { parts: 1, means: Means::Vectors };
        const DEPTH: usize = 41; // a tile and a piece of another
        let number = |row: usize, column: usize, salt: usize| ((7 * row + 3 * column + salt) % 31) as f32 - 15.0;
        let matrix = |rows: usize, columns: usize, salt: usize| -> Vec<f32> {
            (0..rows * columns).map(|k| number(k / columns, k % columns, salt)).collect()
        };
        let (left, right) = (matrix(2 * TILE_ROWS, DEPTH, 1), matrix(DEPTH, 2 * TILE_ROWS, 5));
        const EMPTY: SplitTile = [[TileRow([0; LANES]); TILE_ROWS]; 2];
        let mut sides = [[[EMPTY; 2]; 2]; 2]; // left and right, two blocks each, two tiles deep
        for (block, tile) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (outer, inner) = (block * TILE_ROWS, tile * 32);
            let (rows, columns) = (Rows { numbers: &left, stride: DEPTH }, Rows { numbers: &right, stride: 32 });
            means.along(rows, [outer, inner], [32, DEPTH], &mut sides[0][block][tile]);
            means.across(columns, [inner, outer], [DEPTH, 32], &mut sides[1][block][tile]);
        }
        let mut found: Products = [[[Block::ZERO; TILE_ROWS]; 2]; 2];
        let [[a, b], [c, d]] = &sides;
        means.open().multiply([a, b], [c, d], &mut found);
        let mut one: Products = [[[Block::ZERO; TILE_ROWS]; 2]; 2];
        means.open().multiply_one(b, [c, d], &mut one);
        for (i, j) in (0..32).flat_map(|i| (0..32).map(move |j| (i, j))) {
            let expected: f32 = (0..DEPTH).map(|k| left[i * DEPTH + k] * right[k * 32 + j]).sum();
            assert_eq!(found[i / 16][j / 16][i % 16].0[j % 16], expected, "row {i}, column {j}");
            if i >= 16 {
                assert_eq!(one[0][j / 16][i % 16].0[j % 16], expected, "row {i} alone, column {j}");
            }
        }
    }
}
