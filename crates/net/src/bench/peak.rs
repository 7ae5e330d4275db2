//! What the CPU can do at most: multiplications with additions, on numbers that never leave the registers.

use std::hint::black_box;

use bqnco_kernels::parallel;
use bqnco_kernels::simd::{Kernel, LANES, Simd, dispatch};

use super::best;

const ROUNDS: usize = 1 << 20;

/// Seconds, and floating-point operations on all threads together; vectors cannot be faster.
pub(super) fn peak(seconds: f64) -> (f64, f64) {
    let threads = parallel::width();
    let best = best(seconds, || parallel::run(vec![(); threads], |()| _ = black_box(dispatch(Chains))));
    (best, (threads * ROUNDS * dispatch(ChainCount) * LANES * 2) as f64)
}

/// Chains of multiply-adds, as many as a matmul's tile has, so that no step waits for the one before.
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

/// How many they are.
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
