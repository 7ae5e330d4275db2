//! Solving.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bqnco::{Event, Improvement, Solver};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

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
    /// Whether Ctrl-C returns what was found so far.
    return_on_interrupt: bool,
}

/// Solves instances: a solution of each, in their order; after Ctrl-C those that were found, if that is asked for. Any
/// other end is an exception that has them as `solutions`, and as `solution` if there is one instance.
#[pyfunction]
#[pyo3(signature = (instances, search, arguments))]
pub fn solve(
    py: Python<'_>,
    instances: Vec<PyRef<'_, Instance>>,
    search: SearchArguments<'_>,
    arguments: SolveArguments<'_>,
) -> PyResult<Vec<Solution>> {
    let call = Call::new()?;
    let solver = solver(py, search, &arguments, &call)?;
    let instances = unwrap(&instances);
    let SolveArguments { on_improvement, on_finished, return_on_interrupt, .. } = arguments;
    let callbacks = Callbacks {
        caller: call.caller(),
        on_improvement: on_improvement.map(Arc::new),
        on_finished: on_finished.map(Arc::new),
        unseen: Arc::default(),
    };
    let mut answers = BTreeMap::new();
    let Ended { result, raised } = call.run(py, || {
        solver.solve_each(&instances, &|event: &Event<'_>| callbacks.notify(event), &mut |index, answer| {
            answers.insert(index, answer);
            Ok(())
        })
    })?;
    let mut failure = raised.or_else(|| result.err().map(|error| exception(py, error)));
    let mut solutions = Vec::with_capacity(answers.len());
    for answer in answers.into_values() {
        match answer {
            Ok(solution) => solutions.push(Solution::from(solution)),
            Err(error) => failure = failure.or_else(|| Some(exception(py, error))),
        }
    }
    match failure {
        None => Ok(solutions),
        Some(failure) if return_on_interrupt && failure.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(solutions),
        Some(failure) => {
            let _ = carry(py, &failure, instances.len(), solutions); // the caller's own may take no attributes
            Err(failure)
        }
    }
}

/// Lets an exception carry what was found before it.
fn carry(py: Python<'_>, failure: &PyErr, instances: usize, solutions: Vec<Solution>) -> PyResult<()> {
    let (failure, solutions) = (failure.value(py), PyList::new(py, solutions)?);
    if instances == 1 {
        failure.setattr("solution", solutions.iter().next())?;
    }
    failure.setattr("solutions", solutions)
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
        limit => {
            let sentence = format!("time_limit = {limit}: expected seconds above zero, at most 1e9, or None");
            Err(PyValueError::new_err(sentence))
        }
    }
}

/// Passes events on to Python.
struct Callbacks {
    caller: Caller,
    on_improvement: Option<Arc<Py<PyAny>>>,
    on_finished: Option<Arc<Py<PyAny>>>,
    unseen: Arc<Mutex<Unseen>>,
}

/// Value, seconds and solution of the newest improvement of each instance that Python has not been told of: a slow
/// callback misses older ones, and neither the search nor the end of the call waits for them.
type Unseen = BTreeMap<usize, (f64, f64, bqnco::Solution)>;

impl Callbacks {
    fn notify(&self, event: &Event<'_>) {
        match (event, &self.on_improvement, &self.on_finished) {
            (Event::Improved { index, improvement }, Some(callback), _) => self.improved(callback, *index, improvement),
            (Event::Finished { index, .. }, _, Some(callback)) => {
                let (callback, finished) = (Arc::clone(callback), index + 1);
                self.caller.post(move |py| callback.call1(py, (finished,)).map(drop));
            }
            _ => {}
        }
    }

    fn improved(&self, callback: &Arc<Py<PyAny>>, index: usize, improvement: &Improvement<'_>) {
        let newest = (improvement.value, improvement.elapsed.as_secs_f64(), improvement.solution());
        let mut unseen = self.unseen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_announced = !unseen.is_empty();
        unseen.insert(index, newest);
        drop(unseen);
        if is_announced {
            return;
        }
        let (callback, unseen) = (Arc::clone(callback), Arc::clone(&self.unseen));
        self.caller.post(move |py| {
            let newest = std::mem::take(&mut *unseen.lock().unwrap_or_else(PoisonError::into_inner));
            newest.into_iter().try_for_each(|(index, (value, seconds, solution))| {
                callback.call1(py, (index, value, seconds, Solution::from(solution))).map(drop)
            })
        });
    }
}
