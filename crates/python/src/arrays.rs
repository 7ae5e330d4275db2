//! Vectors as numpy arrays, without a copy.

use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;

/// An array of a shape, whose last axis runs fastest.
pub fn array<'py, T: Element>(py: Python<'py>, values: Vec<T>, shape: &[usize]) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_vec(py, values).reshape(shape)
}

/// Indices, as numpy counts.
pub fn indices(py: Python<'_>, values: impl IntoIterator<Item = usize>) -> Bound<'_, PyArray1<i64>> {
    PyArray1::from_vec(py, values.into_iter().map(|value| value as i64).collect())
}
