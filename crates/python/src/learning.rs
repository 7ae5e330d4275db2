//! Data and training.

use std::path::PathBuf;
use std::sync::Arc;

use bqnco::train::{Augmentation, TrainEvent, Training};
use bqnco::{GeneratedSet, Labeller, Recipe, RecipeError, RunEvent, TrainOptions};
use pyo3::prelude::*;
use serde_json::json;

use crate::batch::{frame, to_python};
use crate::call::{Call, Caller, refuse_fork};
use crate::errors::OrRaise;
use crate::instance::{Instance, unwrap};
use crate::solving::seconds;

/// The keyword arguments of `generate`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SetArguments {
    size: usize,
    count: u64,
    seed: u64,
    distribution: String,
    varied: bool,
    /// Whether the expert solves them.
    expert: bool,
    /// Of the expert; None: as many as good labels need.
    rounds: Option<u64>,
    /// Called with the numbers of finished and of all instances.
    on_progress: Option<Py<PyAny>>,
}

/// Random instances, with the expert's solutions if they are wanted.
#[pyfunction]
pub fn generate(py: Python<'_>, problem: &str, arguments: SetArguments) -> PyResult<Vec<Instance>> {
    let SetArguments { size, count, seed, distribution, varied, expert, rounds, on_progress } = arguments;
    let distribution = distribution.parse().or_raise(py)?;
    let set = GeneratedSet { problem: problem.parse().or_raise(py)?, size, count, seed, distribution, varied };
    let call = Call::new()?;
    let mut labeller = Labeller::new().cancel_token(&call.cancel());
    if let Some(rounds) = rounds {
        labeller = labeller.rounds(rounds);
    }
    let (caller, on_progress) = (call.caller(), on_progress.map(Arc::new));
    let mut progress = |done: usize, total: usize| {
        if let Some(callback) = on_progress.clone() {
            caller.post(move |py| callback.call1(py, (done, total)).map(drop));
        }
    };
    let ended = call.run(py, || match expert {
        true => labeller.label(&set, 0..count, None, &mut progress),
        false => set.instances(0..count),
    })?;
    Ok(ended.into_result(py)?.into_iter().map(Instance::from).collect())
}

/// Batches of tails along the solutions of instances.
#[pyclass(frozen, module = "bqnco")]
pub struct Tails {
    inner: bqnco::Tails,
}

/// The keyword arguments of `subproblems`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TailArguments {
    batch: usize,
    seed: u64,
    shortest: usize,
    augment: bool,
    frame: String,
    shortlist: Option<usize>,
}

#[pymethods]
impl Tails {
    #[new]
    fn new(py: Python<'_>, instances: Vec<PyRef<'_, Instance>>, arguments: TailArguments) -> PyResult<Self> {
        let TailArguments { batch, seed, shortest, augment, frame: name, shortlist } = arguments;
        let augmentation = if augment { Augmentation::Square } else { Augmentation::One };
        let training = Training { batch, seed, shortest, augmentation, ..Training::default() };
        let (instances, frame) = (unwrap(&instances), frame(&name)?);
        let inner = py.detach(|| bqnco::Tails::new(&instances, training, frame, shortlist)).or_raise(py)?;
        Ok(Tails { inner })
    }

    /// The batch with this number.
    fn batch<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyAny>> {
        refuse_fork()?;
        let batch = py.detach(|| self.inner.batch(number)).or_raise(py)?;
        to_python(py, &batch.observations, Some(&batch.targets))
    }
}

/// The keyword arguments of `train`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TrainArguments {
    /// `key=value`, for a recipe in a file.
    changes: Vec<String>,
    time_limit: Option<f64>,
    /// Called with every event as JSON.
    on_event: Option<Py<PyAny>>,
}

/// A recipe.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct RecipeArguments {
    /// A TOML file,
    path: Option<PathBuf>,
    /// or its tables as JSON.
    json: Option<String>,
}

/// Trains a recipe. Returns the outcome as JSON.
#[pyfunction]
pub fn train(py: Python<'_>, recipe: RecipeArguments, folder: PathBuf, arguments: TrainArguments) -> PyResult<String> {
    let syntax =
        |error: serde_json::Error| RecipeError::Syntax { place: "the recipe".into(), reason: error.to_string() };
    let recipe: Recipe = match (recipe.path, recipe.json) {
        (Some(path), _) => Recipe::read(path, &arguments.changes).or_raise(py)?,
        (None, json) => serde_json::from_str(&json.unwrap_or_default()).map_err(syntax).or_raise(py)?,
    };
    let call = Call::new()?;
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let (cancel, caller, on_event) = (call.cancel(), call.caller(), arguments.on_event.map(Arc::new));
    let ended = call.run(py, || {
        let options = TrainOptions { time_limit, cancel, ..TrainOptions::new(folder) };
        recipe.train(&options, &mut |event| {
            if let Some(callback) = &on_event {
                tell(&caller, Arc::clone(callback), event);
            }
        })
    })?;
    let outcome = ended.into_result(py)?;
    let rows: Vec<_> = outcome.rows.iter().map(|row| json!(row)).collect();
    let (step, finished, best_gap) = (outcome.step, outcome.finished, outcome.best_gap);
    Ok(json!({ "step": step, "finished": finished, "best_gap": best_gap, "rows": rows }).to_string())
}

/// Passes an event on to Python, as JSON.
fn tell(caller: &Caller, callback: Arc<Py<PyAny>>, event: RunEvent<'_>) {
    let event = match event {
        RunEvent::Extended { from, to } => json!({ "event": "extended", "from": from, "to": to }),
        RunEvent::Changed { what, bit_equal } => {
            json!({ "event": "changed", "what": what, "bit_equal": bit_equal })
        }
        RunEvent::MakingData { set, expert, path } => {
            json!({ "event": "making data", "size": set.size, "count": set.count, "expert": expert, "path": path })
        }
        RunEvent::Labelled { done, total } => json!({ "event": "labelled", "done": done, "total": total }),
        RunEvent::Train(TrainEvent::Resumed { step }) => json!({ "event": "resumed", "step": step }),
        RunEvent::Train(TrainEvent::BestRemoved { gap }) => json!({ "event": "best removed", "gap": gap }),
        RunEvent::Train(TrainEvent::WarmStart(_)) => json!({ "event": "warm start" }),
        RunEvent::Train(TrainEvent::LabelsImproved(_)) => json!({ "event": "labels improved" }),
        RunEvent::Train(TrainEvent::Metrics(row)) => {
            let mut event = json!(row);
            event["event"] = "metrics".into();
            event
        }
        _ => return,
    };
    caller.post(move |py| callback.call1(py, (event.to_string(),)).map(drop));
}
