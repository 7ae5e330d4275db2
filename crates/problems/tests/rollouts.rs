//! Laws of rollouts, for every problem and without a network.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bqnco_core::rollout::{Augmentations, Decoding, Options, solve, solve_reporting};
use bqnco_core::{
    DirectMdp, GreedyHeuristic, Policy, PolicyError, Problem, Solution, Subproblem, Trajectory, Uniform, random,
};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};
use proptest::prelude::*;

const SAMPLE: Decoding = Decoding::Sample { count: 3, temperature: 1.0, top_k: None };

fn instances<P: Problem>(count: usize, size: usize, seed: u64) -> Vec<Arc<P::Instance>> {
    (0..count).map(|k| Arc::new(P::generate(size, &mut random(seed, &[k as u64])))).collect()
}

fn run<P: Problem>(policy: &dyn Policy<P>, instances: &[Arc<P::Instance>], options: Options) -> Vec<Solution<P::Step>> {
    solve::<P>(policy, instances, &options).expect("policies without weights do not fail")
}

macro_rules! for_every_problem {
    ($law:ident) => {
        #[test]
        fn $law() {
            check::<Tsp>();
            check::<Atsp>();
            check::<Cvrp>();
            check::<Op>();
            check::<Knapsack>();
        }
    };
}

mod feasibility {
    use super::*;

    fn holds<P: Problem>(size: usize, seed: u64, options: Options) {
        let instances = instances::<P>(3, size, seed);
        for policy in [&Uniform as &dyn Policy<P>, &GreedyHeuristic] {
            for (instance, solution) in instances.iter().zip(run::<P>(policy, &instances, options)) {
                P::check(instance, &solution.steps).expect("a rollout ends in a solution");
                assert_eq!(solution.cost, P::cost(instance, &solution.steps));
                Trajectory::<P>::new(instance.clone(), solution.steps).expect("a rollout can be replayed");
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
            let decoding = [Decoding::Greedy, SAMPLE, Decoding::Beam { width: 4 }][kind];
            let augmentations = if symmetric { Augmentations::Symmetric } else { Augmentations::One };
            let options = Options { decoding, shortlist: k, augmentations, seed, ..Options::default() };
            holds::<Tsp>(size, seed, options);
            holds::<Atsp>(size, seed, options);
            holds::<Cvrp>(size, seed, options);
            holds::<Op>(size, seed, options);
            holds::<Knapsack>(size, seed, options);
        }
    }
}

mod determinism {
    use super::*;

    fn check<P: Problem>() {
        let instances = instances::<P>(7, 15, 3);
        let solve_on = |threads: usize, batch: usize, seed: u64, decoding: Decoding| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let options =
                Options { decoding, seed, batch, augmentations: Augmentations::Symmetric, ..Options::default() };
            pool.install(|| run::<P>(&Uniform, &instances, options))
        };
        for decoding in [Decoding::Greedy, SAMPLE, Decoding::Beam { width: 3 }] {
            let alone = solve_on(1, 1, 5, decoding);
            assert_eq!(alone, solve_on(3, 64, 5, decoding), "threads or batches change {decoding:?}");
        }
        let (one, other) = (solve_on(1, 8, 5, SAMPLE), solve_on(1, 8, 6, SAMPLE));
        assert_ne!(one, other, "the seed changes nothing");
    }

    for_every_problem!(the_seed_alone_decides);
}

/// Scores like another policy, counts how many states it was asked about, and sees no difference between images.
struct Alike(AtomicUsize);

impl<P: Problem> Policy<P> for Alike {
    fn scores(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.0.fetch_add(batch.len(), Ordering::Relaxed);
        GreedyHeuristic.scores(batch)
    }

    fn distinguishes_augmentations(&self) -> bool {
        false
    }
}

#[test]
fn images_that_look_alike_are_constructed_once() {
    let asked = |augmentations| {
        let policy = Alike(0.into());
        run::<Tsp>(&policy, &instances::<Tsp>(2, 10, 1), Options { augmentations, ..Options::default() });
        policy.0.into_inner()
    };
    assert_eq!(asked(Augmentations::Symmetric), asked(Augmentations::One));
}

mod beams {
    use super::*;

