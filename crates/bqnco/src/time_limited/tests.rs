//! Policies with a deadline, on a clock that only the test advances.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bqnco_core::rollout::{self, Decoding, Options};
use bqnco_core::search;
use bqnco_core::{Generate, GreedyHeuristic, Policy, PolicyError, Solution, SolutionSpace, Subproblem, random};
use bqnco_problems::Tsp;

use super::{SLICE, TimeLimitedPolicy};

/// Nearest neighbour with a cost: every candidate of every state takes a microsecond of the clock.
#[derive(Default)]
struct Slow {
    now: AtomicU64,     // microseconds
    longest: AtomicU64, // call
}

impl Slow {
    fn left(&self, limit: Duration) -> Option<Duration> {
        Some(limit.saturating_sub(self.now()))
    }

    fn now(&self) -> Duration {
        Duration::from_micros(self.now.load(Ordering::Relaxed))
    }
}

impl Policy<Tsp> for Slow {
    fn scores(&self, batch: &[&Subproblem<Tsp>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        let time: u64 = batch.iter().map(|state| state.allowed().count() as u64).sum();
        self.now.fetch_add(time, Ordering::Relaxed);
        self.longest.fetch_max(time, Ordering::Relaxed);
        Policy::<Tsp>::scores(&GreedyHeuristic, batch)
    }
}

fn instances(count: u64, size: usize) -> Vec<Arc<<Tsp as SolutionSpace>::Instance>> {
    (0..count).map(|k| Arc::new(Tsp::generate(size, &mut random(3, &[k])))).collect()
}

/// Runs on one thread, because there is one clock.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(work)
}

#[test]
fn a_distant_deadline_changes_nothing() {
    let instances = instances(20, 300);
    let expected = rollout::solve::<Tsp>(&GreedyHeuristic, &instances, &Options::default()).expect("no weights");
    let slow = Slow::default();
    let left = || slow.left(Duration::from_secs(1000));
    let found = alone(|| rollout::solve::<Tsp>(&TimeLimitedPolicy::new(&slow, &left), &instances, &Options::default()));
    assert_eq!(found.expect("no weights"), expected);
}

#[test]
fn large_batches_are_scored_in_pieces() {
    let slow = Slow::default();
    let state = Subproblem::<Tsp>::whole(instances(1, 2000).remove(0));
    let left = || slow.left(Duration::from_secs(1000));
    let scores = TimeLimitedPolicy::new(&slow, &left).scores(&vec![&state; 64]).expect("no weights");
    assert!(scores.len() == 64 && scores.iter().all(|one| one == &scores[0]));
    assert!(Duration::from_micros(slow.longest.into_inner()) <= SLICE);
}

#[test]
fn without_a_deadline_cancellation_is_noticed_between_pieces() {
    let slow = Slow::default();
    let state = Subproblem::<Tsp>::whole(instances(1, 2000).remove(0));
    let batch = vec![&state; 64];
    let scores = TimeLimitedPolicy::new(&slow, &|| None).scores(&batch).expect("no weights");
    assert_eq!(scores.len(), 64);
    assert!(slow.longest.load(Ordering::Relaxed) < 4 * 1999, "pieces of a few states");

    let asked = AtomicU64::new(0);
    let left = || (asked.fetch_add(1, Ordering::Relaxed) > 5).then_some(Duration::ZERO);
    let interrupted = TimeLimitedPolicy::new(&slow, &left);
    assert!(matches!(interrupted.scores(&batch), Err(PolicyError::Stopped)));
    assert!(interrupted.has_stopped());
}

/// For any limit, the rollout overruns the clock only slightly, and the solutions are feasible.
#[test]
fn rollouts_end_in_time() {
    for decoding in [Decoding::Greedy, Decoding::beam(16)] {
        for limit in [1, 10, 50, 200].map(Duration::from_millis) {
            for size in [20, 500, 2000] {
                let (slow, instances) = (Slow::default(), instances(1, size));
                let left = || slow.left(limit);
                let stop = || left().is_some_and(|left| left.is_zero());
                let options = Options { decoding, stop: &stop, ..Options::default() };
                let found =
                    alone(|| rollout::solve::<Tsp>(&TimeLimitedPolicy::new(&slow, &left), &instances, &options));
                let found = found.expect("a deadline is no failure");
                Tsp::check(&instances[0], &found[0].steps).expect("a solution");
                let over = slow.now().saturating_sub(limit);
                assert!(over < Duration::from_millis(5), "{decoding:?}, {size} nodes: {over:?} after {limit:?}");
            }
        }
    }
}

#[test]
fn reconstruction_ends_in_time_with_its_best_solution() {
    let (slow, instances) = (Slow::default(), instances(1, 1000));
    let start = Solution::new::<Tsp>(&instances[0], (1..1000).collect());
    let limit = Duration::from_millis(300);
    let left = || slow.left(limit);
    let stop = || left().is_some_and(|left| left.is_zero());
    let options = search::Options { stop: &stop, ..search::Options::default() };
    let (time_limited, before) = (TimeLimitedPolicy::new(&slow, &left), start.cost);
    let found = alone(|| search::reconstruct::<Tsp>(&time_limited, &instances, vec![start], &options, &mut |_, _| ()));
    assert!(found.expect("a deadline is no failure")[0].cost < before);
    let over = slow.now().saturating_sub(limit);
    assert!(over < Duration::from_millis(5), "{over:?}");
}

#[test]
fn the_prediction_is_about_right() {
    let (slow, instances) = (Slow::default(), instances(1, 1000));
    let left = || slow.left(Duration::from_secs(1000));
    let whole = Subproblem::<Tsp>::whole(Arc::clone(&instances[0]));
    let predicted = TimeLimitedPolicy::new(&slow, &left).predict(&whole, Some(50)).expect("no weights").as_secs_f64();
    let expected = 1000.0 * 50e-6; // a microsecond for each of 50 candidates at 1000 steps
    assert!((0.5..2.0).contains(&(predicted / expected)), "{predicted} for {expected}");
}
