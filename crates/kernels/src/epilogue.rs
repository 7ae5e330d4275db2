//! Epilogues of matrix products, and RMS normalisation.

use crate::layer::NORM_EPSILON;
use crate::matmul::{Epilogue, lanes, lanes_mut};
use crate::simd::{Kernel, LANES, Simd};

/// `x / rms(x) * gain`, row by row.
pub(crate) struct Normalise<'a> {
    pub(crate) stream: &'a [f32],
    pub(crate) gain: &'a [f32],
    pub(crate) normed: &'a mut [f32],
}

impl Kernel for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let dim = self.gain.len();
        for (from, to) in self.stream.chunks_exact(dim).zip(self.normed.chunks_exact_mut(dim)) {
            let scale = s.splat(inverse_rms(s, from));
            for k in (0..dim).step_by(LANES) {
                let x = s.mul(s.load(lanes(from, k)), scale);
                s.store(s.mul(x, s.load(lanes(self.gain, k))), lanes_mut(to, k));
            }
        }
    }
}

/// `1 / rms(x)` of a row.
#[inline(always)]
pub(crate) fn inverse_rms<S: Simd>(s: S, row: &[f32]) -> f32 {
    let mut squares = s.splat(0.0);
    for k in (0..row.len()).step_by(LANES) {
        let x = s.load(lanes(row, k));
        squares = s.fma(x, x, squares);
    }
    (s.sum(squares) / row.len() as f32 + NORM_EPSILON).sqrt().recip()
}

/// Stores the first `width` lanes.
#[inline(always)]
pub(crate) fn store_part<S: Simd>(s: S, x: S::Floats, to: &mut [f32], from: usize, width: usize) {
    if width == LANES {
        s.store(x, lanes_mut(to, from));
    } else {
        to[from..from + width].copy_from_slice(&s.array(x)[..width]);
    }
}

/// `results`; the number of columns is a multiple of sixteen.
pub(crate) struct Store<'a> {
    pub(crate) to: &'a mut [f32],
    pub(crate) stride: usize,
}

impl Epilogue for Store<'_> {
    #[inline(always)]
    fn apply<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        s.store(results, lanes_mut(self.to, row * self.stride + panel * LANES));
    }
}

/// `results`, with any number of columns.
pub(crate) struct StoreColumns<'a> {
    pub(crate) to: &'a mut [f32],
    pub(crate) columns: usize,
}

impl Epilogue for StoreColumns<'_> {
    #[inline(always)]
    fn apply<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let width = LANES.min(self.columns - panel * LANES);
        store_part(s, results, self.to, row * self.columns + panel * LANES, width);
    }
}

/// `max(results + bias, 0)`.
pub(crate) struct Relu<'a> {
    pub(crate) to: &'a mut [f32],
    pub(crate) stride: usize,
    pub(crate) bias: &'a [f32],
}

impl Epilogue for Relu<'_> {
    #[inline(always)]
    fn apply<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let sum = s.add(results, s.load(lanes(self.bias, panel * LANES)));
        s.store(s.max(sum, s.splat(0.0)), lanes_mut(self.to, row * self.stride + panel * LANES));
    }
}

/// `stream + alpha * (results + bias)`, in place.
pub(crate) struct AddToStream<'a> {
    pub(crate) stream: &'a mut [f32],
    pub(crate) dim: usize,
    pub(crate) bias: &'a [f32],
    pub(crate) alpha: f32,
}

impl Epilogue for AddToStream<'_> {
    #[inline(always)]
    fn apply<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let sum = s.add(results, s.load(lanes(self.bias, panel * LANES)));
        let place = lanes_mut(self.stream, row * self.dim + panel * LANES);
        let sum = s.fma(s.splat(self.alpha), sum, s.load(place));
        s.store(sum, place);
    }
}

/// `to + by * results`, in place.
pub(crate) struct Add<'a> {
    pub(crate) to: &'a mut [f32],
    pub(crate) stride: usize,
    pub(crate) by: f32,
}

impl Epilogue for Add<'_> {
    #[inline(always)]
    fn apply<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let place = lanes_mut(self.to, row * self.stride + panel * LANES);
        let sum = s.fma(s.splat(self.by), results, s.load(place));
        s.store(sum, place);
    }
}
