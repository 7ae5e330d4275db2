//! Solve random TSP instances with several rollouts and compare them with nearest neighbour.
//!
//! Run with `cargo run --release --example solve_tsp`.

use std::sync::Arc;

use bqnco::core::rollout::{Decoding, Options, solve};
use bqnco::core::{Generate, GreedyHeuristic, SolutionSpace, random};
use bqnco::problems::Tsp;

#[allow(clippy::print_stdout)] // an example talks
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instances: Vec<_> = (0..32).map(|k| Arc::new(Tsp::generate(30, &mut random(1, &[k])))).collect();
    let mut means = Vec::new();
    for (name, decoding) in [
        ("nearest neighbour", Decoding::Greedy),
        ("best of 64 samples", Decoding::Sample { count: 64, temperature: 0.03, top_k: Some(5) }),
        ("beam 64", Decoding::Beam { width: 64 }),
    ] {
        let tours = solve::<Tsp>(&GreedyHeuristic, &instances, &Options { decoding, ..Options::default() })?;
        for (instance, tour) in instances.iter().zip(&tours) {
            Tsp::check(instance, &tour.steps)?;
        }
        means.push(tours.iter().map(|tour| tour.cost).sum::<f64>() / tours.len() as f64);
        println!("{name:<20} mean length {:.4}", means[means.len() - 1]);
    }
    assert!(means[1] < means[0], "sampling beats nearest neighbour");
    assert!(means[2] < means[0], "beam search beats nearest neighbour");
    Ok(())
}
