//! Expert solutions as trajectories and training targets.

use std::sync::Arc;

use crate::common::{Path, Sack};
use bqnco_core::rollout::{Options, solve};
use bqnco_core::{Generate, GreedyHeuristic, Imitate, Subproblem, last_steps, random, replay};

fn solved<P: Generate>() -> (Arc<P::Instance>, Vec<P::Step>) {
    let instance = Arc::new(P::generate(9, &mut random(1, &[])));
    let found = solve::<P>(&GreedyHeuristic, std::slice::from_ref(&instance), &Options::default());
    (instance, found.expect("no failure").remove(0).steps)
}

#[test]
fn a_solution_replays_to_its_cost_with_the_right_targets() {
    fn check<P: Imitate + Generate>() {
        let (instance, solution) = solved::<P>();
        let slots = replay::<P>(&instance, &solution).expect("replayable");
        let mut state = Subproblem::<P>::whole(Arc::clone(&instance));
        let mut earned = 0.0;
        for (t, &step) in solution.iter().enumerate() {
            let targets = state.targets(&solution[t..]);
            assert!(targets.contains(&slots[t]));
            assert_eq!(targets.len(), if P::ORDERED { 1 } else { solution.len() - t });
            assert_eq!(&last_steps::<P>(&instance, &solution, solution.len() - t).0, state.tail());
            earned += state.take(step);
        }
        assert!(state.targets(&[]).is_empty());
        assert!((P::cost(&instance, &[]) - earned - P::cost(&instance, &solution)).abs() < 1e-9);
    }
    check::<Path>();
    check::<Sack>();
}

#[test]
fn a_step_that_is_not_allowed_is_named() {
    let (instance, solution) = solved::<Path>();
    let twice = [&solution[..], &solution[..1]].concat();
    let error = replay::<Path>(&instance, &twice).expect_err("a node is visited twice");
    assert_eq!(error.to_string(), format!("step 9 of the solution, {}, is not allowed there", solution[0]));
    let error = replay::<Path>(&instance, &solution[..5]).expect_err("a path must visit all nodes");
    assert_eq!(error.to_string(), "step 5 of the solution, its end, is not allowed there");
}

#[test]
fn a_shortlist_may_remove_the_target() {
    let (instance, solution) = solved::<Path>();
    let state = Subproblem::<Path>::whole(instance);
    assert_eq!(state.shortlist(1).targets(&solution), [1], "the greedy heuristic takes the nearest");
    assert!(state.shortlist(1).targets(&solution[1..]).is_empty());
}
