//! Constructions look by look, for every problem.

use std::time::Duration;

use bqnco::core::Frame;
use bqnco::{
    CancelToken, End, Ends, Error, Follow, GeneratedSet, GivenPolicy, Guide, Instance, Look, ObservationBatch,
    PolicySource, ProblemName, Search, Solver, Trace,
};

fn instance(problem: ProblemName, size: usize) -> Instance {
    GeneratedSet { seed: 4, ..GeneratedSet::new(problem, size, 1) }.instances(0..1).expect("valid").remove(0)
}

#[test]
fn a_trace_is_the_greedy_construction() {
    let solver = Solver::new().search(Search::greedy());
    for &problem in ProblemName::ALL {
        let instance = instance(problem, 12);
        let trace = solver.trace(&instance, 3).expect("a trace");
        let solution = solver.solve(&instance).expect("a solution");
        let traced = trace.solution().expect("complete");
        assert_eq!((traced.numbers(), traced.value()), (solution.numbers(), solution.value()), "{problem}");
        assert_eq!(trace.policy(), format!("network {problem}"));
        assert_eq!(numbers(&trace), solution.numbers(), "{problem}: steps add up");
        let last = trace.looks().last().expect("a look");
        assert!((last.value - solution.value()).abs() < 1e-9, "{problem}");
        for look in trace.looks() {
            let shares: Vec<f64> = look.candidates.iter().map(|candidate| candidate.probability).collect();
            assert!(!shares.is_empty() && shares.len() <= 3.min(look.scored), "{problem}");
            assert!(
                shares.is_sorted_by(|a, b| a >= b) && shares.iter().sum::<f64>() <= 1.0 + 1e-9,
                "{problem}: {shares:?}"
            );
            let likeliest = look.taken.iter().find(|step| step.end == look.end);
            assert!(
                likeliest.is_none_or(|step| step.adds == look.candidates[0].adds),
                "{problem}: at the end it looked at"
            );
        }
    }
}

/// The numbers of the solution, from the steps that were taken at both ends.
fn numbers(trace: &Trace) -> Vec<usize> {
    let (mut front, mut behind) = (trace.start().to_vec(), Vec::new());
    for step in trace.looks().iter().flat_map(|look| &look.taken) {
        match step.end {
            End::Front => front.extend(&step.adds),
            End::Back => behind.splice(0..0, step.adds.iter().copied()).for_each(drop),
        }
    }
    front.extend(behind);
    front
}

#[test]
fn the_callers_policy_is_asked_on_its_own_thread() {
    // From left to right, which is not the order of nearest neighbours.
    let scorer = |batch: &ObservationBatch| {
        assert_eq!((rayon::current_num_threads(), rayon::current_thread_index()), (1, Some(0)));
        Ok(batch.features.iter().step_by(batch.width).map(|x| -x).collect())
    };
    let policy = PolicySource::Given(GivenPolicy::new("sweep", Frame::Instance, scorer).expect("a thread"));
    let guide = Guide { policy, ..Guide::default() };
    let solver = Solver::new().search(Search::greedy().with_guide(guide)).threads(2).expect("threads");
    let instance = Instance::tsp(&[[0.0, 0.0], [0.1, 0.9], [0.2, 0.0], [0.3, 0.8]]).expect("valid");
    let trace = solver.trace(&instance, 1).expect("a trace");
    assert_eq!((trace.policy(), numbers(&trace)), ("sweep", vec![0, 1, 2, 3]));
    assert_eq!(numbers(&trace), solver.solve(&instance).expect("a solution").numbers());
}

#[test]
fn what_a_construction_cannot_keep_is_not_traced() {
    let places = [[0.0, 0.0], [0.0, 1.0], [-1.0, -2.0], [1.0, -2.0]];
    let free = Instance::cvrp(&places, &[2.0, 1.0, 1.0], 3.0).expect("valid");
    let limited = free.with_vehicles(2).expect("enough");
    let solver = Solver::new().search(Search::greedy());
    assert!(solver.trace(&free, 1).is_ok());
    assert!(matches!(solver.trace(&limited, 1), Err(Error::UnseenConstraint { .. })));
}

