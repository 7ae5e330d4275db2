//! Draws random instances of all problems, small and large, with solutions of the greedy heuristic, and a chart:
//! `cargo run --release -p bqnco-problems --example gallery -- FOLDER`.

use std::path::PathBuf;
use std::sync::Arc;

use bqnco_core::{Generate, GreedyHeuristic, random, rollout};
use bqnco_plot::{Chart, Draw, Picture, Scale};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("gallery".into()));
    std::fs::create_dir_all(&folder)?;
    let save = |name: String, picture: Picture| -> Result<(), Failure> {
        std::fs::write(folder.join(&name).with_extension("svg"), picture.to_svg())?;
        Ok(std::fs::write(folder.join(&name).with_extension("png"), picture.to_png(800)?)?)
    };
    for size in [5, 100, 1_000, 18_512] {
        save(format!("tsp{size}"), solved::<Tsp>(size)?)?;
    }
    for size in [8, 50, 443] {
        save(format!("atsp{size}"), solved::<Atsp>(size)?)?;
    }
    for size in [10, 100, 500, 2_000] {
        save(format!("cvrp{size}"), solved::<Cvrp>(size)?)?;
    }
    for size in [20, 100, 1_000] {
        save(format!("op{size}"), solved::<Op>(size)?)?;
    }
    for size in [10, 200, 5_000] {
        save(format!("knapsack{size}"), solved::<Knapsack>(size)?)?;
    }
    save("chart".into(), chart())
}

/// A random instance with the solution of the greedy heuristic.
fn solved<P: Draw + Generate>(size: usize) -> Result<Picture, Failure> {
    let instance = Arc::new(P::generate(size, &mut random(1, &[])));
    let solutions =
        rollout::solve::<P>(&GreedyHeuristic, std::slice::from_ref(&instance), &rollout::Options::default())?;
    Ok(P::draw(&instance, Some(&solutions[0].steps)))
}

fn chart() -> Picture {
    let samples = || (0..60).map(|k| 1e3 * 10f64.powf(f64::from(k) / 20.0));
    let gap = |start: f64, power: f64| samples().map(|n| [n, start * (n / 1e3).powf(power)]).collect();
    let chart = Chart::new("Gap against samples").caption("power laws, for show");
    let chart = chart.x("samples", Scale::Log).y("gap, %", Scale::Log);
    let chart = chart.line("ReZero, AdamW", gap(60.0, -0.33)).line("pre-norm, Muon", gap(50.0, -0.43));
    chart.scatter("measured", vec![[2e3, 47.0], [1e4, 20.0], [1e5, 7.5], [5e5, 3.0]]).draw()
}
