//! AdamW and Muon on flat weights.

use rayon::prelude::*;

use crate::newton_schulz::{orthogonalised, transposed};
use crate::weights::Span;
use crate::{OptimizerName, Training};

/// AdamW for all weights, or for those that Muon leaves to it.
pub(crate) struct Optimizer {
    decay: f32, // of hidden matrices
    adam_w: Vec<Span>,
    muon: Vec<Span>, // hidden matrices, if they are Muon's
    /// Averages over past gradients, a number per weight.
    pub moments: Moments,
}

/// Averages over past gradients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moments {
    pub first: Vec<f32>,  // AdamW's first moments, Muon's momentum
    pub second: Vec<f32>, // AdamW's second moments
}

// AdamW, as in the paper's Adam.
const BETAS: (f32, f32) = (0.9, 0.999);
const EPSILON: f32 = 1e-8;

// Muon, as in Jordan et al. (2024).
const MOMENTUM: f32 = 0.95;

impl Optimizer {
    /// An optimizer at its first step.
    pub fn new(training: &Training, spans: &[Span]) -> Self {
        let is_muons = |span: &Span| training.optimizer == OptimizerName::Muon && span.is_hidden_matrix;
        let (muon, adam_w) = spans.iter().cloned().partition(is_muons);
        let count = spans.last().map_or(0, |span| span.range.end);
        let moments = Moments { first: vec![0.0; count], second: vec![0.0; count] };
        Optimizer { decay: training.weight_decay, adam_w, muon, moments }
    }

    /// Updates the weights by their gradient, for the `update`-th time, counted from 1.
    pub fn step(&mut self, rate: f64, update: u64, weights: &mut [f32], gradient: &[f32]) {
        for span in &self.adam_w {
            let (range, decay) = (span.range.clone(), if span.is_hidden_matrix { self.decay } else { 0.0 });
            let moments = (&mut self.moments.first[range.clone()], &mut self.moments.second[range.clone()]);
            adam_w((rate as f32, decay, update), &mut weights[range.clone()], &gradient[range], moments);
        }
        for span in &self.muon {
            let momentum = self.moments.first[span.range.clone()].iter_mut();
            momentum.zip(&gradient[span.range.clone()]).for_each(|(m, g)| *m = MOMENTUM * *m + g);
        }
        let momentum = &self.moments.first;
        let directions: Vec<_> = self.muon.par_iter().map(|span| muon_direction(span, momentum, gradient)).collect();
        for (span, direction) in self.muon.iter().zip(directions) {
            // Updates as large as AdamW's, so that one rate serves both (Liu et al., 2025).
            let size = rate as f32 * 0.2 * (span.shape[0].max(span.shape[1]) as f32).sqrt();
            let keep = 1.0 - rate as f32 * self.decay;
            let weights = weights[span.range.clone()].iter_mut();
            weights.zip(direction).for_each(|(weight, direction)| *weight = *weight * keep - size * direction);
        }
    }
}

/// Loshchilov and Hutter (2019).
fn adam_w(
    (rate, decay, update): (f32, f32, u64),
    weights: &mut [f32],
    gradient: &[f32],
    (first, second): (&mut [f32], &mut [f32]),
) {
    let power = i32::try_from(update).unwrap_or(i32::MAX);
    let (bias1, bias2) = (1.0 - BETAS.0.powi(power), 1.0 - BETAS.1.powi(power));
    let moments = first.iter_mut().zip(second);
    for ((weight, &g), (m, v)) in weights.iter_mut().zip(gradient).zip(moments) {
        *m = BETAS.0 * *m + (1.0 - BETAS.0) * g;
        *v = BETAS.1 * *v + (1.0 - BETAS.1) * g * g;
        let direction = (*m / bias1) / ((*v / bias2).sqrt() + EPSILON);
        *weight -= rate * (decay * *weight + direction);
    }
}

/// Muon's direction for a matrix: Nesterov's momentum, then orthogonalised.
fn muon_direction(span: &Span, momentum: &[f32], gradient: &[f32]) -> Vec<f32> {
    let pairs = momentum[span.range.clone()].iter().zip(&gradient[span.range.clone()]);
    let mut x: Vec<f32> = pairs.map(|(m, g)| MOMENTUM * m + g).collect();
    let norm = norm(&x).max(1e-7) as f32;
    x.iter_mut().for_each(|x| *x /= norm);
    let (rows, columns) = (span.shape[0], span.shape[1]);
    if rows <= columns {
        return orthogonalised(&x, [rows, columns]);
    }
    transposed(&orthogonalised(&transposed(&x, [rows, columns]), [columns, rows]), [columns, rows])
}

