//! The experts against enumeration, the feasibility check and their documented guarantees.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};

use bqnco_core::{
    DirectMdp, Effort, Expert, ExpertError, Generate, Problem, Random, Solution, SolutionSpace, Subproblem, never,
    random,
};
use bqnco_problems::cvrp::{self, Instance};
use bqnco_problems::{Cvrp, Geometry, Metric};
use rand::RngExt;
use rand::seq::SliceRandom;

use super::data::Data;
use super::decompose::FIRST_PART;
use super::local_search::LocalSearch;
use super::routes::Routes;
use super::split::Split;
use super::{CvrpExpert, Savings};

/// Random points and demands, capacities from one customer per route to all in one.
fn instance(customers: usize, rng: &mut Random) -> Instance {
    let side = [1.0, 100.0, 1e4][rng.random_range(0..3)];
    let metric = [Metric::Exact, Metric::Euc2d, Metric::Ceil2d, Metric::Att][rng.random_range(0..4)];
    let points = (0..=customers).map(|_| [0, 1].map(|_| side * rng.random::<f64>())).collect();
    let integral = rng.random::<bool>();
    let demand = |_| if integral { f64::from(rng.random_range(0..10u8)) } else { 0.1 * rng.random_range(0.0..10.0) };
    let demands: Vec<f64> = std::iter::once(0.0).chain((0..customers).map(demand)).collect();
    let largest = demands.iter().copied().fold(0.0, f64::max);
    let capacity = (largest * [1.0, 1.5, 3.0, 7.0, 1e3][rng.random_range(0..5)]).max(1.0);
    Instance::new(Geometry::planar(points, metric).unwrap(), demands, capacity).unwrap()
}

