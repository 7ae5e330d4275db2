//! The training loop.

use std::time::Instant;

use bqnco_core::{Imitate, Observe, Problem, Stop};
use bqnco_net::{Config, Provenance};
use burn::tensor::Device;

use crate::batch::prepare_ahead;
use crate::folder::Progress;
use crate::improvement::{Improved, Labels};
use crate::optimizer::clip;
use crate::report::Report;
use crate::train_state::TrainState;
use crate::weights::read_gradients;
use crate::{
    Communicator, Example, Examples, Folder, ImprovementRound, MetricsRow, SelfImprovement, TrainError, Training,
    WarmStart,
};

/// A network to train by imitation, on what, and how.
pub struct Imitation<'a, P: Problem> {
    /// The network's configuration.
    pub config: &'a Config,
    /// The training's settings.
    pub training: &'a Training,
    /// The training set.
    pub examples: &'a dyn Examples<P>,
    /// The validation set: examples that are not trained on.
    pub validation: &'a [Example<P>],
    /// Where the weights live while they are trained.
    pub device: &'a Device,
    /// Stored in every checkpoint beside steps, samples and gap.
    pub provenance: &'a Provenance,
    /// Whether and how labels are replaced by better solutions that the network finds.
    pub improvement: Option<SelfImprovement>,
    /// The processes that train this network.
    pub communicator: &'a dyn Communicator,
}

impl<P: Problem> Imitation<'_, P> {
    /// Checks that the settings make a run.
    ///
    /// # Errors
    /// Names the first setting that does not fit, with what was expected of it.
    pub fn check(&self) -> Result<(), TrainError> {
        let (batch, processes) = (self.training.batch, self.communicator.size());
        if !batch.is_multiple_of(processes) {
            return Err(TrainError::UnevenBatch { batch, processes });
        }
        self.improvement.map_or(Ok(()), |improvement| improvement.check())?;
        self.training.check()
    }
}

