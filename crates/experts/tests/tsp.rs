//! The TSP experts against enumeration, against each other, and on instances of every kind.
#![allow(clippy::unwrap_used)] // a panic is a failed test

use std::sync::atomic::{AtomicU64, Ordering};

use bqnco_core::{DirectMdp, Effort, Expert, ExpertError, Generate, Solution, SolutionSpace, random};
use bqnco_experts::TspExpert;
use bqnco_experts::tsp::{Insertion, Rule};
use bqnco_problems::tsp::Instance;
use bqnco_problems::{Geometry, Metric, Tsp};
use rand::RngExt;
use rand::seq::SliceRandom;

fn improve(instance: &Instance, steps: &[usize], effort: &Effort<'_>) -> Result<Solution<usize>, ExpertError> {
    TspExpert.improve(instance, Solution::new::<Tsp>(instance, steps.to_vec()), effort)
}

fn solve(instance: &Instance, rounds: u64) -> Solution<usize> {
    let solution = TspExpert.solve(instance, &Effort::rounds(rounds, 1)).expect("the search always answers");
    Tsp::check(instance, &solution.steps).expect("a solution");
    assert_eq!(solution.cost, Tsp::cost(instance, &solution.steps));
    solution
}

/// Points on a coarse grid, so that ties and duplicates occur.
fn grid_points(nodes: usize, place: u64) -> Vec<[f64; 2]> {
    let mut rng = random(11, &[place]);
    (0..nodes).map(|_| [rng.random_range(0..60) as f64, rng.random_range(0..60) as f64]).collect()
}

/// The same distances as a matrix.
fn as_matrix(geometry: &Geometry) -> Geometry {
    let n = geometry.len();
    let values = (0..n * n).map(|k| geometry.distance(k / n, k % n)).collect();
    Geometry::explicit(n, values).expect("distances are symmetric")
}

#[test]
fn tiny_tours_and_paths_are_optimal() {
    for nodes in 2..=8 {
        for place in 0..4 {
            let metric = if place % 2 == 0 { Metric::Exact } else { Metric::Euc2d };
            let geometry = Geometry::planar(grid_points(nodes, place), metric).unwrap();
            let instances = [
                Instance::tour(geometry.clone()).unwrap(),
                Instance::path(geometry.clone(), nodes - 1, 0).unwrap(),
                Instance::path(geometry.clone(), 0, nodes / 2).unwrap(),
                Instance::path(as_matrix(&geometry), 0, 1).unwrap(),
            ];
            for instance in instances {
                let optimum = DirectMdp::<Tsp>::enumerate(&instance).optimum();
                let found = solve(&instance, 100).cost;
                assert!((found - optimum).abs() < 1e-9, "{nodes} nodes: {found}, optimum {optimum}");
            }
        }
    }
}

#[test]
fn every_metric_gives_solutions() {
    for metric in Metric::ALL {
        let points = grid_points(400, 5);
        let geometry = match metric {
            Metric::Euc3d => Geometry::spatial(points.iter().map(|&[x, y]| [x, y, x * y]).collect()),
            _ => Geometry::planar(points, metric),
        };
        let geometry = geometry.unwrap();
        let tour = solve(&Instance::tour(geometry.clone()).unwrap(), 300);
        let path = solve(&Instance::path(geometry.clone(), 17, 3).unwrap(), 300);
        assert!(path.cost < 1.2 * tour.cost, "{metric:?}: path {}, tour {}", path.cost, tour.cost);
        let matrix = solve(&Instance::tour(as_matrix(&geometry)).unwrap(), 300);
        assert!((matrix.cost / tour.cost - 1.0).abs() < 0.1, "{metric:?}: {} or {}", matrix.cost, tour.cost);
    }
}

#[test]
fn duplicate_points_are_handled() {
    for nodes in [8, 9, 50, 500] {
        let same = Geometry::planar(vec![[3.0, 4.0]; nodes], Metric::Exact).unwrap();
        assert_eq!(solve(&Instance::tour(same.clone()).unwrap(), 20).cost, 0.0);
        assert_eq!(solve(&Instance::path(same, 0, 1).unwrap(), 20).cost, 0.0);
        // Two clusters of identical points: the tour goes there and back.
        let heaps = (0..nodes).map(|node| [(node % 2) as f64, 0.0]).collect();
        let instance = Instance::tour(Geometry::planar(heaps, Metric::Exact).unwrap()).unwrap();
        assert_eq!(solve(&instance, 100).cost, 2.0);
    }
}

