//! Sixteen floats at a time, on AVX-512, AVX2 or any CPU: the one module with `unsafe`.
//!
//! A value of a [`Simd`] type is proof that the CPU has the instructions it stands for: values of [`Avx512`] and
//! [`Avx2`] are made by [`dispatch`] alone, after asking the CPU. Kernels are generic over `Simd`, and every function
//! between [`dispatch`] and an instruction is `inline(always)`, so that it is compiled with the instructions enabled.
#![allow(unsafe_code)] // CPU instructions are unsafe to call; the reason each call is sound stands above

use std::sync::OnceLock;

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

/// A CPU's way to handle sixteen floats.
pub trait Simd: Copy + Send + Sync {
    /// Sixteen floats in registers.
    type Floats: Copy;
    /// Rows of a matmul tile that fit the registers (see `matmul`): 12, 6 or 2.
    const ROWS: usize;

    /// Runs a kernel as a function of its own: the compiler shares out the registers function by function.
    fn call<K: Kernel>(self, kernel: K) -> K::Output;
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

/// The instructions a CPU may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// 512-bit vectors.
    Avx512,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// What the compiler makes of plain loops.
    Portable,
}

/// The best path of this CPU.
pub fn best_path() -> Path {
    static PATH: OnceLock<Path> = OnceLock::new();
    *PATH.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return Path::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Path::Avx2;
            }
        }
        Path::Portable
    })
}

