//! Python callables as policies.

use std::sync::Arc;

use bqnco::core::PolicyError;
use bqnco::{GivenPolicy, ObservationBatch, Scorer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::numbers;
use crate::batch::{frame, to_python};
use crate::call::Caller;
use crate::errors::OrRaise;

/// A callable that scores batches, on the thread of the caller.
struct Callable {
    policy: Arc<Py<PyAny>>,
    caller: Caller,
}

impl Scorer for Callable {
    fn scores(&self, batch: &ObservationBatch) -> Result<Vec<f32>, PolicyError> {
        let (policy, batch) = (Arc::clone(&self.policy), batch.clone());
        let scores = self.caller.call(move |py| {
            let batch = to_python(py, &batch, None)?;
            let scores = py.import("bqnco._batch")?.getattr("scores_of")?.call1((policy.bind(py), batch))?;
            numbers(scores.cast::<PyBytes>()?.as_bytes())
        });
        // The exception itself is what the call from Python ends with.
        scores.ok_or_else(|| PolicyError::Failed("it raised an exception".into()))
    }
}

/// A callable as a policy of the library.
pub fn given(callable: &Bound<'_, PyAny>, name: String, frame_name: &str, caller: Caller) -> PyResult<GivenPolicy> {
    let scorer = Callable { policy: Arc::new(callable.clone().unbind()), caller };
    GivenPolicy::new(name, frame(frame_name)?, scorer).or_raise(callable.py())
}
