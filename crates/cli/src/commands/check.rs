//! `bqnco check`.

use std::path::PathBuf;

use bqnco::core::Problem;
use bqnco::io::{Record, Source, read_solution};
use bqnco::{Builtin, dispatch};
use clap::Args;

use crate::failure::Failure;
use crate::input::Reading;
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
        let source = Source::open(&self.instance)?;
        dispatch!(self.reading.problem(&source)?, P => self.judge_all::<P>(&source))
    }

    fn judge_all<P: Builtin>(&self, source: &Source) -> Result<(), Failure> {
        let mut all_feasible = true;
        if let Some(path) = &self.solution {
            let record = self.reading.read_one::<P>(source)?;
            let file = read_solution::<P>(&Source::open(path)?, &record.instance)?;
            all_feasible = self.judge(&record, Claim { steps: file.steps, claimed: file.claimed })?;
        } else {
            for mut record in self.reading.read::<P>(source)? {
                let Some(steps) = record.solution.take() else {
                    let name = &record.name;
                    return Err(anyhow::anyhow!("{}: {name} carries no solution to check", source.name()).into());
                };
                // A dataset's objective may be that of a better solution than the one it carries.
                all_feasible &= self.judge(&record, Claim { steps, claimed: None })?;
            }
        }
        if all_feasible { Ok(()) } else { Err(Failure::No) }
    }

    /// Prints the verdict and tells whether it is good.
    fn judge<P: Builtin>(&self, record: &Record<P>, claim: Claim<P::Step>) -> Result<bool, Failure> {
        let verdict = verdict::<P>(&record.instance, &claim);
        let (objective, _) = P::OBJECTIVE;
        let text = if self.json {
            let mut object = serde_json::json!({
                "name": record.name, "problem": P::NAME, "feasible": verdict.is_ok(),
            });
            match &verdict {
                Ok(value) => object[objective] = (*value).into(),
                Err(reason) => object["reason"] = reason.clone().into(),
            }
            format!("{object}\n")
        } else {
            match &verdict {
                Ok(value) => format!("{}: feasible, {objective} {}\n", record.name, figure(*value)),
                Err(reason) => format!("{}: not a solution: {reason}\n", record.name),
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
