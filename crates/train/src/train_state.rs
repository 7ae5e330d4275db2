//! A network in training.

use bqnco_core::{Observe, Problem};
use bqnco_net::{Config, Network};
use burn::module::Module;

use crate::average::{blend, decay_at};
use crate::folder::{Progress, State};
use crate::learner::{Heads, Learner};
use crate::optimizer::{Moments, Optimizer};
use crate::validation::shared_gap;
use crate::warm_start::warm_start;
use crate::weights::{layout, read, write};
use crate::{Folder, Imitation, TrainError, TrainEvent, Training};

/// A network in training, with everything that its next update depends on.
pub(crate) struct TrainState {
    pub learner: Learner,
    pub weights: Vec<f32>, // of the learner
    pub optimizer: Optimizer,
    pub average: Vec<f32>, // of the learner's network
    template: Network,     // for the average: the same shape, without gradients
    pub progress: Progress,
}

impl TrainState {
    pub fn new<P: Observe>(
        task: &Imitation<'_, P>,
        folder: &Folder,
        on_event: &mut dyn FnMut(TrainEvent<'_>),
    ) -> Result<Self, TrainError> {
        let training = task.training;
        // The auxiliary loss trains the head for successors, which then is part of the network.
        let config = &Config { successors: task.config.successors || training.auxiliary > 0.0, ..task.config.clone() };
        let mut template = Network::new(config.clone(), training.seed, task.device)?;
        let saved = folder.load()?;
        if let (None, Some(other)) = (&saved, &training.warm_start) {
            let taken;
            (template, taken) = warm_start(template, other)?;
            on_event(TrainEvent::WarmStart(&taken));
        }
        let device = task.device.clone().autodiff();
        let network = Network::new(config.clone(), training.seed, &device)?;
        let learner = Learner { network: network.set_require_grad(true), heads: Heads::new(training, config, &device) };
        let spans = layout(&learner);
        let average = read(&template);
        let mut weights = read(&learner);
        weights[..average.len()].copy_from_slice(&average);
        let optimizer = Optimizer::new(training, &spans);
        let mut state = TrainState { learner, weights, optimizer, average, template, progress: Progress::default() };
        if let Some(saved) = saved {
            state.restore(saved, folder, on_event)?;
        }
        state.agree(task, folder)?;
        state.learner = write(state.learner, &state.weights);
        Ok(state)
    }

    fn restore(
        &mut self,
        state: State,
        folder: &Folder,
        on_event: &mut dyn FnMut(TrainEvent<'_>),
    ) -> Result<(), TrainError> {
        let sizes = |state: &State| {
            let Moments { first, second } = &state.moments;
            [&state.weights, &state.average, first, second].map(Vec::len)
        };
        let (expected, found) = (sizes(&self.state()), sizes(&state));
        if expected != found {
            let reason = format!("a state of {found:?} numbers; expected {expected:?}");
            return Err(TrainError::BadState { path: folder.path().to_path_buf(), reason });
        }
        (self.weights, self.average, self.progress) = (state.weights, state.average, state.progress);
        self.optimizer.moments = state.moments;
        if let Some(gap) = self.progress.best
            && !folder.has_best()?
        {
            on_event(TrainEvent::BestRemoved { gap });
            self.progress.best = None;
        }
        Ok(())
    }

    /// Checks that all processes have the same state: each has read it from what it sees as the run's folder.
    fn agree<P: Problem>(&self, task: &Imitation<'_, P>, folder: &Folder) -> Result<(), TrainError> {
        if task.communicator.size() == 1 {
            return Ok(());
        }
        let mine = self.state().checksum().to_le_bytes().map(f32::from); // sums of bytes are exact
        let mut sums = mine;
        task.communicator.sum(&mut sums);
        let processes = task.communicator.size() as f32;
        if sums != mine.map(|byte| byte * processes) {
            return Err(TrainError::OtherState { path: folder.path().to_path_buf() });
        }
        Ok(())
    }

    pub fn update(&mut self, rate: f64, gradient: &[f32], training: &Training) {
        self.optimizer.step(rate, self.progress.step + 1, &mut self.weights, gradient);
        self.learner = write(self.learner.clone(), &self.weights);
        blend(&mut self.average, &self.weights, decay_at(training.average, self.progress.step));
        self.progress.step += 1;
    }

    /// The averaged network.
    pub fn average(&self) -> Network {
        write(self.template.clone(), &self.average)
    }

    /// The gap of the averaged network, which is saved as `last`, and as `best` if no gap before was smaller.
    pub fn validate<P: Observe>(&mut self, task: &Imitation<'_, P>, folder: &Folder) -> Result<f64, TrainError> {
        let average = self.average();
        let gap = shared_gap::<P>(&average, task.validation, task.communicator)?;
        let is_best = self.progress.best.is_none_or(|best| gap < best);
        if is_best {
            self.progress.best = Some(gap);
        }
        if !task.communicator.is_root() {
            return Ok(gap);
        }
        let mut provenance = task.provenance.clone();
        let samples = self.progress.step * task.training.batch as u64;
        let facts = [
            ("steps", self.progress.step.to_string()),
            ("samples", samples.to_string()),
            ("greedy gap in percent", format!("{gap:.4}")),
        ];
        provenance.extend(facts.map(|(key, value)| (key.to_string(), value)));
        folder.save_network(&folder.last(), &average, &provenance)?;
        if is_best {
            folder.save_network(&folder.best(), &average, &provenance)?;
        }
        Ok(gap)
    }

    fn state(&self) -> State {
        State {
            progress: self.progress,
            weights: self.weights.clone(),
            average: self.average.clone(),
            moments: self.optimizer.moments.clone(),
        }
    }

    pub fn save<P: Problem>(&self, task: &Imitation<'_, P>, folder: &Folder) -> Result<(), TrainError> {
        if task.communicator.is_root() { folder.save(&self.state()) } else { Ok(()) }
    }
}
