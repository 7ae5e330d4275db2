//! Solving.

use std::sync::Arc;
use std::time::Duration;

use bqnco::{Event, Solver};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call::{Call, Caller, Ended};
use crate::errors::{OrRaise, exception};
use crate::instance::{Instance, unwrap};
use crate::search::SearchArguments;
use crate::solution::Solution;

/// The keyword arguments of `solve` beside those of the search.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SolveArguments<'py> {
    time_limit: Option<f64>,
    seed: u64,
    threads: Option<usize>,
    start: Option<PyRef<'py, Solution>>,
    /// Called with index, value, seconds and solution.
    on_improvement: Option<Py<PyAny>>,
    /// Called with the number of finished instances.
    on_finished: Option<Py<PyAny>>,
}

/// A solution, an exception or None per instance, and the exception that ended the work.
type Answers = (Vec<Py<PyAny>>, Option<Py<PyAny>>);

/// Solves instances. Returns a solution or an exception for each (None: not begun before it was stopped), and the
/// exception that stopped the work, if one did.
#[pyfunction]
#[pyo3(signature = (instances, search, arguments))]
pub fn solve(
    py: Python<'_>,
    instances: Vec<PyRef<'_, Instance>>,
    search: SearchArguments<'_>,
    arguments: SolveArguments<'_>,
) -> PyResult<Answers> {
    let call = Call::new()?;
    let solver = solver(py, search, &arguments, &call)?;
    let instances = unwrap(&instances);
    let observer = Callbacks {
        caller: call.caller(),
        on_improvement: arguments.on_improvement.map(Arc::new),
        on_finished: arguments.on_finished.map(Arc::new),
    };
    drop(arguments.start);
    let mut answers: Vec<Option<bqnco::Result<bqnco::Solution>>> = instances.iter().map(|_| None).collect();
    let Ended { result, raised } = call.run(py, || {
        solver.solve_each(&instances, &|event: &Event<'_>| observer.notify(event), &mut |index, answer| {
            answers[index] = Some(answer);
            Ok(())
        })
    })?;
    if raised.is_none() {
        result.or_raise(py)?;
    }
    let answer = |answer: Option<bqnco::Result<bqnco::Solution>>| match answer {
        Some(Ok(solution)) => Ok(Py::new(py, Solution::from(solution))?.into_any()),
        Some(Err(error)) => Ok(exception(py, error).into_value(py).into_any()),
        None => Ok(py.None()),
    };
    let answers = answers.into_iter().map(answer).collect::<PyResult<_>>()?;
    Ok((answers, raised.map(|raised| raised.into_value(py).into_any())))
}

fn solver(
    py: Python<'_>,
    search: SearchArguments<'_>,
    arguments: &SolveArguments<'_>,
    call: &Call,
) -> PyResult<Solver> {
    let search = search.search(py, call.caller())?;
    let mut solver = Solver::new().search(search).seed(arguments.seed).cancel_token(&call.cancel());
    if let Some(limit) = arguments.time_limit {
        solver = solver.time_limit(seconds(limit)?);
    }
    if let Some(threads) = arguments.threads {
        if threads == 0 {
            return Err(PyValueError::new_err("threads = 0: expected at least 1, or None for all cores"));
        }
        solver = solver.threads(threads).or_raise(py)?;
    }
    if let Some(start) = &arguments.start {
        solver = solver.start(start.inner.clone());
    }
    Ok(solver)
}

/// A time limit.
pub fn seconds(limit: f64) -> PyResult<Duration> {
    match limit {
        limit if limit > 0.0 && limit <= 1e9 => Ok(Duration::from_secs_f64(limit)),
        limit => Err(PyValueError::new_err(format!("time_limit = {limit}: expected seconds above zero"))),
    }
}

/// Passes events on to Python.
struct Callbacks {
    caller: Caller,
    on_improvement: Option<Arc<Py<PyAny>>>,
    on_finished: Option<Arc<Py<PyAny>>>,
}

impl Callbacks {
    fn notify(&self, event: &Event<'_>) {
        match (event, &self.on_improvement, &self.on_finished) {
            (Event::Improved { index, improvement }, Some(callback), _) => {
                let (callback, index, value) = (Arc::clone(callback), *index, improvement.value);
                let (seconds, solution) = (improvement.elapsed.as_secs_f64(), improvement.solution());
                self.caller
                    .post(move |py| callback.call1(py, (index, value, seconds, Solution::from(solution))).map(drop));
            }
            (Event::Finished { index, .. }, _, Some(callback)) => {
                let (callback, finished) = (Arc::clone(callback), index + 1);
                self.caller.post(move |py| callback.call1(py, (finished,)).map(drop));
            }
            _ => {}
        }
    }
}
