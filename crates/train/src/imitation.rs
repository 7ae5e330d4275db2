//! The loop.

use std::time::Instant;

use bqnco_core::{Problem, Stop};
use bqnco_net::{Config, Network, Precision, Provenance};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Bytes, Device};

use crate::average::{blend, decay_at};
use crate::batch::prepare_ahead;
use crate::folder::{Progress, State};
use crate::learner::{Heads, Learner};
use crate::optimizer::{clip, numbered, optimizer};
use crate::report::Report;
use crate::warm_start::warm_start;
use crate::{Example, Examples, Folder, Row, Taken, TrainError, Training, greedy_gap};

/// What is to be learnt, and how.
pub struct Imitation<'a, P: Problem> {
    /// The network.
    pub config: &'a Config,
    /// The way.
    pub training: &'a Training,
    /// What is learnt from.
    pub examples: &'a dyn Examples<P>,
    /// What validation asks: examples that are not learnt from.
    pub exam: &'a [Example<P>],
    /// Where the weights live while they are trained.
    pub device: &'a Device,
    /// Noted in every checkpoint beside steps, samples and gap.
    pub provenance: &'a Provenance,
}

/// What happens in a run, for those who watch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum News<'a> {
    /// The first weights are another network's.
    WarmStart(&'a Taken),
    /// A new row of the report.
    Row(&'a Row),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Updates made.
    pub step: u64,
    /// Whether that was all of them; if not, the same run can go on.
    pub finished: bool,
    /// The smallest gap seen, in percent.
    pub best_gap: Option<f64>,
    /// The rows of the report, over all sessions.
    pub rows: Vec<Row>,
}

/// Trains a network to do as experts do, from the folder's last saved state if there is one.
///
/// # Errors
/// Bad settings, examples without anything to learn, a diverged loss, files that cannot be read or written.
pub fn train<P: Problem>(
    task: &Imitation<'_, P>,
    folder: &Folder,
    view: &mut dyn FnMut(News<'_>),
    stop: Stop<'_>,
) -> Result<Outcome, TrainError> {
    let training = task.training;
    training.check()?;
    let mut pupil = Pupil::new(task, folder, view)?;
    let mut report = Report::open(folder, pupil.progress.step)?;
    let mut meter = Meter::new();
    std::thread::scope(|scope| {
        let device = task.device.clone().autodiff();
        let lessons = prepare_ahead(scope, task, device, pupil.progress.step);
        for lesson in lessons {
            // Loss of a batch, gradients, update.
            let lesson = lesson?;
            let loss = pupil.learner.loss(&lesson, training);
            meter.count(loss.imitation.into_scalar(), training.batch);
            let gradients = GradientsParams::from_grads(loss.total.backward(), &pupil.learner);
            let gradients = clip(gradients, &pupil.learner, training.clip);
            let rate = training.rate_at(pupil.progress.step);
            pupil.update(rate, gradients, training);

            // Validation, report, state.
            let step = pupil.progress.step;
            let (last, stopped) = (step == training.steps, stop());
            let due = |every: u64| last || step.is_multiple_of(every);
            let speed = meter.speed();
            let gap = if due(training.validate_every) { Some(pupil.validate(task, folder)?) } else { None };
            pupil.progress.seconds += meter.lap();
            if !meter.loss.is_finite() {
                return Err(TrainError::Diverged { step, loss: meter.loss as f32 });
            }
            if due(training.report_every) || gap.is_some() {
                let (loss, seconds) = (meter.mean_loss(), pupil.progress.seconds);
                let samples = step * training.batch as u64;
                let row = Row { step, samples, loss, rate, gap, seconds, samples_per_second: speed };
                view(News::Row(&row));
                report.add(row)?;
            }
            if due(training.save_every) || stopped {
                folder.save(&pupil.state()?)?;
            }
            if stopped {
                break;
            }
        }
        Ok(())
    })?;
    let Progress { step, best, .. } = pupil.progress;
    Ok(Outcome { step, finished: step == training.steps, best_gap: best, rows: report.into_rows() })
}

/// The network that learns, with all that its next update depends on.
struct Pupil {
    learner: Learner,
    average: Network, // without gradients
    optimizer: ModuleOptimizer,
    progress: Progress,
}

impl Pupil {
    fn new<P: Problem>(
        task: &Imitation<'_, P>,
        folder: &Folder,
        view: &mut dyn FnMut(News<'_>),
    ) -> Result<Self, TrainError> {
        let (config, training) = (task.config, task.training);
        let device = task.device.clone().autodiff();
        let mut network = Network::new(config.clone(), training.seed, &device)?;
        let mut average = Network::new(config.clone(), training.seed, task.device)?;
        let heads = Heads::new(training, config, &device);
        let Some(state) = folder.load()? else {
            if let Some(other) = &training.warm_start {
                let taken;
                (average, taken) = warm_start(average, other)?;
                network = network.with_tensors(average.tensors(), "the warm start")?;
                view(News::WarmStart(&taken));
            }
            let learner = numbered(Learner { network, heads });
            let optimizer = optimizer(training, &learner);
            return Ok(Pupil { learner, average, optimizer, progress: Progress::default() });
        };
        let damaged = |reason: String| TrainError::BadState { path: folder.path().to_path_buf(), reason };
        let heads = heads.with_bytes(&state.heads).ok_or_else(|| damaged("not the heads of this recipe".into()))?;
        let learner = numbered(Learner { network: network.with_weights(&state.weights)?, heads });
        let optimizer = optimizer(training, &learner).from_bytes(Bytes::from_bytes_vec(state.optimizer));
        let mut progress = state.progress;
        if progress.best.is_some() && !folder.has_best(task.device) {
            progress.best = None; // the process ended while it was being written
        }
        Ok(Pupil {
            learner,
            average: average.with_weights(&state.average)?,
            optimizer: optimizer.map_err(|error| damaged(format!("the optimizer's state: {error}")))?,
            progress,
        })
    }

    fn update(&mut self, rate: f64, gradients: GradientsParams, training: &Training) {
        self.learner = self.optimizer.step(rate, self.learner.clone(), gradients);
        let decay = decay_at(training.average, self.progress.step);
        self.average = blend(self.average.clone(), &self.learner.network, decay);
        self.progress.step += 1;
    }

    /// The gap of the averaged network, which is kept, and kept as the best if it is.
    fn validate<P: Problem>(&mut self, task: &Imitation<'_, P>, folder: &Folder) -> Result<f64, TrainError> {
        let gap = greedy_gap::<P>(&self.average, task.exam)?;
        let mut provenance = task.provenance.clone();
        let samples = self.progress.step * task.training.batch as u64;
        let facts = [
            ("steps", self.progress.step.to_string()),
            ("samples", samples.to_string()),
            ("greedy gap in percent", format!("{gap:.4}")),
        ];
        provenance.extend(facts.map(|(key, value)| (key.to_string(), value)));
        folder.save_network(&folder.last(), &self.average, &provenance)?;
        if self.progress.best.is_none_or(|best| gap < best) {
            folder.save_network(&folder.best(), &self.average, &provenance)?;
            self.progress.best = Some(gap);
        }
        Ok(gap)
    }

    fn state(&self) -> Result<State, TrainError> {
        let bytes = |network: &Network| network.to_bytes(Precision::Single, &Provenance::new());
        let optimizer = self.optimizer.into_bytes().expect("tensors in memory can be written to memory");
        Ok(State {
            progress: self.progress,
            weights: bytes(&self.learner.network)?.0,
            average: bytes(&self.average)?.0,
            optimizer: optimizer.to_vec(),
            heads: self.learner.heads.to_bytes(),
        })
    }
}

/// Time and loss between rows.
struct Meter {
    lap: Instant,
    busy: f64, // seconds of training since the last row
    samples: usize,
    loss: f64, // sum since the last row
    updates: u64,
}

impl Meter {
    fn new() -> Self {
        Meter { lap: Instant::now(), busy: 0.0, samples: 0, loss: 0.0, updates: 0 }
    }

    fn count(&mut self, loss: f32, samples: usize) {
        self.loss += f64::from(loss);
        self.samples += samples;
        self.updates += 1;
    }

    /// Samples per second since the last row, validations not counted.
    fn speed(&mut self) -> f64 {
        self.busy += self.lap.elapsed().as_secs_f64();
        self.samples as f64 / self.busy.max(1e-9)
    }

    /// Seconds since the last lap.
    fn lap(&mut self) -> f64 {
        std::mem::replace(&mut self.lap, Instant::now()).elapsed().as_secs_f64()
    }

    /// The mean loss since the last row; a new row begins.
    fn mean_loss(&mut self) -> f64 {
        let mean = self.loss / self.updates.max(1) as f64;
        (self.busy, self.samples, self.loss, self.updates) = (0.0, 0, 0.0, 0);
        mean
    }
}