#[test]
fn coordinates_too_large_to_square_still_give_a_solution() {
    let points = (0..20).map(|node| [node as f64 * 5e16, 0.0]).collect();
    solve(&Instance::tour(Geometry::planar(points, Metric::Exact).unwrap()).unwrap(), 20);
}

#[test]
fn improving_never_increases_the_cost() {
    for place in 0..10 {
        let geometry = Tsp::generate(60, &mut random(3, &[place])).geometry().clone();
        for instance in [Instance::tour(geometry.clone()).unwrap(), Instance::path(geometry, 4, 40).unwrap()] {
            let mut steps = Tsp::steps(&instance);
            steps.shuffle(&mut random(5, &[place]));
            let start = Tsp::cost(&instance, &steps);
            let local = improve(&instance, &steps, &Effort::rounds(0, 1)).unwrap();
            let longer = improve(&instance, &local.steps, &Effort::rounds(200, 1)).unwrap();
            Tsp::check(&instance, &longer.steps).unwrap();
            assert!(local.cost < start && longer.cost <= local.cost);
            let unchanged =
                improve(&instance, &steps, &Effort { seed: 1, rounds: None, patience: None, stop: &|| true }).unwrap();
            assert_eq!(unchanged.steps, steps);
        }
    }
}

#[test]
fn infeasible_starts_are_rejected() {
    let instance = Tsp::generate(10, &mut random(3, &[]));
    assert!(improve(&instance, &[1, 2, 3], &Effort::rounds(1, 1)).is_err());
}

#[test]
fn more_rounds_give_shorter_tours_and_equal_effort_gives_equal_tours() {
    let instance = Tsp::generate(300, &mut random(8, &[]));
    let [few, many] = [0, 2000].map(|rounds| solve(&instance, rounds));
    assert!(many.cost < few.cost);
    assert_eq!(many, solve(&instance, 2000));
}

#[test]
fn stopping_at_any_time_gives_a_tour() {
    let instance = Tsp::generate(2000, &mut random(9, &[]));
    for limit in [0, 1, 10, 40, 60, 80, 200] {
        let asked = AtomicU64::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= limit;
        let solution =
            TspExpert.solve(&instance, &Effort { seed: 1, rounds: None, patience: None, stop: &stop }).unwrap();
        Tsp::check(&instance, &solution.steps).unwrap();
        assert!(asked.into_inner() <= limit + 2);
    }
}

#[test]
fn insertion_heuristics_reach_their_published_quality() {
    let instances: Vec<Instance> = (0..5).map(|place| Tsp::generate(200, &mut random(21, &[place]))).collect();
    let best: f64 = instances.iter().map(|instance| solve(instance, 500).cost).sum();
    // Johnson and McGeoch (1997) put farthest insertion near 13-16 % and cheapest near 16-22 % above the bound.
    for (rule, least, most) in [(Rule::Random, 1.04, 1.2), (Rule::Farthest, 1.03, 1.2), (Rule::Cheapest, 1.08, 1.3)] {
        let mut total = 0.0;
        for instance in &instances {
            let solution = Insertion { rule }.solve(instance, &Effort::rounds(0, 2)).unwrap();
            Tsp::check(instance, &solution.steps).unwrap();
            total += solution.cost;
            let path = Instance::path(instance.geometry().clone(), 3, 8).unwrap();
            for stop in [false, true] {
                let effort = Effort { seed: 1, rounds: None, patience: None, stop: &|| stop };
                Tsp::check(&path, &Insertion { rule }.solve(&path, &effort).unwrap().steps).unwrap();
            }
        }
        assert!((least..most).contains(&(total / best)), "{rule:?} is {} times the best", total / best);
    }
    let two = Instance::tour(Geometry::planar(vec![[0.0, 0.0], [3.0, 4.0]], Metric::Exact).unwrap()).unwrap();
    assert_eq!(Insertion { rule: Rule::Cheapest }.solve(&two, &Effort::rounds(0, 1)).unwrap().cost, 10.0);
}
