//! From gradients to updates.

use std::collections::BTreeMap;

use burn::tensor::{Device, Tensor, TensorData};

use crate::weights::Span;
use crate::{OptimizerName, Training};

/// AdamW for all weights, or for those that Muon leaves to it.
pub(crate) struct Optimizer {
    decay: f32, // of hidden matrices
    plain: Vec<Span>,
    muon: BTreeMap<[usize; 2], Vec<Span>>, // hidden matrices by shape, so that equal ones are worked on together
    device: Device,                        // where matrices are multiplied
    /// What it remembers, a number per weight.
    pub memory: Memory,
}

/// Averages over past gradients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Memory {
    pub first: Vec<f32>,  // AdamW's first moments, Muon's momentum
    pub second: Vec<f32>, // AdamW's second moments
}

// AdamW, as in the paper's Adam.
const BETAS: (f32, f32) = (0.9, 0.999);
const EPSILON: f32 = 1e-8;

// Muon, as in Jordan et al. (2024).
const MOMENTUM: f32 = 0.95;
const ITERATIONS: usize = 5;
const QUINTIC: (f32, f32, f32) = (3.4445, -4.775, 2.0315);

impl Optimizer {
    /// An optimizer that remembers nothing yet; matrices are multiplied on the device.
    pub fn new(training: &Training, spans: &[Span], device: &Device) -> Self {
        let (mut plain, mut muon) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        for span in spans {
            match (training.optimizer, &span.shape[..]) {
                (OptimizerName::Muon, &[rows, columns]) if span.is_hidden_matrix => {
                    muon.entry([rows, columns]).or_default().push(span.clone());
                }
                _ => plain.push(span.clone()),
            }
        }
        let count = spans.last().map_or(0, |span| span.range.end);
        let memory = Memory { first: vec![0.0; count], second: vec![0.0; count] };
        Optimizer { decay: training.weight_decay, plain, muon, device: device.clone(), memory }
    }

