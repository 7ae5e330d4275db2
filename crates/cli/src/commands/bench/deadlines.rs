//! `bqnco bench deadlines`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use bqnco::core::random;
use bqnco::{Builtin, ProblemName, dispatch};
use clap::Args;
use indicatif::ProgressBar;

use crate::commands::solve::options::{Method, Search};
use crate::commands::solve::search::{Job, Limit};
use crate::failure::Failure;
use crate::interruption::INTERRUPTED;
use crate::model::ModelSource;
use crate::output;

/// By how much searches overrun their time limits.
#[derive(Args)]
pub struct Deadlines {
    /// The problem.
    #[arg(long)]
    problem: ProblemName,
    /// The network: one of `bqnco models`, or a folder (default: the network that has the problem's name).
    #[arg(long, value_name = "NAME|FOLDER", value_parser = ModelSource::parse)]
    model: Option<ModelSource>,
    /// Source of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Sizes of the instances.
    #[arg(long, value_delimiter = ',', default_values = ["100", "1000"])]
    sizes: Vec<usize>,
    /// Seconds per instance.
    #[arg(long, value_delimiter = ',', value_parser = output::seconds, default_values = ["0.2", "1", "5"])]
    limits: Vec<Duration>,
}

impl Deadlines {
    pub fn run(self) -> Result<(), Failure> {
        dispatch!(self.problem, P => self.measure::<P>())
    }

    fn measure<P: Builtin>(&self) -> Result<(), Failure> {
        let limits: String = self.limits.iter().map(|limit| format!(" {} s |", limit.as_secs_f64())).collect();
        let rule = "---|".repeat(self.limits.len());
        output::print(format!("| problem | size | search |{limits}\n|---|---|---|{rule}\n").as_bytes())?;
        for &size in &self.sizes {
            let instance = [Arc::new(P::generate(size, &mut random(self.seed, &[])))];
            for (name, method) in [
                ("greedy", Method::Greedy),
                ("beam 16", Method::Beam),
                ("reconstruct", Method::Reconstruct),
                ("hybrid", Method::Hybrid),
                ("expert", Method::Expert),
            ] {
                let search = Search::by(method, self.model.clone(), self.seed);
                let mut line = format!("| {} | {size} | {name} |", P::NAME);
                for &limit in &self.limits {
                    let over = seconds::<P>(&search, &instance, limit)? - limit.as_secs_f64();
                    line += &if over > 0.0 { format!(" {:+.0} ms |", 1000.0 * over) } else { " in time |".into() };
                }
                output::print(format!("{line}\n").as_bytes())?;
            }
        }
        Ok(())
    }
}

/// How long a search takes.
fn seconds<P: Builtin>(search: &Search, instance: &[Arc<P::Instance>], limit: Duration) -> Result<f64, Failure> {
    let limit = Limit { time: Some(limit), interrupted: &INTERRUPTED };
    let progress = ProgressBar::hidden();
    let job = Job::<P> { search, instances: instance, first: 0, start: None, limit, progress: &progress };
    let mut seconds = 0.0;
    job.run(&mut |index, answer| {
        let timed = answer?;
        P::check(&instance[index], &timed.solution.steps).context("a search ends in a solution")?;
        seconds = timed.seconds;
        Ok(())
    })?;
    Ok(seconds)
}
