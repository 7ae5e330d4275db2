//! Sampled subproblems: tails on an expert's trajectory, for every problem.

use std::collections::BTreeSet;
use std::sync::Arc;

use bqnco_core::rollout::{Options, solve};
use bqnco_core::{
    Cut, Generate, GreedyHeuristic, Imitate, Observe, Problem, Random, SolutionSpace, Subproblem, random,
};
use bqnco_problems::{Atsp, Cvrp, Geometry, Knapsack, Metric, Op, Tsp, cvrp, op};
use proptest::prelude::*;

/// An instance and a solution that a simple policy finds.
fn solved<P: Generate>(size: usize, seed: u64) -> (Arc<P::Instance>, Vec<P::Step>) {
    let instance = Arc::new(P::generate(size, &mut random(seed, &[1])));
    let found =
        solve::<P>(&GreedyHeuristic, &[Arc::clone(&instance)], &Options::default()).expect("no weights, no failure");
    (instance, found[0].steps.clone())
}

/// Replays a sampled subproblem: all steps are allowed, and the rewards add up to the cost of the tail as an instance of its own.
fn replays<P: Imitate>(instance: &Arc<P::Instance>, solution: &[P::Step], length: usize, rng: &mut Random) {
    let (tail, steps) = P::sample_subproblem(instance, solution, length, rng);
    assert_eq!(steps.len(), length.min(solution.len()), "{}", P::NAME);
    let alone = Arc::new(P::extract(instance, &tail));
    let (mut here, mut there) =
        (Subproblem::<P>::new(Arc::clone(instance), tail), Subproblem::<P>::whole(Arc::clone(&alone)));
    let (mut earned, mut renamed) = (0.0, Vec::new());
    let nothing = P::cost(&alone, &[]); // what the ends of an orienteering route are worth
    for step in steps {
        let found = here.allowed().find(|&(_, allowed)| allowed == step);
        let (slot, _) = found.unwrap_or_else(|| panic!("{}: {step:?} is not allowed", P::NAME));
        let (_, same) = there.allowed().find(|&(other, _)| other == slot).expect("both have the same slots");
        earned += here.take(step);
        there.take(same);
        renamed.push(same);
    }
    P::check(&alone, &renamed).unwrap_or_else(|error| panic!("{}: {error}", P::NAME));
    let cost = P::cost(&alone, &renamed) - nothing;
    assert!((cost + earned).abs() < 1e-9, "{}: cost {cost}, rewards {earned}", P::NAME);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn samples_can_be_replayed(size in 3usize..30, seed: u64, length in 0usize..32) {
        fn check<P: Imitate + Generate>(size: usize, seed: u64, length: usize) {
            let (instance, solution) = solved::<P>(size, seed);
            replays::<P>(&instance, &solution, length, &mut random(seed, &[2]));
        }
        every_problem!(check(size, seed, length));
    }

    #[test]
    fn samples_of_tails_can_be_replayed(seed: u64, length in 0usize..9) {
        fn check<P: Imitate + Generate>(seed: u64, length: usize) {
            let (instance, solution) = solved::<P>(14, seed);
            let (tail, _) = P::sample_subproblem(&instance, &solution, 9, &mut random(seed, &[3]));
            let tail = Arc::new(P::extract(&instance, &tail));
            let found = solve::<P>(&GreedyHeuristic, &[Arc::clone(&tail)], &Options::default()).expect("no weights");
            replays::<P>(&tail, &found[0].steps, length, &mut random(seed, &[4]));
        }
        every_problem!(check(seed, length));
    }
}

#[test]
fn a_whole_sample_costs_what_the_solution_costs() {
    fn check<P: Imitate + Generate>() {
        let (instance, solution) = solved::<P>(20, 5);
        for sample in 0..20 {
            let (tail, steps) = P::sample_subproblem(&instance, &solution, usize::MAX, &mut random(1, &[sample]));
            let mut state = Subproblem::<P>::new(Arc::clone(&instance), tail);
            let earned: f64 = steps.into_iter().map(|step| state.take(step)).sum();
            let cost = P::cost(&instance, &solution) - P::cost(&instance, &[]);
            assert!((cost + earned).abs() < 1e-9, "{}: cost {cost}, rewards {earned}", P::NAME);
        }
    }
    every_problem!(check());
}

#[test]
fn samples_differ() {
    fn count<P: Imitate + Generate>(length: usize) -> usize {
        let (instance, solution) = solved::<P>(12, 7);
        let draw = |sample| P::sample_subproblem(&instance, &solution, length, &mut random(2, &[sample]));
        let seen: BTreeSet<String> = (0..400).map(|sample| format!("{:?}", draw(sample))).collect();
        seen.len()
    }
    assert_eq!(count::<Tsp>(4), 24, "twelve places on the circle, two directions");
    assert_eq!(count::<Atsp>(4), 12, "twelve places on the circle, one direction");
    assert_eq!(count::<Op>(2), 2, "two directions");
    assert_eq!(count::<Cvrp>(usize::MAX), 1, "routes in their one order");
    assert!(count::<Knapsack>(2) > 2, "any items");
}

