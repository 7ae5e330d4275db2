//! A network that learns, with the heads that only training uses.

use bqnco_net::{Config, Network};
use burn::module::{Module, Param};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor};

use crate::Training;
use crate::batch::TrainingBatch;
use crate::loss::cross_entropy;

/// A network and the heads that only training uses.
#[derive(Module, Debug)]
pub(crate) struct Learner {
    pub network: Network,
    pub heads: Heads,
}

/// Heads that start at zero and are no part of checkpoints.
#[derive(Module, Debug)]
pub(crate) struct Heads {
    /// How well a token stands before the destination: `[dim, 1]`.
    last: Option<Param<Tensor<2>>>,
}

/// The loss of a batch.
pub(crate) struct Loss {
    /// Of imitation alone, `[1]`: reported.
    pub imitation: Tensor<1>,
    /// With the auxiliary losses, `[1]`: minimised.
    pub total: Tensor<1>,
}

impl Heads {
    pub fn new(training: &Training, config: &Config, device: &Device) -> Self {
        let zeros = |weight: f64, shape: [usize; 2]| {
            (weight > 0.0).then(|| Param::from_tensor(Tensor::zeros(shape, device).require_grad()))
        };
        Heads { last: zeros(training.second_target, [config.dim, 1]) }
    }
}

impl Learner {
    pub fn loss(&self, batch: &TrainingBatch, training: &Training) -> Loss {
        let encoded = self.network.encode(&batch.batch); // [batch, tokens, dim]
        let encoded = if training.freeze { encoded.detach() } else { encoded };
        let imitation = cross_entropy(self.network.head(encoded.clone()), batch);
        let mut total = if training.freeze { imitation.clone() * 0.0 } else { imitation.clone() };
        if let (Some(paths), true) = (&batch.paths, training.auxiliary > 0.0)
            && let Some(scores) = self.network.successors(encoded.clone())
        {
            let scores = scores + paths.padding.clone().unsqueeze_dim(1); // [batch, from, to]
            let loss = -(log_softmax(scores, 2) * paths.successors.clone()).sum() / encoded.dims()[0] as f32;
            total = total + loss * training.auxiliary;
        }
        if let (Some(paths), Some(head)) = (&batch.paths, &self.heads.last) {
            let [batch, tokens, _] = encoded.dims();
            let scores = encoded.matmul(head.val().unsqueeze()).reshape([batch, tokens]) + paths.padding.clone();
            let loss = -(log_softmax(scores, 1) * paths.last.clone()).sum() / batch as f32;
            total = total + loss * training.second_target;
        }
        Loss { imitation, total }
    }
}
