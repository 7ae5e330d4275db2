//! Rollouts end in feasible solutions for every problem. The properties of rollouts themselves are tested in `bqnco-core`.

#[macro_use]
mod every;

use std::sync::Arc;

use bqnco_core::rollout::{Augmentations, Decoding, Options, solve};
use bqnco_core::{DirectMdp, Generate, GreedyHeuristic, Policy, Problem, Solution, Uniform, random, replay};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};
use proptest::prelude::*;

fn instances<P: Generate>(count: usize, size: usize, seed: u64) -> Vec<Arc<P::Instance>> {
    (0..count).map(|k| Arc::new(P::generate(size, &mut random(seed, &[k as u64])))).collect()
}

fn run<P: Problem>(policy: &dyn Policy<P>, instances: &[Arc<P::Instance>], options: Options) -> Vec<Solution<P::Step>> {
    solve::<P>(policy, instances, &options).expect("policies without weights do not fail")
}

fn ends_in_a_solution<P: Generate>(size: usize, seed: u64, options: Options) {
    let instances = instances::<P>(3, size, seed);
    for policy in [&Uniform as &dyn Policy<P>, &GreedyHeuristic] {
        for (instance, solution) in instances.iter().zip(run::<P>(policy, &instances, options)) {
            P::check(instance, &solution.steps).expect("a rollout ends in a solution");
            assert_eq!(solution.cost, P::cost(instance, &solution.steps));
            replay::<P>(instance, &solution.steps).expect("a rollout can be replayed");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_policy_ends_in_a_solution(
        size in 1usize..40, seed: u64, k in proptest::option::of(1usize..12),
        kind in 0usize..3, symmetric: bool,
    ) {
        let sample = Decoding::Sample { count: 3, temperature: 1.0, top_k: None };
        let decoding = [Decoding::Greedy, sample, Decoding::Beam { width: 4 }][kind];
        let augmentations = if symmetric { Augmentations::Symmetric } else { Augmentations::One };
        let options = Options { decoding, shortlist: k, augmentations, seed, ..Options::default() };
        every_problem!(ends_in_a_solution(size, seed, options));
    }
}

#[test]
fn a_beam_that_keeps_everything_finds_the_optimum() {
    fn check<P: Generate>(size: usize) {
        let instances = instances::<P>(8, size, 11);
        let options = Options { decoding: Decoding::Beam { width: usize::MAX }, ..Options::default() };
        for (instance, solution) in instances.iter().zip(run::<P>(&Uniform, &instances, options)) {
            let optimum = DirectMdp::<P>::enumerate(instance).optimum();
            assert!((solution.cost - optimum).abs() < 1e-9, "{}: {} against {optimum}", P::NAME, solution.cost);
        }
    }
    check::<Tsp>(6);
    check::<Atsp>(6);
    check::<Cvrp>(4);
    check::<Op>(5);
    check::<Knapsack>(7);
}

#[test]
fn a_long_shortlist_changes_nothing() {
    fn check<P: Generate>() {
        let instances = instances::<P>(6, 14, 4);
        let run_with = |shortlist| run::<P>(&GreedyHeuristic, &instances, Options { shortlist, ..Options::default() });
        assert_eq!(run_with(None), run_with(Some(1000)), "{}", P::NAME);
    }
    every_problem!(check());
}
