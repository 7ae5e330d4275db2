//! Runs the CVRP experts over a set of instances: `bench_cvrp FILES SECONDS [COUNT [STEP]]`.
//!
//! FILES is a line-based set (`depot,..,customer,..,capacity,..,demand,..,cost,..`) or a folder of CVRPLIB files with
//! `bks.csv` beside it. `bench_cvrp generate SIZE COUNT SEED` writes such a set.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::{Duration, Instant};

use bqnco_core::{Effort, Expert, Problem, SolutionSpace};
use bqnco_experts::{CvrpExpert, Savings};
use bqnco_problems::cvrp::Instance;
use bqnco_problems::{Cvrp, Metric, Space};

type AnyError = Box<dyn std::error::Error>;

fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, default: usize| arguments.get(k).map_or(Ok(default), |text| text.parse());
    if arguments.first().is_some_and(|word| word == "generate") {
        return generate(number(1, 100)?, number(2, 200)?, number(3, 1)? as u64);
    }
    let [files, seconds, ..] = arguments.as_slice() else {
        return Err("bench_cvrp FILES SECONDS [COUNT [STEP]]".into());
    };
    let (files, seconds) = (Path::new(files), Duration::from_secs_f64(seconds.parse()?));
    let named = if files.is_dir() { cvrplib(files)? } else { lines(files)? };
    let chosen: Vec<_> = named.iter().step_by(number(3, 1)?).take(number(2, usize::MAX)?).collect();
    let mut sums = [0.0; 4];
    for (name, instance, reference) in &chosen {
        let begin = Instant::now();
        let stop = || begin.elapsed() >= seconds;
        let start = Savings::default().solve(instance, &Effort { seed: 1, rounds: Some(0), stop: &stop })?;
        let begin = Instant::now();
        let stop = || begin.elapsed() >= seconds;
        let solution = CvrpExpert::default().solve(instance, &Effort { seed: 1, rounds: None, stop: &stop })?;
        let took = begin.elapsed().as_secs_f64();
        Cvrp::check(instance, &solution.steps)?;
        let gap = 100.0 * (solution.cost / reference - 1.0);
        let row = [solution.cost, gap, 100.0 * (start.cost / reference - 1.0), took];
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        println!("{name} {:.5} {gap:.3} % savings {:.3} % {took:.3} s", row[0], row[2]);
    }
    let [cost, gap, savings, took] = sums.map(|sum| sum / chosen.len() as f64);
    println!("mean of {}: {cost:.5} {gap:.3} % savings {savings:.3} % {took:.3} s", chosen.len());
    Ok(())
}

fn generate(size: usize, count: usize, seed: u64) -> Result<(), AnyError> {
    for k in 0..count as u64 {
        let instance = Cvrp::generate(size, &mut bqnco_core::random(seed, &[k]));
        let list = |values: Vec<f64>| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let map = instance.space().map();
        let (depot, customers) = (list(map[0].to_vec()), list(map[1..].concat()));
        let demands = list(instance.demands()[1..].to_vec());
        println!("depot,{depot},customer,{customers},capacity,{},demand,{demands},cost,0", instance.capacity());
    }
    Ok(())
}

fn lines(file: &Path) -> Result<Vec<(String, Instance, f64)>, AnyError> {
    let mut all = Vec::new();
    for (k, line) in std::fs::read_to_string(file)?.lines().enumerate() {
        let words: Vec<&str> = line.split(',').collect();
        let field = |name: &str| -> Result<Vec<f64>, AnyError> {
            let at = words.iter().position(|word| *word == name).ok_or("a field is missing")?;
            Ok(words[at + 1..].iter().map_while(|word| word.parse().ok()).collect())
        };
        let flat = [field("depot")?, field("customer")?].concat();
        let points = flat.chunks_exact(2).map(|point| [point[0], point[1]]).collect();
        let demands = [vec![0.0], field("demand")?].concat();
        let instance = Instance::new(Space::planar(points, Metric::Exact)?, demands, field("capacity")?[0])?;
        all.push((k.to_string(), instance, field("cost")?[0]));
    }
    Ok(all)
}

fn cvrplib(folder: &Path) -> Result<Vec<(String, Instance, f64)>, AnyError> {
    let table = std::fs::read_to_string(folder.join("../bks.csv"))?;
    let set = folder.file_name().and_then(|name| name.to_str()).ok_or("a folder is needed")?;
    let mut all = Vec::new();
    for row in table.lines().map(|row| row.split(',').collect::<Vec<_>>()).filter(|row| row[0] == set) {
        let text = std::fs::read_to_string(folder.join(format!("{}.vrp", row[1])))?;
        let mut section = String::new();
        let (mut capacity, mut points, mut demands) = (0.0, Vec::new(), Vec::new());
        for line in text.lines() {
            let words: Vec<&str> = line.split([' ', '\t', ':']).filter(|word| !word.is_empty()).collect();
            match (section.as_str(), words.as_slice()) {
                (_, ["CAPACITY", value]) => capacity = value.parse()?,
                (_, [word]) if word.ends_with("SECTION") => section = (*word).to_string(),
                ("NODE_COORD_SECTION", [_, x, y]) => points.push([x.parse()?, y.parse()?]),
                ("DEMAND_SECTION", [_, demand]) => demands.push(demand.parse()?),
                _ => {}
            }
        }
        let instance = Instance::new(Space::planar(points, Metric::Euc2d)?, demands, capacity)?;
        all.push((row[1].to_string(), instance, row[4].parse()?));
    }
    Ok(all)
}
