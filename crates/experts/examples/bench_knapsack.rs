//! Times the knapsack expert on folders of instances with known optima and on the paper's random sets.
//!
//! `bench_knapsack DATA` reads `DATA/kp`; without an argument only the random sets run. `bench_knapsack --dump N SEED`
//! prints one random instance of 200 items per line (capacity, values, weights, our value) for other solvers.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use bqnco_core::{Effort, Expert, Problem, SolutionSpace, random};
use bqnco_experts::KnapsackExpert;
use bqnco_problems::{Knapsack, knapsack};
use rand::RngExt;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [flag, count, seed] if flag == "--dump" => return dump(count.parse()?, seed.parse()?),
        [data] => known_optima(&Path::new(data).join("kp"))?,
        _ => {}
    }
    for items in [200, 500, 1000] {
        for capacity in [10.0, 25.0, 50.0, 100.0] {
            random_set(items, capacity)?;
        }
    }
    Ok(())
}

fn solve(instance: &knapsack::Instance) -> Result<(f64, f64), Box<dyn Error>> {
    let start = Instant::now();
    let solution = KnapsackExpert.solve(instance, &Effort::rounds(0, 0))?;
    let seconds = start.elapsed().as_secs_f64();
    Knapsack::check(instance, &solution.steps)?;
    Ok((-solution.cost, seconds))
}

fn known_optima(folder: &Path) -> Result<(), Box<dyn Error>> {
    for list in ["kplib_optimal.csv", "instances_01_KP_optimal.csv"] {
        let text = std::fs::read_to_string(folder.join(list))?;
        let (mut right, mut count, mut total, mut slowest) = (0, 0, 0.0, (0.0, ""));
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let optimum: f64 = fields[fields.len() - 1].parse()?;
            let (value, seconds) = solve(&read(&folder.join(fields[0]))?)?;
            count += 1;
            if (value - optimum).abs() <= 1e-7 * optimum {
                // the listed optimum of f5 has seven digits
                right += 1;
            } else {
                println!("{}: {value} instead of {optimum}", fields[0]);
            }
            total += seconds;
            if seconds > slowest.0 {
                slowest = (seconds, fields[0]);
            }
        }
        println!("{list}: {right} of {count} optimal, {total:.3} s in all, slowest {:.3} s ({})", slowest.0, slowest.1);
    }
    Ok(())
}

/// `n capacity`, then `value weight` per item.
fn read(path: &Path) -> Result<knapsack::Instance, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let items = &numbers[2..2 + 2 * numbers[0] as usize];
    let (values, weights) = items.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    Ok(knapsack::Instance::new(values, weights, numbers[1])?)
}

fn random_set(items: usize, capacity: f64) -> Result<(), Box<dyn Error>> {
    let (count, mut values, mut total, mut slowest) = (1000, 0.0, 0.0, 0.0f64);
    for index in 0..count {
        let mut rng = random(1234, &[items as u64, capacity as u64, index]);
        let mut numbers = || (0..items).map(|_| rng.random()).collect();
        let (value, seconds) = solve(&knapsack::Instance::new(numbers(), numbers(), capacity)?)?;
        values += value;
        total += seconds;
        slowest = slowest.max(seconds);
    }
    let (mean, milliseconds, slowest) = (values / count as f64, 1e3 * total / count as f64, 1e3 * slowest);
    println!("n {items} capacity {capacity}: mean value {mean:.4}, mean {milliseconds:.4} ms, slowest {slowest:.3} ms");
    Ok(())
}

fn dump(count: u64, seed: u64) -> Result<(), Box<dyn Error>> {
    for index in 0..count {
        let instance = Knapsack::generate(200, &mut random(seed, &[index]));
        let (value, _) = solve(&instance)?;
        let numbers = instance.values().iter().chain(instance.weights()).map(f64::to_string).collect::<Vec<_>>();
        println!("{} {} {value}", instance.capacity(), numbers.join(" "));
    }
    Ok(())
}
