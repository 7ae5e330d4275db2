//! Rollouts end in feasible solutions for every problem. The properties of rollouts themselves are tested in `bqnco-core`.

#[macro_use]
mod every;

use bqnco_core::rollout::{Augmentations, Decoding, Options};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Pctsp, Tsp};
use bqnco_testing::properties::{
    a_long_shortlist_changes_nothing, rollouts_end_in_solutions, the_widest_beam_is_exact,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_policy_ends_in_a_solution(
        size in 1usize..40, seed: u64, k in proptest::option::of(1usize..12),
        kind in 0usize..3, symmetric: bool,
    ) {
        let sample = Decoding::Sample { count: 3, temperature: 1.0, top_k: None };
        let decoding = [Decoding::Greedy, sample, Decoding::beam(4)][kind];
        let augmentations = if symmetric { Augmentations::Symmetric } else { Augmentations::One };
        let options = Options { decoding, shortlist: k, augmentations, seed, ..Options::default() };
        every_problem!(rollouts_end_in_solutions(size, seed, options));
    }
}

#[test]
fn a_beam_that_keeps_everything_finds_the_optimum() {
    the_widest_beam_is_exact::<Tsp>(6);
    the_widest_beam_is_exact::<Atsp>(6);
    the_widest_beam_is_exact::<Cvrp>(4);
    the_widest_beam_is_exact::<Op>(5);
    the_widest_beam_is_exact::<Knapsack>(7);
    the_widest_beam_is_exact::<Pctsp>(4);
}

#[test]
fn shortlists_have_the_right_limit() {
    every_problem!(a_long_shortlist_changes_nothing());
}
