//! Evaluations.

use std::path::PathBuf;
use std::sync::Arc;

use bqnco::ModelSource;
use bqnco_eval::{Baseline, Contender, Evaluation, Event, Suite, TimedSearch};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call::{Call, Caller};
use crate::errors::OrRaise;
use crate::policy::given;
use crate::search::shortlist;
use crate::solving::seconds;

/// The keyword arguments of `eval`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct EvaluationArguments<'py> {
    data: Option<PathBuf>,
    optima: Option<String>,
    searches: Vec<String>,
    sizes: Vec<usize>,
    instances: Option<usize>,
    models: Vec<String>,
    /// Whether problems without one of `models` have the built-in networks.
    shipped: bool,
    policies: Vec<PolicyArguments<'py>>,
    baselines: Vec<String>,
    time_limit: Option<f64>,
    seed: u64,
    folder: PathBuf,
    /// Called with the numbers of finished and of all tasks, and the task.
    on_progress: Option<Py<PyAny>>,
}

/// A callable to evaluate.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PolicyArguments<'py> {
    policy: Bound<'py, PyAny>,
    name: String,
    frame: String,
    shortlist: Option<String>,
    version: String,
}

/// The report of an evaluation.
#[pyclass(frozen, module = "bqnco")]
pub struct Report {
    inner: bqnco_eval::Report,
}

#[pymethods]
impl Report {
    /// All results as JSON (results.json).
    fn json(&self) -> String {
        String::from_utf8_lossy(&self.inner.results().json()).into_owned()
    }

    /// All means as a table of text.
    fn summary(&self) -> String {
        self.inner.summary()
    }

    /// Writes report.html, report.md, results.json, results.csv and charts.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        self.inner.write(folder).or_raise(py)
    }
}

/// Evaluates networks, callables and baselines on a suite or a problem.
#[pyfunction]
pub fn evaluate(py: Python<'_>, suite: &str, mut arguments: EvaluationArguments<'_>) -> PyResult<Report> {
    let suite = arguments.suite(py, suite)?;
    let call = Call::new()?;
    let (networks, baselines) = (arguments.networks(py)?, arguments.baselines()?);
    let contenders = arguments.contenders(py, &call)?;
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let (cancel, caller, on_progress) = (call.cancel(), call.caller(), arguments.on_progress.take().map(Arc::new));
    let EvaluationArguments { shipped, instances, seed, folder, .. } = arguments;
    let ended = call.run(py, move || {
        let evaluation = Evaluation {
            networks,
            shipped_networks: shipped,
            contenders,
            baselines,
            time_limit,
            instances,
            seed,
            cancel,
            ..Evaluation::new(folder)
        };
        suite.run(&evaluation, &mut |event| tell(&caller, on_progress.as_ref(), event))
    })?;
    Ok(Report { inner: ended.into_result(py)? })
}

impl EvaluationArguments<'_> {
    fn suite(&self, py: Python<'_>, name: &str) -> PyResult<Suite> {
        let mut suite = Suite::named(name).or_raise(py)?;
        if let Some(data) = &self.data {
            suite = suite.with_files(data, self.optima.as_deref()).or_raise(py)?;
        }
        if !self.searches.is_empty() {
            let searches = self.searches.iter().map(|search| search.parse::<TimedSearch>());
            suite.searches = searches.collect::<Result<_, _>>().or_raise(py)?;
        }
        Ok(if self.sizes.is_empty() { suite } else { suite.with_sizes(&self.sizes) })
    }

    fn networks(&self, py: Python<'_>) -> PyResult<Vec<ModelSource>> {
        self.models.iter().map(|name| name.parse::<ModelSource>().or_raise(py)).collect()
    }

    fn contenders(&self, py: Python<'_>, call: &Call) -> PyResult<Vec<Contender>> {
        let contender = |one: &PolicyArguments<'_>| {
            let policy = given(&one.policy, one.name.clone(), &one.frame, call.caller())?;
            let shortlist = shortlist(one.shortlist.as_deref(), py)?;
            Ok(Contender { policy, shortlist, version: one.version.clone() })
        };
        self.policies.iter().map(contender).collect()
    }

    fn baselines(&self) -> PyResult<Vec<Baseline>> {
        let baseline = |name: &String| match name.as_str() {
            "heuristic" => Ok(Baseline::Heuristic),
            "constructions" => Ok(Baseline::Constructions),
            "expert" => Ok(Baseline::Expert),
            _ => {
                let sentence = format!("baseline '{name}': expected heuristic, constructions or expert");
                Err(PyValueError::new_err(sentence))
            }
        };
        self.baselines.iter().map(baseline).collect()
    }
}

fn tell(caller: &Caller, on_progress: Option<&Arc<Py<PyAny>>>, event: Event<'_>) {
    if let (Event::Progress { done, total, task }, Some(callback)) = (event, on_progress) {
        let (callback, task) = (Arc::clone(callback), task.to_string());
        caller.post(move |py| callback.call1(py, (done, total, task)).map(drop));
    }
}
