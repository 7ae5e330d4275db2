//! `bqnco bench experts`.

use std::sync::Arc;
use std::time::Instant;

use bqnco::core::{Effort, random};
use bqnco::{Builtin, ProblemName, dispatch};
use clap::Args;
use rayon::prelude::*;

use crate::failure::Failure;
use crate::output;

/// Labels per minute of the built-in experts at their default effort, and the mean objective of these labels.
#[derive(Args)]
pub struct Experts {
    /// Instances per problem.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Experts {
    pub fn run(self) -> Result<(), Failure> {
        let threads = rayon::current_num_threads();
        let head = ["problem", "size", "rounds", "mean objective", "ms each", "labels per minute"];
        let [problem, size, rounds, objective, each, rate] = head;
        let line =
            format!("{problem:<9} {size:>5} {rounds:>7} {objective:>15} {each:>9} {rate:>18}  ({threads} threads)\n");
        output::print(line.as_bytes())?;
        for &name in ProblemName::ALL {
            dispatch!(name, P => measure::<P>(self.count, self.seed))?;
        }
        Ok(())
    }
}

fn measure<P: Builtin>(count: u64, seed: u64) -> Result<(), Failure> {
    let Some(expertise) = P::expertise() else { return Ok(()) };
    let size = P::USUAL_SIZE;
    let instances: Vec<_> = (0..count).map(|k| Arc::new(P::generate(size, &mut random(seed, &[k])))).collect();
    let (expert, rounds) = (expertise.expert, (expertise.label_rounds)(size));
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
