//! AVX2 and AVX-512.
//!
//! [`Avx2`] and [`Avx512`] have private fields. Their first values are made in [`run_avx2`] and [`run_avx512`], which
//! only code that has checked the CPU may call. So wherever a method has a `self`, the CPU has the instructions.

use std::arch::x86_64::*;

use super::{Block, Kernel, LANES, Simd};

/// Prefetches into L1.
#[inline(always)]
fn prefetch(block: &Block) {
    // SAFETY: SSE is part of x86-64, and a prefetch is a hint: it accesses no memory of the abstract machine.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(block).cast()) }
}

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

/// Proof that the CPU has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

/// Proof that the CPU has AVX-512F, and with it AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

/// Two 256-bit registers.
type Pair = (__m256, __m256);

impl Simd for Avx2 {
    type Floats = Pair;
    const ROWS: usize = 6; // 12 sums, 2 vectors of the panel, 1 broadcast: 15 of 16 registers

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` proves that the CPU has the features of `run_avx2`.
        unsafe { run_avx2(kernel) }
    }
    #[inline(always)]
    fn prefetch(self, block: &Block) {
        prefetch(block);
    }
    #[inline(always)]
    fn splat(self, x: f32) -> Pair {
        // SAFETY: `self` proves AVX2; registers only.
        let v = unsafe { _mm256_set1_ps(x) };
        (v, v)
    }
    #[inline(always)]
    fn load(self, x: &[f32; LANES]) -> Pair {
        // SAFETY: `self` proves AVX2; the unaligned loads read the sixteen floats behind the reference.
        unsafe { (_mm256_loadu_ps(x.as_ptr()), _mm256_loadu_ps(x.as_ptr().add(8))) }
    }
    #[inline(always)]
    fn store(self, x: Pair, to: &mut [f32; LANES]) {
        // SAFETY: `self` proves AVX2; the unaligned stores write the sixteen floats behind the exclusive reference.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), x.0);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), x.1);
        }
    }
    #[inline(always)]
    fn add(self, a: Pair, b: Pair) -> Pair {
        // SAFETY: `self` proves AVX2; registers only.
        unsafe { (_mm256_add_ps(a.0, b.0), _mm256_add_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn sub(self, a: Pair, b: Pair) -> Pair {
        // SAFETY: `self` proves AVX2; registers only.
        unsafe { (_mm256_sub_ps(a.0, b.0), _mm256_sub_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn mul(self, a: Pair, b: Pair) -> Pair {
        // SAFETY: `self` proves AVX2; registers only.
        unsafe { (_mm256_mul_ps(a.0, b.0), _mm256_mul_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn fma(self, a: Pair, b: Pair, c: Pair) -> Pair {
        // SAFETY: `self` proves FMA; registers only.
        unsafe { (_mm256_fmadd_ps(a.0, b.0, c.0), _mm256_fmadd_ps(a.1, b.1, c.1)) }
    }
    #[inline(always)]
    fn max(self, a: Pair, b: Pair) -> Pair {
        // SAFETY: `self` proves AVX2; registers only.
        unsafe { (_mm256_max_ps(a.0, b.0), _mm256_max_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn sqrt(self, a: Pair) -> Pair {
        // SAFETY: `self` proves AVX2; registers only.
        unsafe { (_mm256_sqrt_ps(a.0), _mm256_sqrt_ps(a.1)) }
    }
    #[inline(always)]
    fn gate(self, x: Pair, gate: Pair) -> Pair {
        // SAFETY: `self` proves AVX2; registers only.
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
        // SAFETY: `self` proves AVX2; registers only.
        let shift = |x| unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_castps_si256(x))) };
        (shift(bits.0), shift(bits.1))
    }
    #[inline(always)]
    fn sum(self, x: Pair) -> f32 {
        // SAFETY: `self` proves AVX2; registers only.
        unsafe {
            let eight = _mm256_add_ps(x.0, x.1);
            let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
        }
    }
    #[inline(always)]
    fn largest(self, x: Pair) -> f32 {
        // SAFETY: `self` proves AVX2; registers only.
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
    const ROWS: usize = 12; // 24 sums, 2 vectors of the panels, 1 broadcast: 27 of 32 registers
    const PANELS: usize = 2; // one broadcast for two multiply-adds: with one panel, loads would be the bottleneck

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` proves that the CPU has the features of `run_avx512`.
        unsafe { run_avx512(kernel) }
    }
    #[inline(always)]
    fn prefetch(self, block: &Block) {
        prefetch(block);
    }
    #[inline(always)]
    fn splat(self, x: f32) -> __m512 {
        // SAFETY: `self` proves AVX-512F; registers only.
        unsafe { _mm512_set1_ps(x) }
    }
    #[inline(always)]
    fn load(self, x: &[f32; LANES]) -> __m512 {
        // SAFETY: `self` proves AVX-512F; the unaligned load reads the sixteen floats behind the reference.
        unsafe { _mm512_loadu_ps(x.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, x: __m512, to: &mut [f32; LANES]) {
        // SAFETY: `self` proves AVX-512F; the unaligned store writes the sixteen floats behind the exclusive reference.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), x) }
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F; registers only.
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F; registers only.
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F; registers only.
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F; registers only.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F; registers only.
        unsafe { _mm512_max_ps(a, b) }
    }
    #[inline(always)]
    fn sqrt(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F; registers only.
        unsafe { _mm512_sqrt_ps(a) }
    }
    #[inline(always)]
    fn gate(self, x: __m512, gate: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F; registers only.
        unsafe {
            let open = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(gate, _mm512_setzero_ps());
            _mm512_maskz_mov_ps(open, x)
        }
    }
    #[inline(always)]
    fn exponent(self, bits: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F; registers only.
        unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<23>(_mm512_castps_si512(bits))) }
    }
    #[inline(always)]
    fn sum(self, x: __m512) -> f32 {
        Avx2(()).sum(halves(self, x))
    }
    #[inline(always)]
    fn largest(self, x: __m512) -> f32 {
        Avx2(()).largest(halves(self, x))
    }
}

/// A 512-bit register as two of 256 bits.
#[inline(always)]
fn halves(_: Avx512, x: __m512) -> Pair {
    // SAFETY: the `Avx512` argument proves AVX-512F; registers only.
    unsafe {
        let high = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(x));
        (_mm512_castps512_ps256(x), _mm256_castpd_ps(high))
    }
}
