//! Properties of rollouts that hold for every problem, on two tiny ones and without a network.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Path, Sack};
use bqnco_core::rollout::{Augmentations, Decoding, Options, Stride, finish, solve, solve_reporting};
use bqnco_core::{Generate, GreedyHeuristic, Outlook, Policy, PolicyError, Problem, Solution, Subproblem, Uniform};
use bqnco_testing::properties::{
    a_long_shortlist_changes_nothing, instances, roll_out, rollouts_end_in_solutions, the_widest_beam_is_exact,
};
use proptest::prelude::*;

const SAMPLE: Decoding = Decoding::Sample { count: 3, temperature: 1.0, top_k: None };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_policy_ends_in_a_solution(
        size in 1usize..40, seed: u64, k in proptest::option::of(1usize..12),
        kind in 0usize..3, symmetric: bool,
    ) {
        let decoding = [Decoding::Greedy, SAMPLE, Decoding::beam(4)][kind];
        let augmentations = if symmetric { Augmentations::Symmetric } else { Augmentations::One };
        let options = Options { decoding, shortlist: k, augmentations, seed, ..Options::default() };
        rollouts_end_in_solutions::<Path>(size, seed, options);
        rollouts_end_in_solutions::<Sack>(size, seed, options);
    }
}

#[test]
fn the_seed_alone_decides() {
    fn check<P: Generate>() {
        let instances = instances::<P>(7, 15, 3);
        let solve_on = |threads: usize, batch: usize, seed: u64, decoding: Decoding| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let options =
                Options { decoding, seed, batch, augmentations: Augmentations::Symmetric, ..Options::default() };
            pool.install(|| roll_out::<P>(&Uniform, &instances, options))
        };
        for decoding in [Decoding::Greedy, SAMPLE, Decoding::beam(3)] {
            let alone = solve_on(1, 1, 5, decoding);
            assert_eq!(alone, solve_on(3, 64, 5, decoding), "threads or batches change {decoding:?}");
        }
        let (one, other) = (solve_on(1, 8, 5, SAMPLE), solve_on(1, 8, 6, SAMPLE));
        assert_ne!(one, other, "the seed changes nothing");
    }
    check::<Path>();
    check::<Sack>();
}

#[test]
fn a_part_of_a_set_is_solved_as_within_the_whole() {
    let instances = instances::<Path>(6, 12, 1);
    let options = Options { decoding: SAMPLE, ..Options::default() };
    let all = roll_out::<Path>(&Uniform, &instances, options);
    assert_eq!(roll_out::<Path>(&Uniform, &instances[2..], Options { first: 2, ..options }), all[2..]);
}

#[test]
fn constructions_can_be_finished_from_any_state() {
    let instance = instances::<Path>(1, 12, 4).remove(0);
    let whole = roll_out::<Path>(&GreedyHeuristic, std::slice::from_ref(&instance), Options::default()).remove(0);
    let mut state = Subproblem::<Path>::whole(instance);
    let mut states = vec![state.clone()];
    for &step in &whole.steps {
        state.take(step);
        states.push(state.clone());
    }
    let rests = finish(&GreedyHeuristic, &states, &Options::default()).expect("no failure");
    for (taken, rest) in rests.into_iter().enumerate() {
        assert_eq!(rest.expect("no deadline"), whole.steps[taken..]);
    }
    let stopped = finish(&GreedyHeuristic, &states[..1], &Options { stop: &|| true, ..Options::default() });
    assert_eq!(stopped.expect("no failure"), [None]);
}

/// Scores like the greedy heuristic, counts the states it scores, and does not distinguish symmetric images.
struct Indifferent(AtomicUsize);

impl<P: Problem> Policy<P> for Indifferent {
    fn scores(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.0.fetch_add(batch.len(), Ordering::Relaxed);
        GreedyHeuristic.scores(batch)
    }

    fn distinguishes_augmentations(&self) -> bool {
        false
    }
}

#[test]
fn images_that_are_not_distinguished_are_constructed_once() {
    let scored = |augmentations| {
        let policy = Indifferent(0.into());
        roll_out::<Path>(&policy, &instances::<Path>(2, 10, 1), Options { augmentations, ..Options::default() });
        policy.0.into_inner()
    };
    assert_eq!(scored(Augmentations::Symmetric), scored(Augmentations::One));
}

#[test]
fn a_beam_of_one_is_greedy() {
    fn check<P: Generate>() {
        let instances = instances::<P>(6, 12, 9);
        let one = Options { decoding: Decoding::beam(1), ..Options::default() };
        let greedy = roll_out::<P>(&GreedyHeuristic, &instances, Options::default());
        assert_eq!(greedy, roll_out::<P>(&GreedyHeuristic, &instances, one));
    }
    check::<Path>();
    check::<Sack>();
}

#[test]
fn a_beam_that_keeps_everything_finds_the_optimum() {
    the_widest_beam_is_exact::<Path>(6);
    the_widest_beam_is_exact::<Sack>(7);
}

