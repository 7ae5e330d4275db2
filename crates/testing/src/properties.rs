//! Properties that rollouts and reconstruction have for every problem: checked on the two tiny problems of
//! `bqnco-core`'s tests, and on all problems by those of `bqnco-problems`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bqnco_core::rollout::{self, Decoding};
use bqnco_core::search::{self, reconstruct};
use bqnco_core::{
    DirectMdp, Generate, GreedyHeuristic, Policy, Problem, Rebuild, Solution, SolutionSpace, Uniform, random, replay,
};

/// Instances, each with a solution.
pub type Given<P> = (Vec<Arc<<P as SolutionSpace>::Instance>>, Vec<Solution<<P as SolutionSpace>::Step>>);

/// Random instances of a problem.
pub fn instances<P: Generate>(count: u64, size: usize, seed: u64) -> Vec<Arc<P::Instance>> {
    (0..count).map(|k| Arc::new(P::generate(size, &mut random(seed, &[k])))).collect()
}

/// Three random instances, each with a random solution.
pub fn random_solutions<P: Generate>(size: usize, seed: u64) -> Given<P> {
    let instances = instances::<P>(3, size, seed);
    let decoding = Decoding::Sample { count: 1, temperature: 1.0, top_k: None };
    let starts = roll_out::<P>(&Uniform, &instances, rollout::Options { decoding, seed, ..Default::default() });
    (instances, starts)
}

/// A rollout with a policy that does not fail.
///
/// # Panics
/// If it fails.
pub fn roll_out<P: Problem>(
    policy: &dyn Policy<P>,
    instances: &[Arc<P::Instance>],
    options: rollout::Options<'_>,
) -> Vec<Solution<P::Step>> {
    rollout::solve::<P>(policy, instances, &options).expect("policies without weights do not fail")
}

/// A reconstruction with a policy that does not fail.
///
/// # Panics
/// If it fails.
pub fn rebuild<P: Rebuild>(
    policy: &dyn Policy<P>,
    (instances, starts): &Given<P>,
    options: &search::Options<'_>,
) -> Vec<Solution<P::Step>> {
    let found = reconstruct::<P>(policy, instances, starts.clone(), options, &mut |_, _| ());
    found.expect("policies without weights do not fail")
}

/// Rollouts end in feasible solutions with correct costs, which can be replayed.
///
/// # Panics
/// If one does not.
pub fn rollouts_end_in_solutions<P: Generate>(size: usize, seed: u64, options: rollout::Options<'_>) {
    let instances = instances::<P>(3, size, seed);
    for policy in [&Uniform as &dyn Policy<P>, &GreedyHeuristic] {
        for (instance, solution) in instances.iter().zip(roll_out::<P>(policy, &instances, options)) {
            assert_solves::<P>(instance, &solution);
            replay::<P>(instance, &solution.steps).expect("a rollout can be replayed");
        }
    }
}

/// A beam that keeps all partial solutions finds the optimum.
///
/// # Panics
/// If it does not.
pub fn the_widest_beam_is_exact<P: Generate>(size: usize) {
    let instances = instances::<P>(8, size, 11);
    let options = rollout::Options { decoding: Decoding::beam(usize::MAX), ..Default::default() };
    for (instance, solution) in instances.iter().zip(roll_out::<P>(&Uniform, &instances, options)) {
        let optimum = DirectMdp::<P>::enumerate(instance).optimum();
        assert!((solution.cost - optimum).abs() < 1e-9, "{}: {} against {optimum}", P::NAME, solution.cost);
    }
}

/// A shortlist that is longer than the list of candidates changes nothing.
///
/// # Panics
/// If it does.
pub fn a_long_shortlist_changes_nothing<P: Generate>() {
    let instances = instances::<P>(6, 14, 4);
    let shortlisted = |shortlist| rollout::Options { shortlist, ..Default::default() };
    let [all, long] = [None, Some(1000)].map(|k| roll_out::<P>(&GreedyHeuristic, &instances, shortlisted(k)));
    assert_eq!(all, long, "{}", P::NAME);
}

/// A reconstruction for some rounds ends in feasible solutions with correct costs, none of which got worse; neither
/// batches nor other instances change the result, which is returned.
///
/// # Panics
/// If one of this does not hold.
pub fn reconstruction_is_sound<P: Rebuild>(
    policy: &dyn Policy<P>,
    given: &Given<P>,
    options: search::Options<'_>,
) -> Vec<Solution<P::Step>> {
    let found = rebuild::<P>(policy, given, &options);
    assert_no_worse::<P>(given, &found);
    let small_batches = search::Options { batch: 1, ..options };
    assert_eq!(rebuild::<P>(policy, given, &small_batches), found, "{}: batches must not matter", P::NAME);
    let others = (given.0[1..].to_vec(), given.1[1..].to_vec());
    let alone = rebuild::<P>(policy, &others, &search::Options { first: 1, ..options });
    assert_eq!(alone, found[1..], "{}: other instances must not matter", P::NAME);
    let unchanged = rebuild::<P>(policy, given, &search::Options { rounds: Some(0), ..options });
    assert_eq!(unchanged, given.1, "{}: no rounds, no change", P::NAME);
    found
}

/// A reconstruction that is stopped when it asks for the time again after so many times keeps what is finished.
///
/// # Panics
/// If it does not.
pub fn a_deadline_leaves_what_is_finished<P: Rebuild + Generate>(asked_before: usize) {
    let given = random_solutions::<P>(40, 9);
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) >= asked_before;
    let options = search::Options { stop: &stop, batch: 4, ..Default::default() };
    let found = rebuild::<P>(&GreedyHeuristic, &given, &options);
    assert_no_worse::<P>(&given, &found);
    if asked_before == 0 {
        assert_eq!(found, given.1);
    }
}

fn assert_no_worse<P: Problem>(given: &Given<P>, found: &[Solution<P::Step>]) {
    for ((instance, start), found) in given.0.iter().zip(&given.1).zip(found) {
        assert_solves::<P>(instance, found);
        assert!(found.cost <= start.cost, "{}: {} after {}", P::NAME, found.cost, start.cost);
    }
}

fn assert_solves<P: Problem>(instance: &P::Instance, solution: &Solution<P::Step>) {
    P::check(instance, &solution.steps).unwrap_or_else(|why| panic!("{}: {why}", P::NAME));
    assert_eq!(P::cost(instance, &solution.steps), solution.cost, "{}", P::NAME);
}
