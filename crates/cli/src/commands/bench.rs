//! `bqnco bench`.

mod search;

use std::sync::Arc;
use std::time::Instant;

use bqnco::core::{Effort, random};
use bqnco::{Builtin, ProblemName, dispatch};
use clap::{Args, Subcommand};
use rayon::prelude::*;

use crate::failure::Failure;
use crate::output;

/// Measure speed on this machine.
///
/// Example: bqnco bench experts
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Labels per minute of the built-in experts at their default effort, and what these labels cost.
    Experts {
        /// Instances per problem.
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
        count: u64,
        /// Source of all random choices.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    Search(search::Quality),
    Deadlines(search::Deadlines),
}

impl Bench {
    pub fn run(self) -> Result<(), Failure> {
        let (count, seed) = match self.what {
            What::Experts { count, seed } => (count, seed),
            What::Search(search) => return search.run(),
            What::Deadlines(deadlines) => return deadlines.run(),
        };
        let threads = rayon::current_num_threads();
        let head = ["problem", "size", "rounds", "mean objective", "ms each", "labels per minute"];
        let [problem, size, rounds, objective, each, rate] = head;
        let line =
            format!("{problem:<9} {size:>5} {rounds:>7} {objective:>15} {each:>9} {rate:>18}  ({threads} threads)\n");
        output::print(line.as_bytes())?;
        for &name in ProblemName::ALL {
            dispatch!(name, P => experts::<P>(count, seed))?;
        }
        Ok(())
    }
}

fn experts<P: Builtin>(count: u64, seed: u64) -> Result<(), Failure> {
    let size = P::USUAL;
    let instances: Vec<_> = (0..count).map(|k| Arc::new(P::generate(size, &mut random(seed, &[k])))).collect();
    let (expert, rounds) = (P::expert(), P::label_rounds(size));
    let started = Instant::now();
    let solve = |(k, instance): (usize, &Arc<P::Instance>)| {
        expert.solve(instance, &Effort::rounds(rounds, seed.wrapping_add(k as u64))).map(|solution| solution.cost)
    };
    let costs: Vec<f64> = instances.par_iter().enumerate().map(solve).collect::<Result<_, _>>()?;
    let seconds = started.elapsed().as_secs_f64();
    let objective = P::OBJECTIVE.1 * costs.iter().sum::<f64>() / costs.len() as f64;
    let each = 1000.0 * seconds * rayon::current_num_threads() as f64 / count as f64;
    let rate = 60.0 * count as f64 / seconds;
    let line = format!("{:<9} {size:>5} {rounds:>7} {objective:>15.4} {each:>9.2} {rate:>18.0}\n", P::NAME);
    output::print(line.as_bytes())
}
