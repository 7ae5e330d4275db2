//! Solutions.

use std::path::PathBuf;

use bqnco::dispatch;
use bqnco::io::Format;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::indices;
use crate::errors::{OrRaise, named};
use crate::instance::Instance;

/// A solution of an instance, with the method that found it and its time.
#[pyclass(frozen, module = "bqnco")]
pub struct Solution {
    pub inner: bqnco::Solution,
}

impl From<bqnco::Solution> for Solution {
    fn from(inner: bqnco::Solution) -> Self {
        Solution { inner }
    }
}

impl Solution {
    /// Its numbers, if solutions of the problem are of this kind.
    fn of_kind<'py>(&self, py: Python<'py>, format: Format, kind: &str) -> PyResult<Bound<'py, PyAny>> {
        let instance = self.inner.instance();
        let (native, _) = instance.native_solution_format();
        if native == format {
            return indices(py, self.inner.numbers());
        }
        let own = match native {
            Format::Sol => "routes",
            Format::ZeroOne => "items",
            _ => "a tour",
        };
        let problem = instance.problem();
        Err(PyAttributeError::new_err(format!("a solution of {problem} has {own}, not {kind}")))
    }
}

/// A function of the package and its arguments: the instance and the solution's numbers.
type Restored<'py> = (Bound<'py, PyAny>, (Instance, Vec<usize>));

#[pymethods]
impl Solution {
    /// The instance it solves.
    #[getter]
    fn instance(&self) -> Instance {
        self.inner.instance().clone().into()
    }

    /// The objective as it is minimised: lengths, and minus the prize or value of problems that maximise. NaN if it is
    /// not feasible.
    #[getter]
    fn cost(&self) -> f64 {
        let sign = dispatch!(self.inner.instance().problem(), P => P::OBJECTIVE.1);
        sign * self.inner.value()
    }

    /// The objective with its usual sign: prizes and values are positive. NaN if it is not feasible.
    #[getter]
    fn value(&self) -> f64 {
        self.inner.value()
    }

    /// The name of the objective: "length", "prize", "value".
    #[getter]
    fn objective(&self) -> &'static str {
        self.inner.objective()
    }

    /// Nodes from 0 in the order of the visit (tsp, atsp, op, pctsp).
    #[getter]
    fn tour<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.of_kind(py, Format::Tour, "a tour")
    }

    /// The chosen items from 0 (knapsack).
    #[getter]
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.of_kind(py, Format::ZeroOne, "items")
    }

    /// The customers of each route in the order of the visit, without the depot, which is 0 (cvrp).
    #[getter]
    fn routes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.of_kind(py, Format::Sol, "routes")?;
        let numbers = self.inner.numbers();
        let routes = numbers.split(|&number| number == 0).filter(|route| !route.is_empty());
        routes.map(|route| indices(py, route.iter().copied())).collect()
    }

    /// All numbers, as files have them: nodes or items from 0, routes separated by 0.
    #[getter]
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        indices(py, self.inner.numbers())
    }

    /// The method that found it.
    #[getter]
    fn found_by(&self) -> &str {
        self.inner.found_by()
    }

    /// Seconds of work; per instance if several were solved together.
    #[getter]
    fn seconds(&self) -> f64 {
        self.inner.seconds()
    }

    /// Whether the search was stopped before it was complete.
    #[getter]
    fn cut_short(&self) -> bool {
        self.inner.cut_short()
    }

    /// Whether it keeps all constraints; `check()` tells which one it breaks.
    #[getter]
    fn is_feasible(&self) -> bool {
        self.inner.check().is_ok()
    }

    /// Raises InfeasibleError if it breaks a constraint.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.check().map_err(|why| named(py, "InfeasibleError", why.to_string()))
    }

    /// Percent behind a reference value; positive is worse for every problem. NaN if the reference is zero.
    fn gap(&self, reference: f64) -> f64 {
        self.inner.gap(reference).unwrap_or(f64::NAN)
    }

    /// Writes it: .tour, .sol or .txt, depending on the problem, or .json.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.inner.write(path).or_raise(py)
    }

    /// A picture as SVG.
    fn svg(&self) -> String {
        self.inner.draw().to_svg()
    }

    /// A picture as PNG, so many pixels wide.
    #[pyo3(signature = (width = 800))]
    fn png<'py>(&self, py: Python<'py>, width: u32) -> PyResult<Bound<'py, PyBytes>> {
        let picture = self.inner.draw();
        Ok(PyBytes::new(py, &py.detach(|| picture.to_png(width)).or_raise(py)?))
    }

    /// Draws it on axes of matplotlib, by default new ones, and returns them.
    #[pyo3(signature = (ax = None))]
    fn plot<'py>(slf: &Bound<'py, Self>, ax: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("bqnco._plot")?.getattr("plot")?.call1((slf, ax))
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __repr__(&self) -> String {
        let (objective, value, found_by) = (self.objective(), self.value(), self.found_by());
        format!("<solution of '{}', {objective} {value}, found by {found_by}>", self.inner.instance().name())
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Restored<'py>> {
        let restore = py.import("bqnco._instances")?.getattr("restored_solution")?;
        Ok((restore, (self.instance(), self.inner.numbers())))
    }
}
