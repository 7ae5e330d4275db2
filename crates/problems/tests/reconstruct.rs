//! Search that rebuilds parts of solutions, for every problem.

#[macro_use]
mod every;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bqnco_core::rollout::{self, Decoding};
use bqnco_core::search::{Options, reconstruct};
use bqnco_core::{
    Fragment, Generate, GreedyHeuristic, Policy, PolicyError, Problem, Rebuild, Solution, SolutionSpace, Subproblem,
    Uniform, random,
};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp, cvrp};
use proptest::prelude::*;

/// A whim per state and slot: scores that mean nothing, but always the same.
struct Whimsical;

impl<P: Problem> Policy<P> for Whimsical {
    fn scores(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        let whim = |state: &Subproblem<P>, slot: usize| {
            let tail = format!("{:?}", state.tail());
            let sum = tail.bytes().fold(slot as u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            (sum % 1009) as f32
        };
        let slots = |state: &Subproblem<P>| state.allowed().last().map_or(0, |(slot, _)| slot + 1);
        Ok(batch.iter().map(|state| (0..slots(state)).map(|slot| whim(state, slot)).collect()).collect())
    }
}

/// Instances, each with a solution.
type Given<P> = (Vec<Arc<<P as SolutionSpace>::Instance>>, Vec<Solution<<P as SolutionSpace>::Step>>);

/// Random instances, each with a random solution.
fn random_solutions<P: Generate>(size: usize, seed: u64) -> Given<P> {
    let instances: Vec<_> = (0..3).map(|k| Arc::new(P::generate(size, &mut random(seed, &[k])))).collect();
    let decoding = Decoding::Sample { count: 1, temperature: 1.0, top_k: None };
    let options = rollout::Options { decoding, seed, ..rollout::Options::default() };
    let starts = rollout::solve::<P>(&Uniform, &instances, &options).expect("no weights, no failure");
    (instances, starts)
}

fn rebuild<P: Rebuild>(
    policy: &dyn Policy<P>,
    (instances, starts): &Given<P>,
    options: &Options<'_>,
) -> Vec<Solution<P::Step>> {
    reconstruct::<P>(policy, instances, starts.clone(), options, &mut |_, _| ()).expect("no weights, no failure")
}

/// Nothing gets worse, everything is feasible, costs are correct, and the seed decides.
fn obeys<P: Rebuild + Generate>(size: usize, seed: u64, longest: usize, rounds: u64) {
    let given = random_solutions::<P>(size, seed);
    let options = Options { longest, rounds: Some(rounds), seed, ..Options::default() };
    for policy in [&GreedyHeuristic as &dyn Policy<P>, &Whimsical] {
        let found = rebuild::<P>(policy, &given, &options);
        for ((instance, start), found) in given.0.iter().zip(&given.1).zip(&found) {
            P::check(instance, &found.steps).unwrap_or_else(|why| panic!("{}: {why}", P::NAME));
            assert_eq!(P::cost(instance, &found.steps), found.cost, "{}", P::NAME);
            assert!(found.cost <= start.cost, "{}: {} after {}", P::NAME, found.cost, start.cost);
        }
        let small_batches = Options { batch: 1, ..options };
        assert_eq!(rebuild::<P>(policy, &given, &small_batches), found, "{}: batches must not matter", P::NAME);
        let second = (given.0[1..].to_vec(), given.1[1..].to_vec());
        let alone = rebuild::<P>(policy, &second, &Options { first: 1, ..options });
        assert_eq!(alone, found[1..], "{}: other instances must not matter", P::NAME);
    }
    assert_eq!(rebuild::<P>(&GreedyHeuristic, &given, &Options { rounds: Some(0), ..options }), given.1, "{}", P::NAME);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn nothing_gets_worse(size in 2usize..30, seed: u64, longest in 1usize..40, rounds in 1u64..6) {
        every_problem!(obeys(size, seed, longest, rounds));
    }
}

#[test]
fn random_solutions_get_much_better() {
    fn check<P: Rebuild + Generate>(size: usize, share: f64) {
        let given = random_solutions::<P>(size, 3);
        let mut told = vec![f64::INFINITY; 3];
        let options = Options { longest: 20, rounds: Some(40), ..Options::default() };
        let found = reconstruct::<P>(&GreedyHeuristic, &given.0, given.1.clone(), &options, &mut |progress, best| {
            assert_eq!(progress.cost, best.cost);
            assert!(best.cost < told[progress.index] && progress.improvements > 0);
            told[progress.index] = best.cost;
        });
        let found = found.expect("no weights, no failure");
        for ((start, found), told) in given.1.iter().zip(&found).zip(told) {
            assert_eq!(found.cost, told, "{}: what was told last is the result", P::NAME);
            // Costs of prizes are negative: better is further below zero.
            let wanted = if start.cost > 0.0 { start.cost * share } else { start.cost / share };
            assert!(found.cost < wanted, "{}: {} after {}", P::NAME, found.cost, start.cost);
        }
    }
    check::<Tsp>(60, 0.6);
    check::<Atsp>(60, 0.6);
    check::<Cvrp>(60, 0.8);
    check::<Op>(60, 0.8);
    check::<Knapsack>(60, 0.95);
}

#[test]
fn a_deadline_leaves_what_is_finished() {
    fn check<P: Rebuild + Generate>(asked_before: usize) {
        let given = random_solutions::<P>(40, 9);
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= asked_before;
        let found = rebuild::<P>(&GreedyHeuristic, &given, &Options { stop: &stop, batch: 4, ..Options::default() });
        for ((instance, start), found) in given.0.iter().zip(&given.1).zip(&found) {
            P::check(instance, &found.steps).unwrap_or_else(|why| panic!("{}: {why}", P::NAME));
            assert!(found.cost <= start.cost);
        }
        if asked_before == 0 {
            assert_eq!(found, given.1);
        }
    }
    for asked_before in [0, 1, 2, 5, 17, 60, 200] {
        every_problem!(check(asked_before));
    }
}

#[test]
fn a_tour_is_cut_into_pieces_that_cover_it() {
    let ((instances, starts), mut random) = (random_solutions::<Tsp>(100, 1), random(4, &[]));
    for length in [1, 7, 30, 98, 99, 1000] {
        let fragments = Tsp::fragments(&instances[0], &starts[0].steps, length, &mut random);
        assert_eq!(fragments.len(), 100usize.div_ceil(length.min(99) + 1));
        assert!(fragments.iter().all(|fragment| fragment.steps.len() <= length));
        assert_eq!(fragments.iter().map(|fragment| fragment.all_steps().count()).sum::<usize>(), 100);
    }
}

#[test]
fn routes_are_grouped_with_their_neighbours() {
    let ((instances, starts), mut random) = (random_solutions::<Cvrp>(100, 1), random(4, &[]));
    let longest = cvrp::routes(&starts[0].steps).iter().map(Vec::len).max().expect("there are routes");
    for length in [1, 10, 30, 100] {
        let fragments: Vec<Fragment<Cvrp>> = Cvrp::fragments(&instances[0], &starts[0].steps, length, &mut random);
        for fragment in &fragments {
            assert!(fragment.steps.len() <= length && !fragment.steps.is_empty());
            assert!(fragment.all_steps().count() <= length.max(longest));
            let load: f64 = fragment.before.iter().map(|step| instances[0].demands()[step.customer]).sum();
            let is_fresh = fragment.before.is_empty();
            assert_eq!(is_fresh, fragment.tail.left == instances[0].capacity(), "load {load}");
        }
    }
}
