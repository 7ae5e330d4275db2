//! `bqnco bench net`.

use std::time::Duration;

use bqnco::kernels::best_path;
use bqnco::net::bench::{Measurement, Preparation, Rollout, measure, preparation, rollout};
use bqnco::net::{Config, Device};
use bqnco::problems::Tsp;
use clap::Args;

use crate::device::OnDevice;
use crate::failure::Failure;
use crate::output;

/// Speed of the paper's network: rollouts, forward passes and training steps, compared with a large matmul as the
/// limit.
#[derive(Args)]
pub struct Net {
    /// Measure the modern body (normalised residuals, attention biased by costs) instead of the paper's.
    #[arg(long)]
    modern: bool,
    /// Seconds per line of forward passes and training steps.
    #[arg(long, default_value = "2", value_parser = output::seconds)]
    seconds: Duration,
    /// Skip the rollouts, which take minutes.
    #[arg(long)]
    no_rollouts: bool,
    /// Skip everything but the rollouts.
    #[arg(long, conflicts_with = "no_rollouts")]
    only_rollouts: bool,
    #[command(flatten)]
    device: OnDevice,
}

impl Net {
    pub fn run(self) -> Result<(), Failure> {
        let device = self.device.open()?;
        let config = if self.modern { Config::modern::<Tsp>() } else { Config::paper::<Tsp>() };
        if !self.no_rollouts {
            rollouts(&config, &device)?; // first, before training allocates memory
        }
        if !self.only_rollouts {
            self.speed(&config, &device)?;
        }
        Ok(())
    }

    fn speed(&self, config: &Config, device: &Device) -> Result<(), Failure> {
        let threads = rayon::current_num_threads();
        let (path, columns) = (best_path(), format!("{:<24} {:>10} {:>10} {:>9}", "work", "ms", "GFLOP/s", "of limit"));
        let head = format!("{columns}  ({threads} threads, {path})\n");
        output::print(head.as_bytes())?;
        let (mut limit, mut printed) = (None, Ok(()));
        measure(config, self.seconds.as_secs_f64(), device, &mut |line: Measurement| {
            let limit = *limit.get_or_insert(line.gflops); // the matmul comes first
            let Measurement { work, milliseconds, gflops } = line;
            let share = 100.0 * gflops / limit;
            let line = format!("{work:<24} {milliseconds:>10.2} {gflops:>10.1} {share:>7.0} %\n");
            if printed.is_ok() {
                printed = output::print(line.as_bytes());
            }
        })?;
        printed
    }
}

fn rollouts(config: &Config, device: &Device) -> Result<(), Failure> {
    let head =
        format!("{:<24} {:>10} {:>14} {:>7} {:>9}\n", "greedy rollout", "s", "forward alone", "ratio", "peak MB");
    output::print(head.as_bytes())?;
    for (instances, size, shortlist) in [(1, 1000, Some(250)), (128, 100, None)] {
        let Rollout { work, seconds, forward_seconds, peak_megabytes } =
            rollout::<Tsp>(config, (instances, size), shortlist, device)?;
        let ratio = seconds / forward_seconds;
        let peak = peak_megabytes.map_or_else(|| "-".into(), |peak| format!("{peak:.0}"));
        let line = format!("{work:<24} {seconds:>10.2} {forward_seconds:>14.2} {ratio:>7.2} {peak:>9}\n");
        output::print(line.as_bytes())?;
    }
    let Preparation { work, milliseconds, forward_milliseconds } = preparation::<Tsp>(config, (64, 100), 1.0, device)?;
    let share = 100.0 * milliseconds / forward_milliseconds;
    let line = format!(
        "around each forward pass, {work}: {milliseconds:.2} ms of shortlists, observations and copies, {share:.1} % of its {forward_milliseconds:.0} ms\n"
    );
    output::print(line.as_bytes())
}
