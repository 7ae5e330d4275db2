//! Batches of observations: `bqnco.Batch` in Python.

use bqnco::ObservationBatch;
use bqnco::core::{Costs, Frame};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::arrays::{array, indices, list, numbers};

/// The batch in Python, with the probabilities of the right steps if it has them.
pub fn to_python<'py>(
    py: Python<'py>,
    batch: &ObservationBatch,
    targets: Option<&[f32]>,
) -> PyResult<Bound<'py, PyAny>> {
    let (count, slots, tokens) = (batch.len(), batch.slots(), batch.tokens);
    let fields = PyDict::new(py);
    fields.set_item("features", array(py, &batch.features, &[count, tokens, batch.width])?)?;
    fields.set_item("mask", array(py, &batch.mask, &[count, slots])?)?;
    fields.set_item("lengths", indices(py, batch.lengths.iter().copied())?)?;
    fields.set_item("origins", places(py, &batch.origins)?)?;
    fields.set_item("destinations", places(py, &batch.destinations)?)?;
    fields.set_item("planar", batch.costs == Costs::Planar)?;
    fields.set_item("kinds", batch.kinds)?;
    if let Costs::Matrix(matrix) = &batch.costs {
        fields.set_item("costs", array(py, matrix, &[count, tokens, tokens])?)?;
    }
    if let Some(targets) = targets {
        fields.set_item("targets", array(py, targets, &[count, slots])?)?;
    }
    static BATCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    BATCH.import(py, "bqnco._batch", "Batch")?.call((), Some(&fields))
}

/// Tokens, or -1 where there is none.
fn places<'py>(py: Python<'py>, places: &[Option<usize>]) -> PyResult<Bound<'py, PyAny>> {
    list(py, &places.iter().map(|place| place.map_or(-1, |place| place as i64)).collect::<Vec<_>>())
}

/// A batch as `bqnco._batch.packed` passes it on: arrays as bytes, their shapes already checked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Packed {
    tokens: usize,
    width: usize,
    kinds: usize,
    planar: bool,
    features: Vec<u8>,
    lengths: Vec<u8>,
    origins: Vec<u8>,
    destinations: Vec<u8>,
    costs: Option<Vec<u8>>,
}

/// The observations of a `bqnco.Batch`; without the mask, which networks do not see.
pub fn from_python(batch: &Bound<'_, PyAny>) -> PyResult<ObservationBatch> {
    let packed = batch.py().import("bqnco._batch")?.getattr("packed")?.call1((batch,))?;
    let Packed { tokens, width, kinds, planar, features, lengths, origins, destinations, costs } = packed.extract()?;
    let tokens_of = |bytes: &[u8]| -> PyResult<Vec<Option<usize>>> {
        Ok(numbers::<i64>(bytes)?.into_iter().map(|token| usize::try_from(token).ok()).collect())
    };
    Ok(ObservationBatch {
        width,
        kinds,
        tokens,
        lengths: tokens_of(&lengths)?.into_iter().map(Option::unwrap_or_default).collect(),
        features: numbers(&features)?,
        origins: tokens_of(&origins)?,
        destinations: tokens_of(&destinations)?,
        costs: match costs {
            Some(matrix) => Costs::Matrix(numbers(&matrix)?),
            None if planar => Costs::Planar,
            None => Costs::None,
        },
        mask: Vec::new(),
    })
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
