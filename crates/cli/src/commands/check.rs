//! `bqnco check`.

use std::path::PathBuf;

use anyhow::anyhow;
use bqnco::core::Problem;
use bqnco::io::{Source, read_solution};
use bqnco::{Builtin, dispatch};
use clap::Args;

use crate::failure::Failure;
use crate::input::{Input, Named, Reading};
use crate::output::{self, figure};

/// Judge a solution file, or the solutions that a dataset carries.
///
/// Exit code 0 with the objective, 1 with the reason why it is not a solution or does not have the objective it claims.
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

/// A solution with the objective that its file claims.
struct Claim<S> {
    steps: Vec<S>,
    claimed: Option<f64>,
}

impl Check {
    pub fn run(self) -> Result<(), Failure> {
        let input = self.reading.open(&self.instance)?;
        dispatch!(input.problem, P => self.judge_all::<P>(input))
    }

    fn judge_all<P: Builtin>(&self, input: Input) -> Result<(), Failure> {
        let mut all_feasible = true;
        if let Some(path) = &self.solution {
            let instance = input.read_one::<P>()?;
            let file = read_solution::<P>(&Source::open(path)?, &instance.record.instance)?;
            all_feasible = self.judge(&instance, Claim { steps: file.steps, claimed: file.claimed })?;
        } else {
            let path = input.path().to_string();
            for mut instance in input.read::<P>()? {
                let Some(steps) = instance.record.solution.take() else {
                    return Err(anyhow!("{path}: {} carries no solution to check", instance.name).into());
                };
                // A dataset's objective may be that of a better solution than the one it carries.
                all_feasible &= self.judge(&instance, Claim { steps, claimed: None })?;
            }
        }
        if all_feasible { Ok(()) } else { Err(Failure::No) }
    }

    /// Prints the verdict and tells whether it is good.
    fn judge<P: Builtin>(&self, instance: &Named<P>, claim: Claim<P::Step>) -> Result<bool, Failure> {
        let verdict = verdict::<P>(&instance.record.instance, &claim);
        let (objective, _) = P::OBJECTIVE;
        let text = if self.json {
            let mut object = serde_json::json!({
                "name": instance.name, "problem": P::NAME, "feasible": verdict.is_ok(),
            });
            match &verdict {
                Ok(value) => object[objective] = (*value).into(),
                Err(reason) => object["reason"] = reason.clone().into(),
            }
            format!("{object}\n")
        } else {
            match &verdict {
                Ok(value) => format!("{}: feasible, {objective} {}\n", instance.name, figure(*value)),
                Err(reason) => format!("{}: not a solution: {reason}\n", instance.name),
            }
        };
        output::print(text.as_bytes())?;
        Ok(verdict.is_ok())
    }
}

/// The objective with a person's sign, or the reason.
fn verdict<P: Problem>(instance: &P::Instance, claim: &Claim<P::Step>) -> Result<f64, String> {
    P::check(instance, &claim.steps).map_err(|reason| reason.to_string())?;
    let (name, sign) = P::OBJECTIVE;
    let value = sign * P::cost(instance, &claim.steps);
    match claim.claimed {
        Some(claimed) if (claimed - value).abs() > 1e-6 * value.abs().max(1.0) => {
            Err(format!("the file claims a {name} of {}, the solution has {}", figure(claimed), figure(value)))
        }
        _ => Ok(value),
    }
}
