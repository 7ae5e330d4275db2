//! How fast the paper's network runs on this machine: the figures of `bqnco bench net`.

use std::time::Instant;

use bqnco_core::{Costs, Observation, random};
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::{Device, Distribution, Tensor, activation::log_softmax};
use rand::RngExt;

use crate::{Config, NetError, Network};

/// One measured piece of work.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// What was run: "forward 64x100".
    pub work: String,
    /// Best time of the repetitions.
    pub milliseconds: f64,
    /// Useful floating-point operations per second, in thousand millions.
    pub gflops: f64,
}

/// Shapes of the forward pass: instances, tokens.
const FORWARD: [(usize, usize); 5] = [(1, 100), (1, 250), (16, 250), (64, 100), (128, 50)];
/// Shapes of the training step.
const TRAIN: [(usize, usize); 2] = [(128, 50), (256, 100)];

/// Measures a large matmul (the limit), the forward pass and the training step, each for about `seconds`.
///
/// # Errors
/// When the configuration makes no network.
pub fn measure(config: &Config, seconds: f64, device: &Device) -> Result<Vec<Measurement>, NetError> {
    let mut measurements = vec![matmul(seconds, device)];
    let network = Network::new(config.clone(), 0, device)?;
    for (instances, tokens) in FORWARD {
        let batch = network.batch(&observations(config, instances, tokens))?;
        let best = best(seconds, || drop(network.forward(&batch).into_data()));
        measurements.push(measurement(format!("forward {instances}x{tokens}"), best, flops(config, instances, tokens)));
    }
    let autodiff = device.clone().autodiff();
    for (instances, tokens) in TRAIN {
        let mut network = Some(Network::new(config.clone(), 0, &autodiff)?);
        let mut optimizer = AdamWConfig::new().init();
        let observations = observations(config, instances, tokens);
        let batch = Network::new(config.clone(), 0, &autodiff)?.batch(&observations)?;
        let best = best(seconds, || {
            let trained = network.take().expect("put back after each step");
            let scores = trained.forward(&batch).reshape([instances, tokens * config.kinds]);
            let loss = -log_softmax(scores, 1).narrow(1, 1, 1).mean();
            let gradients = GradientsParams::from_grads(loss.backward(), &trained);
            network = Some(optimizer.step(1e-4, trained, gradients));
        });
        let work = format!("train step {instances}x{tokens}");
        measurements.push(measurement(work, best, 3.0 * flops(config, instances, tokens)));
    }
    Ok(measurements)
}

fn matmul(seconds: f64, device: &Device) -> Measurement {
    const SIZE: usize = 2048;
    let matrix = Tensor::<2>::random([SIZE, SIZE], Distribution::Default, device);
    let best = best(seconds, || drop(matrix.clone().matmul(matrix.clone()).into_data()));
    measurement(format!("matmul {SIZE}x{SIZE}x{SIZE}"), best, 2.0 * (SIZE as f64).powi(3))
}

fn measurement(work: String, seconds: f64, flops: f64) -> Measurement {
    Measurement { work, milliseconds: seconds * 1e3, gflops: flops / seconds * 1e-9 }
}

/// Multiplications and additions of a forward pass: products with weights, and attention.
pub fn flops(config: &Config, instances: usize, tokens: usize) -> f64 {
    let (dim, dim_ff) = (config.dim as f64, config.dim_ff as f64);
    let (rows, tokens) = ((instances * tokens) as f64, tokens as f64);
    config.n_layers as f64 * rows * (2.0 * (4.0 * dim * dim + 2.0 * dim * dim_ff) + 4.0 * tokens * dim)
}

/// The best time of at least three runs.
fn best(seconds: f64, mut work: impl FnMut()) -> f64 {
    let (start, mut best, mut runs) = (Instant::now(), f64::INFINITY, 0);
    while runs < 3 || start.elapsed().as_secs_f64() < seconds {
        let begun = Instant::now();
        work();
        best = best.min(begun.elapsed().as_secs_f64());
        runs += 1;
    }
    best
}

/// Random tokens.
fn observations(config: &Config, instances: usize, tokens: usize) -> Vec<Observation> {
    let mut rng = random(0, &[]);
    let mut observation = |_| Observation {
        tokens,
        features: (0..tokens * config.features).map(|_| rng.random_range(0.0..1.0)).collect(),
        origin: Some(0),
        destination: Some(tokens - 1),
        costs: if config.features >= 2 { Costs::Planar } else { Costs::None },
    };
    (0..instances).map(&mut observation).collect()
}
