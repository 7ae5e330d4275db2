//! `bqnco check`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use bqnco::core::Infeasible;
use bqnco::io::{Format, Route};
use bqnco::{Instance, Solution};
use clap::Args;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{self, figure, route};
use crate::reading::Reading;

/// Verify a solution file, or the solutions in a dataset.
///
/// Exit code 0 with the objective; or 1 with the reason, if a solution is infeasible, is missing in
/// the dataset, or does not have the objective that its file claims.
///
/// Keys of --json: name, problem, feasible, and the objective (such as length) or the reason; if the
/// file claims an objective, also claimed and claim_holds; for a CVRP, routes with customers, load and length.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Check {
    /// The instance, or a dataset with solutions.
    instance: PathBuf,
    /// The solution (.tour, .sol, a line of zeros and ones, a list of nodes, JSON); without it, the one inside the
    /// instance file.
    solution: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// One JSON object per instance.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  bqnco check data/examples/city48.tsp city48.tour
  bqnco check dataset.npz";

impl Check {
    pub fn run(self) -> Result<(), Failure> {
        let path = self.solution.as_deref().unwrap_or(&self.instance);
        let solutions: Vec<(Instance, Option<Solution>)> = if self.solution.is_some() {
            let instance = self.reading.read_one(&self.instance)?;
            let solution = instance.read_solution(path)?;
            vec![(instance, Some(solution))]
        } else {
            let instances = self.reading.read(path)?.into_iter();
            instances.map(|instance| (instance.clone(), instance.solution())).collect()
        };
        if solutions.iter().all(|(_, solution)| solution.is_none()) {
            return Err(anyhow!("{}: there is no solution to check", path.display()).into());
        }
        let mut all_hold = true;
        for (instance, solution) in &solutions {
            let verdict = Verdict::of(solution.as_ref(), path);
            match self.json {
                true => output::print_json(&verdict.json(instance))?,
                false => output::print(verdict.line(instance).as_bytes())?,
            }
            all_hold &= verdict.holds();
        }
        if all_hold { Ok(()) } else { Err(Failure::No) }
    }
}

/// What is true of a solution.
enum Verdict {
    Missing,
    Infeasible(String),
    Feasible { objective: &'static str, value: f64, claimed: Option<f64>, routes: Vec<Route> },
}

impl Verdict {
    /// A dataset's objective may be that of a better solution than the one it contains; only those of solution files are
    /// claims.
    fn of(solution: Option<&Solution>, path: &Path) -> Self {
        let Some(solution) = solution else { return Verdict::Missing };
        match solution.check() {
            Ok(()) => Verdict::Feasible {
                objective: solution.objective(),
                value: solution.value(),
                claimed: solution.claimed(),
                routes: solution.routes(),
            },
            Err(reason) => Verdict::Infeasible(counted(&reason, path)),
        }
    }

    /// Whether a claimed objective is the true one, up to rounding.
    fn claim_holds(&self) -> Option<bool> {
        match *self {
            Verdict::Feasible { value, claimed: Some(claimed), .. } => {
                Some((claimed - value).abs() <= 1e-6 * value.abs().max(1.0))
            }
            _ => None,
        }
    }

    fn holds(&self) -> bool {
        matches!(self, Verdict::Feasible { .. }) && self.claim_holds() != Some(false)
    }

    fn line(&self, instance: &Instance) -> String {
        let name = instance.name();
        match self {
            Verdict::Missing => format!("{name}: there is no solution\n"),
            Verdict::Infeasible(reason) => format!("{name}: not a solution: {reason}\n"),
            Verdict::Feasible { objective, value, claimed, .. } => {
                let claimed = claimed.filter(|_| !self.holds()).map_or(String::new(), |claimed| {
                    format!(", but the file claims a {objective} of {}", figure(claimed))
                });
                format!("{name}: feasible, {objective} {}{claimed}\n", figure(*value))
            }
        }
    }

    fn json(&self, instance: &Instance) -> String {
        let mut object = json!({ "name": instance.name(), "problem": instance.problem().as_str() });
        match self {
            Verdict::Missing => {
                object["feasible"] = Value::Null;
                object["reason"] = "there is no solution".into();
            }
            Verdict::Infeasible(reason) => {
                object["feasible"] = false.into();
                object["reason"] = reason.clone().into();
            }
            Verdict::Feasible { objective, value, claimed, routes } => {
                object["feasible"] = true.into();
                object[*objective] = (*value).into();
                if let Some(claimed) = claimed {
                    object["claimed"] = (*claimed).into();
                    object["claim_holds"] = self.claim_holds().into();
                }
                if !routes.is_empty() {
                    object["routes"] = routes.iter().map(route).collect();
                }
            }
        }
        format!("{object}\n")
    }
}

/// A reason, with a remark on its numbers if the file may count nodes and items from 0.
fn counted(reason: &Infeasible, path: &Path) -> String {
    let from_zero = !matches!(Format::of_name(path), Some(Format::Tour | Format::Sol | Format::Tsplib));
    let remark = if from_zero && reason.counts_from_one() { " (counted from 1)" } else { "" };
    format!("{reason}{remark}")
}
