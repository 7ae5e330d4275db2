//! Rollouts end in feasible solutions for every problem. The properties of rollouts themselves are tested in `bqnco-core`.

use bqnco_core::rollout::{Augmentations, Decoding, Options, Stride};
use bqnco_core::{Cut, Generate, Outlook, Policy, PolicyError, Subproblem};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Pctsp, Tsp, cvrp};
use bqnco_testing::properties::{
    a_long_shortlist_changes_nothing, instances, roll_out, rollouts_end_in_solutions, the_widest_beam_is_exact,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_policy_ends_in_a_solution(
        size in 1usize..40, seed: u64, k in proptest::option::of(1usize..12),
        kind in 0usize..3, symmetric: bool, both_ends: bool,
    ) {
        let sample = Decoding::Sample { count: 3, temperature: 1.0, top_k: None };
        let decoding = [Decoding::Greedy, sample, Decoding::beam(4)][kind];
        let augmentations = if symmetric { Augmentations::Symmetric } else { Augmentations::One };
        let stride = Stride { both_ends, ..Stride::default() };
        let options = Options { decoding, shortlist: k, stride, augmentations, seed, ..Options::default() };
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

/// The nearest node is the likeliest; `sharpness` makes it surer. Successors are scored likewise, by `misleading` distances.
struct Nearest {
    sharpness: f64,
    misleading: f64, // from 0, the truth, to 1
    forgetful: bool, // scores depend on the number of calls, not on the state alone
    calls: AtomicUsize,
    states: AtomicUsize,
}

impl Nearest {
    fn new(sharpness: f64) -> Self {
        Nearest { sharpness, misleading: 0.0, forgetful: false, calls: 0.into(), states: 0.into() }
    }

    fn outlook(&self, state: &Subproblem<Tsp>, call: usize) -> Outlook {
        let tail = state.tail();
        let mut nodes = vec![tail.origin];
        nodes.extend(tail.rest.iter().map(|&node| node as usize));
        nodes.push(tail.destination);
        let distance = |a: usize, b: usize| state.instance().geometry().distance(a, b);
        let wrong = |a: usize, b: usize| ((7 * a + 13 * b) % 11) as f64 / 11.0;
        let jitter = |node: usize| if self.forgetful { 0.3 * wrong(node, call) } else { 0.0 };
        let score = |node: &usize| (-self.sharpness * (distance(tail.origin, *node) + jitter(*node))) as f32;
        let follows = |a: usize, b: usize| {
            let length = (1.0 - self.misleading) * distance(a, b) + self.misleading * wrong(a, b);
            (-self.sharpness * length) as f32
        };
        let successors = nodes.iter().flat_map(|&a| nodes.iter().map(move |&b| (a, b)));
        Outlook {
            scores: nodes.iter().map(score).collect(),
            successors: successors.map(|(a, b)| follows(a, b)).collect(),
            destination: Some(nodes.len() - 1),
        }
    }
}

impl Policy<Tsp> for Nearest {
    fn scores(&self, batch: &[&Subproblem<Tsp>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        Ok(self.outlooks(batch)?.into_iter().map(|outlook| outlook.scores).collect())
    }

    fn outlooks(&self, batch: &[&Subproblem<Tsp>]) -> Result<Vec<Outlook>, PolicyError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        self.states.fetch_add(batch.len(), Ordering::Relaxed);
        Ok(batch.iter().map(|state| self.outlook(state, call)).collect())
    }

    fn knows_successors(&self) -> bool {
        true
    }
}

fn greedy(policy: &Nearest, size: usize, stride: Stride) -> Vec<Vec<usize>> {
    let options = Options { stride, shortlist: Some(size / 2), ..Options::default() };
    let found = roll_out::<Tsp>(policy, &instances::<Tsp>(4, size, 3), options);
    found.into_iter().map(|solution| solution.steps).collect()
}

/// Whether verified steps are those of one step at a time, and the calls of both.
fn verified_is_greedy(policy: &dyn Fn() -> Nearest, follow: f64) -> (bool, [usize; 2]) {
    let (single, verified) = (policy(), policy());
    let stride = Stride { follow: Some(follow), verified: true, ..Stride::default() };
    let same = greedy(&single, 30, Stride::default()) == greedy(&verified, 30, stride);
    (same, [single, verified].map(|policy| policy.calls.into_inner()))
}

#[test]
fn verified_steps_are_those_of_one_step_at_a_time() {
    for (misleading, sharpness, follow) in [(0.0, 1e4, 0.5), (0.3, 30.0, 0.1), (0.9, 30.0, 0.01)] {
        let policy = || Nearest { misleading, ..Nearest::new(sharpness) };
        let (same, [single, verified]) = verified_is_greedy(&policy, follow);
        assert!(same, "misleading {misleading}");
        assert!(verified <= single + 1, "{verified} calls instead of {single}");
        assert!(misleading > 0.0 || verified < single / 2, "{verified} calls instead of {single}");
    }
}

/// The law needs a policy that sees the state alone: one that remembers is caught.
#[test]
fn a_policy_that_remembers_breaks_verification() {
    let policy = || Nearest { forgetful: true, ..Nearest::new(30.0) };
    assert!(!verified_is_greedy(&policy, 0.1).0);
}

#[test]
fn paths_grow_at_the_surer_end() {
    let both = Stride { both_ends: true, ..Stride::default() };
    let (one, two) = (Nearest::new(20.0), Nearest::new(20.0));
    let [single, double] = [greedy(&one, 30, Stride::default()), greedy(&two, 30, both)];
    assert_ne!(single, double);
    let looks = |policy: Nearest| policy.states.into_inner();
    // Every state but the first, whose ends are the same node, is looked at twice.
    let (one, two) = (looks(one), looks(two));
    assert!(two > 19 * one / 10 && two < 2 * one, "{two} looks after {one}");
    // The nearest neighbour of either end is a better rule than that of one.
    let length = |tours: &[Vec<usize>]| -> f64 {
        let instances = instances::<Tsp>(4, 30, 3);
        instances
            .iter()
            .zip(tours)
            .map(|(instance, tour)| <Tsp as bqnco_core::SolutionSpace>::cost(instance, tour))
            .sum()
    };
    assert!(length(&double) < length(&single), "{} after {}", length(&double), length(&single));
}

#[test]
fn sure_steps_are_taken_at_both_ends_at_once() {
    let both = Stride { both_ends: true, follow: Some(0.5), ..Stride::default() };
    let (alone, together) = (Nearest::new(1e6), Nearest::new(1e6));
    greedy(&alone, 30, Stride { both_ends: false, ..both });
    greedy(&together, 30, both);
    let calls = |policy: &Nearest| policy.calls.load(Ordering::Relaxed);
    assert!(calls(&together) <= calls(&alone), "{} calls, {} at one end", calls(&together), calls(&alone));
}

#[test]
fn a_beam_of_one_is_greedy_at_both_ends() {
    fn check<P: Generate>() {
        let instances = instances::<P>(4, 12, 9);
        let stride = Stride { both_ends: true, ..Stride::default() };
        let roll = |decoding| {
            let options = Options { decoding, stride, ..Options::default() };
            roll_out::<P>(&bqnco_core::GreedyHeuristic, &instances, options)
        };
        assert_eq!(roll(Decoding::Greedy), roll(Decoding::beam(1)), "{}", P::NAME);
    }
    every_problem!(check());
}

#[test]
fn a_beam_narrows_where_one_partial_solution_is_far_ahead() {
    let states = |keep: f64| {
        let policy = Nearest::new(60.0);
        let options = Options { decoding: Decoding::Beam { width: 8, keep, merge: true }, ..Options::default() };
        let found = roll_out::<Tsp>(&policy, &instances::<Tsp>(4, 20, 3), options);
        (policy.states.into_inner(), found)
    };
    let ((all, widest), (some, _), (one, narrowest)) = (states(0.0), states(0.1), states(1.0));
    assert!(one < some && some < all, "{one}, {some} and {all} states");
    let options = Options::default();
    let greedy = roll_out::<Tsp>(&Nearest::new(60.0), &instances::<Tsp>(4, 20, 3), options);
    assert_eq!(narrowest, greedy, "a beam that keeps the best alone is greedy");
    let same = roll_out::<Tsp>(
        &Nearest::new(60.0),
        &instances::<Tsp>(4, 20, 3),
        Options { decoding: Decoding::beam(8), ..options },
    );
    assert_eq!(widest, same);
}

/// Remembers whether it was shown equal tails at once, and the largest tail.
#[derive(Default)]
struct Witness {
    cut: Cut,
    twins: AtomicUsize,
    shown: Mutex<Vec<cvrp::Tail>>,
}

impl Policy<Cvrp> for Witness {
    fn scores(&self, batch: &[&Subproblem<Cvrp>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        let tails: Vec<&cvrp::Tail> = batch.iter().map(|state| state.tail()).collect();
        let twins = (1..tails.len()).filter(|&k| tails[..k].contains(&tails[k])).count();
        self.twins.fetch_add(twins, Ordering::Relaxed);
        self.shown.lock().expect("no panic").extend(tails.into_iter().cloned());
        bqnco_core::Uniform.scores(batch)
    }

    fn cut(&self) -> Cut {
        self.cut
    }
}

#[test]
fn a_plain_beam_merges_nothing() {
    let twins = |decoding| {
        let policy = Witness::default();
        roll_out::<Cvrp>(&policy, &instances::<Cvrp>(1, 6, 3), Options { decoding, ..Options::default() });
        policy.twins.into_inner()
    };
    assert_eq!(twins(Decoding::beam(200)), 0);
    assert!(twins(Decoding::plain_beam(200)) > 0);
}

#[test]
fn policies_are_shown_the_candidates_that_they_learnt_from() {
    let first = |cut| {
        let policy = Witness { cut, ..Witness::default() };
        let options = Options { shortlist: Some(6), ..Options::default() };
        roll_out::<Cvrp>(&policy, &instances::<Cvrp>(1, 30, 3), options);
        policy.shown.into_inner().expect("no panic").remove(0)
    };
    let whole = Subproblem::<Cvrp>::whole(Arc::clone(&instances::<Cvrp>(1, 30, 3)[0]));
    for cut in [Cut::Likeliest, Cut::Nearest] {
        assert_eq!(first(cut), *whole.cut_to(6, cut).tail());
    }
    assert_ne!(first(Cut::Likeliest), first(Cut::Nearest));
}
