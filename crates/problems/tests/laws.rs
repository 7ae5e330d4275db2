//! Every law holds for every problem; and each mutant, a problem with one rule broken on purpose, is caught.

use bqnco_core::laws::verify;
use bqnco_core::{Generate, Observe, Rebuild};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Pctsp, Tsp};

fn assert_lawful<P: Observe + Rebuild + Generate>(size: usize) {
    for verdict in verify::<P>(12, size, 1) {
        assert_eq!(verdict.counterexample, None, "{}: {}", P::NAME, verdict.claim);
        // A matrix or a list of items has no symmetric images; different sets leave different rests, and different
        // routes, in real numbers, different lengths.
        let nothing_to_compare = match verdict.claim {
            "symmetric images have the same solutions" => P::NAME == "atsp" || P::NAME == "knapsack",
            "steps at both ends build solutions" => !["tsp", "op"].contains(&P::NAME), // the others have a direction
            "equal tails are indistinguishable" => P::NAME == "op" || P::NAME == "knapsack",
            _ => false,
        };
        assert_eq!(verdict.facts == 0, nothing_to_compare, "{}: {}: {} facts", P::NAME, verdict.claim, verdict.facts);
    }
}

#[test]
fn tsp_obeys_the_laws() {
    assert_lawful::<Tsp>(5);
}

#[test]
fn atsp_obeys_the_laws() {
    assert_lawful::<Atsp>(5);
}

#[test]
fn cvrp_obeys_the_laws() {
    assert_lawful::<Cvrp>(4);
}

#[test]
fn op_obeys_the_laws() {
    assert_lawful::<Op>(4);
}

#[test]
fn knapsack_obeys_the_laws() {
    assert_lawful::<Knapsack>(6);
}

#[test]
fn pctsp_obeys_the_laws() {
    assert_lawful::<Pctsp>(4);
}
