//! How much of its time training spends on anything but forward passes, backward passes and plain updates: the figures
//! of `bqnco bench train`.

use std::sync::Arc;

use bqnco_core::rollout::{Options, solve};
use bqnco_core::{Generate, GreedyHeuristic, Imitate, Observe, never, random};
use bqnco_net::bench::train_steps;
use bqnco_net::{Config, Provenance};
use burn::tensor::Device;

use crate::batch::training_batch;
use crate::{Example, Folder, Imitation, SingleProcess, TrainError, Training, train};

/// Speed of the same updates in two ways, in samples per second.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// The training loop: sampled tails, losses, clipping, the optimizer, the average.
    pub training: f64,
    /// Steps of `bqnco bench net` on random tokens of the same shapes: forward, backward, Burn's AdamW.
    pub bare: f64,
}

/// Trains on random instances of a size, and makes bare steps of the same shapes, `rounds` times in turns; the best of
/// each counts.
///
/// # Errors
/// When the settings make no run, or the run's scratch folder cannot be written.
pub fn throughput<P: Observe + Imitate + Generate>(
    config: &Config,
    training: &Training,
    size: usize,
    rounds: u64,
    device: &Device,
) -> Result<Throughput, TrainError> {
    let (examples, provenance) = (examples::<P>(size), Provenance::new());
    let training = Training { report_every: training.steps, validate_every: training.steps, ..training.clone() };
    let task = Imitation {
        config,
        training: &training,
        examples: &examples,
        validation: &[],
        device,
        provenance: &provenance,
        improvement: None,
        communicator: &SingleProcess,
    };
    let shape = |step| {
        let lengths = training_batch(&task, &examples, step, device)?.batch.lengths; // padding costs nothing
        Ok((training.batch, lengths.iter().sum::<usize>().div_ceil(lengths.len().max(1))))
    };
    let shapes: Vec<_> = (0..training.steps).map(shape).collect::<Result<_, TrainError>>()?;
    let samples = (training.steps * training.batch as u64) as f64;
    let mut best = Throughput { training: 0.0, bare: 0.0 };
    for _ in 0..rounds {
        let scratch = tempfile::tempdir().map_err(|source| TrainError::File { path: std::env::temp_dir(), source })?;
        let run = Folder::open(scratch.path())?;
        let outcome = train(&task, &run, &mut |_| (), &never)?;
        best.training = outcome.rows.iter().map(|row| row.samples_per_second).fold(best.training, f64::max);
        best.bare = best.bare.max(samples / train_steps(config, &shapes, device)?);
    }
    Ok(best)
}

/// Instances with solutions of the greedy heuristic: good enough to measure speed.
fn examples<P: Generate>(size: usize) -> Arc<[Example<P>]> {
    let instances: Vec<_> = (0..100).map(|k| Arc::new(P::generate(size, &mut random(1, &[k])))).collect();
    let found = solve::<P>(&GreedyHeuristic, &instances, &Options::default()).expect("no weights, no failure");
    let pairs = instances.into_iter().zip(found);
    pairs.map(|(instance, solution)| Example::new(instance, solution.steps).expect("feasible")).collect()
}