#[test]
fn a_construction_at_both_ends_is_shown_at_both() {
    for problem in [ProblemName::Tsp, ProblemName::Op] {
        for follow in [Follow::One, Follow::Likely(0.3)] {
            let guide = Guide { ends: Ends::Both, follow, ..Guide::default() };
            let solver = Solver::new().search(Search::greedy().with_guide(guide));
            let instance = instance(problem, 25);
            let trace = solver.trace(&instance, 3).expect("a trace");
            let solution = solver.solve(&instance).expect("a solution");
            assert_eq!(numbers(&trace), solution.numbers(), "{problem} {follow:?}: steps add up");
            let last = trace.looks().last().expect("a look");
            assert!((last.value - solution.value()).abs() < 1e-9, "{problem} {follow:?}");
            let steps = || trace.looks().iter().flat_map(|look| &look.taken);
            assert!(steps().any(|step| step.end == End::Back), "{problem} {follow:?}");
            assert!(steps().any(|step| step.end == End::Front), "{problem} {follow:?}");
            let is_likeliest = |look: &Look| {
                let first = &look.taken[0];
                (first.end, &first.adds) == (look.end, &look.candidates[0].adds)
            };
            assert!(follow != Follow::One || trace.looks().iter().all(is_likeliest), "{problem}");
        }
    }
}

#[test]
fn all_candidates_have_all_the_probability_and_what_is_settled_never_comes_back() {
    for &problem in ProblemName::ALL {
        let instance = instance(problem, 10);
        let trace = Solver::new().trace(&instance, 1000).expect("a trace");
        let mut settled = Vec::new();
        for look in trace.looks() {
            let total: f64 = look.candidates.iter().map(|candidate| candidate.probability).sum();
            assert!((total - 1.0).abs() < 1e-6 && look.candidates.len() == look.scored, "{problem}: {total}");
            for candidate in &look.candidates {
                assert!(candidate.adds.last().is_none_or(|node| !settled.contains(node)), "{problem}");
            }
            settled.extend(&look.settled);
        }
        settled.sort_unstable();
        assert!(settled.is_sorted_by(|a, b| a < b), "{problem}: every node is settled once, {settled:?}");
        let chosen = trace.looks().iter().flat_map(|look| look.taken.iter().filter_map(|step| step.adds.last()));
        assert!(chosen.clone().all(|node| settled.contains(node)) && chosen.count() > 0, "{problem}");
    }
}

#[test]
fn cancellation_and_time_limits_cut_a_trace_short() {
    let instance = instance(ProblemName::Tsp, 50);
    let token = CancelToken::new();
    token.cancel();
    let trace = Solver::new().cancel_token(&token).trace(&instance, 3).expect("a trace");
    assert!(trace.cut_short() && trace.looks().is_empty());
    let trace = Solver::new().time_limit(Duration::from_nanos(1)).trace(&instance, 3).expect("a trace");
    assert!(trace.cut_short() && trace.looks().len() < 49);
}

#[test]
fn clones_with_another_search_use_the_loaded_networks() {
    let solver = Solver::new().search(Search::greedy());
    let instance = instance(ProblemName::Tsp, 8);
    let one = solver.solve(&instance).expect("a solution");
    let other = solver.clone().search(Search::beam(1)).solve(&instance).expect("a solution");
    assert_eq!(one.numbers(), other.numbers());
    let foreign = "cvrp".parse().map(bqnco::PolicySource::Network).expect("a network");
    let guide = bqnco::Guide { policy: foreign, ..bqnco::Guide::default() };
    let refused = solver.search(Search::greedy().with_guide(guide)).solve(&instance);
    assert!(matches!(refused, Err(bqnco::Error::OtherNetwork { .. })), "networks are told apart by their names");
}
