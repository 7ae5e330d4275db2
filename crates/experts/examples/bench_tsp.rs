//! Measures the TSP and ATSP experts, one thread, budgets in seconds of processor time.
//!
//! ```text
//! bench_tsp random tsp|atsp NODES COUNT SECONDS [REFERENCE]   REFERENCE: one cost per line
//! bench_tsp dump tsp|atsp NODES COUNT                         the same instances as numbers, one per line
//! bench_tsp tsplib FOLDER SECONDS LEAST MOST [NAME,NAME...]   FOLDER has optimal.csv and .tsp or .atsp files
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a tool for developers

use bqnco_core::{Effort, Expert, Problem, random};
use bqnco_experts::{AtspExpert, TspExpert};
use bqnco_problems::{Atsp, Metric, Space, Tsp, atsp, tsp};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["random", "tsp", ref rest @ ..] => random_instances(&TspExpert, rest),
        ["random", "atsp", ref rest @ ..] => random_instances(&AtspExpert, rest),
        ["dump", "tsp", nodes, count] => {
            dump::<Tsp>(nodes, count, |instance| instance.space().map().as_flattened().to_vec())
        }
        ["dump", "atsp", nodes, count] => dump::<Atsp>(nodes, count, |instance| instance.costs().to_vec()),
        ["tsplib", folder, seconds, least, most, ref names @ ..] => {
            tsplib(
                folder,
                seconds.parse().unwrap(),
                least.parse().unwrap()..=most.parse().unwrap(),
                names.first().copied(),
            );
        }
        _ => println!("see the head of the source for the arguments"),
    }
}

/// Seconds that this thread has worked: unlike the clock's, they do not depend on what else the machine does.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Cost of the solution found within so many seconds of processor time, and the seconds used.
fn timed<P: Problem>(expert: &impl Expert<P>, instance: &P::Instance, seconds: f64, seed: u64) -> (f64, f64) {
    let begin = now();
    let stop = || now() - begin >= seconds;
    let solution = expert.solve(instance, &Effort { seed, rounds: None, stop: &stop }).unwrap();
    P::check(instance, &solution.steps).unwrap();
    (solution.cost, now() - begin)
}

fn instance<P: Problem>(nodes: usize, index: u64) -> P::Instance {
    P::generate(nodes, &mut random(7, &[nodes as u64, index]))
}

fn random_instances<P: Problem>(expert: &impl Expert<P>, args: &[&str]) {
    let (nodes, count, seconds) = (args[0].parse().unwrap(), args[1].parse::<u64>().unwrap(), args[2].parse().unwrap());
    let reference: Vec<f64> = args.get(3).map_or(Vec::new(), |path| {
        std::fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
    });
    let (mut total, mut gap, mut slowest) = (0.0, 0.0, 0.0f64);
    for index in 0..count {
        let (cost, time) = timed(expert, &instance::<P>(nodes, index), seconds, index);
        total += cost;
        slowest = slowest.max(time);
        gap += reference.get(index as usize).map_or(f64::NAN, |best| 100.0 * (cost / best - 1.0));
    }
    let count = count as f64;
    println!("{}{nodes}: mean {:.5}, gap {:.4} %, slowest {slowest:.3} s", P::NAME, total / count, gap / count);
}

fn dump<P: Problem>(nodes: &str, count: &str, numbers: impl Fn(&P::Instance) -> Vec<f64>) {
    for index in 0..count.parse().unwrap() {
        let numbers = numbers(&instance::<P>(nodes.parse().unwrap(), index));
        println!("{}", numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(" "));
    }
}

fn tsplib(folder: &str, seconds: f64, sizes: std::ops::RangeInclusive<usize>, names: Option<&str>) {
    let mut gaps = Vec::new();
    for line in std::fs::read_to_string(format!("{folder}/optimal.csv")).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (name, nodes, optimum): (_, usize, f64) =
            (fields[0], fields[1].parse().unwrap(), fields[3].parse().unwrap());
        if !sizes.contains(&nodes) || names.is_some_and(|names| !names.split(',').any(|wanted| wanted == name)) {
            continue;
        }
        let (cost, time) = match std::fs::read_to_string(format!("{folder}/{name}.tsp")) {
            Ok(text) => timed(&TspExpert, &symmetric(&File::read(&text)), seconds, 1),
            Err(_) => {
                let file = File::read(&std::fs::read_to_string(format!("{folder}/{name}.atsp")).unwrap());
                timed(&AtspExpert, &atsp::Instance::tour(nodes, file.numbers).unwrap(), seconds, 1)
            }
        };
        gaps.push(100.0 * (cost / optimum - 1.0));
        println!("{name:10} {nodes:6} {cost:10} {optimum:10} {:7.3} % {time:.3} s", gaps[gaps.len() - 1]);
    }
    println!("mean {:.4} % of {}", gaps.iter().sum::<f64>() / gaps.len() as f64, gaps.len());
}

/// Just enough of TSPLIB's format.
#[derive(Default)]
struct File {
    nodes: usize,
    kind: String,
    format: String,
    numbers: Vec<f64>,
    fixed: Vec<f64>,
}

impl File {
    fn read(text: &str) -> Self {
        let mut file = File::default();
        let mut section = "";
        for line in text.lines().map(str::trim) {
            match line.split_once(':').map(|(key, value)| (key.trim(), value.trim())) {
                Some(("DIMENSION", value)) => file.nodes = value.parse().unwrap(),
                Some(("EDGE_WEIGHT_TYPE", value)) => file.kind = value.into(),
                Some(("EDGE_WEIGHT_FORMAT", value)) => file.format = value.into(),
                None if line.starts_with(char::is_alphabetic) => section = line,
                _ => {
                    let numbers = line.split_whitespace().map_while(|number| number.parse::<f64>().ok());
                    match section {
                        "NODE_COORD_SECTION" | "EDGE_WEIGHT_SECTION" => file.numbers.extend(numbers),
                        "FIXED_EDGES_SECTION" => file.fixed.extend(numbers),
                        _ => {}
                    }
                }
            }
        }
        file
    }
}

fn symmetric(file: &File) -> tsp::Instance {
    let n = file.nodes;
    let space = if file.kind == "EXPLICIT" {
        let mut values = vec![0.0; n * n];
        let mut numbers = file.numbers.iter();
        for row in 0..n {
            let columns = match file.format.as_str() {
                "FULL_MATRIX" => 0..n,
                "UPPER_ROW" => row + 1..n,
                "UPPER_DIAG_ROW" => row..n,
                _ => 0..row + 1, // LOWER_DIAG_ROW
            };
            for column in columns {
                let value = *numbers.next().unwrap();
                values[row * n + column] = value;
                values[column * n + row] = value;
            }
        }
        Space::explicit(n, values)
    } else {
        let points = file.numbers.chunks(3).map(|node| [node[1], node[2]]).collect();
        Space::planar(points, Metric::from_name(&file.kind).unwrap())
    };
    match file.fixed[..] {
        [from, to, ..] => tsp::Instance::path(space.unwrap(), from as usize - 1, to as usize - 1),
        _ => tsp::Instance::tour(space.unwrap()),
    }
    .unwrap()
}