    fn check<P: Problem>() {
        let instances = instances::<P>(6, 12, 9);
        let greedy = run::<P>(&GreedyHeuristic, &instances, Options::default());
        let one = run::<P>(
            &GreedyHeuristic,
            &instances,
            Options { decoding: Decoding::Beam { width: 1 }, ..Options::default() },
        );
        assert_eq!(greedy, one);
    }

    for_every_problem!(a_beam_of_one_is_greedy);

    #[test]
    fn a_beam_that_keeps_everything_finds_the_optimum() {
        fn check<P: Problem>(size: usize) {
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
}

mod choices {
    use super::*;

    fn check<P: Problem>() {
        let instances = instances::<P>(6, 14, 4);
        let greedy = run::<P>(&GreedyHeuristic, &instances, Options::default());
        let cold = Decoding::Sample { count: 1, temperature: 1e-6, top_k: None };
        assert_eq!(
            greedy,
            run::<P>(&GreedyHeuristic, &instances, Options { decoding: cold, ..Options::default() }),
            "cold sampling"
        );
        let narrow = Decoding::Sample { count: 1, temperature: 5.0, top_k: Some(1) };
        assert_eq!(
            greedy,
            run::<P>(&GreedyHeuristic, &instances, Options { decoding: narrow, ..Options::default() }),
            "top 1"
        );
        let wide = Options { shortlist: Some(1000), ..Options::default() };
        assert_eq!(greedy, run::<P>(&GreedyHeuristic, &instances, wide), "a shortlist longer than the list");
    }

    for_every_problem!(sampling_and_shortlists_have_the_right_limits);

    #[test]
    fn more_samples_are_never_worse() {
        let instances = instances::<Tsp>(5, 20, 8);
        let best_of = |count| {
            let decoding = Decoding::Sample { count, temperature: 1.0, top_k: None };
            run::<Tsp>(&Uniform, &instances, Options { decoding, ..Options::default() })
        };
        for (few, many) in best_of(2).iter().zip(best_of(20)) {
            assert!(many.cost <= few.cost);
        }
    }
}

mod deadlines {
    use super::*;

    fn check<P: Problem>() {
        let instances = instances::<P>(4, 30, 2);
        for decoding in [Decoding::Greedy, SAMPLE, Decoding::Beam { width: 4 }] {
            let asked = AtomicUsize::new(0);
            let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 5;
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

    for_every_problem!(a_deadline_leaves_a_solution);
}

mod trajectories {
    use super::*;

    fn check<P: Problem>() {
        let instance = Arc::new(P::generate(9, &mut random(1, &[])));
        let solution = run::<P>(&GreedyHeuristic, std::slice::from_ref(&instance), Options::default()).remove(0);
        let mut earned = 0.0;
        let trajectory = Trajectory::<P>::new(instance.clone(), solution.steps.clone()).expect("replayable");
        for (t, (state, slots)) in trajectory.examples().enumerate() {
            let right: Vec<P::Step> =
                state.allowed().filter(|(slot, _)| slots.contains(slot)).map(|(_, z)| z).collect();
            assert!(right.contains(&solution.steps[t]));
            assert_eq!(slots.len(), if P::ORDERED { 1 } else { solution.steps.len() - t });
            earned += state.reward(solution.steps[t]);
        }
        assert!((P::cost(&instance, &[]) - earned - solution.cost).abs() < 1e-9);
        let twice = [solution.steps.clone(), vec![solution.steps[0]]].concat();
        assert!(Trajectory::<P>::new(instance, twice).is_err());
    }

    for_every_problem!(an_expert_solution_replays_to_its_cost);
}

mod failures {
    use super::*;

    /// Scores one number too few, or one that is none.
    struct Broken(f32);
    impl Policy<Tsp> for Broken {
        fn scores(&self, batch: &[&Subproblem<Tsp>]) -> Result<Vec<Vec<f32>>, PolicyError> {
            Ok(batch.iter().map(|_| vec![self.0; 3]).collect())
        }
    }

    #[test]
    fn bad_scores_are_an_error() {
        let instances = instances::<Tsp>(1, 8, 0);
        for score in [f32::NAN, 0.0] {
            for decoding in [Decoding::Greedy, SAMPLE, Decoding::Beam { width: 2 }] {
                let options = Options { decoding, ..Options::default() };
                let error = solve::<Tsp>(&Broken(score), &instances, &options).expect_err("must fail");
                assert!(error.to_string().contains("slot"), "{error}");
            }
        }
    }
}