#[test]
fn routes_come_from_the_outside_in() {
    let (instance, mut solution) = solved::<Cvrp>(30, 3);
    let away = |customer: &usize| instance.geometry().distance(0, *customer);
    for _ in 0..2 {
        let (_, steps) = Cvrp::sample_subproblem(&instance, &solution, usize::MAX, &mut random(3, &[]));
        Cvrp::check(&instance, &steps).expect("the same routes in another order");
        let routes = cvrp::routes(&steps);
        let farthest: Vec<f64> = routes.iter().map(|route| route.iter().map(away).fold(0.0, f64::max)).collect();
        assert!(routes.len() > 2 && farthest.is_sorted_by(|a, b| a >= b), "{farthest:?}");
        assert!(routes.iter().all(|route| away(&route[0]) >= away(&route[route.len() - 1])), "{routes:?}");
        let mut turned: Vec<Vec<usize>> = routes.into_iter().rev().collect();
        turned.iter_mut().for_each(|route| route.reverse());
        solution = cvrp::from_routes(&turned); // the same solution, told the other way round
    }
}

/// The orders of a recipe: from the outside in by default, the fullest route first (paper, appendix E.3), or any.
#[test]
fn routes_come_in_the_order_that_is_asked_for() {
    let (instance, solution) = solved::<Cvrp>(30, 3);
    let load = |route: &[usize]| route.iter().map(|&customer| instance.demands()[customer]).sum::<f64>();
    let drawn = |order: &str| -> Vec<(cvrp::Tail, Vec<cvrp::Step>)> {
        let draw = |k| Cvrp::sample_in_order(&instance, &solution, usize::MAX, order, &mut random(5, &[k]));
        (0..40).map(draw).collect()
    };
    let by_load = |(_, steps): &(cvrp::Tail, Vec<cvrp::Step>)| {
        Cvrp::check(&instance, steps).expect("the same routes in another order");
        let loads: Vec<f64> = cvrp::routes(steps).iter().map(|route| load(route)).collect();
        loads.is_sorted_by(|a, b| a >= b)
    };
    assert!(drawn("fullest").iter().all(by_load));
    assert!(!drawn("any").iter().all(by_load));
    assert!(!drawn("outside-in").iter().all(by_load));
    let firsts = |order: &str| drawn(order).iter().map(|(_, steps)| steps[0].customer).collect::<BTreeSet<_>>().len();
    assert_eq!(firsts("outside-in"), 1);
    let routes = cvrp::routes(&solution);
    let most = routes.iter().map(|route| load(route)).fold(0.0, f64::max);
    let fullest = routes.iter().filter(|route| load(route) == most).count();
    assert_eq!(firsts("fullest"), 2 * fullest, "both ends of the fullest routes");
    assert!(firsts("any") > 2);
}

/// The order of a knapsack: what is left to pack is of poorer value per weight, unless any order is asked for.
#[test]
fn doubtful_items_are_left_to_the_end() {
    let (instance, solution) = solved::<Knapsack>(30, 3);
    let left = |order: &str| -> f64 {
        let draw = |k| Knapsack::sample_in_order(&instance, &solution, 3, order, &mut random(5, &[k])).1;
        let ratio = |item: usize| instance.values()[item] / instance.weights()[item];
        (0..200).flat_map(draw).map(ratio).sum::<f64>()
    };
    assert!(left("best-first") < 0.9 * left("any"), "{} {}", left("best-first"), left("any"));
}

/// Four customers near the depot, four far away.
#[test]
fn a_vehicle_looks_where_it_goes() {
    let near = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
    let far = [[9.0, 9.0], [10.0, 9.0], [9.0, 10.0], [10.0, 10.5]];
    let points = std::iter::once([0.0, 0.0]).chain(near).chain(far).collect();
    let geometry = Geometry::planar(points, Metric::Exact).expect("valid");
    let demands = std::iter::once(0.0).chain([2.0; 8]).collect();
    let instance = cvrp::Instance::new(geometry, demands, 10.0).expect("valid");
    let mut tail = Cvrp::whole(&instance);
    assert_eq!(Cvrp::shortlist(&instance, &tail, 4).rest, [2, 5, 7, 8], "a route begins on the way to the farthest");
    assert_eq!(Cvrp::nearest(&instance, &tail, 4).rest, [1, 2, 3, 4], "unless only the nearest are to be seen");
    Cvrp::advance(&instance, &mut tail, cvrp::Step { customer: 1, via_depot: false });
    assert_eq!(Cvrp::shortlist(&instance, &tail, 3).rest, [2, 3, 4], "and goes on nearby");
    Cvrp::advance(&instance, &mut tail, cvrp::Step { customer: 2, via_depot: false });
    assert_eq!(Cvrp::shortlist(&instance, &tail, 4).rest, [3, 4, 5, 8], "until the next one is to begin");
    assert_eq!(Cvrp::shortlist(&instance, &tail, 8), tail, "what is short enough stays");
}

