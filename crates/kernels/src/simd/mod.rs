//! Sixteen floats at a time, on AVX-512, AVX2 or any CPU: the one module with `unsafe`.
//!
//! A value of a [`Simd`] type is proof that the CPU has the instructions it stands for: values of [`Avx512`] and
//! [`Avx2`] are made by [`dispatch`] alone, after asking the CPU. Kernels are generic over `Simd`, and every function
//! between [`dispatch`] and an instruction is `inline(always)`, so that it is compiled with the instructions enabled.
#![allow(unsafe_code)] // CPU instructions are unsafe to call; the reason each call is sound stands above

#[cfg_attr(not(target_arch = "x86_64"), path = "no_amx.rs")]
mod amx;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::array::from_fn;

use crate::cpu::{CpuPath, best_path};
pub use amx::{Amx, is_here as bf16_is_available};
use portable::PORTABLE_ROWS;
pub use portable::Portable;

/// Floats per vector, whatever the CPU.
pub const LANES: usize = 16;

/// Sixteen floats on a cache line of their own.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Block(pub [f32; LANES]);

impl Block {
    /// Sixteen zeros.
    pub const ZERO: Block = Block([0.0; LANES]);

    /// Blocks as plain floats.
    #[inline(always)]
    pub fn floats(blocks: &[Block]) -> &[f32] {
        // SAFETY: a Block is exactly sixteen floats (size 64, no padding).
        unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * LANES) }
    }

    /// Blocks as plain floats.
    #[inline(always)]
    pub fn floats_mut(blocks: &mut [Block]) -> &mut [f32] {
        // SAFETY: as in `floats`; any bits are valid floats.
        unsafe { std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * LANES) }
    }
}

/// Rows of a tile.
pub const TILE_ROWS: usize = 16;
/// How deep a tile is: its rows are this many numbers of 16 bits.
pub const TILE_DEPTH: usize = 32;

/// Thirty-two numbers of 16 bits, two per word: number `k` in the lower half of word `k`, number `16 + k` in the upper.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // nobody fills them in there
pub struct TileRow(pub [u32; LANES]);

/// A tile's higher and lower parts.
pub type SplitTile = [[TileRow; TILE_ROWS]; 2];

/// The products of two left tiles with two right ones: `[left, right, row]`.
pub type Products = [[[Block; TILE_ROWS]; 2]; 2];

/// A CPU's way to handle sixteen floats.
pub trait Simd: Copy + Send + Sync {
    /// Sixteen floats in registers.
    type Floats: Copy;
    /// Rows of a matmul tile that fit the registers (see `matmul`): 12, 6 or 2.
    const ROWS: usize;
    /// Panels that such a tile is wide: 1 or 2.
    const PANELS: usize = 1;

