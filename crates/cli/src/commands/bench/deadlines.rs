//! `bqnco bench deadlines`.

use std::time::Duration;

use bqnco::core::random;
use bqnco::{Instance, ModelSource, PolicySource, ProblemName, Search, Solver, dispatch};
use clap::Args;

use crate::failure::Failure;
use crate::output;

/// By how much searches overrun their time limits.
#[derive(Args)]
pub struct Deadlines {
    /// The problem.
    #[arg(long)]
    problem: ProblemName,
    /// The network: a name from `bqnco models`, or a folder (default: the network that has the problem's name).
    #[arg(long, value_name = "NAME|FOLDER")]
    model: Option<ModelSource>,
    /// Random seed.
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
        let limits: String = self.limits.iter().map(|limit| format!(" {} s |", limit.as_secs_f64())).collect();
        let rule = "---|".repeat(self.limits.len());
        output::print(format!("| problem | size | search |{limits}\n|---|---|---|{rule}\n").as_bytes())?;
        for &size in &self.sizes {
            let instance = dispatch!(self.problem, P => {
                Instance::from_typed::<P>("random", P::generate(size, &mut random(self.seed, &[])))
            });
            for (name, search) in [
                ("greedy", Search::greedy()),
                ("beam 16", Search::beam(16)),
                ("reconstruct", Search::reconstruct()),
                ("hybrid", Search::hybrid()),
                ("expert", Search::expert()),
            ] {
                let needs_expert = matches!(search, Search::Hybrid { .. } | Search::Expert { .. });
                if needs_expert && dispatch!(self.problem, P => P::expertise().is_none()) {
                    continue;
                }
                let mut line = format!("| {} | {size} | {name} |", self.problem);
                for &limit in &self.limits {
                    let solver = Solver::new().search(self.with_model(&search)).seed(self.seed).time_limit(limit);
                    let over = solver.solve(&instance)?.seconds() - limit.as_secs_f64();
                    line += &if over > 0.0 { format!(" {:+.0} ms |", 1000.0 * over) } else { " in time |".into() };
                }
                output::print(format!("{line}\n").as_bytes())?;
            }
        }
        Ok(())
    }

    fn with_model(&self, search: &Search) -> Search {
        match (&self.model, search.guide()) {
            (Some(model), Some(guide)) => {
                let mut guide = guide.clone();
                guide.policy = PolicySource::Network(model.clone());
                search.clone().with_guide(guide)
            }
            _ => search.clone(),
        }
    }
}