/// The paper's shortlist: nothing but distance counts, and nothing is cut that need not be.
#[test]
fn the_nearest_are_cut_by_distance_alone() {
    fn keeps_all<P: Generate>() {
        let (instance, solution) = solved::<P>(12, 3);
        let mut state = Subproblem::<P>::whole(Arc::clone(&instance));
        for step in solution {
            assert_eq!(state.cut_to(12, Cut::Nearest).tail(), state.tail(), "{}", P::NAME);
            state.take(step);
        }
    }
    every_problem!(keeps_all());
    // Two nodes near the origin that the route cannot reach any more, and one that it can.
    let points = vec![[0.0, 0.0], [5.0, 0.0], [5.0, 1.0], [5.0, -1.0], [3.0, 0.0]];
    let geometry = Geometry::planar(points, Metric::Exact).expect("valid");
    let instance = op::Instance::new(geometry, vec![0.0, 1.0, 1.0, 1.0, 1.0], 10.0).expect("valid");
    let mut tail = Op::whole(&instance);
    Op::advance(&instance, &mut tail, 1);
    assert_eq!(Op::nearest(&instance, &tail, 3), tail, "what cannot be visited stays visible");
    assert_eq!(Op::shortlist(&instance, &tail, 3).rest, [4]);
    assert_eq!(Op::nearest(&instance, &tail, 2).rest, [2, 4], "but there is always a step to take");
    let (instance, _) = solved::<Knapsack>(12, 1);
    let whole = Knapsack::whole(&instance);
    assert_eq!(Knapsack::nearest(&instance, &whole, 3), whole);
    assert_eq!(Knapsack::shortlist(&instance, &whole, 3).rest.len(), 3);
}

#[test]
fn paths_pass_the_tokens_of_the_steps() {
    fn check<P: Observe + Imitate + Generate>() {
        for sample in 0..40 {
            let (instance, solution) = solved::<P>(15, sample);
            let (tail, steps) =
                P::sample_subproblem(&instance, &solution, 2 + sample as usize % 9, &mut random(4, &[sample]));
            let path: Vec<usize> =
                P::path(&instance, &tail, &steps).into_iter().map(|token| token.expect("nothing is cut")).collect();
            let mut state = Subproblem::<P>::new(Arc::clone(&instance), tail);
            let last = state.observe(bqnco_core::Frame::Instance).tokens - 1;
            assert_eq!((path[0], path[path.len() - 1]), (0, last), "{}: {path:?}", P::NAME);
            // Without the depot between routes: one token per step, in order. A step takes its token away.
            let mut tokens: Vec<usize> = path[1..].iter().copied().filter(|&token| token != last).collect();
            assert_eq!(tokens.len(), steps.len(), "{}: {path:?}", P::NAME);
            for (k, &step) in steps.iter().enumerate() {
                let (slot, _) = state.allowed().find(|&(_, allowed)| allowed == step).expect("a sample replays");
                assert_eq!(slot / P::KINDS, tokens[k], "{}: {path:?}", P::NAME);
                let taken = tokens[k];
                tokens.iter_mut().filter(|token| **token > taken).for_each(|token| *token -= 1);
                state.take(step);
            }
        }
    }
    check::<Tsp>();
    check::<Atsp>();
    check::<Cvrp>();
    check::<Op>();
    // What a shortlist cuts leaves a hole: its neighbours on the path do not become each other's.
    let (instance, solution) = solved::<Tsp>(15, 1);
    let cut = Subproblem::<Tsp>::whole(Arc::clone(&instance)).shortlist(5);
    let path = Tsp::path(&instance, cut.tail(), &solution);
    assert_eq!((path[0], path[path.len() - 1]), (Some(0), Some(6)));
    for (token, &step) in path[1..].iter().zip(&solution) {
        assert_eq!(*token, cut.allowed().find(|&(_, allowed)| allowed == step).map(|(slot, _)| slot), "{path:?}");
    }
    let (instance, solution) = solved::<Knapsack>(8, 1);
    assert!(Knapsack::path(&instance, &Knapsack::whole(&instance), &solution).is_empty(), "a set is no path");
}
