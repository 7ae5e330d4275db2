//! Forward passes and training steps, compared with a large matmul.

use bqnco_core::{Costs, Observation, random};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Distribution, Tensor, activation::log_softmax};
use rand::RngExt;

use super::peak::peak;
use super::{best, time};
use crate::{Batch, Config, NetError, Network};

/// One measurement.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// What was run: "forward 64x100".
    pub work: String,
    /// Best time of the repetitions.
    pub milliseconds: f64,
    /// Useful floating-point operations per second, in 10^9.
    pub gflops: f64,
}

/// Shapes of the forward pass: instances, tokens.
const FORWARD: [(usize, usize); 5] = [(1, 100), (1, 250), (16, 250), (64, 100), (128, 50)];
/// Shapes of the training step.
const TRAIN: [(usize, usize); 2] = [(128, 50), (256, 100)];

/// Measures a large matmul (the limit), forward passes, training steps and the peak of the CPU, each for about
/// `seconds`, and reports each at once.
///
/// # Errors
/// When the configuration is not valid.
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
    let (best, flops) = peak(seconds);
    report(measurement("peak: registers only".into(), best, flops));
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
    Ok(measurement(format!("forward {instances}x{tokens}"), best, instances as f64 * config.flop(tokens)))
}

fn train_step(
    config: &Config,
    instances: usize,
    tokens: usize,
    seconds: f64,
    device: &Device,
) -> Result<Measurement, NetError> {
    let mut trainee = Trainee::new(config, device)?;
    let batch = trainee.batch(instances, tokens)?;
    let best = best(seconds, || trainee.step(&batch));
    Ok(measurement(format!("train step {instances}x{tokens}"), best, 3.0 * instances as f64 * config.flop(tokens)))
}

/// Seconds of training steps on random tokens, one per shape (instances, tokens).
///
/// # Errors
/// When the configuration is not valid.
pub fn train_steps(config: &Config, shapes: &[(usize, usize)], device: &Device) -> Result<f64, NetError> {
    let mut trainee = Trainee::new(config, device)?;
    let batch = |&(instances, tokens): &(usize, usize)| trainee.batch(instances, tokens);
    let batches: Vec<_> = shapes.iter().map(batch).collect::<Result<_, _>>()?;
    batches.first().into_iter().for_each(|batch| trainee.step(batch)); // warm-up: the optimizer allocates its state
    Ok(time(|| batches.iter().for_each(|batch| trainee.step(batch))))
}

/// A network in training.
struct Trainee {
    network: Option<Network>, // away during a step
    optimizer: ModuleOptimizer,
}

impl Trainee {
    fn new(config: &Config, device: &Device) -> Result<Self, NetError> {
        let network = Some(Network::new(config.clone(), 0, &device.clone().autodiff())?);
        Ok(Trainee { network, optimizer: AdamWConfig::new().init() })
    }

    fn batch(&self, instances: usize, tokens: usize) -> Result<Batch, NetError> {
        let network = self.network.as_ref().expect("here between steps");
        network.batch(&observations(network.config(), instances, tokens))
    }

    /// Forward pass, loss, backward pass, one step of AdamW.
    fn step(&mut self, batch: &Batch) {
        let trained = self.network.take().expect("put back after each step");
        let slots = batch.tokens() * trained.config().kinds;
        let scores = trained.forward(batch).reshape([batch.len(), slots]);
        let loss = -log_softmax(scores, 1).narrow(1, 1, 1).mean();
        let gradients = GradientsParams::from_grads(loss.backward(), &trained);
        self.network = Some(self.optimizer.step(1e-4, trained, gradients));
    }
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
