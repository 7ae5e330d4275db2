//! `bqnco bench train`.

use bqnco::net::Config;
use bqnco::problems::Tsp;
use bqnco::train::bench::{Throughput, throughput};
use bqnco::train::{Augmentation, OptimizerName, Training};
use clap::Args;

use crate::device::OnDevice;
use crate::failure::Failure;
use crate::output;

/// Speed of the training loop compared with bare steps (forward, backward, AdamW) of the same shapes, on TSP50.
#[derive(Args)]
pub struct Train {
    /// Updates per run.
    #[arg(long, default_value_t = 40)]
    steps: u64,
    /// Runs of each kind, alternating; the fastest counts.
    #[arg(long, default_value_t = 3)]
    rounds: u64,
    #[command(flatten)]
    device: OnDevice,
}

impl Train {
    pub fn run(self) -> Result<(), Failure> {
        let device = self.device.open()?;
        let head = format!(
            "{:<30} {:>10} {:>10} {:>8}  (samples/s)\n",
            "batches of 128, tails of TSP50", "training", "bare", "share"
        );
        output::print(head.as_bytes())?;
        for (network, config) in [("small", Config::small::<Tsp>()), ("paper", Config::paper::<Tsp>())] {
            for (optimizer, name) in [(OptimizerName::AdamW, "AdamW"), (OptimizerName::Muon, "Muon")] {
                let training = self.training(optimizer);
                let Throughput { training, bare } = throughput::<Tsp>(&config, &training, 50, self.rounds, &device)?;
                let (work, share) = (format!("{network}, {name}"), 100.0 * training / bare);
                let line = format!("{work:<30} {training:>10.1} {bare:>10.1} {share:>6.0} %\n");
                output::print(line.as_bytes())?;
            }
        }
        Ok(())
    }

    /// The settings that the recipes use.
    fn training(&self, optimizer: OptimizerName) -> Training {
        let (augmentation, clip, average) = (Augmentation::Square, 1.0, 0.99);
        Training { steps: self.steps, batch: 128, augmentation, optimizer, clip, average, ..Training::default() }
    }
}
