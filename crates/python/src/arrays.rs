//! Numbers between Rust and numpy. They pass as bytes, with one copy: the stable interface of Python before 3.11 has no
//! access to an array's memory.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// A type of numbers that numpy has, too.
pub trait Number: Copy {
    /// Its name in numpy.
    const DTYPE: &'static str;
    /// Its bytes.
    const SIZE: usize;
    /// Writes its bytes, in the machine's order.
    fn write(self, to: &mut [u8]);
    /// Reads what [`Number::write`] wrote.
    fn read(from: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ty => $dtype:literal,)*) => { $(
        impl Number for $number {
            const DTYPE: &'static str = $dtype;
            const SIZE: usize = size_of::<$number>();

            fn write(self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_ne_bytes());
            }

            fn read(from: &[u8]) -> Self {
                <$number>::from_ne_bytes(from.try_into().expect("chunks have the size of the number"))
            }
        }
    )* };
}

numbers! {
    f32 => "float32",
    f64 => "float64",
    i64 => "int64",
}

impl Number for bool {
    const DTYPE: &'static str = "bool";
    const SIZE: usize = 1;

    fn write(self, to: &mut [u8]) {
        to[0] = u8::from(self);
    }

    fn read(from: &[u8]) -> Self {
        from[0] != 0
    }
}

/// An array of a shape, whose last axis runs fastest.
pub fn array<'py, T: Number>(py: Python<'py>, values: &[T], shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyByteArray::new_with(py, values.len() * T::SIZE, |bytes| {
        bytes.chunks_exact_mut(T::SIZE).zip(values).for_each(|(to, &value)| value.write(to));
        Ok(())
    })?;
    py.import("bqnco._arrays")?.getattr("array")?.call1((bytes, T::DTYPE, shape))
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
pub fn numbers<T: Number>(bytes: &[u8]) -> PyResult<Vec<T>> {
    let chunks = bytes.chunks_exact(T::SIZE);
    match chunks.remainder() {
        [] => Ok(chunks.map(T::read).collect()),
        _ => Err(PyValueError::new_err(format!("{} bytes are no array of {}", bytes.len(), T::DTYPE))),
    }
}
