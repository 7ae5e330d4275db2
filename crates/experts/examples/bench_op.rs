//! Measures the OP expert. Time limits are of processor time.
//!
//! `bench_op oplib DATA MAX_NODES SECONDS [SEED]`: gap to `DATA/op/best_known.csv`.
//! `bench_op random SIZE COUNT SECONDS...`: mean prize for each time limit, and the gap to the best of them.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use bqnco_core::{Effort, Expert, Problem, SolutionSpace, random};
use bqnco_experts::OpExpert;
use bqnco_problems::{Metric, Op, Space, op};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["oplib", data, nodes, seconds] => oplib(Path::new(data), nodes.parse()?, seconds.parse()?, 1),
        ["oplib", data, nodes, seconds, seed] => {
            oplib(Path::new(data), nodes.parse()?, seconds.parse()?, seed.parse()?)
        }
        ["random", size, count, seconds @ ..] => random_set(size.parse()?, count.parse()?, seconds),
        _ => Err("usage: see the head of bench_op.rs".into()),
    }
}

/// Seconds that this thread has worked: unlike the clock's, they do not depend on what else the machine does.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// The prize within a time limit, and the seconds used.
fn solve(instance: &op::Instance, seconds: f64, seed: u64) -> Result<(f64, f64), Box<dyn Error>> {
    let start = now();
    let stop = || now() - start >= seconds;
    let solution = OpExpert.solve(instance, &Effort { seed, rounds: None, stop: &stop })?;
    let used = now() - start;
    Op::check(instance, &solution.steps)?;
    Ok((-solution.cost, used))
}

fn oplib(data: &Path, nodes: usize, seconds: f64, seed: u64) -> Result<(), Box<dyn Error>> {
    let folder = data.join("op");
    let (mut gaps, mut overrun) = (Vec::new(), 0.0f64);
    for line in std::fs::read_to_string(folder.join("best_known.csv"))?.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[4].parse::<usize>()? > nodes {
            continue;
        }
        let path = folder.join(format!("gen{}", fields[2])).join(format!("{}.oplib", fields[0]));
        let instance = read(&std::fs::read_to_string(path)?)?;
        let (prize, used) = solve(&instance, seconds, seed)?;
        let best: f64 = fields[7].parse()?;
        let gap = 100.0 * (best - prize) / best;
        println!(
            "{:<20} {prize:>7} of {best:>7}  gap {gap:6.2} %  (proven {}, EA4OP {})",
            fields[0], fields[8], fields[9]
        );
        gaps.push(gap);
        overrun = overrun.max(used - seconds);
    }
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let worst = gaps.iter().copied().fold(0.0, f64::max);
    let reached = gaps.iter().filter(|&&gap| gap <= 1e-9).count();
    println!(
        "{} instances, {seconds} s each: mean gap {mean:.3} %, worst {worst:.2} %, best known reached {reached}, \
         largest overrun {:.1} ms",
        gaps.len(),
        1e3 * overrun
    );
    Ok(())
}

fn random_set(size: usize, count: u64, limits: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut prizes = vec![Vec::new(); limits.len()];
    let mut overrun = 0.0f64;
    for index in 0..count {
        let instance = Op::generate(size, &mut random(99, &[index]));
        for (prizes, seconds) in prizes.iter_mut().zip(limits) {
            let seconds = seconds.parse()?;
            let (prize, used) = solve(&instance, seconds, 7 + index)?;
            prizes.push(prize);
            overrun = overrun.max(used - seconds);
        }
    }
    for (own, seconds) in prizes.iter().zip(limits) {
        let mean = own.iter().sum::<f64>() / count as f64;
        let gaps = (0..own.len()).map(|k| {
            let best = prizes.iter().map(|prizes| prizes[k]).fold(0.0, f64::max);
            100.0 * (best - own[k]) / best
        });
        println!(
            "n {size}, {seconds} s: mean prize {mean:.4}, {:.3} % below the best",
            gaps.sum::<f64>() / count as f64
        );
    }
    println!("largest overrun {:.1} ms", 1e3 * overrun);
    Ok(())
}

/// The parts of the OPLib format that occur in the benchmark.
fn read(text: &str) -> Result<op::Instance, Box<dyn Error>> {
    let header = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let n: usize = header("DIMENSION").ok_or("no DIMENSION")?.parse()?;
    let limit: f64 = header("COST_LIMIT").ok_or("no COST_LIMIT")?.parse()?;
    let section = |key: &str| -> Vec<f64> {
        let body = text.split(key).nth(1).unwrap_or_default();
        body.split_whitespace().map_while(|word| word.parse().ok()).collect()
    };
    let kind = header("EDGE_WEIGHT_TYPE").ok_or("no EDGE_WEIGHT_TYPE")?;
    let space = if kind == "EXPLICIT" {
        let numbers = section("EDGE_WEIGHT_SECTION");
        Space::explicit(n, square(n, &numbers, &header("EDGE_WEIGHT_FORMAT").ok_or("no EDGE_WEIGHT_FORMAT")?)?)?
    } else {
        let points = section("NODE_COORD_SECTION").chunks(3).map(|row| [row[1], row[2]]).collect();
        Space::planar(points, Metric::from_name(&kind).ok_or("unknown EDGE_WEIGHT_TYPE")?)?
    };
    let prizes = section("NODE_SCORE_SECTION").chunks(2).map(|row| row[1]).collect();
    Ok(op::Instance::new(space, prizes, limit)?)
}

fn square(n: usize, numbers: &[f64], format: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut matrix = vec![0.0; n * n];
    let mut numbers = numbers.iter().copied();
    for row in 0..n {
        let columns = match format {
            "FULL_MATRIX" => 0..n,
            "UPPER_ROW" => row + 1..n,
            "UPPER_DIAG_ROW" => row..n,
            "LOWER_DIAG_ROW" => 0..row + 1,
            _ => return Err(format!("EDGE_WEIGHT_FORMAT {format}").into()),
        };
        for column in columns {
            let number = numbers.next().ok_or("matrix too short")?;
            (matrix[row * n + column], matrix[column * n + row]) = (number, number);
        }
    }
    Ok(matrix)
}
