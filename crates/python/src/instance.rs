//! Instances: from files, from arrays.

use std::path::PathBuf;

use bqnco::io::{Array, Format, RawInstance, write_atomically};
use bqnco::problems::Metric;
use bqnco::{ProblemName, Reader, write_all};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{array, numbers};
use crate::errors::{OrRaise, named};
use crate::solution::Solution;

/// An instance of a problem: read from a file, or made by `tsp`, `cvrp`, ...; it does not change.
#[pyclass(frozen, module = "bqnco")]
pub struct Instance {
    pub inner: bqnco::Instance,
}

impl From<bqnco::Instance> for Instance {
    fn from(inner: bqnco::Instance) -> Self {
        Instance { inner }
    }
}

/// The library's instances.
pub fn unwrap(instances: &[PyRef<'_, Instance>]) -> Vec<bqnco::Instance> {
    instances.iter().map(|instance| instance.inner.clone()).collect()
}

#[pymethods]
impl Instance {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The name of its problem: "tsp", "cvrp", ...
    #[getter]
    fn problem(&self) -> &'static str {
        self.inner.problem().as_str()
    }

    /// Number of nodes, customers or items, as `unit` says.
    #[getter]
    fn size(&self) -> usize {
        self.inner.size()
    }

    /// What `size` counts: "nodes", "customers", "items".
    #[getter]
    fn unit(&self) -> &'static str {
        self.inner.unit()
    }

    /// The objective that its file states for its solution or for the best one, if it does.
    #[getter]
    fn reference(&self) -> Option<f64> {
        self.inner.reference()
    }

    /// The solution that came with it, if one did.
    #[getter]
    fn solution(&self) -> Option<Solution> {
        self.inner.solution().map(Solution::from)
    }

    /// How coordinates become distances, as in TSPLIB: "EXACT_2D" (not rounded), "EUC_2D", ...; None for a matrix.
    #[getter]
    fn metric(&self) -> Option<&'static str> {
        let fields = self.inner.fields();
        fields.metric.filter(|_| fields.has("coordinates")).map(Metric::name)
    }

    /// Its numbers by name, as in a JSON file: arrays, and floats where there is one number.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        for (name, Array { shape, values }) in self.inner.fields().arrays() {
            match (&shape[..], &values[..]) {
                ([], [number]) => fields.set_item(name, number)?,
                _ => fields.set_item(name, array(py, values, shape)?)?,
            }
        }
        Ok(fields)
    }

    /// The same instance with a solution, for labelled data; its value becomes the reference.
    fn with_solution(&self, py: Python<'_>, solution: &Solution) -> PyResult<Self> {
        Ok(self.inner.with_solution(&solution.inner).or_raise(py)?.into())
    }

    /// A solution given as numbers: nodes or items from 0 in the order of the visit, or a list of routes. It need not be
    /// feasible.
    fn solution_from(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<Solution> {
        let routes = || numbers.extract::<Vec<Vec<i64>>>().map(|routes| routes.join(&0));
        let expected = |_| PyTypeError::new_err("expected numbers of nodes or items, or a list of routes");
        let numbers = numbers.extract::<Vec<i64>>().or_else(|_| routes()).map_err(expected)?;
        let negative = |number: i64| {
            let sentence = format!("the solution has the number {number}; nodes and items count from 0");
            named(py, "InstanceError", sentence)
        };
        let index = |&number: &i64| usize::try_from(number).map_err(|_| negative(number));
        let numbers = numbers.iter().map(index).collect::<PyResult<Vec<usize>>>()?;
        Ok(self.inner.solution_from(&numbers).or_raise(py)?.into())
    }

    /// Reads a solution of this instance from a file. It need not be feasible.
    fn read_solution(&self, py: Python<'_>, path: PathBuf) -> PyResult<Solution> {
        Ok(self.inner.read_solution(path).or_raise(py)?.into())
    }

    /// The instance as the content of a file.
    #[pyo3(signature = (format = "json"))]
    fn to_bytes<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.to_bytes(format_named(format)?).or_raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A picture as SVG.
    fn svg(&self) -> String {
        self.inner.draw().to_svg()
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __repr__(&self) -> String {
        format!("<{} '{}', {}>", self.problem(), self.name(), self.inner.sized())
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let restore = py.import("bqnco._instances")?.getattr("restored")?;
        Ok((restore, (self.to_bytes(py, "json")?,)))
    }
}

/// The instance that named arrays describe, each given by its name, shape and bytes of float64.
#[pyfunction]
#[pyo3(signature = (problem, fields, metric = None, name = None))]
pub fn instance(
    py: Python<'_>,
    problem: &str,
    fields: Vec<(String, Vec<usize>, Vec<u8>)>,
    metric: Option<&str>,
    name: Option<String>,
) -> PyResult<Instance> {
    let mut raw = RawInstance::default();
    (raw.name, raw.metric) = (name, metric.map(metric_named).transpose()?);
    for (name, shape, bytes) in fields {
        raw.insert(name, Array { shape, values: numbers(&bytes)? });
    }
    let problem: ProblemName = problem.parse().or_raise(py)?;
    Ok(bqnco::Instance::from_fields(problem, raw).or_raise(py)?.into())
}

/// All instances of a file, or of its content.
#[pyfunction]
#[pyo3(signature = (source, problem = None, metric = None))]
pub fn read(
    py: Python<'_>,
    source: FileOrBytes,
    problem: Option<&str>,
    metric: Option<&str>,
) -> PyResult<Vec<Instance>> {
    let problem = problem.map(str::parse).transpose().or_raise(py)?;
    let reader = Reader { problem, round: metric.map(metric_named).transpose()? };
    let instances = py.detach(|| match source {
        FileOrBytes::Bytes(bytes) => reader.parse("bytes", bytes),
        FileOrBytes::File(path) => reader.read(path),
    });
    Ok(instances.or_raise(py)?.into_iter().map(Instance::from).collect())
}

/// A file, or its content.
#[derive(FromPyObject)]
pub enum FileOrBytes {
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// Writes instances to a file, in a format or that of the file's extension.
#[pyfunction]
#[pyo3(signature = (path, instances, format = None))]
pub fn write(py: Python<'_>, path: PathBuf, instances: Vec<PyRef<'_, Instance>>, format: Option<&str>) -> PyResult<()> {
    let unknown = || {
        let formats = names(&Format::ALL.map(Format::name));
        PyValueError::new_err(format!("{}: its extension names no format; the formats are {formats}", path.display()))
    };
    let format = format.map_or_else(|| Format::of_name(&path).ok_or_else(unknown), format_named)?;
    let instances = unwrap(&instances);
    let bytes = py.detach(|| write_all(&instances, format)).or_raise(py)?;
    write_atomically(&path, &bytes)
        .map_err(|source| bqnco::Error::File { action: "cannot write", path: path.clone(), source })
        .or_raise(py)
}

fn format_named(name: &str) -> PyResult<Format> {
    let unknown = || format!("format '{name}': expected one of {}", names(&Format::ALL.map(Format::name)));
    Format::from_name(name).ok_or_else(|| PyValueError::new_err(unknown()))
}

fn metric_named(name: &str) -> PyResult<Metric> {
    let unknown =
        || format!("metric '{name}': expected a name of TSPLIB such as EUC_2D, or EXACT_2D for unrounded distances");
    Metric::from_name(name).ok_or_else(|| PyValueError::new_err(unknown()))
}

fn names(names: &[&str]) -> String {
    names.join(", ")
}
