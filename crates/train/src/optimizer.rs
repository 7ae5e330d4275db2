//! From gradients to updates.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamGroup, ParamId};
use burn::optim::decay::WeightDecayConfig;
use burn::optim::{AdamWConfig, AdjustLrFn, GradientsParams, ModuleOptimizer, MuonConfig};
use burn::tensor::Tensor;

use crate::learner::Learner;
use crate::{OptimizerName, Training};

/// The optimizer of a learner whose parameters are [numbered].
pub(crate) fn optimizer(training: &Training, learner: &Learner) -> ModuleOptimizer {
    let adam = AdamWConfig::new().with_epsilon(1e-8);
    let plain = ModuleOptimizer::from(adam.clone().with_weight_decay(0.0).build());
    let matrices = ParamGroup::from_ids(hidden_matrices(learner));
    match training.optimizer {
        OptimizerName::AdamW => plain.with_group(matrices, adam.with_weight_decay(training.weight_decay).build(), None),
        OptimizerName::Muon => {
            // Updates as large as AdamW's, so that one rate serves both.
            let decay = Some(WeightDecayConfig::new(training.weight_decay));
            let muon = MuonConfig::new().with_adjust_lr_fn(AdjustLrFn::MatchRmsAdamW).with_weight_decay(decay);
            plain.with_group(matrices, muon.build(), None)
        }
    }
}

/// The same learner, ready for gradients, its parameters numbered so that the optimizer's state means the same in every
/// process.
pub(crate) fn numbered(learner: Learner) -> Learner {
    learner.map(&mut Number(0))
}

struct Number(u64);

impl ModuleMapper for Number {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (_, tensor, mapper) = param.consume();
        self.0 += 1;
        Param::from_mapped_value(ParamId::from(self.0), tensor.require_grad(), mapper)
    }
}

/// Matrices that are neither embeddings nor heads nor learned inputs.
fn hidden_matrices(learner: &Learner) -> Vec<ParamId> {
    let mut matrices = Matrices { path: Vec::new(), ids: Vec::new() };
    learner.visit(&mut matrices);
    matrices.ids
}

struct Matrices {
    path: Vec<String>,
    ids: Vec<ParamId>,
}

impl ModuleVisitor for Matrices {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let outside = self.path.iter().any(|name| ["ends", "latents", "heads"].contains(&name.as_str()));
        if D == 2 && !outside {
            self.ids.push(param.id);
        }
    }
}

/// Scales gradients down to a norm over all parameters; a limit of zero means none.
pub(crate) fn clip(gradients: GradientsParams, learner: &Learner, limit: f64) -> GradientsParams {
    if limit == 0.0 {
        return gradients;
    }
    let mut norm = SquareSum { gradients: &gradients, total: 0.0 };
    learner.visit(&mut norm);
    let norm = norm.total.sqrt();
    if norm <= limit {
        return gradients;
    }
    let mut scaled = Scaled { gradients, factor: limit / norm, scaled: GradientsParams::new() };
    learner.visit(&mut scaled);
    scaled.scaled
}

struct SquareSum<'a> {
    gradients: &'a GradientsParams,
    total: f64,
}

impl ModuleVisitor for SquareSum<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            self.total += f64::from(gradient.square().sum().into_scalar::<f32>());
        }
    }
}

struct Scaled {
    gradients: GradientsParams,
    factor: f64,
    scaled: GradientsParams,
}

impl ModuleVisitor for Scaled {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(param.id) {
            self.scaled.register(param.id, gradient * self.factor);
        }
    }
}
