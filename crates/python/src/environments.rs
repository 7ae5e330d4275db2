//! Environments that step in lockstep.

use bqnco::GeneratedSet;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{list, numbers};
use crate::batch::{frame, to_python};
use crate::call::refuse_fork;
use crate::errors::OrRaise;
use crate::instance::{Instance, unwrap};
use crate::solution::Solution;

/// Constructions of instances of one problem, each in its own state.
#[pyclass(module = "bqnco")]
pub struct Environments {
    inner: bqnco::Environments,
}

/// Rewards, whether constructions are finished, whether actions were allowed.
type Transitions<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

#[pymethods]
impl Environments {
    #[new]
    #[pyo3(signature = (instances, frame = "instance"))]
    fn new(py: Python<'_>, instances: Vec<PyRef<'_, Instance>>, frame: &str) -> PyResult<Self> {
        let (instances, frame) = (unwrap(&instances), self::frame(frame)?);
        Ok(Environments { inner: py.detach(|| bqnco::Environments::new(&instances, frame)).or_raise(py)? })
    }

    /// All states as a batch; finished constructions are empty.
    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        refuse_fork()?;
        to_python(py, self.inner.observe(), None)
    }

    /// Takes one action per environment, the slot of a step; they are bytes of int64.
    fn step<'py>(&mut self, py: Python<'py>, actions: &[u8]) -> PyResult<Transitions<'py>> {
        refuse_fork()?;
        let actions: Vec<usize> =
            numbers::<i64>(actions)?.into_iter().map(|action| usize::try_from(action).unwrap_or(usize::MAX)).collect();
        let made = py.detach(|| self.inner.step(&actions)).or_raise(py)?;
        let rewards = list(py, &made.iter().map(|one| one.reward).collect::<Vec<f64>>())?;
        let finished = list(py, &made.iter().map(|one| one.finished).collect::<Vec<bool>>())?;
        Ok((rewards, finished, list(py, &made.iter().map(|one| one.allowed).collect::<Vec<bool>>())?))
    }

    /// The costs of finished constructions; NaN for others.
    fn costs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        refuse_fork()?;
        list(py, &py.detach(|| self.inner.costs()))
    }

    /// Starts some environments anew, with these instances.
    fn restart(&mut self, py: Python<'_>, indices: Vec<usize>, instances: Vec<PyRef<'_, Instance>>) -> PyResult<()> {
        if indices.len() != instances.len() {
            let (expected, found) = (indices.len(), instances.len());
            return Err(PyValueError::new_err(format!("{found} instances for {expected} environments")));
        }
        let mut all = indices.into_iter().zip(&instances);
        all.try_for_each(|(index, instance)| self.inner.restart(index, &instance.inner)).or_raise(py)
    }

    /// Starts some environments anew, with the random instances from number `first` on.
    fn renew(&mut self, py: Python<'_>, indices: Vec<usize>, size: usize, seed: u64, first: u64) -> PyResult<()> {
        refuse_fork()?;
        let count = first.saturating_add(indices.len() as u64);
        let set = GeneratedSet { seed, ..GeneratedSet::new(self.inner.problem(), size, count) };
        py.detach(|| {
            let instances = set.instances(first..count)?;
            indices.iter().zip(&instances).try_for_each(|(&index, instance)| self.inner.restart(index, instance))
        })
        .or_raise(py)
    }

    /// The solution of a finished construction.
    fn solution(&self, index: usize) -> Option<Solution> {
        self.inner.solution(index).map(Solution::from)
    }
}
