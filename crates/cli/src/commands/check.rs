//! `bqnco check`.

use std::path::PathBuf;

use anyhow::anyhow;
use bqnco::Solution;
use clap::Args;

use crate::failure::Failure;
use crate::output::{self, figure};
use crate::reading::Reading;

/// Verify a solution file, or the solutions in a dataset.
///
/// Exit code 0 with the objective, or 1 with the reason why it is infeasible or does not have the objective it states.
///
/// Examples:
///   bqnco check data/examples/city48.tsp city48.tour
///   bqnco check dataset.npz
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Check {
    /// The instance, or a dataset with solutions.
    instance: PathBuf,
    /// The solution (.tour, .sol, a line of zeros and ones, JSON); without it, the one inside the instance file.
    solution: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// One JSON object per instance.
    #[arg(long)]
    json: bool,
}

impl Check {
    pub fn run(self) -> Result<(), Failure> {
        let mut all_feasible = true;
        if let Some(path) = &self.solution {
            all_feasible = self.judge(&self.reading.read_one(&self.instance)?.read_solution(path)?)?;
        } else {
            for instance in self.reading.read(&self.instance)? {
                let Some(solution) = instance.solution() else {
                    let (path, name) = (self.instance.display(), instance.name());
                    return Err(anyhow!("{path}: {name} has no solution to check").into());
                };
                all_feasible &= self.judge(&solution)?;
            }
        }
        if all_feasible { Ok(()) } else { Err(Failure::No) }
    }

    /// Prints the verdict and returns whether the solution is valid.
    fn judge(&self, solution: &Solution) -> Result<bool, Failure> {
        let verdict = verdict(solution);
        let (instance, objective) = (solution.instance(), solution.objective());
        let text = if self.json {
            let mut object = serde_json::json!({
                "name": instance.name(), "problem": instance.problem().as_str(), "feasible": verdict.is_ok(),
            });
            match &verdict {
                Ok(()) => object[objective] = solution.value().into(),
                Err(reason) => object["reason"] = reason.clone().into(),
            }
            format!("{object}\n")
        } else {
            match &verdict {
                Ok(()) => format!("{}: feasible, {objective} {}\n", instance.name(), figure(solution.value())),
                Err(reason) => format!("{}: not a solution: {reason}\n", instance.name()),
            }
        };
        output::print(text.as_bytes())?;
        Ok(verdict.is_ok())
    }
}

/// The reason if it is infeasible or does not have the objective that its file states. (A dataset's objective may be
/// that of a better solution than the one it contains; [`Solution::claimed`] is for solution files only.)
fn verdict(solution: &Solution) -> Result<(), String> {
    solution.check().map_err(|reason| reason.to_string())?;
    let (name, value) = (solution.objective(), solution.value());
    match solution.claimed() {
        Some(claimed) if (claimed - value).abs() > 1e-6 * value.abs().max(1.0) => {
            Err(format!("the file claims a {name} of {}, the solution has {}", figure(claimed), figure(value)))
        }
        _ => Ok(()),
    }
}
