//! Properties of reconstruction that hold for every problem, on two tiny ones.

use crate::common::{Path, Sack};
use bqnco_core::search::{Options, reconstruct};
use bqnco_core::{Generate, GreedyHeuristic, Rebuild, Solution};
use bqnco_testing::properties::{self, random_solutions, reconstruction_is_sound};

#[test]
fn solutions_improve_and_the_seed_alone_decides() {
    fn check<P: Rebuild + Generate>() {
        let given = random_solutions::<P>(25, 3);
        let options = Options { longest: 20, rounds: Some(12), seed: 5, ..Options::default() };
        let found = reconstruction_is_sound::<P>(&GreedyHeuristic, &given, options);
        let total = |solutions: &[Solution<P::Step>]| solutions.iter().map(|solution| solution.cost).sum::<f64>();
        assert!(total(&found) < total(&given.1), "{}: nothing has improved", P::NAME);
    }
    check::<Path>();
    check::<Sack>();
}

#[test]
fn the_last_report_is_the_result() {
    let given = random_solutions::<Path>(25, 1);
    let mut reported: Vec<f64> = given.1.iter().map(|start| start.cost).collect();
    let options = Options { longest: 20, rounds: Some(12), ..Options::default() };
    let found = reconstruct::<Path>(&GreedyHeuristic, &given.0, given.1.clone(), &options, &mut |progress, best| {
        assert_eq!(progress.cost, best.cost);
        assert!(best.cost < reported[progress.index] && progress.improvements > 0);
        reported[progress.index] = best.cost;
    });
    let found: Vec<f64> = found.expect("no failure").iter().map(|solution| solution.cost).collect();
    assert_eq!(found, reported);
}

#[test]
fn a_deadline_leaves_what_is_finished() {
    for polls in [0, 1, 2, 5, 17, 60, 200] {
        properties::a_deadline_leaves_what_is_finished::<Path>(polls);
        properties::a_deadline_leaves_what_is_finished::<Sack>(polls);
    }
}
