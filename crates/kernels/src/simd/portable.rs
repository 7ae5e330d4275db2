//! Any CPU: loops over sixteen floats that the compiler vectorises.

use super::{Kernel, LANES, Simd, run_portable};

/// Plain Rust with matmul tiles of N rows.
#[derive(Clone, Copy)]
pub(crate) struct Portable<const N: usize>;

/// Rows of a matmul tile: aarch64 has 32 vector registers, SSE2 has 16.
pub(super) const PORTABLE_ROWS: usize = if cfg!(target_arch = "aarch64") { 6 } else { 2 };

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
        // Without an FMA instruction, `mul_add` is a slow library call.
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
