//! The OP expert against enumeration, and its documented guarantees.

use std::sync::atomic::{AtomicUsize, Ordering};

use bqnco_core::{DirectMdp, Effort, Expert, Generate, Problem, Random, Solution, SolutionSpace, random, replay};
use bqnco_experts::OpExpert;
use bqnco_problems::op::Instance;
use bqnco_problems::{Geometry, Metric, Op};
use bqnco_testing::shared_data;
use rand::RngExt;

fn solve(instance: &Instance, rounds: u64) -> Solution<usize> {
    let solution = OpExpert.solve(instance, &Effort::rounds(rounds, 1)).expect("always an answer");
    Op::check(instance, &solution.steps).expect("feasible");
    assert_eq!(solution.cost, Op::cost(instance, &solution.steps));
    solution
}

fn points(n: usize, size: f64, rng: &mut Random) -> Vec<[f64; 2]> {
    (0..n).map(|_| [size * rng.random::<f64>(), size * rng.random::<f64>()]).collect()
}

fn prizes(n: usize, rng: &mut Random) -> Vec<f64> {
    (0..n).map(|_| f64::from(rng.random_range(0..10u32))).collect()
}

/// A random symmetric matrix of small integers that violates the triangle inequality.
fn matrix(n: usize, rng: &mut Random) -> Geometry {
    let mut values = vec![0.0; n * n];
    for a in 0..n {
        for b in 0..a {
            let distance = f64::from(rng.random_range(1..30u32));
            (values[a * n + b], values[b * n + a]) = (distance, distance);
        }
    }
    Geometry::explicit(n, values).expect("valid")
}

#[test]
fn equals_enumeration_on_tiny_instances() {
    for round in 0..240u64 {
        let mut rng = random(1, &[round]);
        let n = rng.random_range(2..=7);
        let (geometry, size) = match round % 4 {
            0 => (Geometry::planar(points(n, 1.0, &mut rng), Metric::Exact).expect("valid"), 1.0),
            1 => (Geometry::planar(points(n, 100.0, &mut rng), Metric::Euc2d).expect("valid"), 100.0),
            2 => (Geometry::planar(points(n, 60.0, &mut rng), Metric::Geo).expect("valid"), 8000.0),
            _ => (matrix(n, &mut rng), 30.0),
        };
        let limit = size * rng.random_range(0.2..3.0);
        let prizes = prizes(n, &mut rng);
        let instance = Instance::new(geometry, prizes, limit).expect("valid");
        let (found, best) = (solve(&instance, 300).cost, DirectMdp::<Op>::enumerate(&instance).optimum());
        assert!((found - best).abs() < 1e-9, "{found} instead of {best}: round {round}, {instance:?}");
    }
}

#[test]
fn tails_with_different_ends_are_solved() {
    let mut solved = 0;
    for round in 0..40u64 {
        let mut rng = random(2, &[round]);
        let whole = Instance::new(
            Geometry::planar(points(8, 1.0, &mut rng), Metric::Exact).expect("valid"),
            prizes(8, &mut rng),
            rng.random_range(1.0..3.0),
        );
        let whole = whole.expect("valid");
        let mut tail = Op::whole(&whole);
        let Some((_, step)) = Op::allowed(&whole, &tail).next() else { continue };
        Op::advance(&whole, &mut tail, step);
        let tail = Op::extract(&whole, &tail);
        let (found, best) = (solve(&tail, 300).cost, DirectMdp::<Op>::enumerate(&tail).optimum());
        assert!((found - best).abs() < 1e-9, "{found} instead of {best}: round {round}");
        solved += 1;
    }
    assert!(solved > 20, "only {solved} instances have a node in reach");
}

#[test]
fn handles_no_node_in_reach_and_all_nodes_in_reach() {
    let mut rng = random(3, &[]);
    let places = points(40, 1.0, &mut rng);
    let geometry = || Geometry::planar(places.clone(), Metric::Exact).expect("valid");
    let near = Instance::new(geometry(), vec![1.0; 40], 1e-6).expect("valid");
    assert!(solve(&near, 50).steps.is_empty());
    let far = Instance::new(geometry(), vec![1.0; 40], 1e6).expect("valid");
    assert_eq!(solve(&far, u64::MAX).steps.len(), 39);
    let worthless = Instance::new(geometry(), vec![0.0; 40], 3.0).expect("valid");
    assert!(solve(&worthless, u64::MAX).steps.is_empty());
    let twins = Geometry::planar(vec![[0.5, 0.5]; 10], Metric::Exact).expect("valid");
    assert_eq!(solve(&Instance::new(twins, vec![1.0; 10], 0.1).expect("valid"), 50).steps.len(), 9);
}

