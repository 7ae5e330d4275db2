//! Matrix units of x86 CPUs (AMX): sixteen rows times sixteen columns, thirty-two deep, by one instruction.
//!
//! They multiply numbers of 16 bits (bfloat16) and add up in 32. A float is the sum of two such numbers but for its last
//! 2^-17, so three products (high * high, high * low, low * high) make one of floats to about five digits, several times
//! as fast as vectors do. With the higher parts alone ([`Path::Bf16`]) it is one product, to about three digits: enough to
//! train by. Rust has no stable names for the instructions, hence the assembly.

use std::arch::asm;
use std::arch::x86_64::*;
use std::cell::Cell;
use std::marker::PhantomData;

use super::{Block, LANES, Path, Products, Rows, SplitTile, TILE_ROWS, TileRow, best_path};

/// Proof that the CPU has AMX and AVX-512, and that the operating system lets this process use them.
#[derive(Clone, Copy, Debug)]
pub struct Amx {
    parts: usize, // of a float that are multiplied: 1 or 2
}

impl Amx {
    /// The proof, where there is one.
    pub fn get() -> Option<Amx> {
        match best_path() {
            Path::Bf16 => Some(Amx { parts: 1 }),
            Path::Amx => Some(Amx { parts: 2 }),
            _ => None,
        }
    }

    /// With both parts of floats, to about five digits.
    pub fn exact(self) -> Amx {
        Amx { parts: 2 }
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
        Units { parts: self.parts, not_send: PhantomData }
    }
}

/// Configured matrix units; a thread's own, hence not to be sent.
pub struct Units {
    parts: usize,
    not_send: PhantomData<*const ()>,
}

thread_local! {
    static OPEN: Cell<bool> = const { Cell::new(false) };
}

impl Drop for Units {
    fn drop(&mut self) {
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
        match (depth, self.parts) {
            (0, _) => to.as_flattened_mut().as_flattened_mut().fill(Block::ZERO),
            (_, 1) => self.multiply_higher(left, right, to),
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

/// Whether CPU and operating system have AMX for numbers of 16 bits; asks the latter for it.
pub(super) fn detected() -> bool {
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
