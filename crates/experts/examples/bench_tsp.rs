#![allow(unsafe_code)]
//! Measures the TSP and ATSP experts.
use bqnco_core::*;
use bqnco_experts::{AtspExpert, TspExpert};
use bqnco_problems::{Atsp, Metric, Space, Tsp, atsp, tsp};
use std::time::{Duration, Instant};

fn read(path: &str) -> (usize, String, Vec<String>, Vec<f64>, Option<(usize, usize)>) {
    let text = std::fs::read_to_string(path).unwrap();
    let (mut n, mut kind, mut format) = (0, String::new(), String::new());
    let mut section = String::new();
    let mut numbers = Vec::new();
    let mut fixed = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            if let Some((k, v)) = line.split_once(':') {
                match k.trim() {
                    "DIMENSION" => n = v.trim().parse().unwrap(),
                    "EDGE_WEIGHT_TYPE" => kind = v.trim().into(),
                    "EDGE_WEIGHT_FORMAT" => format = v.trim().into(),
                    _ => {}
                }
            } else {
                section = line.into();
            }
        } else if section.starts_with("FIXED") {
            fixed.extend(line.split_whitespace().map(|x| x.parse::<i64>().unwrap()));
        } else if section == "NODE_COORD_SECTION" || section == "EDGE_WEIGHT_SECTION" {
            numbers.extend(line.split_whitespace().map(|x| x.parse::<f64>().unwrap()));
        }
    }
    let fixed = (fixed.len() >= 2).then(|| (fixed[0] as usize - 1, fixed[1] as usize - 1));
    (n, kind, vec![format], numbers, fixed)
}

fn load_tsp(path: &str) -> tsp::Instance {
    let (n, kind, format, numbers, fixed) = read(path);
    let space = if kind == "EXPLICIT" {
        let mut m = vec![0.0; n * n];
        let mut it = numbers.into_iter();
        for i in 0..n {
            let range = match format[0].as_str() {
                "FULL_MATRIX" => 0..n,
                "UPPER_ROW" => i + 1..n,
                "UPPER_DIAG_ROW" => i..n,
                "LOWER_DIAG_ROW" => 0..i + 1,
                "LOWER_ROW" => 0..i,
                f => panic!("{f}"),
            };
            for j in range {
                let v = it.next().unwrap();
                m[i * n + j] = v;
                m[j * n + i] = v;
            }
        }
        Space::explicit(n, m).unwrap()
    } else {
        Space::planar(numbers.chunks(3).map(|c| [c[1], c[2]]).collect(), Metric::from_name(&kind).unwrap()).unwrap()
    };
    match fixed {
        Some((a, b)) => tsp::Instance::path(space, a, b).unwrap(),
        None => tsp::Instance::tour(space).unwrap(),
    }
}

