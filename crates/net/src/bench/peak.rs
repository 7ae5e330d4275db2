//! The peak of the CPU: fused multiply-adds on registers only.

use std::hint::black_box;

use bqnco_kernels::parallel;
use bqnco_kernels::simd::{Kernel, LANES, Simd, dispatch};

use super::best;

const ROUNDS: usize = 1 << 20;

/// Seconds, and floating-point operations of all threads together: an upper bound for vector code.
pub(super) fn peak(seconds: f64) -> (f64, f64) {
    let threads = parallel::width();
    let best = best(seconds, || parallel::run(vec![(); threads], |()| _ = black_box(dispatch(Chains))));
    (best, (threads * ROUNDS * dispatch(ChainCount) * LANES * 2) as f64)
}

/// Independent chains of multiply-adds, as many as the rows of a matmul tile, so that latency does not matter.
struct Chains;

impl Kernel for Chains {
    type Output = f32;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> f32 {
        match S::ROWS {
            12 => chains::<S, 12>(s),
            6 => chains::<S, 6>(s),
            _ => chains::<S, 2>(s),
        }
    }
}

/// The number of chains.
struct ChainCount;

impl Kernel for ChainCount {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> usize {
        S::ROWS
    }
}

#[inline(always)]
fn chains<S: Simd, const CHAINS: usize>(s: S) -> f32 {
    let (by, plus) = (s.splat(black_box(0.5)), s.splat(black_box(0.5)));
    let mut numbers = [plus; CHAINS];
    for _ in 0..ROUNDS {
        for number in &mut numbers {
            *number = s.fma(*number, by, plus);
        }
    }
    numbers.into_iter().map(|number| s.sum(number)).sum()
}
