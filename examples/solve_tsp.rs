//! Solving with a shipped network and with the expert, first without and then with the problem's types. Run with
//! `cargo run --release --example solve_tsp`.

use std::sync::Arc;

use bqnco::core::rollout::{self, Decoding, Options};
use bqnco::core::{SolutionSpace, random};
use bqnco::net::Device;
use bqnco::problems::Tsp;
use bqnco::{Event, Instance, Model, Search, Solver};
use rand::RngExt;

#[allow(clippy::print_stdout)] // an example talks
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = random(1, &[]);
    let places: Vec<[f64; 2]> = (0..80).map(|_| rng.random()).collect();

    // Any problem, any search: the network `tsp` by greedy steps, by beam search, and the classical expert.
    let instance = Instance::tsp(&places)?;
    let mut lengths = Vec::new();
    for search in [Search::greedy(), Search::beam(16), Search::expert()] {
        let solution = Solver::new().search(search).solve(&instance)?;
        println!("{:<24} {} {:.4}", solution.found_by(), solution.objective(), solution.value());
        lengths.push(solution.value());
    }
    let shorter = |a: f64, b: f64| a <= b + 1e-9; // the same tour from another node
    assert!(
        shorter(lengths[2], lengths[1]) && shorter(lengths[1], lengths[0]),
        "more work, shorter tours: {lengths:?}"
    );

    // The same with events: every improvement of a reconstruction.
    let observer = |event: &Event<'_>| {
        if let Event::Improved { improvement, .. } = event {
            println!(
                "  {:>6.3} s  {} {:.4}",
                improvement.elapsed.as_secs_f64(),
                improvement.objective,
                improvement.value
            );
        }
    };
    let rebuilt = Solver::new().search(Search::reconstruct()).solve_observed(&instance, &observer)?;
    assert!(shorter(rebuilt.value(), lengths[0]));

    // The typed API below: a policy, a rollout, the problem's own referee.
    let typed = Arc::clone(instance.get::<Tsp>().ok_or("a TSP instance")?);
    let (network, _) = Model::named("tsp").ok_or("a shipped network")?.load(&Device::flex())?;
    let options = Options { decoding: Decoding::beam(16), shortlist: Some(70), ..Options::default() };
    let tours = rollout::solve::<Tsp>(&network, &[Arc::clone(&typed)], &options)?;
    Tsp::check(&typed, &tours[0].steps)?;
    assert!((tours[0].cost - lengths[1]).abs() < 1e-9, "the same network, the same beam");
    Ok(())
}
