//! The work that follows products on their way to memory.

use super::attention::store_part;
use super::layer::normalise;
use super::matmul::{Epilogue, lanes, lanes_mut};
use super::simd::{Kernel, LANES, Simd};

/// [`normalise`] as a kernel.
pub(super) struct Normalise<'a> {
    pub(super) stream: &'a [f32],
    pub(super) gain: &'a [f32],
    pub(super) normed: &'a mut [f32],
}

impl Kernel for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        normalise(s, self.stream, self.gain, self.normed);
    }
}

/// Results as they are.
pub(super) struct Store<'a> {
    pub(super) to: &'a mut [f32],
    pub(super) stride: usize,
}

impl Epilogue for Store<'_> {
    #[inline(always)]
    fn take<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        s.store(results, lanes_mut(self.to, row * self.stride + panel * LANES));
    }
}

/// Results as they are, of a matrix with any number of columns.
pub(super) struct StoreSome<'a> {
    pub(super) to: &'a mut [f32],
    pub(super) columns: usize,
}

impl Epilogue for StoreSome<'_> {
    #[inline(always)]
    fn take<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let width = LANES.min(self.columns - panel * LANES);
        store_part(s, results, self.to, row * self.columns + panel * LANES, width);
    }
}

/// max(results + bias, 0).
pub(super) struct Relu<'a> {
    pub(super) to: &'a mut [f32],
    pub(super) stride: usize,
    pub(super) bias: &'a [f32],
}

impl Epilogue for Relu<'_> {
    #[inline(always)]
    fn take<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let sum = s.add(results, s.load(lanes(self.bias, panel * LANES)));
        s.store(s.max(sum, s.splat(0.0)), lanes_mut(self.to, row * self.stride + panel * LANES));
    }
}

/// stream + alpha * (results + bias), in place.
pub(super) struct Join<'a> {
    pub(super) stream: &'a mut [f32],
    pub(super) dim: usize,
    pub(super) bias: &'a [f32],
    pub(super) alpha: f32,
}

impl Epilogue for Join<'_> {
    #[inline(always)]
    fn take<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let sum = s.add(results, s.load(lanes(self.bias, panel * LANES)));
        let place = lanes_mut(self.stream, row * self.dim + panel * LANES);
        let joined = s.fma(s.splat(self.alpha), sum, s.load(place));
        s.store(joined, place);
    }
}

/// to + by * results, in place.
pub(super) struct Add<'a> {
    pub(super) to: &'a mut [f32],
    pub(super) stride: usize,
    pub(super) by: f32,
}

impl Epilogue for Add<'_> {
    #[inline(always)]
    fn take<S: Simd>(&mut self, s: S, row: usize, panel: usize, results: S::Floats) {
        let place = lanes_mut(self.to, row * self.stride + panel * LANES);
        let sum = s.fma(s.splat(self.by), results, s.load(place));
        s.store(sum, place);
    }
}
