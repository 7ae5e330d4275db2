//! The settings of a training run.

use std::path::PathBuf;

use bqnco_core::Imitate;
use serde::{Deserialize, Serialize};

use crate::{Schedule, TrainError};

/// How a network is trained. The defaults are the paper's (section 5), which take a GPU several days, except
/// [`Training::sampling`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Training {
    /// Source of all random choices: initial weights, tails, augmentation.
    pub seed: u64,
    /// Updates of the weights.
    pub steps: u64,
    /// Tails per update.
    pub batch: usize,
    /// Fewest expert steps left in a tail. Two steps of a path are four nodes, the paper's smallest tails.
    pub shortest: usize,
    /// How tails are drawn from the examples.
    pub sampling: Sampling,
    /// In which order the parts of a solution are walked, one of the problem's
    /// [orders](bqnco_core::Imitate::ORDERS); `None`: in the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// How tails with places on a map are varied.
    #[serde(alias = "images")]
    pub augmentation: Augmentation,
    /// The optimizer.
    pub optimizer: OptimizerName,
    /// The highest learning rate.
    pub rate: f64,
    /// How the rate changes over the run.
    pub schedule: Schedule,
    /// Updates over which the rate rises from zero at the beginning.
    pub warm_up: u64,
    /// Decoupled weight decay of matrices; zero: none.
    pub weight_decay: f32,
    /// Gradients are scaled down to this norm over all weights; zero: never.
    pub clip: f64,
    /// Decay of the exponential average of the weights that is validated and kept; zero: the weights themselves.
    pub average: f64,
    /// Weight of an auxiliary loss: every token on the expert's path names its successor; zero: none. Its head becomes
    /// part of the network ([`Config::successors`](bqnco_net::Config::successors)).
    pub auxiliary: f64,
    /// Weight of a second target per tail: the token before the destination; zero: none. Its head is used in training only.
    pub second_target: f64,
    /// Whether all weights but those of the auxiliary losses' heads stay as they are: to add a head to a trained network.
    pub freeze: bool,
    /// A checkpoint, also of another problem, whose matching tensors are the initial weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_start: Option<PathBuf>,
    /// Updates between validations; there is one more at the end.
    pub validate_every: u64,
    /// Updates between saved states.
    pub save_every: u64,
    /// Updates between rows of the metrics.
    pub report_every: u64,
    /// Updates made from one part of the examples before the next part is loaded, where there are several parts.
    pub part_every: u64,
}

/// How the tails of a batch are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// From random examples, with lengths spread evenly over the batch.
    Mixed,
    /// One tail from every example per epoch, in random order; all tails of a batch have the same length, or the same
    /// share of their solutions where these are not equally long (paper, section 5). A batch that begins in one epoch may
    /// end in the next, so that all are full.
    Epochs,
}

/// How tails with places on a map are varied before the network sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Augmentation {
    /// Not at all (the paper).
    One,
    /// By a random one of the eight symmetries of the square.
    Square,
}

/// An optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimizerName {
    /// AdamW (Loshchilov and Hutter, 2019) for all weights; the paper's Adam where the weight decay is zero.
    AdamW,
    /// Muon (Jordan et al., 2024) for the layers' matrices, AdamW for embeddings, heads, gains and biases.
    Muon,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            seed: 0,
            steps: 488_282, // 500 epochs of a million solutions
            batch: 1024,
            shortest: 2,
            sampling: Sampling::Mixed,
            order: None,
            augmentation: Augmentation::One,
            optimizer: OptimizerName::AdamW,
            rate: 7.5e-4,
            schedule: Schedule::Step { every: 48_828, factor: 0.98 },
            warm_up: 0,
            weight_decay: 0.0,
            clip: 0.0,
            average: 0.0,
            auxiliary: 0.0,
            second_target: 0.0,
            freeze: false,
            warm_start: None,
            validate_every: 1000,
            save_every: 1000,
            report_every: 10,
            part_every: 1000,
        }
    }
}

impl Training {
    /// The part of the examples that is in use after `step` updates.
    pub(crate) fn part_at(&self, step: u64, parts: usize) -> usize {
        ((step / self.part_every) % parts.max(1) as u64) as usize
    }

    /// How many updates have used the part that is in use after `step` updates, before.
    pub(crate) fn updates_of_part(&self, step: u64, parts: usize) -> u64 {
        step / self.part_every / parts.max(1) as u64 * self.part_every + step % self.part_every
    }

    /// The order of a problem's solutions that is asked for; `None`: the usual one.
    ///
    /// # Errors
    /// An order that the problem does not have.
    pub fn order_of<P: Imitate>(&self) -> Result<Option<&str>, TrainError> {
        match self.order.as_deref() {
            Some(order) if !P::ORDERS.contains(&order) => {
                Err(TrainError::NoSuchOrder { problem: P::NAME, order: order.to_string(), orders: P::ORDERS })
            }
            order => Ok(order),
        }
    }

    /// Checks that the numbers are in range.
    ///
    /// # Errors
    /// Names the first number that does not fit, with what was expected of it.
    pub fn check(&self) -> Result<(), TrainError> {
        let counts = [
            ("steps", self.steps),
            ("batch", self.batch as u64),
            ("shortest", self.shortest as u64),
            ("validate_every", self.validate_every),
            ("save_every", self.save_every),
            ("report_every", self.report_every),
            ("part_every", self.part_every),
        ];
        for (field, found) in counts {
            if found == 0 {
                return Err(TrainError::BadSetting { field, expected: "at least 1", found: found as f64 });
            }
        }
        let numbers = [
            ("rate", self.rate, f64::MIN_POSITIVE..f64::INFINITY, "above 0"),
            ("weight_decay", f64::from(self.weight_decay), 0.0..f64::INFINITY, "at least 0"),
            ("clip", self.clip, 0.0..f64::INFINITY, "at least 0"),
            ("average", self.average, 0.0..1.0, "from 0 to below 1"),
            ("auxiliary", self.auxiliary, 0.0..f64::INFINITY, "at least 0"),
            ("second_target", self.second_target, 0.0..f64::INFINITY, "at least 0"),
        ];
        for (field, found, range, expected) in numbers {
            if !range.contains(&found) {
                return Err(TrainError::BadSetting { field, expected, found });
            }
        }
        self.schedule.check()
    }
}