#[test]
fn same_seed_and_rounds_give_the_same_route_and_more_rounds_are_never_worse() {
    let instance = Op::generate(60, &mut random(4, &[]));
    let costs: Vec<f64> = [0, 10, 100, 1000].map(|rounds| solve(&instance, rounds).cost).to_vec();
    assert!(costs.is_sorted_by(|earlier, later| later <= earlier), "{costs:?}");
    assert_eq!(solve(&instance, 200), solve(&instance, 200));
}

#[test]
fn routes_replay_in_the_bq_mdp() {
    for round in 0..20u64 {
        let instance = std::sync::Arc::new(Op::generate(30, &mut random(5, &[round])));
        let steps = solve(&instance, 200).steps;
        replay::<Op>(&instance, &steps).expect("replayable");
    }
}

#[test]
fn stopping_at_any_time_gives_a_feasible_route() {
    let mut rng = random(6, &[]);
    let small = Op::generate(50, &mut rng);
    let large = Op::generate(1500, &mut rng); // no matrix, neighbours by sweep
    for (instance, last) in [(&small, 400), (&large, 3000)] {
        for patience in (0..last).step_by(last / 15) {
            let asked = AtomicUsize::new(0);
            let stop = || asked.fetch_add(1, Ordering::Relaxed) >= patience;
            let effort = Effort { seed: 1, rounds: None, patience: None, stop: &stop };
            let solution = OpExpert.solve(instance, &effort).expect("always an answer");
            Op::check(instance, &solution.steps).expect("feasible");
            assert!(asked.load(Ordering::Relaxed) <= patience + 8, "kept working after the stop");
        }
    }
}

#[test]
fn large_instances_are_filled_like_small_ones() {
    // The same points with and without a distance matrix: both code paths, about the same quality.
    let mut rng = random(7, &[]);
    let places = points(1150, 1.0, &mut rng);
    let solve_first = |count: usize, padding: usize| {
        let mut places = places[..count].to_vec();
        places.extend((0..padding).map(|k| [50.0 + k as f64, 50.0])); // out of reach
        let prizes = vec![1.0; places.len()];
        let geometry = Geometry::planar(places, Metric::Exact).expect("valid");
        -solve(&Instance::new(geometry, prizes, 4.0).expect("valid"), 20).cost
    };
    let (by_matrix, by_sweep) = (solve_first(1150, 0), solve_first(1150, 100));
    assert!((by_matrix - by_sweep).abs() < 0.1 * by_matrix, "{by_matrix} {by_sweep}");
}

#[test]
fn finds_published_optima_of_small_instances() {
    let Some(data) = shared_data() else { return };
    // Proven by branch and cut (OPLib).
    for (name, optimum) in
        [("gen1/eil51-gen1-50", 29.0), ("gen2/berlin52-gen2-50", 1897.0), ("gen3/st70-gen3-50", 2108.0)]
    {
        let text = std::fs::read_to_string(data.join(format!("op/{name}.oplib"))).expect("an instance");
        let section = |key: &str, columns: usize| -> Vec<f64> {
            let words = text.split(key).nth(1).expect("section").split_whitespace();
            let numbers: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
            numbers.chunks(columns).flat_map(|row| row[1..].to_vec()).collect()
        };
        let limit = text.split("COST_LIMIT :").nth(1).and_then(|rest| rest.split_whitespace().next());
        let limit: f64 = limit.expect("limit").parse().expect("number");
        let points = section("NODE_COORD_SECTION", 3).chunks(2).map(|row| [row[0], row[1]]).collect();
        let geometry = Geometry::planar(points, Metric::Euc2d).expect("valid");
        let instance = Instance::new(geometry, section("NODE_SCORE_SECTION", 2), limit).expect("valid");
        assert_eq!(-solve(&instance, 6000).cost, optimum, "{name}");
    }
}

#[test]
fn a_start_is_kept_and_improved() {
    let instance = Op::generate(60, &mut random(3, &[]));
    let long = OpExpert.solve(&instance, &Effort::rounds(3000, 1)).expect("feasible");
    let kept = OpExpert.improve(&instance, long.clone(), &Effort::rounds(0, 2)).expect("feasible");
    assert!(kept.cost <= long.cost, "{} after {}", kept.cost, long.cost);
    let scratch = OpExpert.solve(&instance, &Effort::rounds(0, 2)).expect("feasible");
    assert!(kept.cost < scratch.cost, "without rounds a construction is worse than a search");
    let foreign = Solution { steps: vec![1, 1], cost: 0.0 };
    assert!(OpExpert.improve(&instance, foreign, &Effort::rounds(0, 2)).is_err());
}