/// Something that has happened in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrainEvent<'a> {
    /// The initial weights come from another network.
    WarmStart(&'a WarmStart),
    /// The run goes on after this step.
    Resumed {
        /// Updates made before.
        step: u64,
    },
    /// The checkpoint of the best network so far was removed: the next validation is the best again.
    BestRemoved {
        /// Its gap, in percent.
        gap: f64,
    },
    /// Labels were improved.
    LabelsImproved(&'a ImprovementRound),
    /// A new row of the metrics.
    Metrics(&'a MetricsRow),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Updates made.
    pub step: u64,
    /// Whether that was all of them; if not, the run can be resumed.
    pub finished: bool,
    /// The smallest gap seen, in percent.
    pub best_gap: Option<f64>,
    /// The metrics, over all sessions.
    pub rows: Vec<MetricsRow>,
}

/// Trains a network to imitate experts, from the folder's last saved state if there is one.
///
/// # Errors
/// Bad settings, examples without anything to learn, a diverged loss, files that cannot be read or written.
pub fn train<P: Observe + Imitate>(
    task: &Imitation<'_, P>,
    folder: &Folder,
    on_event: &mut dyn FnMut(TrainEvent<'_>),
    stop: Stop<'_>,
) -> Result<Outcome, TrainError> {
    task.check()?;
    let mut state = TrainState::new(task, folder, on_event)?;
    if (1..task.training.steps).contains(&state.progress.step) {
        on_event(TrainEvent::Resumed { step: state.progress.step });
    }
    let mut report = if task.communicator.is_root() { Some(Report::open(folder, state.progress.step)?) } else { None };
    let mut session = Session { task, folder, on_event, stop, meter: Meter::new() };
    let mut labels = Labels::default();
    let mut stopped = false;
    while state.progress.step < task.training.steps && !stopped {
        let step = state.progress.step;
        report.as_ref().map_or(Ok(()), Report::sync)?;
        session.improve_labels(&mut labels, &mut state)?;
        let end =
            task.improvement.map_or(u64::MAX, |improvement| improvement.next_round(step)).min(task.training.steps);
        stopped = session.learn(&labels, &mut state, &mut report, end)?;
    }
    let Progress { step, best, .. } = state.progress;
    let finished = step == task.training.steps;
    if finished && task.communicator.is_root() {
        folder.verify()?;
    }
    let rows = report.map(Report::into_rows).unwrap_or_default();
    Ok(Outcome { step, finished, best_gap: best, rows })
}

/// One call of [`train`].
struct Session<'s, 'a, P: Problem> {
    task: &'s Imitation<'a, P>,
    folder: &'s Folder,
    on_event: &'s mut dyn FnMut(TrainEvent<'_>),
    stop: Stop<'s>,
    meter: Meter,
}

impl<P: Observe + Imitate> Session<'_, '_, P> {
    /// Updates until `end` (false), or until the run is stopped (true).
    fn learn(
        &mut self,
        labels: &Labels,
        state: &mut TrainState,
        report: &mut Option<Report>,
        end: u64,
    ) -> Result<bool, TrainError> {
        let (task, training, meter) = (self.task, self.task.training, &mut self.meter);
        let examples = Improved { source: task.examples, labels };
        std::thread::scope(|scope| {
            for batch in prepare_ahead(scope, task, &examples, state.progress.step..end) {
                // Loss of a batch, gradient over all processes, update.
                let loss = state.learner.loss(&batch?, training);
                let mut sums = read_gradients(&state.learner, loss.total.backward());
                sums.extend([loss.imitation.into_scalar(), f32::from((self.stop)())]);
                task.communicator.sum(&mut sums);
                let (gradient, [loss, stops]) = sums.split_last_chunk_mut().expect("two numbers were added");
                let processes = task.communicator.size() as f32;
                if processes > 1.0 {
                    gradient.iter_mut().for_each(|sum| *sum /= processes);
                }
                let norm = clip(gradient, training.clip);
                if !(loss.is_finite() && norm.is_finite()) {
                    return Err(TrainError::Diverged { step: state.progress.step, loss: *loss / processes });
                }
                let rate = training.rate_at(state.progress.step);
                state.update(rate, gradient, training);
                state.progress.count(*loss / processes);
                meter.samples += training.batch;

                // Validation, report, state.
                let step = state.progress.step;
                let (last, stopped) = (step == training.steps, *stops > 0.0);
                let due = |every: u64| last || step.is_multiple_of(every);
                let speed = meter.speed();
                let gap = if due(training.validate_every) { Some(state.validate(task, self.folder)?) } else { None };
                state.progress.seconds += meter.lap();
                if due(training.report_every) || gap.is_some() {
                    let (loss, seconds) = (state.progress.mean_loss(), state.progress.seconds);
                    meter.restart();
                    let samples = step * training.batch as u64;
                    let row = MetricsRow { step, samples, loss, rate, gap, seconds, samples_per_second: speed };
                    (self.on_event)(TrainEvent::Metrics(&row));
                    report.as_mut().map_or(Ok(()), |report| report.add(row))?;
                }
                if due(training.save_every) || stopped {
                    report.as_ref().map_or(Ok(()), Report::sync)?;
                    state.save(task, self.folder)?;
                }
                if stopped {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Improves the labels where a round is due, and loads those of the last round otherwise.
    ///
    /// A round starts with a saved state and ends with a file of labels. After an interruption in between, the next session
    /// finds a state with the labels that belong to it, or repeats the round.
    fn improve_labels(&mut self, labels: &mut Labels, state: &mut TrainState) -> Result<(), TrainError> {
        let (task, step) = (self.task, state.progress.step);
        let Some(improvement) = task.improvement else { return Ok(()) };
        let round = step / improvement.every;
        if let Some(known) = Labels::after(round, self.folder)? {
            *labels = known;
            return Ok(());
        }
        if !step.is_multiple_of(improvement.every) {
            let (path, reason) = (self.folder.path().to_path_buf(), format!("the labels of round {round} are missing"));
            return Err(TrainError::BadState { path, reason });
        }
        *labels = Labels::after(round - 1, self.folder)?.unwrap_or_default();
        state.save(task, self.folder)?;
        let change = labels.improve(task, &state.average(), step)?;
        if task.communicator.is_root() {
            labels.save(self.folder)?;
        }
        task.communicator.barrier();
        (self.on_event)(TrainEvent::LabelsImproved(&change));
        state.progress.seconds += self.meter.lap();
        Ok(())
    }
}

/// Speed between rows of the metrics.
struct Meter {
    lap: Instant,
    busy: f64, // seconds of training since the last row
    samples: usize,
}

impl Meter {
    fn new() -> Self {
        Meter { lap: Instant::now(), busy: 0.0, samples: 0 }
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

    /// Starts a new row.
    fn restart(&mut self) {
        (self.busy, self.samples) = (0.0, 0);
    }
}