    /// Runs a kernel as a function of its own: the compiler shares out the registers function by function.
    fn call<K: Kernel>(self, kernel: K) -> K::Output;
    /// Asks for memory that will be needed soon.
    #[inline(always)]
    fn prefetch(self, _soon: &Block) {}
    /// The same number sixteen times.
    fn splat(self, x: f32) -> Self::Floats;
    /// From memory.
    fn load(self, x: &[f32; LANES]) -> Self::Floats;
    /// To memory.
    fn store(self, x: Self::Floats, to: &mut [f32; LANES]);
    /// a + b.
    fn add(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// a - b.
    fn sub(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// a * b.
    fn mul(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// a * b + c.
    fn fma(self, a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// The larger ones.
    fn max(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// Square roots.
    fn sqrt(self, a: Self::Floats) -> Self::Floats;
    /// x where gate > 0, else 0.
    fn gate(self, x: Self::Floats, gate: Self::Floats) -> Self::Floats;
    /// 2^n, where n + 127 are the lowest nine bits: the bits, moved to where a float has its exponent.
    fn exponent(self, bits: Self::Floats) -> Self::Floats;

    /// As an array.
    #[inline(always)]
    fn array(self, x: Self::Floats) -> [f32; LANES] {
        let mut array = [0.0; LANES];
        self.store(x, &mut array);
        array
    }

    /// The sum, in an order that does not depend on the CPU.
    #[inline(always)]
    fn sum(self, x: Self::Floats) -> f32 {
        let mut a = self.array(x);
        for half in [8, 4, 2, 1] {
            for k in 0..half {
                a[k] += a[k + half];
            }
        }
        a[0]
    }

    /// The largest.
    #[inline(always)]
    fn largest(self, x: Self::Floats) -> f32 {
        let mut a = self.array(x);
        for half in [8, 4, 2, 1] {
            for k in 0..half {
                a[k] = if a[k] > a[k + half] { a[k] } else { a[k + half] };
            }
        }
        a[0]
    }

    /// 2^x for x < 128; below -126 as for -126. Relative error 3e-7 (a minimax polynomial of degree 5).
    #[inline(always)]
    fn exp2(self, x: Self::Floats) -> Self::Floats {
        const ROUND: f32 = 12_582_912.0 + 127.0; // 1.5 * 2^23: the sum's lowest bits are the nearest whole number, + 127
        let x = self.max(x, self.splat(-126.0));
        let bits = self.add(x, self.splat(ROUND));
        let r = self.sub(x, self.sub(bits, self.splat(ROUND)));
        let mut p = self.splat(1.327_647_1e-3);
        for c in [9.675_541e-3, 5.550_713e-2, 2.402_212e-1, 6.931_469_4e-1, 1.000_000_1] {
            p = self.fma(p, r, self.splat(c));
        }
        self.mul(p, self.exponent(bits))
    }
}

/// Work that runs on any [`Simd`]; `run` must be `inline(always)`.
pub trait Kernel {
    /// What it gives.
    type Output;
    /// Does the work.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// [`Simd::ROWS`] of this CPU.
pub struct TileRows;

impl Kernel for TileRows {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> usize {
        S::ROWS
    }
}

/// Runs a kernel on the best path of this CPU.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    match best_path() {
        // SAFETY: best_path has seen the instructions on this CPU.
        #[cfg(target_arch = "x86_64")]
        CpuPath::Bf16 | CpuPath::Amx | CpuPath::Avx512 => unsafe { x86::run_avx512(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        CpuPath::Avx2 => unsafe { x86::run_avx2(kernel) },
        _ => run_portable::<K, PORTABLE_ROWS>(kernel),
    }
}

#[inline(never)]
fn run_portable<K: Kernel, const N: usize>(kernel: K) -> K::Output {
    kernel.run(Portable::<N>)
}

/// A row-major matrix of which rows are read: numbers, distance between rows.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// The numbers, from the first row's first on.
    pub numbers: &'a [f32],
    /// Distance between rows.
    pub stride: usize,
}

/// R rows of the left side times P panels, stored one after the other: the inner loop of everything.
#[inline(always)]
pub fn tile<S: Simd, const R: usize, const P: usize>(
    s: S,
    left: Rows<'_>,
    row: usize,
    panels: &[Block],
) -> [[S::Floats; R]; P] {
    let (from, depth) = (row * left.stride, panels.len() / P);
    assert!(from + (R - 1) * left.stride + depth <= left.numbers.len(), "the left side has the tile's rows");
    let mut sums = [[s.splat(0.0); R]; P];
    for k in 0..depth {
        // SAFETY: k is within each panel; the assertion covers the last row's last number, hence all.
        let b: [_; P] = from_fn(|p| s.load(unsafe { &panels.get_unchecked(p * depth + k).0 }));
        for r in 0..R {
            let a = s.splat(unsafe { *left.numbers.get_unchecked(from + r * left.stride + k) });
            for (sums, &b) in sums.iter_mut().zip(&b) {
                sums[r] = s.fma(a, b, sums[r]);
            }
        }
    }
    sums
}

/// R columns of the left side, transposed, times P panels.
#[inline(always)]
pub fn tile_transposed<S: Simd, const R: usize, const P: usize>(
    s: S,
    left: Rows<'_>,
    column: usize,
    panels: &[Block],
) -> [[S::Floats; R]; P] {
    let depth = panels.len() / P;
    let last = depth.saturating_sub(1) * left.stride;
    assert!(column + R + last <= left.numbers.len(), "the left side has as many rows as the panels");
    let mut sums = [[s.splat(0.0); R]; P];
    for k in 0..depth {
        // SAFETY: k is within each panel; the assertion covers the last row's last column, hence all.
        let b: [_; P] = from_fn(|p| s.load(unsafe { &panels.get_unchecked(p * depth + k).0 }));
        for r in 0..R {
            let a = s.splat(unsafe { *left.numbers.get_unchecked(k * left.stride + column + r) });
            for (sums, &b) in sums.iter_mut().zip(&b) {
                sums[r] = s.fma(a, b, sums[r]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on this CPU's best path equals the portable one.
    struct AllOps([f32; LANES], [f32; LANES]);

    impl Kernel for AllOps {
        type Output = Vec<f32>;

        #[inline(always)]
        fn run<S: Simd>(self, s: S) -> Vec<f32> {
            let (a, b) = (s.load(&self.0), s.load(&self.1));
            let vectors = [
                s.add(a, b),
                s.sub(a, b),
                s.mul(a, b),
                s.fma(a, b, a),
                s.max(a, b),
                s.sqrt(s.mul(a, a)),
                s.gate(a, b),
                s.exp2(a),
            ];
            let mut out: Vec<f32> = vectors.into_iter().flat_map(|v| s.array(v)).collect();
            out.extend([s.sum(a), s.largest(a)]);
            out
        }
    }

    #[test]
    fn the_best_path_equals_the_portable_one() {
        let a: [f32; LANES] = from_fn(|k| (k as f32 - 7.3) * 1.7);
        let b: [f32; LANES] = from_fn(|k| (k as f32 * 2.9).sin());
        let (best, plain) = (dispatch(AllOps(a, b)), AllOps(a, b).run(Portable::<2>));
        for (x, y) in best.iter().zip(&plain) {
            assert!((x - y).abs() <= 1e-6 * y.abs().max(1.0), "{x} {y}");
        }
    }

    #[test]
    fn exp2_is_exact_to_six_digits() {
        for k in 0..1000 {
            let x = -120.0 + k as f32 * 0.21;
            let found = Portable::<2>.exp2([x; LANES])[0];
            assert!((found / x.exp2() - 1.0).abs() < 4e-7, "{x}: {found}");
        }
        assert!(Portable::<2>.exp2([-1e30; LANES])[0] < 2e-38);
    }
}
