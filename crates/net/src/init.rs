//! Initial weights, from the random source of `bqnco-core`, so that a seed gives the same weights on every machine.

use bqnco_core::Random;
use burn::module::Param;
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;

/// Uniform in `-1 / sqrt(inputs) .. 1 / sqrt(inputs)`.
pub(crate) fn uniform<const D: usize>(
    shape: [usize; D],
    inputs: usize,
    random: &mut Random,
    device: &Device,
) -> Param<Tensor<D>> {
    let bound = (inputs as f32).powf(-0.5);
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| random.random_range(-bound..bound)).collect();
    Param::from_data(TensorData::new(numbers, shape), device)
}

/// A vector of given values.
pub(crate) fn constant(numbers: Vec<f32>, device: &Device) -> Param<Tensor<1>> {
    let shape = [numbers.len()];
    Param::from_data(TensorData::new(numbers, shape), device)
}

/// A matrix of zeros.
pub(crate) fn zeros(shape: [usize; 2], device: &Device) -> Param<Tensor<2>> {
    Param::from_data(TensorData::zeros::<f32, _>(shape), device)
}
