//! Policies, training loops and environments outside the library: they see plain arrays.
#![allow(clippy::unwrap_used)] // a panic is a failed test

use std::sync::Arc;

use bqnco::core::rollout::Decoding;
use bqnco::core::{Frame, PolicyError, Subproblem, random};
use bqnco::net::device;
use bqnco::train::Training;
use bqnco::{
    Environments, Error, Event, GeneratedSet, GivenPolicy, Guide, Instance, Labeller, Model, Nodes, ObservationBatch,
    PolicySource, ProblemName, Search, Shortlist, Solver, Tails, dispatch,
};
use rand::RngExt;

fn generated(problem: ProblemName, size: usize, count: u64) -> Vec<Instance> {
    GeneratedSet::new(problem, size, count).instances(0..count).unwrap()
}

fn search(policy: PolicySource, decoding: Decoding, shortlist: Shortlist) -> Search {
    Search::Construct { guide: Guide { policy, shortlist, ..Guide::default() }, decoding }
}

#[test]
fn a_network_behind_arrays_finds_what_it_finds_itself() {
    for &problem in ProblemName::ALL {
        let Some(model) = Model::named(problem.as_str()) else { continue };
        let network = Arc::new(model.load(&device("cpu").unwrap()).unwrap().0);
        let (frame, shortlist) = (network.config().frame, network.config().shortlist);
        let scorer = move |batch: &ObservationBatch| {
            let rows = network.scores(&batch.observations()).map_err(|why| PolicyError::Failed(Box::new(why)))?;
            let padded = |row: Vec<f32>| row.into_iter().chain(std::iter::repeat(f32::NAN)).take(batch.slots());
            Ok(rows.into_iter().flat_map(padded).collect())
        };
        let given = PolicySource::Given(GivenPolicy::new("mine", frame, scorer).unwrap());
        let shortlist = shortlist.map_or(Shortlist::Likeliest(50), Shortlist::Likeliest);
        let instances = generated(problem, 12, 3);
        let solve = |policy: PolicySource| {
            let solver = Solver::new().search(search(policy, Decoding::beam(3), shortlist));
            let all = solver.solve_all(&instances, &|_: &Event<'_>| ()).unwrap();
            all.into_iter().map(|found| found.unwrap().numbers()).collect::<Vec<_>>()
        };
        assert_eq!(solve(given), solve(PolicySource::Default), "{problem}");
    }
}

#[test]
fn bad_scores_are_refused() {
    let instance = &generated(ProblemName::Tsp, 5, 1)[0];
    let solve = |scorer: fn(&ObservationBatch) -> Result<Vec<f32>, PolicyError>| {
        let policy = PolicySource::Given(GivenPolicy::new("mine", Frame::Instance, scorer).unwrap());
        Solver::new().search(search(policy, Decoding::Greedy, Shortlist::All)).solve(instance).unwrap_err().to_string()
    };
    assert!(solve(|_| Ok(vec![0.0])).contains("1 scores for 1 states with 6 slots each"));
    assert!(solve(|batch| Ok(vec![f32::NAN; batch.slots()])).contains("scored slot 1 with NaN"));
    assert!(solve(|_| Err(PolicyError::Failed("tired".into()))).contains("tired"));
}

#[test]
fn a_matrix_of_distances_is_not_shown_as_coordinates() {
    let instance =
        Instance::tsp(Nodes::Distances { nodes: 3, matrix: &[0.0, 1.0, 2.0, 1.0, 0.0, 2.0, 2.0, 2.0, 0.0] }).unwrap();
    let policy = GivenPolicy::new("mine", Frame::Instance, |batch: &ObservationBatch| Ok(vec![0.0; batch.slots()]));
    let search = search(PolicySource::Given(policy.unwrap()), Decoding::Greedy, Shortlist::All);
    assert!(matches!(Solver::new().search(search).solve(&instance), Err(Error::NoFeatures { .. })));
    assert!(matches!(
        Environments::new(std::slice::from_ref(&instance), Frame::Instance),
        Err(Error::NoFeatures { .. })
    ));
    let tails = Tails::new(&[instance], Training::default(), Frame::Instance, None);
    assert!(matches!(tails, Err(Error::NoFeatures { .. })));
}

#[test]
fn rewards_add_up_to_the_change_of_the_cost() {
    for &problem in ProblemName::ALL {
        let instances = generated(problem, 9, 4);
        let mut environments = Environments::new(&instances, Frame::Instance).unwrap();
        let (mut returns, mut rng) = (vec![0.0; 4], random(3, &[]));
        loop {
            let seen = environments.observe();
            let mut choose = |mask: &[bool]| {
                let allowed: Vec<usize> = (0..mask.len()).filter(|&slot| mask[slot]).collect();
                if allowed.is_empty() { usize::MAX } else { allowed[rng.random_range(0..allowed.len())] }
            };
            let actions: Vec<usize> = seen.mask.chunks(seen.slots()).map(&mut choose).collect();
            let made = environments.step(&actions).unwrap();
            returns.iter_mut().zip(&made).for_each(|(sum, one)| *sum += one.reward);
            if made.iter().all(|one| one.finished) {
                break;
            }
        }
        for (k, instance) in instances.iter().enumerate() {
            let solution = environments.solution(k).unwrap();
            let (cost, empty) = dispatch!(problem, P => {
                let typed = instance.get::<P>().unwrap();
                (P::cost(typed, solution.steps::<P>().unwrap()), P::cost(typed, &[]))
            });
            assert!((empty - returns[k] - cost).abs() < 1e-9, "{problem}: {empty} - {} and {cost}", returns[k]);
        }
        environments.restart(2, &instances[0]).unwrap();
        assert!(environments.solution(2).is_none() && environments.observe().lengths[2] > 0);
        assert!(!environments.step(&[usize::MAX; 4]).unwrap()[2].allowed);
    }
}

#[test]
fn environments_show_every_state_as_it_is() {
    for &problem in ProblemName::ALL {
        let instances: Vec<Instance> = (3..9).flat_map(|size| generated(problem, size, 1)).collect();
        let mut environments = Environments::new(&instances, Frame::Origin).unwrap();
        dispatch!(problem, P => {
            let whole = |instance: &Instance| Subproblem::<P>::whole(Arc::clone(instance.get::<P>().unwrap()));
            let mut states: Vec<Subproblem<P>> = instances.iter().map(whole).collect();
            for round in 0..20 {
                let seen = environments.observe();
                for (k, (state, observed)) in states.iter().zip(seen.observations()).enumerate() {
                    let allowed: Vec<usize> = state.allowed().map(|(slot, _)| slot).collect();
                    let mask = &seen.mask[k * seen.slots()..][..seen.slots()];
                    assert!((0..mask.len()).all(|slot| mask[slot] == allowed.contains(&slot)), "{problem}");
                    let padding = &seen.features[k * seen.tokens * seen.width..][..seen.tokens * seen.width];
                    assert!(padding[seen.lengths[k] * seen.width..].iter().all(|&number| number == 0.0), "{problem}");
                    match allowed.is_empty() {
                        true => assert_eq!(observed.tokens, 0, "{problem}"),
                        false => assert_eq!(observed, state.observe(Frame::Origin), "{problem}"),
                    }
                }
                let step = |state: &Subproblem<P>| state.allowed().last();
                let steps: Vec<_> = states.iter().map(step).collect();
                let actions: Vec<usize> = steps.iter().map(|step| step.map_or(0, |(slot, _)| slot)).collect();
                environments.step(&actions).unwrap();
                for (state, step) in states.iter_mut().zip(steps) {
                    step.map(|(_, step)| state.take(step));
                }
                let (place, other) = (round % states.len(), (round + 2) % states.len());
                environments.restart(place, &instances[other]).unwrap();
                states[place] = whole(&instances[other]);
            }
        });
    }
}

#[test]
fn tails_depend_on_their_number_only_and_need_solutions() {
    let set = GeneratedSet::new(ProblemName::Cvrp, 8, 4);
    let labelled = Labeller::new().rounds(5).label(&set, 0..4, None, &mut |_, _| ()).unwrap();
    let training = Training { batch: 16, ..Training::default() };
    let tails = || Tails::new(&labelled, training.clone(), Frame::Origin, Some(5)).unwrap();
    let late = tails().batch(7).unwrap();
    let again = tails();
    assert_ne!(again.batch(0).unwrap(), late);
    assert_eq!(again.batch(7).unwrap(), late);
    let slots = late.observations.slots();
    for (mask, right) in late.observations.mask.chunks(slots).zip(late.targets.chunks(slots)) {
        assert!((right.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(mask.iter().zip(right).all(|(&allowed, &right)| allowed || right == 0.0));
    }
    let unlabelled = set.instances(0..1).unwrap();
    assert!(matches!(Tails::new(&unlabelled, training, Frame::Origin, None), Err(Error::NoSolution { .. })));
}
