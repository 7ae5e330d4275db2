//! Networks.

use bqnco::net::{Network, device};
use bqnco::{MODELS, ModelSource};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::array;
use crate::batch::{frame_name, from_python};
use crate::call::refuse_fork;
use crate::errors::OrRaise;

/// A network: a built-in one, or that of a folder with model.safetensors and config.json. As a policy of `rollout` and
/// `eval` it is run by the library itself.
#[pyclass(frozen, module = "bqnco")]
pub struct Model {
    source: ModelSource,
    network: Network,
}

impl Model {
    /// Where it comes from.
    pub fn source(&self) -> &ModelSource {
        &self.source
    }
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (name_or_folder))]
    fn load(py: Python<'_>, name_or_folder: &str) -> PyResult<Self> {
        let source: ModelSource = name_or_folder.parse().or_raise(py)?;
        let (network, _) = py.detach(|| source.load(&device("cpu")?)).or_raise(py)?;
        Ok(Model { source, network })
    }

    /// Its name or folder.
    #[getter]
    fn name(&self) -> String {
        self.source.to_string()
    }

    /// The problem it was trained for.
    #[getter]
    fn problem(&self) -> &str {
        &self.network.config().problem
    }

    /// The frame of reference in which it sees tails: "instance", "subproblem" or "origin".
    #[getter]
    fn frame(&self) -> &'static str {
        frame_name(self.network.config().frame)
    }

    /// Candidates per step that it was trained with; None: all.
    #[getter]
    fn shortlist(&self) -> Option<usize> {
        self.network.config().shortlist
    }

    /// Number of weights.
    #[getter]
    fn parameters(&self) -> usize {
        self.network.parameters()
    }

    /// What it was trained on, how well it does and where it fails; empty for a folder.
    #[getter]
    fn card(&self) -> &'static str {
        if let ModelSource::Shipped(model) = self.source { model.card } else { "" }
    }

    /// Scores of all slots of a batch in the model's frame, shape (batch, slots); those of padding are -inf.
    fn scores<'py>(&self, py: Python<'py>, batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        refuse_fork()?;
        let batch = from_python(batch)?;
        let config = self.network.config();
        if batch.kinds != config.kinds {
            let (found, expected) = (batch.kinds, config.kinds);
            let sentence = format!("a batch with {found} scores per token; {} expects {expected}", self.source);
            return Err(PyValueError::new_err(sentence));
        }
        let rows = py.detach(|| self.network.scores(&batch.observations())).or_raise(py)?;
        let slots = batch.slots();
        let mut scores = vec![f32::NEG_INFINITY; rows.len() * slots];
        scores.chunks_mut(slots.max(1)).zip(&rows).for_each(|(to, row)| to[..row.len()].copy_from_slice(row));
        array(py, &scores, &[rows.len(), slots])
    }

    /// For pickle: it is loaded anew.
    fn __getnewargs__(&self) -> (String,) {
        (self.name(),)
    }

    fn __repr__(&self) -> String {
        format!("<network '{}' for {}, {} weights>", self.source, self.problem(), self.parameters())
    }
}

/// Names of the built-in networks.
#[pyfunction]
pub fn models() -> Vec<&'static str> {
    MODELS.iter().map(|model| model.name).collect()
}