/// Scales a gradient down to a norm; a limit of zero means none.
pub(crate) fn clip(gradient: &mut [f32], limit: f64) -> f64 {
    let norm = norm(gradient);
    if limit > 0.0 && norm > limit {
        let factor = (limit / norm) as f32;
        gradient.iter_mut().for_each(|x| *x *= factor);
    }
    norm
}

/// Sums of a few numbers in single precision, then double.
fn norm(numbers: &[f32]) -> f64 {
    let squares = |chunk: &[f32]| {
        let mut lanes = [0f32; 16]; // sums that do not wait for each other
        let (blocks, rest) = chunk.as_chunks::<16>();
        blocks.iter().for_each(|block| lanes.iter_mut().zip(block).for_each(|(lane, x)| *lane += x * x));
        rest.iter().zip(&mut lanes).for_each(|(x, lane)| *lane += x * x);
        lanes.iter().map(|&lane| f64::from(lane)).sum::<f64>()
    };
    numbers.chunks(1024).map(squares).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use bqnco_core::random;
    use rand::RngExt;

    use super::*;

    fn spans() -> Vec<Span> {
        let shapes: [(&[usize], bool); 5] =
            [(&[8, 8], true), (&[8, 32], true), (&[24, 6], true), (&[8, 32], true), (&[7], false)];
        let mut start = 0;
        let spans = shapes.map(|(shape, is_hidden_matrix)| {
            let range = start..start + shape.iter().product::<usize>();
            start = range.end;
            Span { range, shape: shape.to_vec(), is_hidden_matrix }
        });
        spans.to_vec()
    }

    fn numbers(count: usize, seed: u64) -> Vec<f32> {
        let mut rng = random(seed, &[]);
        (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    /// Burn's own optimizers are the oracle.
    #[test]
    fn updates_are_those_of_the_papers() {
        use burn::module::{Param, ParamId};
        use burn::optim::decay::WeightDecayConfig;
        use burn::optim::{AdamWConfig, AdjustLrFn, GradientsParams, MuonConfig};
        use burn::tensor::{Device, Tensor, TensorData};
        let device = Device::flex().autodiff();
        let tensor = |numbers: &[f32], shape: &[usize]| {
            Tensor::<2>::from_data(TensorData::new(numbers.to_vec(), [shape[0], shape[1]]), &device)
        };
        let (rate, spans) = (1e-2, spans());
        let count = spans[4].range.end;
        for name in [OptimizerName::AdamW, OptimizerName::Muon] {
            let training = Training { optimizer: name, weight_decay: 0.1, ..Training::default() };
            let mut optimizer = Optimizer::new(&training, &spans);
            let mut weights = numbers(count, 2);
            for span in spans.iter().filter(|span| span.is_hidden_matrix) {
                let decay = Some(WeightDecayConfig::new(0.1));
                let muon = MuonConfig::new().with_adjust_lr_fn(AdjustLrFn::MatchRmsAdamW).with_weight_decay(decay);
                let mut oracle = match name {
                    OptimizerName::AdamW => AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.1).init(),
                    OptimizerName::Muon => muon.init(),
                };
                let mut optimizer = Optimizer::new(&training, &spans);
                let mut mine = weights.clone();
                let mut theirs = Param::initialized(
                    ParamId::from(1u64),
                    tensor(&weights[span.range.clone()], &span.shape).require_grad(),
                );
                for update in 1..4 {
                    let gradient = numbers(count, 10 + update);
                    optimizer.step(rate, update, &mut mine, &gradient);
                    let mut gradients = GradientsParams::new();
                    gradients.register(theirs.id, tensor(&gradient[span.range.clone()], &span.shape).inner());
                    theirs = oracle.step(rate, theirs, gradients);
                }
                let theirs = theirs.val().into_data_as::<f32>();
                let pairs = mine[span.range.clone()].iter().zip(theirs.as_slice::<f32>().expect("f32"));
                let far = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(far < 2e-4, "{name:?} {:?}: {far}", span.shape);
            }
            let before = weights.clone();
            optimizer.step(rate, 1, &mut weights, &numbers(count, 11));
            assert!(weights.iter().zip(&before).all(|(a, b)| a != b), "every weight moves");
        }
    }

    #[test]
    fn clipping_bounds_the_norm_and_nothing_else() {
        let mut gradient = numbers(5000, 3);
        let before = gradient.clone();
        let exact = before.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        assert!((norm(&gradient) - exact).abs() < 1e-4 * exact);
        clip(&mut gradient, 0.0);
        clip(&mut gradient, 2.0 * exact);
        assert_eq!(gradient, before);
        clip(&mut gradient, 0.5);
        assert!((norm(&gradient) - 0.5).abs() < 1e-5);
    }
}
