//! The ATSP experts against enumeration, exact search and TSPLIB's optima.
#![allow(clippy::unwrap_used)] // a panic is a failed test

use std::sync::atomic::{AtomicU64, Ordering};

use bqnco_core::{DirectMdp, Effort, Expert, ExpertError, Generate, Problem, Solution, SolutionSpace, random};
use bqnco_experts::AtspExpert;
use bqnco_experts::atsp::exact;
use bqnco_problems::Atsp;
use bqnco_problems::atsp::Instance;
use bqnco_problems::tsp::Tail;
use bqnco_testing::shared_data;
use rand::RngExt;
use rand::seq::SliceRandom;

fn improve(instance: &Instance, steps: &[usize], effort: &Effort<'_>) -> Result<Solution<usize>, ExpertError> {
    AtspExpert.improve(instance, Solution::new::<Atsp>(instance, steps.to_vec()), effort)
}

fn solve(instance: &Instance, rounds: u64) -> Solution<usize> {
    let solution = AtspExpert.solve(instance, &Effort::rounds(rounds, 1)).expect("the search always answers");
    Atsp::check(instance, &solution.steps).expect("a solution");
    solution
}

/// Unstructured integer costs; a small range makes many ties.
fn scattered(nodes: usize, largest: u32, place: u64) -> Instance {
    let mut rng = random(31, &[place]);
    Instance::tour(nodes, (0..nodes * nodes).map(|_| f64::from(rng.random_range(0..=largest))).collect()).unwrap()
}

/// The instance without its last node, as a path from node 0 to the previous node.
fn as_path(instance: &Instance) -> Instance {
    let n = instance.nodes() as u32;
    Atsp::extract(instance, &Tail { origin: 0, rest: (1..n - 1).collect(), destination: n as usize - 1 })
}

#[test]
fn tiny_tours_and_paths_are_optimal() {
    for nodes in 3..=8 {
        for place in 0..4 {
            let tour = scattered(nodes, if place % 2 == 0 { 1000 } else { 3 }, place);
            for instance in [as_path(&tour), tour] {
                let optimum = DirectMdp::<Atsp>::enumerate(&instance).optimum();
                assert_eq!(solve(&instance, 200).cost, optimum, "{nodes} nodes");
                assert_eq!(exact(&instance).unwrap().cost, optimum, "{nodes} nodes");
            }
        }
    }
}

#[test]
fn small_tours_and_paths_reach_the_exact_cost() {
    for place in 0..6 {
        let close = Atsp::generate(12, &mut random(1, &[place])); // nearly symmetric: segments get reversed
        for instance in [as_path(&close), close, as_path(&scattered(12, 100, place)), scattered(12, 100, place)] {
            let (found, optimum) = (solve(&instance, 500).cost, exact(&instance).unwrap().cost);
            assert!((found - optimum).abs() < 1e-9, "{found}, optimum {optimum}");
        }
    }
}

#[test]
fn exact_search_rejects_large_instances() {
    assert!(exact(&scattered(21, 10, 0)).is_err());
}

#[test]
fn improving_never_increases_the_cost() {
    for place in 0..5 {
        for instance in [Atsp::generate(60, &mut random(2, &[place])), scattered(60, 1000, place)] {
            let mut steps = Atsp::steps(&instance);
            steps.shuffle(&mut random(5, &[place]));
            let start = Atsp::cost(&instance, &steps);
            let local = improve(&instance, &steps, &Effort::rounds(0, 1)).unwrap();
            let longer = improve(&instance, &local.steps, &Effort::rounds(100, 1)).unwrap();
            Atsp::check(&instance, &longer.steps).unwrap();
            assert!(local.cost < start && longer.cost <= local.cost);
        }
    }
    assert!(improve(&scattered(9, 9, 0), &[1, 1], &Effort::rounds(1, 1)).is_err());
}

#[test]
fn same_seed_and_rounds_give_the_same_tour() {
    let instance = Atsp::generate(100, &mut random(8, &[]));
    assert_eq!(solve(&instance, 300), solve(&instance, 300));
}

#[test]
fn stopping_at_any_time_gives_a_tour() {
    let instance = Atsp::generate(200, &mut random(9, &[]));
    for limit in [0, 1, 100, 300, 500, 700, 1000] {
        let asked = AtomicU64::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= limit;
        let solution =
            AtspExpert.solve(&instance, &Effort { seed: 1, rounds: None, patience: None, stop: &stop }).unwrap();
        Atsp::check(&instance, &solution.steps).unwrap();
        assert!(asked.into_inner() <= limit + 4);
    }
}

#[test]
fn equal_and_huge_costs_are_handled() {
    assert_eq!(solve(&scattered(40, 0, 0), 50).cost, 0.0);
    let huge = Instance::tour(20, vec![1e18; 400]).unwrap();
    assert!(solve(&huge, 50).cost.is_finite());
}

#[test]
fn finds_tsplib_optima() {
    let Some(data) = shared_data() else { return };
    // TSPLIB95's optima.
    for (name, nodes, optimum) in
        [("br17", 17, 39.0), ("ftv33", 34, 1286.0), ("ry48p", 48, 14422.0), ("p43", 43, 5620.0)]
    {
        let text = std::fs::read_to_string(data.join(format!("atsp/{name}.atsp"))).unwrap();
        let matrix = text.split("EDGE_WEIGHT_SECTION").nth(1).unwrap();
        let costs = matrix.split_whitespace().map_while(|number| number.parse().ok()).collect();
        assert_eq!(solve(&Instance::tour(nodes, costs).unwrap(), 5_000).cost, optimum, "{name}");
    }
}
