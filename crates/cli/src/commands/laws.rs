//! `bqnco laws`.

use std::fmt::Write as _;

use bqnco::core::Problem;
use bqnco::core::laws::{Verdict, verify};
use bqnco::{Builtin, ProblemName, dispatch};
use clap::Args;

use crate::failure::Failure;
use crate::output;

/// Check the paper's theory on every state of random tiny instances.
///
/// The direct MDP is enumerated from cost and membership alone and compared with each problem's tail subproblems. Exit
/// code 1 means that a law is violated; a counterexample is printed.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Laws {
    /// One problem only.
    problem: Option<ProblemName>,
    /// Number of random instances per problem.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    instances: u16,
    /// Largest size; the effort grows exponentially with it.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(2..=8))]
    size: u8,
    /// Random seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// One JSON object per law.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Example:
  bqnco laws cvrp";

impl Laws {
    pub fn run(self) -> Result<(), Failure> {
        let problems = self.problem.map_or_else(|| ProblemName::ALL.to_vec(), |problem| vec![problem]);
        let mut all_hold = true;
        for name in problems {
            all_hold &= dispatch!(name, P => self.verify::<P>())?;
        }
        if all_hold { Ok(()) } else { Err(Failure::No) }
    }

    fn verify<P: Builtin>(&self) -> Result<bool, Failure> {
        let verdicts = verify::<P>(self.instances.into(), self.size.into(), self.seed);
        let text = if self.json { as_json::<P>(&verdicts) } else { as_table::<P>(&verdicts) };
        output::print(text.as_bytes())?;
        Ok(verdicts.iter().all(|verdict| verdict.counterexample.is_none()))
    }
}

fn as_table<P: Problem>(verdicts: &[Verdict]) -> String {
    let mut table = format!("{:<46} {:<14} {:>9}  result\n", P::NAME, "paper", "facts");
    for verdict in verdicts {
        let facts = if verdict.facts == 0 { "-".into() } else { verdict.facts.to_string() };
        let result = match &verdict.counterexample {
            Some(why) => format!("BROKEN: {why}"),
            None if verdict.facts == 0 => "nothing to compare".into(),
            None => "holds".into(),
        };
        let _ = writeln!(table, "  {:<44} {:<14} {facts:>9}  {result}", verdict.claim, verdict.source);
    }
    table.push('\n');
    table
}

fn as_json<P: Problem>(verdicts: &[Verdict]) -> String {
    let line = |verdict: &Verdict| {
        let object = serde_json::json!({
            "problem": P::NAME,
            "law": verdict.claim,
            "source": verdict.source,
            "facts": verdict.facts,
            "counterexample": verdict.counterexample,
        });
        format!("{object}\n")
    };
    verdicts.iter().map(line).collect()
}
