//! Numbers between Rust and numpy. They pass as bytes, with one copy: the stable interface of Python before 3.11 has no
//! access to an array's memory.

use bytemuck::{AnyBitPattern, NoUninit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyByteArray;

/// A type of numbers that numpy has, too.
pub trait Number: NoUninit {
    /// Its name in numpy.
    const DTYPE: &'static str;
}

macro_rules! numbers {
    ($($number:ty => $dtype:literal,)*) => { $(
        impl Number for $number {
            const DTYPE: &'static str = $dtype;
        }
    )* };
}

numbers! {
    f32 => "float32",
    f64 => "float64",
    i64 => "int64",
    bool => "bool",
}

/// An array of a shape, whose last axis runs fastest.
pub fn array<'py, T: Number>(py: Python<'py>, values: &[T], shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let bytes = PyByteArray::new(py, bytemuck::cast_slice(values));
    ARRAY.import(py, "bqnco._arrays", "array")?.call1((bytes, T::DTYPE, shape))
}

/// One axis of numbers.
pub fn list<'py, T: Number>(py: Python<'py>, values: &[T]) -> PyResult<Bound<'py, PyAny>> {
    array(py, values, &[values.len()])
}

/// Indices, as numpy counts.
pub fn indices(py: Python<'_>, values: impl IntoIterator<Item = usize>) -> PyResult<Bound<'_, PyAny>> {
    list(py, &values.into_iter().map(|value| value as i64).collect::<Vec<_>>())
}

/// The numbers of an array's bytes.
pub fn numbers<T: Number + AnyBitPattern>(bytes: &[u8]) -> PyResult<Vec<T>> {
    match bytes.len() % size_of::<T>() {
        0 => Ok(bytemuck::pod_collect_to_vec(bytes)),
        _ => Err(PyValueError::new_err(format!("{} bytes are no array of {}", bytes.len(), T::DTYPE))),
    }
}
