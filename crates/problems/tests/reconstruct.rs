//! Search that rebuilds parts of solutions, for every problem.

use bqnco_core::search::{Options, reconstruct};
use bqnco_core::{Fragment, Generate, GreedyHeuristic, Policy, PolicyError, Problem, Rebuild, Subproblem, random};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp, cvrp};
use bqnco_testing::properties::{
    a_deadline_leaves_what_is_finished as leaves_what_is_finished, random_solutions, reconstruction_is_sound,
};
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

/// Nothing gets worse, everything is feasible, costs are correct, and the seed decides.
fn obeys<P: Rebuild + Generate>(size: usize, seed: u64, longest: usize, rounds: u64) {
    let given = random_solutions::<P>(size, seed);
    let options = Options { longest, rounds: Some(rounds), seed, ..Options::default() };
    for policy in [&GreedyHeuristic as &dyn Policy<P>, &Whimsical] {
        reconstruction_is_sound::<P>(policy, &given, options);
    }
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
    for asked_before in [0, 1, 2, 5, 17, 60, 200] {
        every_problem!(leaves_what_is_finished(asked_before));
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