    /// Changes the weights by their gradient, for the `update`-th time, counted from 1.
    pub fn step(&mut self, rate: f64, update: u64, weights: &mut [f32], gradient: &[f32]) {
        for span in &self.plain {
            let (range, decay) = (span.range.clone(), if span.is_hidden_matrix { self.decay } else { 0.0 });
            let moments = (&mut self.memory.first[range.clone()], &mut self.memory.second[range.clone()]);
            adam_w((rate as f32, decay, update), &mut weights[range.clone()], &gradient[range], moments);
        }
        for (shape, spans) in &self.muon {
            muon_directions(*shape, spans, gradient, &mut self.memory.first, &self.device, |range, direction| {
                // Updates as large as AdamW's, so that one rate serves both (Liu et al., 2025).
                let size = rate as f32 * 0.2 * (shape[0].max(shape[1]) as f32).sqrt();
                let keep = 1.0 - rate as f32 * self.decay;
                for (weight, direction) in weights[range].iter_mut().zip(direction) {
                    *weight = *weight * keep - size * direction;
                }
            });
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

/// Muon's directions for matrices of one shape: Nesterov's momentum, then orthogonalised.
fn muon_directions(
    [rows, columns]: [usize; 2],
    spans: &[Span],
    gradient: &[f32],
    momentum: &mut [f32],
    device: &Device,
    mut apply: impl FnMut(std::ops::Range<usize>, &[f32]),
) {
    let size = rows * columns;
    let mut stacked = Vec::with_capacity(spans.len() * size);
    for span in spans {
        let start = stacked.len();
        for (m, &g) in momentum[span.range.clone()].iter_mut().zip(&gradient[span.range.clone()]) {
            *m = MOMENTUM * *m + g;
            stacked.push(MOMENTUM * *m + g);
        }
        let norm = norm(&stacked[start..]).max(1e-7) as f32;
        stacked[start..].iter_mut().for_each(|x| *x /= norm);
    }
    let stacked = Tensor::<3>::from_data(TensorData::new(stacked, [spans.len(), rows, columns]), device);
    let directions =
        if rows > columns { orthogonalised(stacked.transpose()).transpose() } else { orthogonalised(stacked) };
    let data = directions.into_data_as::<f32>();
    let directions = data.as_slice::<f32>().expect("f32 as asked for");
    for (span, direction) in spans.iter().zip(directions.chunks(size)) {
        apply(span.range.clone(), direction);
    }
}

/// Brings the singular values of matrices of norm 1 near 1, by Newton-Schulz iterations: `[matrices, m, n]`, m <= n.
///
/// An iteration multiplies x by a polynomial p of a = x * transpose(x). All these polynomials commute, so where m is
/// small the product q of them is formed from m x m matrices and x is multiplied once: a <- p * a * p, q <- p * q.
fn orthogonalised(x: Tensor<3>) -> Tensor<3> {
    let [_, m, n] = x.dims();
    let gram = |x: &Tensor<3>| x.clone().matmul(x.clone().transpose());
    let polynomial = |a: &Tensor<3>| a.clone() * QUINTIC.1 + a.clone().matmul(a.clone()) * QUINTIC.2; // without QUINTIC.0
    if n < 2 * m {
        return (0..ITERATIONS).fold(x, |x, _| {
            let p = polynomial(&gram(&x));
            x.clone() * QUINTIC.0 + p.matmul(x)
        });
    }
    let identity = Tensor::<2>::eye(m, &x.device()).unsqueeze::<3>();
    let mut a = gram(&x);
    let mut p = polynomial(&a) + identity.clone() * QUINTIC.0;
    let mut q = p.clone();
    for _ in 1..ITERATIONS {
        a = p.clone().matmul(a).matmul(p);
        p = polynomial(&a) + identity.clone() * QUINTIC.0;
        q = p.clone().matmul(q);
    }
    q.matmul(x)
}

/// Scales a gradient down to a norm; a limit of zero means none.
pub(crate) fn clip(gradient: &mut [f32], limit: f64) {
    if limit == 0.0 {
        return;
    }
    let norm = norm(gradient);
    if norm > limit {
        let factor = (limit / norm) as f32;
        gradient.iter_mut().for_each(|x| *x *= factor);
    }
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

    /// Both ways of `orthogonalised` against the iteration as Jordan et al. write it.
    #[test]
    fn newton_schulz_in_gram_form_is_newton_schulz() {
        for (m, n) in [(8, 8), (8, 12), (8, 32), (5, 40)] {
            let mut x = numbers(2 * m * n, 1);
            x.chunks_mut(m * n).for_each(|x| {
                let norm = norm(x) as f32;
                x.iter_mut().for_each(|x| *x /= norm);
            });
            let x = Tensor::<3>::from_data(TensorData::new(x, [2, m, n]), &Device::flex());
            let mut expected = x.clone();
            for _ in 0..ITERATIONS {
                let a = expected.clone().matmul(expected.clone().transpose());
                let b = a.clone() * QUINTIC.1 + a.clone().matmul(a) * QUINTIC.2;
                expected = expected.clone() * QUINTIC.0 + b.matmul(expected);
            }
            let far: f32 = (orthogonalised(x) - expected).abs().max().into_scalar();
            assert!(far < 1e-4, "{m}x{n}: {far}");
        }
    }

    /// Burn's own optimizers are the oracle.
    #[test]
    fn updates_are_those_of_the_papers() {
        use burn::module::{Param, ParamId};
        use burn::optim::decay::WeightDecayConfig;
        use burn::optim::{AdamWConfig, AdjustLrFn, GradientsParams, MuonConfig};
        let device = Device::flex().autodiff();
        let tensor = |numbers: &[f32], shape: &[usize]| {
            Tensor::<2>::from_data(TensorData::new(numbers.to_vec(), [shape[0], shape[1]]), &device)
        };
        let (rate, spans) = (1e-2, spans());
        let count = spans[4].range.end;
        for name in [OptimizerName::AdamW, OptimizerName::Muon] {
            let training = Training { optimizer: name, weight_decay: 0.1, ..Training::default() };
            let mut optimizer = Optimizer::new(&training, &spans, &Device::flex());
            let mut weights = numbers(count, 2);
            for span in spans.iter().filter(|span| span.is_hidden_matrix) {
                let decay = Some(WeightDecayConfig::new(0.1));
                let muon = MuonConfig::new().with_adjust_lr_fn(AdjustLrFn::MatchRmsAdamW).with_weight_decay(decay);
                let mut oracle = match name {
                    OptimizerName::AdamW => AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.1).init(),
                    OptimizerName::Muon => muon.init(),
                };
                let mut optimizer = Optimizer::new(&training, &spans, &Device::flex());
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