/// Runs a kernel on the best path of this CPU.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    match best_path() {
        // SAFETY: best_path has seen the instructions on this CPU.
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => unsafe { x86::run_avx512(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => unsafe { x86::run_avx2(kernel) },
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

/// R rows of the left side times a panel: the inner loop of everything.
#[inline(always)]
pub fn tile<S: Simd, const R: usize>(s: S, left: Rows<'_>, row: usize, panel: &[Block]) -> [S::Floats; R] {
    let from = row * left.stride;
    assert!(from + (R - 1) * left.stride + panel.len() <= left.numbers.len(), "the left side has the tile's rows");
    let mut sums = [s.splat(0.0); R];
    for k in 0..panel.len() {
        // SAFETY: k is within the panel; the assertion covers the last row's last number, hence all.
        let b = s.load(unsafe { &panel.get_unchecked(k).0 });
        for (r, sum) in sums.iter_mut().enumerate() {
            let a = unsafe { *left.numbers.get_unchecked(from + r * left.stride + k) };
            *sum = s.fma(s.splat(a), b, *sum);
        }
    }
    sums
}

/// R columns of the left side, transposed, times a panel.
#[inline(always)]
pub fn tile_transposed<S: Simd, const R: usize>(
    s: S,
    left: Rows<'_>,
    column: usize,
    panel: &[Block],
) -> [S::Floats; R] {
    let last = panel.len().saturating_sub(1) * left.stride;
    assert!(column + R + last <= left.numbers.len(), "the left side has as many rows as the panel");
    let mut sums = [s.splat(0.0); R];
    for (k, block) in panel.iter().enumerate() {
        let b = s.load(&block.0);
        for (r, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the assertion covers the last row's last column, hence all.
            let a = unsafe { *left.numbers.get_unchecked(k * left.stride + column + r) };
            *sum = s.fma(s.splat(a), b, *sum);
        }
    }
    sums
}

/// Plain Rust, with tiles of N rows.
#[derive(Clone, Copy)]
pub struct Portable<const N: usize>;

/// Rows that fit the vector registers of CPUs without a path of their own.
const PORTABLE_ROWS: usize = if cfg!(target_arch = "aarch64") { 6 } else { 2 };

/// Applies a function lane by lane.
#[inline(always)]
fn lanes(f: impl Fn(usize) -> f32) -> [f32; LANES] {
    let mut out = [0.0; LANES];
    for (k, x) in out.iter_mut().enumerate() {
        *x = f(k);
    }
    out
}

impl<const N: usize> Simd for Portable<N> {
    type Floats = [f32; LANES];
    const ROWS: usize = N;

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        run_portable::<K, N>(kernel)
    }
    #[inline(always)]
    fn splat(self, x: f32) -> Self::Floats {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, x: &[f32; LANES]) -> Self::Floats {
        *x
    }
    #[inline(always)]
    fn store(self, x: Self::Floats, to: &mut [f32; LANES]) {
        *to = x;
    }
    #[inline(always)]
    fn add(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        lanes(|k| a[k] + b[k])
    }
    #[inline(always)]
    fn sub(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        lanes(|k| a[k] - b[k])
    }
    #[inline(always)]
    fn mul(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        lanes(|k| a[k] * b[k])
    }
    #[inline(always)]
    fn fma(self, a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats {
        // Without the instruction, a fused multiply-add is a slow library call.
        if cfg!(target_arch = "aarch64") { lanes(|k| a[k].mul_add(b[k], c[k])) } else { lanes(|k| a[k] * b[k] + c[k]) }
    }
    #[inline(always)]
    fn max(self, a: Self::Floats, b: Self::Floats) -> Self::Floats {
        lanes(|k| if a[k] > b[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    fn sqrt(self, a: Self::Floats) -> Self::Floats {
        lanes(|k| a[k].sqrt())
    }
    #[inline(always)]
    fn gate(self, x: Self::Floats, gate: Self::Floats) -> Self::Floats {
        lanes(|k| if gate[k] > 0.0 { x[k] } else { 0.0 })
    }
    #[inline(always)]
    fn exponent(self, bits: Self::Floats) -> Self::Floats {
        lanes(|k| f32::from_bits(bits[k].to_bits() << 23))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Kernel, LANES, Simd};

    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Avx2(()))
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx2,fma")]
    pub(super) fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Avx512(()))
    }

    /// Proof of AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub struct Avx2(());

    /// Proof of AVX-512F.
    #[derive(Clone, Copy)]
    pub struct Avx512(());

    /// Two 256-bit registers.
    type Pair = (__m256, __m256);

    // SAFETY of both implementations: the proof's existence means that the CPU has the instructions; loads and stores
    // stay within the arrays of sixteen floats that are passed by reference.
    impl Simd for Avx2 {
        type Floats = Pair;
        const ROWS: usize = 6; // 12 accumulators, 2 vectors of the panel, 1 broadcast: 15 of 16 registers

        #[inline(always)]
        fn call<K: Kernel>(self, kernel: K) -> K::Output {
            unsafe { run_avx2(kernel) }
        }
        #[inline(always)]
        fn splat(self, x: f32) -> Pair {
            let v = unsafe { _mm256_set1_ps(x) };
            (v, v)
        }
        #[inline(always)]
        fn load(self, x: &[f32; LANES]) -> Pair {
            unsafe { (_mm256_loadu_ps(x.as_ptr()), _mm256_loadu_ps(x.as_ptr().add(8))) }
        }
        #[inline(always)]
        fn store(self, x: Pair, to: &mut [f32; LANES]) {
            unsafe {
                _mm256_storeu_ps(to.as_mut_ptr(), x.0);
                _mm256_storeu_ps(to.as_mut_ptr().add(8), x.1);
            }
        }
        #[inline(always)]
        fn add(self, a: Pair, b: Pair) -> Pair {
            unsafe { (_mm256_add_ps(a.0, b.0), _mm256_add_ps(a.1, b.1)) }
        }
        #[inline(always)]
        fn sub(self, a: Pair, b: Pair) -> Pair {
            unsafe { (_mm256_sub_ps(a.0, b.0), _mm256_sub_ps(a.1, b.1)) }
        }
        #[inline(always)]
        fn mul(self, a: Pair, b: Pair) -> Pair {
            unsafe { (_mm256_mul_ps(a.0, b.0), _mm256_mul_ps(a.1, b.1)) }
        }
        #[inline(always)]
        fn fma(self, a: Pair, b: Pair, c: Pair) -> Pair {
            unsafe { (_mm256_fmadd_ps(a.0, b.0, c.0), _mm256_fmadd_ps(a.1, b.1, c.1)) }
        }
        #[inline(always)]
        fn max(self, a: Pair, b: Pair) -> Pair {
            unsafe { (_mm256_max_ps(a.0, b.0), _mm256_max_ps(a.1, b.1)) }
        }
        #[inline(always)]
        fn sqrt(self, a: Pair) -> Pair {
            unsafe { (_mm256_sqrt_ps(a.0), _mm256_sqrt_ps(a.1)) }
        }
        #[inline(always)]
        fn gate(self, x: Pair, gate: Pair) -> Pair {
            unsafe {
                let zero = _mm256_setzero_ps();
                (
                    _mm256_and_ps(x.0, _mm256_cmp_ps::<_CMP_GT_OQ>(gate.0, zero)),
                    _mm256_and_ps(x.1, _mm256_cmp_ps::<_CMP_GT_OQ>(gate.1, zero)),
                )
            }
        }
        #[inline(always)]
        fn exponent(self, bits: Pair) -> Pair {
            let shift = |x| unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_castps_si256(x))) };
            (shift(bits.0), shift(bits.1))
        }
        #[inline(always)]
        fn sum(self, x: Pair) -> f32 {
            unsafe {
                let eight = _mm256_add_ps(x.0, x.1);
                let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
                let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
                _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
            }
        }
        #[inline(always)]
        fn largest(self, x: Pair) -> f32 {
            unsafe {
                let eight = _mm256_max_ps(x.0, x.1);
                let four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
                let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
                _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
            }
        }
    }

    impl Simd for Avx512 {
        type Floats = __m512;
        const ROWS: usize = 12; // 12 accumulators hide the latency of two multiply-add units

        #[inline(always)]
        fn call<K: Kernel>(self, kernel: K) -> K::Output {
            unsafe { run_avx512(kernel) }
        }
        #[inline(always)]
        fn splat(self, x: f32) -> __m512 {
            unsafe { _mm512_set1_ps(x) }
        }
        #[inline(always)]
        fn load(self, x: &[f32; LANES]) -> __m512 {
            unsafe { _mm512_loadu_ps(x.as_ptr()) }
        }
        #[inline(always)]
        fn store(self, x: __m512, to: &mut [f32; LANES]) {
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), x) }
        }
        #[inline(always)]
        fn add(self, a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_add_ps(a, b) }
        }
        #[inline(always)]
        fn sub(self, a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_sub_ps(a, b) }
        }
        #[inline(always)]
        fn mul(self, a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_mul_ps(a, b) }
        }
        #[inline(always)]
        fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
            unsafe { _mm512_fmadd_ps(a, b, c) }
        }
        #[inline(always)]
        fn max(self, a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_max_ps(a, b) }
        }
        #[inline(always)]
        fn sqrt(self, a: __m512) -> __m512 {
            unsafe { _mm512_sqrt_ps(a) }
        }
        #[inline(always)]
        fn gate(self, x: __m512, gate: __m512) -> __m512 {
            unsafe {
                let open = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(gate, _mm512_setzero_ps());
                _mm512_maskz_mov_ps(open, x)
            }
        }
        #[inline(always)]
        fn exponent(self, bits: __m512) -> __m512 {
            unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<23>(_mm512_castps_si512(bits))) }
        }
    }
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
        let a: [f32; LANES] = std::array::from_fn(|k| (k as f32 - 7.3) * 1.7);
        let b: [f32; LANES] = std::array::from_fn(|k| (k as f32 * 2.9).sin());
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
