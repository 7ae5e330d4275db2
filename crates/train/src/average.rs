//! The exponential average of weights.

use std::collections::VecDeque;

use bqnco_net::Network;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::Tensor;

/// The average after one more update; `average` has no gradients, `network` may have.
pub(crate) fn blend(average: Network, network: &Network, decay: f64) -> Network {
    let mut weights = Weights(VecDeque::new());
    network.visit(&mut weights);
    average.map(&mut Blend { weights: weights.0, decay })
}

/// Decay at a step: an average of few updates must not remember the random beginning.
pub(crate) fn decay_at(decay: f64, step: u64) -> f64 {
    decay.min((1.0 + step as f64) / (10.0 + step as f64))
}

/// All weights, flat, in the order of a visit.
struct Weights(VecDeque<Tensor<1>>);

impl ModuleVisitor for Weights {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.push_back(param.val().inner().reshape([-1]));
    }
}

struct Blend {
    weights: VecDeque<Tensor<1>>,
    decay: f64,
}

impl ModuleMapper for Blend {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let newest = self.weights.pop_front().expect("both networks have the same configuration");
        param.map(|old| {
            let newest = newest.reshape(old.dims());
            old * self.decay + newest * (1.0 - self.decay)
        })
    }
}
