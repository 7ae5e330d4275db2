//! Vectors of sixteen floats on AVX-512, AVX2 or any CPU, and bf16 matrix products: the only module with `unsafe`.
//!
//! A value of a [`Simd`] type proves that the CPU has the instructions it stands for: the x86 types are private, and
//! their values are made by [`dispatch`] alone, after CPU detection. Kernels are generic over `Simd`, and every
//! function between [`dispatch`] and an intrinsic is `inline(always)`, so that it is compiled with the instruction set
//! enabled.
//!
//! NaN: all paths agree. Sums, products and roots keep it; [`Simd::max`] gives its second operand if either is NaN, and
//! [`Simd::gate`] gives 0 for a gate that is NaN, so a ReLU turns NaN into 0, [`Simd::exp2`] turns it into 2^-126, and a
//! maximum over many numbers may pass over it. Finite numbers are therefore the premise: networks with others can be
//! neither loaded nor saved. (Packing for bf16 products keeps the NaN of arithmetic; one with all bits set becomes 0.)
#![allow(unsafe_code)] // intrinsics, inline assembly, unchecked indexing in the innermost loops

#[cfg_attr(not(target_arch = "x86_64"), path = "no_bf16.rs")]
mod bf16;
mod portable;
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::cpu::{CpuPath, best_path};
pub(crate) use bf16::Bf16Unit;
use portable::PORTABLE_ROWS;
pub(crate) use portable::Portable;
pub(crate) use tile::{Rows, tile, tile_transposed};

/// Floats per vector on every path.
pub const LANES: usize = 16;

/// Sixteen floats, aligned to a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Block(pub [f32; LANES]);

impl Block {
    /// Sixteen zeros.
    pub const ZERO: Block = Block([0.0; LANES]);

    /// Blocks as a slice of floats.
    #[inline(always)]
    pub fn floats(blocks: &[Block]) -> &[f32] {
        // SAFETY: a Block is `repr(C)` with one array of sixteen f32 and size 64, so it has no padding; the slice
        // covers exactly the memory of `blocks` and borrows it.
        unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * LANES) }
    }

    /// Blocks as a mutable slice of floats.
    #[inline(always)]
    pub fn floats_mut(blocks: &mut [Block]) -> &mut [f32] {
        // SAFETY: as in `floats`; the borrow is exclusive, and every bit pattern of f32 is a valid Block.
        unsafe { std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * LANES) }
    }
}

/// Rows of a bf16 tile.
pub(crate) const TILE_ROWS: usize = 16;
/// Depth of a bf16 tile: values per row.
pub(crate) const TILE_DEPTH: usize = 32;

/// Thirty-two bf16 values, two per word: value `k` in the lower half of word `k`, value `16 + k` in the upper half.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // only x86-64 packs them
pub(crate) struct TileRow(pub(crate) [u32; LANES]);

/// A tile of floats as two bf16 tiles: high parts, low parts.
pub(crate) type SplitTile = [[TileRow; TILE_ROWS]; 2];

/// A [`SplitTile`] of zeros.
pub(crate) const ZERO_TILE: SplitTile = [[TileRow([0; LANES]); TILE_ROWS]; 2];

/// The products of two left tiles with two right tiles: `[left, right, row]`.
pub(crate) type Products = [[[Block; TILE_ROWS]; 2]; 2];

/// Operations on vectors of sixteen floats with the instructions of one path.
pub trait Simd: Copy + Send + Sync {
    /// Sixteen floats in registers.
    type Floats: Copy;
    /// Rows of the largest matmul tile whose sums fit the registers (see `matmul`): 12, 6 or 2.
    const ROWS: usize;
    /// Width of that tile in panels of sixteen columns: 1 or 2.
    const PANELS: usize = 1;

