//! Batches of observations: `bqnco.Batch` in Python.

use bqnco::ObservationBatch;
use bqnco::core::{Costs, Frame};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, indices};

/// The batch in Python, with the probabilities of the right steps if it has them.
pub fn to_python<'py>(
    py: Python<'py>,
    batch: ObservationBatch,
    targets: Option<Vec<f32>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (count, slots, tokens) = (batch.len(), batch.slots(), batch.tokens);
    let fields = PyDict::new(py);
    fields.set_item("features", array(py, batch.features, &[count, tokens, batch.width])?)?;
    fields.set_item("mask", array(py, batch.mask, &[count, slots])?)?;
    fields.set_item("lengths", indices(py, batch.lengths))?;
    fields.set_item("origins", places(py, &batch.origins))?;
    fields.set_item("destinations", places(py, &batch.destinations))?;
    fields.set_item("planar", batch.costs == Costs::Planar)?;
    fields.set_item("kinds", batch.kinds)?;
    if let Costs::Matrix(matrix) = batch.costs {
        fields.set_item("costs", array(py, matrix, &[count, tokens, tokens])?)?;
    }
    if let Some(targets) = targets {
        fields.set_item("targets", array(py, targets, &[count, slots])?)?;
    }
    py.import("bqnco._batch")?.getattr("Batch")?.call((), Some(&fields))
}

/// Tokens, or -1 where there is none.
fn places<'py>(py: Python<'py>, places: &[Option<usize>]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_vec(py, places.iter().map(|place| place.map_or(-1, |place| place as i64)).collect())
}

/// The batch of a `bqnco.Batch`, or of anything with its arrays.
pub fn from_python(batch: &Bound<'_, PyAny>) -> PyResult<ObservationBatch> {
    let features: PyReadonlyArrayDyn<'_, f32> = batch.getattr("features")?.extract()?;
    let &[count, tokens, width] = features.shape() else {
        let found = features.shape();
        return Err(PyValueError::new_err(format!("features must have the shape (batch, tokens, features), found {found:?}")));
    };
    let kinds: usize = batch.getattr("kinds")?.extract()?;
    let lengths = numbers(batch, "lengths", count)?;
    if let Some(length) = lengths.iter().find(|&&length| length < 0 || length > tokens as i64) {
        return Err(PyValueError::new_err(format!("lengths has {length}; expected 0 to {tokens}, the number of tokens")));
    }
    let lengths: Vec<usize> = lengths.into_iter().map(|length| length as usize).collect();
    let token = |name: &str| -> PyResult<Vec<Option<usize>>> {
        Ok(numbers(batch, name, count)?.into_iter().map(|token| usize::try_from(token).ok()).collect())
    };
    let costs: Option<PyReadonlyArrayDyn<'_, f32>> = batch.getattr("costs")?.extract()?;
    let costs = match costs {
        Some(matrix) if matrix.shape() == [count, tokens, tokens] => Costs::Matrix(matrix.as_slice()?.to_vec()),
        Some(matrix) => {
            let found = matrix.shape();
            let sentence = format!("costs must have the shape ({count}, {tokens}, {tokens}), found {found:?}");
            return Err(PyValueError::new_err(sentence));
        }
        None if batch.getattr("planar")?.extract()? => Costs::Planar,
        None => Costs::None,
    };
    let (origins, destinations) = (token("origins")?, token("destinations")?);
    let features = features.as_slice()?.to_vec();
    let mask = Vec::new(); // networks do not see it
    Ok(ObservationBatch { width, kinds, tokens, lengths, features, origins, destinations, costs, mask })
}

fn numbers(batch: &Bound<'_, PyAny>, name: &str, count: usize) -> PyResult<Vec<i64>> {
    let values: PyReadonlyArray1<'_, i64> = batch.getattr(name)?.extract()?;
    let values = values.as_slice()?.to_vec();
    match values.len() == count {
        true => Ok(values),
        false => Err(PyValueError::new_err(format!("{name} has {} numbers; expected {count}", values.len()))),
    }
}

/// The frame of reference of a name.
pub fn frame(name: &str) -> PyResult<Frame> {
    match name {
        "instance" => Ok(Frame::Instance),
        "subproblem" => Ok(Frame::Subproblem),
        "origin" => Ok(Frame::Origin),
        _ => Err(PyValueError::new_err(format!("frame '{name}': expected instance, subproblem or origin"))),
    }
}

/// The name of a frame of reference.
pub fn frame_name(frame: Frame) -> &'static str {
    match frame {
        Frame::Instance => "instance",
        Frame::Subproblem => "subproblem",
        Frame::Origin => "origin",
    }
}
