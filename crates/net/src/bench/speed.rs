//! Forward passes and training steps, beside a large matmul.

use bqnco_core::{Costs, Observation, random};
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::{Device, Distribution, Tensor, activation::log_softmax};
use rand::RngExt;

use super::best;
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

/// Measures a large matmul (the limit), the forward pass and the training step, each for about `seconds`, and reports
/// each as soon as it is known.
///
/// # Errors
/// When the configuration makes no network.
pub fn measure(
    config: &Config,
    seconds: f64,
    device: &Device,
    report: &mut dyn FnMut(Measurement),
) -> Result<(), NetError> {
    report(matmul(seconds, device));
    for (instances, tokens) in FORWARD {
        report(forward(config, instances, tokens, seconds, device)?);
    }
    for (instances, tokens) in TRAIN {
        report(train_step(config, instances, tokens, seconds, device)?);
    }
    Ok(())
}

fn forward(
    config: &Config,
    instances: usize,
    tokens: usize,
    seconds: f64,
    device: &Device,
) -> Result<Measurement, NetError> {
    let network = Network::new(config.clone(), 0, device)?;
    let batch = network.batch(&observations(config, instances, tokens))?;
    let best = best(seconds, || drop(network.forward(&batch).into_data()));
    Ok(measurement(format!("forward {instances}x{tokens}"), best, flops(config, instances, tokens)))
}

/// Forward pass, loss, backward pass, one step of AdamW.
fn train_step(
    config: &Config,
    instances: usize,
    tokens: usize,
    seconds: f64,
    device: &Device,
) -> Result<Measurement, NetError> {
    let first = Network::new(config.clone(), 0, &device.clone().autodiff())?;
    let batch = first.batch(&observations(config, instances, tokens))?;
    let (mut network, mut optimizer) = (Some(first), AdamWConfig::new().init());
    let best = best(seconds, || {
        let trained = network.take().expect("put back after each step");
        let scores = trained.forward(&batch).reshape([instances, tokens * config.kinds]);
        let loss = -log_softmax(scores, 1).narrow(1, 1, 1).mean();
        let gradients = GradientsParams::from_grads(loss.backward(), &trained);
        network = Some(optimizer.step(1e-4, trained, gradients));
    });
    Ok(measurement(format!("train step {instances}x{tokens}"), best, 3.0 * flops(config, instances, tokens)))
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