#[test]
fn sampling_and_shortlists_have_the_right_limits() {
    fn check<P: Generate>() {
        let instances = instances::<P>(6, 14, 4);
        let run_with = |options| roll_out::<P>(&GreedyHeuristic, &instances, options);
        let greedy = run_with(Options::default());
        let cold = Decoding::Sample { count: 1, temperature: 1e-6, top_k: None };
        assert_eq!(greedy, run_with(Options { decoding: cold, ..Options::default() }), "cold sampling");
        let narrow = Decoding::Sample { count: 1, temperature: 5.0, top_k: Some(1) };
        assert_eq!(greedy, run_with(Options { decoding: narrow, ..Options::default() }), "top 1");
        a_long_shortlist_changes_nothing::<P>();
    }
    check::<Path>();
    check::<Sack>();
}

#[test]
fn more_samples_are_never_worse() {
    let instances = instances::<Path>(5, 20, 8);
    let best_of = |count| {
        let decoding = Decoding::Sample { count, temperature: 1.0, top_k: None };
        roll_out::<Path>(&Uniform, &instances, Options { decoding, ..Options::default() })
    };
    for (few, many) in best_of(2).iter().zip(best_of(20)) {
        assert!(many.cost <= few.cost);
    }
}

#[test]
fn a_deadline_leaves_a_solution() {
    fn check<P: Generate>() {
        let instances = instances::<P>(4, 30, 2);
        for decoding in [Decoding::Greedy, SAMPLE, Decoding::beam(4)] {
            let polled = AtomicUsize::new(0);
            let stop = || polled.fetch_add(1, Ordering::Relaxed) >= 5;
            let options = Options { decoding, stop: &stop, ..Options::default() };
            let reported = AtomicUsize::new(0);
            let report = |_: usize, _: &Solution<P::Step>| _ = reported.fetch_add(1, Ordering::Relaxed);
            let solutions = solve_reporting::<P>(&Uniform, &instances, &options, &report).expect("no failure");
            assert!(reported.into_inner() >= instances.len(), "every first solution is reported");
            for (instance, solution) in instances.iter().zip(solutions) {
                P::check(instance, &solution.steps).expect("a stopped rollout still ends in a solution");
            }
        }
    }
    check::<Path>();
    check::<Sack>();
}

/// Scores one number too few, or NaN.
struct Broken(f32);

impl Policy<Path> for Broken {
    fn scores(&self, batch: &[&Subproblem<Path>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        Ok(batch.iter().map(|_| vec![self.0; 3]).collect())
    }
}

#[test]
fn bad_scores_are_an_error() {
    let instances = instances::<Path>(1, 8, 0);
    for score in [f32::NAN, 0.0] {
        for decoding in [Decoding::Greedy, SAMPLE, Decoding::beam(2)] {
            let options = Options { decoding, ..Options::default() };
            let error = solve::<Path>(&Broken(score), &instances, &options).expect_err("must fail");
            assert!(error.to_string().contains("slot"), "{error}");
        }
    }
}

/// Visits nodes in ascending order, each with this probability, and counts how often it is asked.
struct Ascending {
    probability: f64,
    misleading: bool, // successors point back to the origin
    asked: AtomicUsize,
}

impl Ascending {
    fn new(probability: f64) -> Self {
        Ascending { probability, misleading: false, asked: AtomicUsize::new(0) }
    }

    /// The score that gives its slot the probability if all others have score 0.
    fn score(&self, others: usize) -> f32 {
        (self.probability / (1.0 - self.probability) * others.max(1) as f64).ln() as f32
    }
}

impl Policy<Path> for Ascending {
    fn scores(&self, batch: &[&Subproblem<Path>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        Ok(self.outlooks(batch)?.into_iter().map(|outlook| outlook.scores).collect())
    }

    fn outlooks(&self, batch: &[&Subproblem<Path>]) -> Result<Vec<Outlook>, PolicyError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let outlook = |state: &&Subproblem<Path>| {
            let tokens = state.allowed().count() + 1; // the first is the current point
            let mut scores = vec![0.0; tokens];
            scores[1] = self.score(tokens - 2);
            let mut successors = vec![0.0; tokens * tokens];
            for token in 1..tokens - 1 {
                let next = if self.misleading { 0 } else { token + 1 };
                successors[token * tokens + next] = self.score(tokens - token - 1);
            }
            Outlook { scores, successors, destination: None }
        };
        Ok(batch.iter().map(outlook).collect())
    }
}

#[test]
fn sure_successors_are_followed_without_asking_again() {
    let instance = instances::<Path>(1, 12, 5);
    let greedy = roll_out::<Path>(&Ascending::new(0.9), &instance, Options::default());
    let passes = |policy: Ascending, least: f64| {
        let followed = roll_out::<Path>(
            &policy,
            &instance,
            Options { stride: Stride { follow: Some(least), ..Stride::default() }, ..Options::default() },
        );
        assert_eq!(followed, greedy, "the successors agree with the scores");
        policy.asked.into_inner()
    };
    let steps = greedy[0].steps.len();
    assert_eq!(passes(Ascending::new(0.999_999), 0.9), 1);
    assert_eq!(passes(Ascending::new(0.9), 0.95), steps, "one step is always taken");
    assert_eq!(passes(Ascending::new(0.9), 0.8), steps.div_ceil(2), "0.9 twice is 0.81");
    assert_eq!(passes(Ascending { misleading: true, ..Ascending::new(0.9) }, 0.1), steps, "no step leads there");
}