fn timed<P: Problem, E: Expert<P>>(e: &E, i: &P::Instance, seconds: f64, seed: u64) -> (f64, f64) {
    let begin = Instant::now();
    let deadline = begin + Duration::from_secs_f64(seconds);
    fn cpu() -> f64 {
        unsafe {
            let mut t: libc::timespec = std::mem::zeroed();
            libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t);
            t.tv_sec as f64 + 1e-9 * t.tv_nsec as f64
        }
    }
    let until = cpu() + seconds;
    let wall = std::env::var("WALL").is_ok();
    let stop = move || if wall { Instant::now() >= deadline } else { cpu() >= until };
    let s = e.solve(i, &Effort { seed, rounds: None, stop: &stop }).unwrap();
    P::check(i, &s.steps).unwrap();
    (s.cost, begin.elapsed().as_secs_f64())
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "random" => {
            // n count seconds [reference file]
            let (n, count, seconds): (usize, u64, f64) =
                (args[2].parse().unwrap(), args[3].parse().unwrap(), args[4].parse().unwrap());
            let reference: Option<Vec<f64>> =
                args.get(5).map(|f| std::fs::read_to_string(f).unwrap().lines().map(|l| l.parse().unwrap()).collect());
            let (mut sum, mut gap, mut slow) = (0.0, 0.0, 0.0f64);
            for k in 0..count {
                let i = Tsp::generate(n, &mut random(7, &[n as u64, k]));
                let (cost, t) = timed::<Tsp, _>(&TspExpert, &i, seconds, k);
                sum += cost;
                slow = slow.max(t);
                if let Some(r) = &reference {
                    gap += cost / r[k as usize] - 1.0;
                }
            }
            println!(
                "tsp{n}: mean {:.5} gap {:.4} % slowest {slow:.3} s",
                sum / count as f64,
                100.0 * gap / count as f64
            );
        }
        "arandom" => {
            // n count seconds [reference file]
            let (n, count, seconds): (usize, u64, f64) =
                (args[2].parse().unwrap(), args[3].parse().unwrap(), args[4].parse().unwrap());
            let reference: Option<Vec<f64>> =
                args.get(5).map(|f| std::fs::read_to_string(f).unwrap().lines().map(|l| l.parse().unwrap()).collect());
            let (mut sum, mut gap, mut slow) = (0.0, 0.0, 0.0f64);
            for k in 0..count {
                let i = Atsp::generate(n, &mut random(7, &[n as u64, k]));
                let (cost, t) = timed::<Atsp, _>(&AtspExpert, &i, seconds, k);
                sum += cost;
                slow = slow.max(t);
                if let Some(r) = &reference {
                    gap += cost / r[k as usize] - 1.0;
                }
            }
            println!(
                "atsp{n}: mean {:.5} gap {:.4} % slowest {slow:.3} s",
                sum / count as f64,
                100.0 * gap / count as f64
            );
        }
        "adump" => {
            // n count: matrices for the reference solver
            let (n, count): (usize, u64) = (args[2].parse().unwrap(), args[3].parse().unwrap());
            for k in 0..count {
                let i = Atsp::generate(n, &mut random(7, &[n as u64, k]));
                println!("{}", i.costs().iter().map(|c| format!("{c:?}")).collect::<Vec<_>>().join(" "));
            }
        }
        "alib" => {
            // folder seconds [names]
            let seconds: f64 = args[3].parse().unwrap();
            let table = std::fs::read_to_string(format!("{}/optimal.csv", args[2])).unwrap();
            let mut gaps = Vec::new();
            for line in table.lines().skip(1) {
                let f: Vec<&str> = line.split(',').collect();
                if args.get(4).is_some_and(|x| !x.split(',').any(|x| x == f[0])) {
                    continue;
                }
                let opt: f64 = f[3].parse().unwrap();
                let (n, _, _, numbers, _) = read(&format!("{}/{}.atsp", args[2], f[0]));
                let (cost, t) = timed::<Atsp, _>(&AtspExpert, &atsp::Instance::tour(n, numbers).unwrap(), seconds, 1);
                gaps.push(100.0 * (cost / opt - 1.0));
                println!("{:10} {n:6} {cost:10} {opt:10} {:7.3} % {t:.3} s", f[0], gaps[gaps.len() - 1]);
            }
            println!("mean {:.4} % of {}", gaps.iter().sum::<f64>() / gaps.len() as f64, gaps.len());
        }
        "dump" => {
            // n count: coordinates for the reference solver
            let (n, count): (usize, u64) = (args[2].parse().unwrap(), args[3].parse().unwrap());
            for k in 0..count {
                let i = Tsp::generate(n, &mut random(7, &[n as u64, k]));
                println!(
                    "{}",
                    i.space().map().iter().map(|p| format!("{:?} {:?}", p[0], p[1])).collect::<Vec<_>>().join(" ")
                );
            }
        }
        "lib" => {
            // folder seconds least most
            let (seconds, least, most): (f64, usize, usize) =
                (args[3].parse().unwrap(), args[4].parse().unwrap(), args[5].parse().unwrap());
            let table = std::fs::read_to_string(format!("{}/optimal.csv", args[2])).unwrap();
            let mut gaps = Vec::new();
            for line in table.lines().skip(1) {
                let f: Vec<&str> = line.split(',').collect();
                let n: usize = f[1].parse().unwrap();
                if n < least || n > most || args.get(6).is_some_and(|x| !x.split(',').any(|x| x == f[0])) {
                    continue;
                }
                let opt: f64 = f[3].parse().unwrap();
                let (cost, t) =
                    timed::<Tsp, _>(&TspExpert, &load_tsp(&format!("{}/{}.tsp", args[2], f[0])), seconds, 1);
                gaps.push(100.0 * (cost / opt - 1.0));
                println!("{:10} {n:6} {cost:10} {opt:10} {:7.3} % {t:.3} s", f[0], gaps[gaps.len() - 1]);
            }
            println!("mean {:.4} % of {}", gaps.iter().sum::<f64>() / gaps.len() as f64, gaps.len());
        }
        _ => {}
    }
}