    /// Runs a kernel as a separate function, never inlined: the compiler allocates registers per function.
    fn call<K: Kernel>(self, kernel: K) -> K::Output;
    /// Prefetches a cache line into L1, where the path has the instruction.
    #[inline(always)]
    fn prefetch(self, _block: &Block) {}
    /// `x` in every lane.
    fn splat(self, x: f32) -> Self::Floats;
    /// Loads from memory.
    fn load(self, x: &[f32; LANES]) -> Self::Floats;
    /// Stores to memory.
    fn store(self, x: Self::Floats, to: &mut [f32; LANES]);
    /// a + b.
    fn add(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// a - b.
    fn sub(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// a * b.
    fn mul(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// a * b + c.
    fn fma(self, a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// Lane by lane, the larger of both.
    fn max(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// Square roots.
    fn sqrt(self, a: Self::Floats) -> Self::Floats;
    /// x where gate > 0, else 0.
    fn gate(self, x: Self::Floats, gate: Self::Floats) -> Self::Floats;
    /// 2^n, where the lowest nine bits of each lane hold n + 127: shifts them into the exponent field.
    fn exponent(self, bits: Self::Floats) -> Self::Floats;

    /// The lanes as an array.
    #[inline(always)]
    fn array(self, x: Self::Floats) -> [f32; LANES] {
        let mut array = [0.0; LANES];
        self.store(x, &mut array);
        array
    }

    /// The sum of the lanes, in an order that is the same on every path.
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

    /// The largest lane.
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

    /// 2^x for x < 128, where x is clamped to -126 from below. Relative error 3e-7 (minimax polynomial of degree 5).
    #[inline(always)]
    fn exp2(self, x: Self::Floats) -> Self::Floats {
        const ROUND: f32 = 12_582_912.0 + 127.0; // 1.5 * 2^23 + 127: the sum's lowest bits are round(x) + 127
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

/// A computation that is generic over [`Simd`].
pub trait Kernel {
    /// The result.
    type Output;
    /// Runs the computation. Implementations must be `inline(always)`.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// [`Simd::ROWS`] of the path in use.
pub(crate) struct TileRows;

impl Kernel for TileRows {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> usize {
        S::ROWS
    }
}

/// Whether this CPU has a path.
pub(crate) fn is_available(path: CpuPath) -> bool {
    match path {
        CpuPath::Bf16 | CpuPath::Amx => bf16::is_available(path),
        #[cfg(target_arch = "x86_64")]
        CpuPath::Avx512 => is_x86_feature_detected!("avx512f"),
        #[cfg(target_arch = "x86_64")]
        CpuPath::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        #[cfg(not(target_arch = "x86_64"))]
        CpuPath::Avx512 | CpuPath::Avx2 => false,
        CpuPath::Portable => true,
    }
}

/// Runs a kernel on the path that [`best_path`] gives.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    match best_path() {
        // SAFETY: best_path gives these paths only where the CPU has AVX-512F, which implies AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        CpuPath::Bf16 | CpuPath::Amx | CpuPath::Avx512 => unsafe { x86::run_avx512(kernel) },
        // SAFETY: best_path gives this path only where the CPU has AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        CpuPath::Avx2 => unsafe { x86::run_avx2(kernel) },
        _ => run_portable::<K, PORTABLE_ROWS>(kernel),
    }
}

#[inline(never)]
fn run_portable<K: Kernel, const N: usize>(kernel: K) -> K::Output {
    kernel.run(Portable::<N>)
}

#[cfg(test)]
mod tests {
    use std::array::from_fn;

    use super::*;

    /// Every operation of the trait.
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

    /// The results of every vector path of this CPU, those of the portable one first.
    fn on_every_path(a: [f32; LANES], b: [f32; LANES]) -> Vec<Vec<f32>> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))] // the only path
        let mut results = vec![AllOps(a, b).run(Portable::<2>)];
        #[cfg(target_arch = "x86_64")]
        {
            if is_available(CpuPath::Avx2) {
                // SAFETY: the CPU has AVX2 and FMA.
                results.push(unsafe { x86::run_avx2(AllOps(a, b)) });
            }
            if is_available(CpuPath::Avx512) {
                // SAFETY: the CPU has AVX-512F, which implies AVX2 and FMA.
                results.push(unsafe { x86::run_avx512(AllOps(a, b)) });
            }
        }
        results
    }

    #[test]
    fn every_path_treats_nan_alike() {
        let a = from_fn(|k| if k % 3 == 0 { f32::NAN } else { k as f32 - 7.0 });
        let b = from_fn(|k| if k % 2 == 0 { f32::NAN } else { 4.0 - k as f32 });
        let results = on_every_path(a, b);
        let [max, gate, exp2] = [4, 6, 7].map(|operation: usize| &results[0][operation * LANES..][..LANES]);
        assert!(max[2].is_nan() && max[3] == 1.0, "the second operand: {max:?}");
        assert!(gate[2] == 0.0 && gate[3].is_nan(), "0 if the gate is NaN: {gate:?}");
        assert!(exp2[0] > 0.0 && exp2[0] < 2e-38, "that of -126: {exp2:?}");
        for other in &results[1..] {
            for (k, (x, y)) in other.iter().zip(&results[0]).enumerate() {
                let equal = (x - y).abs() <= 1e-6 * y.abs().max(1.0) || (x.is_nan() && y.is_nan());
                assert!(equal, "{x} for {y} at {k}");
            }
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
