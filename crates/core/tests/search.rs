//! Properties of reconstruction that hold for every problem, on two tiny ones.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bqnco_core::rollout::{self, Decoding};
use bqnco_core::search::{Options, reconstruct};
use bqnco_core::{Generate, GreedyHeuristic, Rebuild, Solution, SolutionSpace, Uniform};
use common::{Path, Sack, instances};

/// Instances, each with a solution.
type Given<P> = (Vec<Arc<<P as SolutionSpace>::Instance>>, Vec<Solution<<P as SolutionSpace>::Step>>);

/// Random instances, each with a random solution.
fn random_solutions<P: Generate>(size: usize, seed: u64) -> Given<P> {
    let instances = instances::<P>(3, size, seed);
    let decoding = Decoding::Sample { count: 1, temperature: 1.0, top_k: None };
    let options = rollout::Options { decoding, seed, ..rollout::Options::default() };
    let starts = rollout::solve::<P>(&Uniform, &instances, &options).expect("no weights, no failure");
    (instances, starts)
}

fn rebuild<P: Rebuild>((instances, starts): &Given<P>, options: &Options<'_>) -> Vec<Solution<P::Step>> {
    let found = reconstruct::<P>(&GreedyHeuristic, instances, starts.clone(), options, &mut |_, _| ());
    found.expect("no weights, no failure")
}

#[test]
fn solutions_improve_and_the_seed_alone_decides() {
    fn check<P: Rebuild + Generate>() {
        let given = random_solutions::<P>(25, 3);
        let options = Options { longest: 20, rounds: Some(12), seed: 5, ..Options::default() };
        let found = rebuild::<P>(&given, &options);
        for ((instance, start), found) in given.0.iter().zip(&given.1).zip(&found) {
            P::check(instance, &found.steps).expect("a solution");
            assert_eq!(P::cost(instance, &found.steps), found.cost);
            assert!(found.cost <= start.cost);
        }
        let total = |solutions: &[Solution<P::Step>]| solutions.iter().map(|solution| solution.cost).sum::<f64>();
        assert!(total(&found) < total(&given.1), "{}: nothing has improved", P::NAME);
        assert_eq!(rebuild::<P>(&given, &Options { batch: 1, ..options }), found, "batches must not matter");
        let others = (given.0[1..].to_vec(), given.1[1..].to_vec());
        let alone = rebuild::<P>(&others, &Options { first: 1, ..options });
        assert_eq!(alone, found[1..], "other instances must not matter");
        assert_eq!(rebuild::<P>(&given, &Options { rounds: Some(0), ..options }), given.1);
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
    fn check<P: Rebuild + Generate>(polls: usize) {
        let given = random_solutions::<P>(40, 9);
        let polled = AtomicUsize::new(0);
        let stop = || polled.fetch_add(1, Ordering::Relaxed) >= polls;
        let found = rebuild::<P>(&given, &Options { stop: &stop, batch: 4, ..Options::default() });
        for ((instance, start), found) in given.0.iter().zip(&given.1).zip(&found) {
            P::check(instance, &found.steps).expect("a solution");
            assert!(found.cost <= start.cost);
        }
        if polls == 0 {
            assert_eq!(found, given.1);
        }
    }
    for polls in [0, 1, 2, 5, 17, 60, 200] {
        check::<Path>(polls);
        check::<Sack>(polls);
    }
}