fn random_routes(customers: usize, rng: &mut Random) -> Routes {
    let mut tour: Vec<u32> = (1..=customers as u32).collect();
    tour.shuffle(rng);
    let mut routes = Routes::default();
    while !tour.is_empty() {
        let rest = tour.split_off(rng.random_range(0..tour.len()) + 1);
        routes.push(std::mem::replace(&mut tour, rest));
    }
    routes
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// Checks a solution with the problem's own check and by replaying it in the BQ-MDP.
fn assert_valid(instance: &Instance, solution: &bqnco_core::Solution<cvrp::Step>) {
    Cvrp::check(instance, &solution.steps).unwrap();
    assert_eq!(solution.cost, Cvrp::cost(instance, &solution.steps));
    let mut state = Subproblem::<Cvrp>::whole(std::sync::Arc::new(instance.clone()));
    for &step in &solution.steps {
        assert!(state.allowed().any(|(_, allowed)| allowed == step), "{step:?} cannot be replayed");
        state.take(step);
    }
}

#[test]
fn finds_the_optimum_of_tiny_instances() {
    let mut rng = random(1, &[]);
    for customers in [1, 2, 3, 4, 5, 5, 5, 6, 6, 6] {
        let instance = instance(customers, &mut rng);
        let optimum = DirectMdp::<Cvrp>::enumerate(&instance).optimum();
        let found = CvrpExpert::default().solve(&instance, &Effort::rounds(60, 1)).unwrap();
        assert_valid(&instance, &found);
        assert!(same(found.cost, optimum), "{} instead of {optimum} in {instance:?}", found.cost);
    }
}

#[test]
fn solutions_are_valid_for_all_sizes_and_capacities() {
    let mut rng = random(2, &[]);
    for round in 0..60 {
        let customers = rng.random_range(1..60);
        let instance = instance(customers, &mut rng);
        let savings = Savings::default().solve(&instance, &Effort::rounds(0, 0)).unwrap();
        assert_valid(&instance, &savings);
        let found = CvrpExpert::default().solve(&instance, &Effort::rounds(30, round)).unwrap();
        assert_valid(&instance, &found);
        assert!(found.cost <= savings.cost * (1.0 + 1e-9));
    }
}

#[test]
fn equal_seeds_and_rounds_give_equal_solutions() {
    let instance = Cvrp::generate(40, &mut random(3, &[]));
    let solve = |seed| CvrpExpert::default().solve(&instance, &Effort::rounds(150, seed)).unwrap();
    assert_eq!(solve(5), solve(5));
    assert_ne!(solve(5).steps, solve(6).steps); // many routes, even more orders
}

#[test]
fn handles_degenerate_instances() {
    let point = |customers: usize| Geometry::planar(vec![[0.5, 0.5]; customers + 1], Metric::Exact).unwrap();
    let matrix = |nodes: usize| {
        let entry = |k: usize| ((k / nodes) * (k % nodes) % 7) as f64; // symmetric, without triangle inequality
        Geometry::explicit(nodes, (0..nodes * nodes).map(entry).collect()).unwrap()
    };
    let line = Geometry::planar((0..30).map(|x| [f64::from(x), 0.0]).collect(), Metric::Exact).unwrap();
    let demands = |customers: usize, demand: f64| [vec![0.0], vec![demand; customers]].concat();
    let cases = [
        Instance::new(point(1), demands(1, 1.0), 1.0),
        Instance::new(point(20), demands(20, 1.0), 3.0),
        Instance::new(line.clone(), demands(29, 0.0), 1.0),
        Instance::new(line.clone(), demands(29, 0.1), 0.3), // 0.1 + 0.1 + 0.1 is above 0.3 in floating point
        Instance::new(line, demands(29, 0.6), 1.0),
        Instance::new(matrix(25), demands(24, 2.0), 7.0),
    ];
    let expected = [Some(0.0), Some(0.0), Some(58.0), None, Some(870.0), None];
    for (case, expected) in cases.into_iter().zip(expected) {
        let instance = case.unwrap();
        let found = CvrpExpert::default().solve(&instance, &Effort::rounds(40, 1)).unwrap();
        assert_valid(&instance, &found);
        assert!(expected.is_none_or(|cost| same(cost, found.cost)), "{expected:?} {}", found.cost);
    }
}

#[test]
fn demands_that_sum_to_the_capacity_fit_despite_rounding() {
    let points = (0..10).map(|x| [f64::from(x), 0.0]).collect();
    let demands = [vec![0.0], vec![0.1; 9]].concat();
    let instance = Instance::new(Geometry::planar(points, Metric::Exact).unwrap(), demands, 0.3).unwrap();
    let found = CvrpExpert::default().solve(&instance, &Effort::rounds(50, 1)).unwrap();
    assert!(same(found.cost, 2.0 * (9.0 + 6.0 + 3.0)), "{}", found.cost);
}

#[test]
fn tails_and_infeasible_solutions_are_refused() {
    let whole = Cvrp::generate(8, &mut random(4, &[]));
    let mut tail = Cvrp::whole(&whole);
    Cvrp::advance(&whole, &mut tail, cvrp::Step { customer: 3, via_depot: false });
    let tail = Cvrp::extract(&whole, &tail);
    let effort = Effort::rounds(1, 1);
    assert!(matches!(CvrpExpert::default().solve(&tail, &effort), Err(ExpertError::Unsupported { .. })));
    assert!(matches!(Savings::default().solve(&tail, &effort), Err(ExpertError::Unsupported { .. })));
    assert!(matches!(
        CvrpExpert::default().improve(&whole, Solution::new::<Cvrp>(&whole, vec![]), &effort),
        Err(ExpertError::Unsupported { .. })
    ));
}

#[test]
fn stopping_early_still_gives_a_solution() {
    for customers in [50, 2500] {
        let instance = Cvrp::generate(customers, &mut random(5, &[]));
        for patience in [0, 3, 40] {
            let asked = AtomicUsize::new(0);
            let stop = || asked.fetch_add(1, Ordering::Relaxed) >= patience;
            let effort = Effort { seed: 1, rounds: None, patience: None, stop: &stop };
            let found = CvrpExpert::default().solve(&instance, &effort).unwrap();
            assert_valid(&instance, &found);
            assert!(asked.into_inner() <= patience + 10, "kept polling after the stop");
        }
    }
}

#[test]
fn improving_never_increases_the_cost_even_without_rounds() {
    let mut rng = random(6, &[]);
    for seed in 0..20 {
        let instance = instance(30, &mut rng);
        let singles = cvrp::from_routes(&(1..=30).map(|customer| vec![customer]).collect::<Vec<_>>());
        let before = Cvrp::cost(&instance, &singles);
        let found = CvrpExpert::default()
            .improve(&instance, Solution::new::<Cvrp>(&instance, singles), &Effort::rounds(0, seed))
            .unwrap();
        assert_valid(&instance, &found);
        assert!(found.cost <= before);
        let again = CvrpExpert::default().improve(&instance, found.clone(), &Effort::rounds(20, seed)).unwrap();
        assert!(again.cost <= found.cost);
    }
}

#[test]
fn split_equals_dynamic_programming() {
    let mut rng = random(7, &[]);
    for _ in 0..3000 {
        let customers = rng.random_range(1..30);
        let instance = instance(customers, &mut rng);
        let data = Data::new(&instance, 5, &never);
        let penalty = data.exchange * [0.01, 1.0, 100.0][rng.random_range(0..3)];
        let mut tour: Vec<u32> = (1..=customers as u32).collect();
        tour.shuffle(&mut rng);
        let cost = |routes: &Routes| {
            let (length, excess) = routes.measure(&data);
            length + penalty * excess
        };
        let mut best = vec![0.0];
        for end in 1..=customers {
            let last = |begin: usize| {
                let route = tour[begin..end].to_vec();
                best[begin] + cost(&Routes { ends: vec![route.len() as u32], tour: route })
            };
            best.push((0..end).map(last).fold(f64::INFINITY, f64::min));
        }
        let routes = Split::default().split(&data, tour.clone(), penalty);
        assert_eq!(routes.tour, tour);
        assert!(same(cost(&routes), best[customers]), "{} {}", cost(&routes), best[customers]);
    }
}

/// The number of routes of a solution.
fn count(solution: &Solution<cvrp::Step>) -> usize {
    cvrp::routes(&solution.steps).len()
}

#[test]
fn limited_split_equals_dynamic_programming() {
    let mut rng = random(9, &[]);
    for _ in 0..2000 {
        let customers = rng.random_range(1..25);
        let instance = instance(customers, &mut rng);
        let mut data = Data::new(&instance, 5, &never);
        data.fleet = rng.random_range(1..=customers);
        let penalty = data.exchange * [0.01, 1.0, 100.0][rng.random_range(0..3)];
        let mut tour: Vec<u32> = (1..=customers as u32).collect();
        tour.shuffle(&mut rng);
        let cost = |routes: &Routes| {
            let (length, excess) = routes.measure(&data);
            length + penalty * excess
        };
        let route = |begin: usize, end: usize| {
            let route = tour[begin..end].to_vec();
            cost(&Routes { ends: vec![route.len() as u32], tour: route })
        };
        // best[end] over all cuts into as many routes as rounds of the loop.
        let mut best = vec![f64::INFINITY; customers + 1];
        best[0] = 0.0;
        let mut least = f64::INFINITY;
        for _ in 0..data.fleet {
            let up_to =
                |end: usize| (0..end).map(|begin| best[begin] + route(begin, end)).fold(f64::INFINITY, f64::min);
            best = (0..=customers).map(up_to).collect();
            least = least.min(best[customers]);
        }
        let routes = Split::default().split(&data, tour.clone(), penalty);
        assert_eq!(routes.tour, tour);
        assert!(routes.ends.len() <= data.fleet);
        assert!(same(cost(&routes), least), "{} {least}", cost(&routes));
    }
}

#[test]
fn limited_fleets_are_kept_and_solved_to_the_optimum() {
    let mut rng = random(10, &[]);
    let mut tight = 0;
    for round in 0..60 {
        let customers = 1 + round % 5;
        let points = (0..=customers).map(|_| [0, 1].map(|_| rng.random::<f64>())).collect();
        let demands = (0..=customers).map(|node| if node > 0 { f64::from(rng.random_range(1..9u8)) } else { 0.0 });
        let geometry = Geometry::planar(points, Metric::Exact).unwrap();
        let free = Instance::new(geometry, demands.collect(), 12.0).unwrap();
        let mdp = DirectMdp::<Cvrp>::enumerate(&free);
        let fewest = mdp.solutions().map(|steps| cvrp::routes(steps).len()).min().unwrap();
        for vehicles in fewest..=customers {
            let limited = free.clone().with_vehicles(vehicles).unwrap();
            let within = mdp.solutions().filter(|steps| cvrp::routes(steps).len() <= vehicles);
            let optimum = within.map(|steps| Cvrp::cost(&free, steps)).fold(f64::INFINITY, f64::min);
            let found = CvrpExpert::default().solve(&limited, &Effort::rounds(60, 1)).unwrap();
            Cvrp::check(&limited, &found.steps).unwrap();
            assert!(same(found.cost, optimum), "{} instead of {optimum}, {vehicles} in {free:?}", found.cost);
            tight += usize::from(optimum > mdp.optimum() + 1e-9);
        }
    }
    assert!(tight > 0, "no limit ever mattered");
}

#[test]
fn solutions_never_use_more_vehicles_than_there_are() {
    let mut rng = random(11, &[]);
    let mut solved = 0;
    for seed in 0..60 {
        let customers = rng.random_range(5..60);
        let free = instance(customers, &mut rng);
        let unlimited = CvrpExpert::default().solve(&free, &Effort::rounds(30, seed)).unwrap();
        let used = count(&unlimited);
        for vehicles in [used.saturating_sub(2), used - 1, used, customers] {
            let Ok(limited) = free.clone().with_vehicles(vehicles) else { continue };
            match CvrpExpert::default().solve(&limited, &Effort::rounds(30, seed)) {
                Ok(found) => {
                    Cvrp::check(&limited, &found.steps).unwrap();
                    solved += usize::from(vehicles < used);
                }
                Err(ExpertError::NoneFound { .. }) if vehicles < used => {}
                Err(error) => panic!("{error}"),
            }
            if vehicles == customers {
                let found = CvrpExpert::default().solve(&limited, &Effort::rounds(30, seed)).unwrap();
                assert_eq!(found, unlimited); // as many vehicles as customers are no limit
            }
        }
    }
    assert!(solved > 0, "no limit ever mattered");
}

#[test]
fn parts_of_large_instances_share_the_fleet() {
    let free = Cvrp::generate(2 * FIRST_PART, &mut random(6, &[]));
    let needed = (free.demands().iter().sum::<f64>() / free.capacity()).ceil() as usize;
    let limited = free.with_vehicles(needed + 1).unwrap();
    let found = CvrpExpert::default().solve(&limited, &Effort::rounds(20, 1)).unwrap();
    Cvrp::check(&limited, &found.steps).unwrap();
    assert!(count(&found) <= needed + 1);
}

#[test]
fn a_fleet_that_no_packing_allows_is_an_error() {
    let points = (0..4).map(|x| [f64::from(x), 0.0]).collect();
    let geometry = Geometry::planar(points, Metric::Exact).unwrap();
    let instance = Instance::new(geometry, vec![0.0, 6.0, 6.0, 6.0], 10.0).unwrap();
    let limited = instance.with_vehicles(2).unwrap(); // 18 is at most 20, but any two customers exceed 10
    let error = CvrpExpert::default().solve(&limited, &Effort::rounds(200, 1)).unwrap_err();
    let sentence = "no solution with at most 2 vehicles was found in the time given; allow more vehicles or more time";
    assert_eq!(error.to_string(), sentence);
    assert!(matches!(Savings::default().solve(&limited, &Effort::rounds(0, 1)), Err(ExpertError::Unsupported { .. })));
}

#[test]
fn local_search_tracks_the_cost_of_its_routes() {
    let mut rng = random(8, &[]);
    for _ in 0..60 {
        let customers = rng.random_range(2..50);
        let instance = instance(customers, &mut rng);
        let data = Data::new(&instance, 12, &never);
        let mut search = LocalSearch::new(&data);
        let start = random_routes(customers, &mut rng);
        let penalty = data.exchange * [0.01, 1.0, 100.0][rng.random_range(0..3)];
        assert!(search.run(&start, penalty, &mut rng, &never));
        let (length, excess) = search.measure();
        let (true_length, true_excess) = search.routes().measure(&data);
        assert!(same(length, true_length) && same(excess, true_excess));
        let mut visits = search.routes().tour;
        visits.sort_unstable();
        assert_eq!(visits, (1..=customers as u32).collect::<Vec<_>>());
        let (start_length, start_excess) = start.measure(&data);
        assert!(length + penalty * excess <= start_length + penalty * start_excess + data.tolerance);
    }
}

#[test]
fn patience_ends_a_search_that_no_longer_improves() {
    let instance = Cvrp::generate(20, &mut random(4, &[]));
    let effort = Effort { rounds: None, patience: Some(300), ..Effort::rounds(0, 1) };
    let patient = CvrpExpert::default().solve(&instance, &effort).unwrap();
    let long = CvrpExpert::default().solve(&instance, &Effort::rounds(3000, 1)).unwrap();
    assert_eq!(patient.cost, long.cost);
}

#[test]
fn large_instances_are_improved_in_parts_and_reproducibly() {
    let instance = Cvrp::generate(2 * FIRST_PART, &mut random(6, &[]));
    let savings = Savings::default().solve(&instance, &Effort::rounds(0, 0)).unwrap();
    let solve = |rounds| CvrpExpert::default().solve(&instance, &Effort::rounds(rounds, 1)).unwrap();
    let found = solve(30);
    Cvrp::check(&instance, &found.steps).unwrap();
    assert!(found.cost < 0.99 * savings.cost, "{} against savings of {}", found.cost, savings.cost);
    assert_eq!(found, solve(30));
    let again = CvrpExpert::default().improve(&instance, found.clone(), &Effort::rounds(5, 2)).unwrap();
    assert!(again.cost <= found.cost);
}
