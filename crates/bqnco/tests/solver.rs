//! The public API: instances in, checked solutions out, with events and cancellation.
#![allow(clippy::unwrap_used)] // a panic is a failed test

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use bqnco::core::random;
use bqnco::{
    CancelToken, Error, Event, Instance, MAX_THREADS, Preset, ProblemName, Reader, References, Search, Solver,
    dispatch, write_all,
};

fn silent(_: &Event<'_>) {}

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data/examples").join(name)
}

/// One random instance per problem.
fn one_of_each(size: usize) -> Vec<Instance> {
    let instance = |&problem: &ProblemName| dispatch!(problem, P => Instance::from_typed::<P>(P::NAME, P::generate(size, &mut random(7, &[]))));
    ProblemName::ALL.iter().map(instance).collect()
}

#[test]
fn every_problem_is_solved_written_and_read_back_in_four_lines() {
    let folder = tempfile::tempdir().unwrap();
    for instance in one_of_each(12) {
        let file = folder.path().join(instance.name()).with_extension("json");
        std::fs::write(&file, instance.to_bytes(bqnco::io::Format::Json).unwrap()).unwrap();

        let instance = Instance::read(&file).unwrap();
        let solution = Solver::new().solve(&instance).unwrap();
        let written = folder.path().join(format!("{}.{}", instance.name(), instance.native_solution_format().1));
        solution.write(&written).unwrap();

        let read = instance.read_solution(&written).unwrap();
        assert_eq!(read.check(), Ok(()), "{}", instance.name());
        assert!((read.value() - solution.value()).abs() < 1e-9, "{}", instance.name());
        assert!(!solution.found_by().is_empty() && solution.draw().to_svg().contains("<svg"));
    }
}

#[test]
fn solutions_of_different_problems_are_in_the_given_order() {
    let mut instances = one_of_each(8);
    instances.extend(one_of_each(9));
    let finished = Mutex::new(Vec::new());
    let observer = |event: &Event<'_>| {
        if let Event::Finished { index, .. } = event {
            finished.lock().unwrap().push(*index);
        }
    };
    let solutions = Solver::new().search(Search::greedy()).solve_all(&instances, &observer).unwrap();
    assert_eq!(finished.into_inner().unwrap(), (0..instances.len()).collect::<Vec<_>>());
    for (instance, solution) in instances.iter().zip(solutions) {
        assert_eq!(solution.unwrap().instance().name(), instance.name());
    }
}

#[test]
fn events_report_start_improvements_and_end() {
    let instance = Instance::read(example("city48.tsp")).unwrap();
    for search in [Search::auto(), Search::reconstruct(), Search::expert(), Search::beam(4)] {
        let (starts, values, ends) = (Mutex::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let observer = |event: &Event<'_>| match event {
            Event::Started { instances, .. } => *starts.lock().unwrap() += instances,
            Event::Improved { improvement, .. } => {
                assert_eq!(improvement.solution().value(), improvement.value);
                assert_eq!(improvement.solution().check(), Ok(()));
                values.lock().unwrap().push(improvement.value);
            }
            Event::Finished { result, .. } => assert!(result.is_ok()),
            Event::Ended { solved, instances, .. } => ends.lock().unwrap().push((*solved, *instances)),
            _ => {}
        };
        let solution = Solver::new().search(search).solve_observed(&instance, &observer).unwrap();
        let values = values.into_inner().unwrap();
        assert_eq!((starts.into_inner().unwrap(), ends.into_inner().unwrap()), (1, vec![(1, 1)]));
        assert_eq!(values.last(), Some(&solution.value()), "the last improvement is the result");
        assert!(values.iter().all(|&value| value >= solution.value()));
    }
}

#[test]
fn a_cancelled_search_soon_returns_its_best_solution() {
    let instance = Instance::read(example("city48.tsp")).unwrap();
    for search in [Search::auto(), Search::reconstruct(), Search::hybrid(), Search::expert()] {
        let token = CancelToken::new();
        let solver = Solver::new().search(search).time_limit(Duration::from_secs(600)).cancel_token(&token);
        let (found, heard) = mpsc::channel();
        let observer = |event: &Event<'_>| {
            if let Event::Improved { .. } = event {
                let _ = found.send(());
            }
        };
        std::thread::scope(|scope| {
            let solving = scope.spawn(|| solver.solve_observed(&instance, &observer));
            heard.recv().unwrap();
            let cancelled = Instant::now();
            token.cancel();
            let solution = solving.join().unwrap().unwrap();
            assert!(solution.cut_short() && solution.check().is_ok());
            assert!(cancelled.elapsed() < Duration::from_secs(60), "far below the limit of 600 s");
        });
    }
    let token = CancelToken::new();
    token.cancel();
    let never = Solver::new().search(Search::expert()).cancel_token(&token).solve(&instance);
    assert!(matches!(never, Err(Error::Cancelled { done: 0, total: 1 })));
}

#[test]
fn solvers_in_two_threads_are_independent() {
    let instances = one_of_each(15);
    let solver = |seed| Solver::new().seed(seed).threads(1).unwrap();
    let alone: Vec<_> = [1, 2].map(|seed| values(&solver(seed), &instances)).into();
    let together: Vec<_> = std::thread::scope(|scope| {
        let instances = &instances;
        let run = [1, 2].map(|seed| scope.spawn(move || values(&solver(seed), instances)));
        run.map(|thread| thread.join().unwrap()).into()
    });
    assert_eq!(alone, together);
}

fn values(solver: &Solver, instances: &[Instance]) -> Vec<f64> {
    let solutions = solver.solve_all(instances, &silent).unwrap();
    solutions.into_iter().map(|solution| solution.unwrap().value()).collect()
}

#[test]
fn a_start_must_be_a_solution_of_the_instance() {
    let instances = one_of_each(10);
    let [tsp, atsp] = [&instances[0], &instances[1]];
    let start = Solver::new().search(Search::greedy()).solve(tsp).unwrap();
    let better = Solver::new().search(Search::expert()).start(start.clone()).solve(tsp).unwrap();
    assert!(better.value() <= start.value());
    let foreign = Solver::new().search(Search::expert()).start(start.clone()).solve(atsp).unwrap_err();
    assert!(foreign.to_string().contains("the start is a solution of tsp"), "{foreign}");
    let unfit = Solver::new().search(Search::greedy()).start(start).solve(tsp).unwrap_err();
    assert!(unfit.to_string().contains("auto, reconstruct, hybrid or expert"), "{unfit}");
    let broken = tsp.solution_from(&[0, 1, 2]).unwrap();
    assert!(matches!(Solver::new().start(broken).solve(tsp), Err(Error::Infeasible { .. })));
}

#[test]
fn a_solution_names_what_found_it() {
    // A bad policy that needs three times the time limit for its steps.
    let scorer = |batch: &bqnco::ObservationBatch| {
        std::thread::sleep(Duration::from_millis(20));
        Ok(vec![0.0; batch.len() * batch.slots()])
    };
    let slow = bqnco::GivenPolicy::new("slow", bqnco::core::Frame::Instance, scorer).unwrap();
    let guide = bqnco::Guide { policy: bqnco::PolicySource::Given(slow), ..Default::default() };
    let solver = Solver::new().search(Search::greedy().with_guide(guide)).time_limit(Duration::from_secs(2));
    let instance = &one_of_each(300)[0];
    let hasty = solver.solve(instance).unwrap();
    assert_eq!((hasty.search(), hasty.found_by()), ("slow", "greedy edges"));
    assert!(hasty.rebuilt().is_none() && hasty.cut_short());
    let rebuild = bqnco::RebuildEffort { rounds: Some(1), ..Default::default() };
    let search = Search::Reconstruct { guide: bqnco::Guide::default(), rebuild };
    let rebuilt = Solver::new().search(search).start(hasty).solve(instance).unwrap();
    assert_eq!(rebuilt.found_by(), "network tsp, reconstructed from given solution");
    assert_eq!(rebuilt.rebuilt().map(|rebuilt| rebuilt.start), Some("given solution"));
}

#[test]
fn search_names_are_parsed_or_rejected() {
    for good in ["auto", "greedy", "greedy8", "beam16", "beam16:250", "sample4:all", "reconstruct", "hybrid", "expert"]
    {
        assert!(good.parse::<Search>().is_ok(), "{good}");
    }
    for bad in ["", "auto:5", "gready", "greedy7", "beam0", "beam16:0", "beam99999", "expert:5", "reconstruct3"] {
        let message = bad.parse::<Search>().err().map(|error| error.to_string());
        assert!(message.is_some_and(|message| message.starts_with(&format!("search `{bad}`"))), "{bad}");
    }
}

#[test]
fn a_network_for_another_problem_is_rejected() {
    let guide = bqnco::Guide { policy: bqnco::PolicySource::Network("cvrp".parse().unwrap()), ..Default::default() };
    let solver = Solver::new().search(Search::greedy().with_guide(guide));
    let message = solver.solve(&one_of_each(5)[0]).unwrap_err().to_string();
    assert!(message.starts_with("cvrp is a network for cvrp, but the problem is tsp"), "{message}");
}

#[test]
fn a_file_holds_instances_of_one_problem_only() {
    let instances = one_of_each(6);
    assert!(write_all(&instances, bqnco::io::Format::JsonLines).is_err());
    let twice = [instances[0].clone(), instances[0].clone()];
    let bytes = write_all(&twice, bqnco::io::Format::JsonLines).unwrap();
    assert_eq!(Reader::default().parse("two.jsonl", bytes.clone()).unwrap().len(), 2);
    let message = Instance::parse("two.jsonl", bytes).unwrap_err().to_string();
    assert!(message.contains("expected one instance, found 2"), "{message}");
}

#[test]
fn references_are_numbers_or_tables() {
    assert_eq!(References::parse("4.5").unwrap().of("any", None), Some(4.5));
    assert!(References::parse("0").is_err() && References::parse("no such file").is_err());
    assert_eq!(References::default().of("any", Some(3.0)), Some(3.0));
}

#[test]
fn solutions_with_nodes_that_do_not_exist_are_refused_not_computed() {
    for instance in one_of_each(6) {
        let bad = instance.solution_from(&[0, 1, 999]).unwrap();
        assert!(bad.check().is_err() && bad.value().is_nan(), "{}", instance.name());
        assert!(bad.draw().to_svg().contains("not a solution"), "{}", instance.name());
        assert!(bad.to_bytes(bqnco::io::Format::Json).is_err());
    }
}

#[test]
fn a_start_of_another_instance_is_refused() {
    let (small, large) = (&one_of_each(5)[0], &one_of_each(10)[0]);
    let start = Solver::new().search(Search::greedy()).solve(small).unwrap();
    assert!(matches!(Solver::new().start(start).solve(large), Err(Error::Infeasible { .. })));
}

#[test]
fn senseless_numbers_of_threads_are_refused() {
    for count in [0, MAX_THREADS + 1, usize::MAX] {
        let error = Solver::new().threads(count).expect_err("not so many");
        assert_eq!(error.to_string(), format!("expected 1 to 1024 threads, found {count}"));
    }
}

#[test]
fn solvers_may_be_called_from_threads_of_a_pool() {
    let instances = one_of_each(9);
    let solver = Solver::new().search(Search::expert());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let solved = pool.install(|| {
        use rayon::prelude::*;
        instances[..4].par_iter().map(|instance| solver.solve(instance).is_ok()).collect::<Vec<_>>()
    });
    assert_eq!(solved, [true; 4]);
}

#[test]
fn each_problem_is_one_group_wherever_its_instances_stand() {
    let (first, second) = (one_of_each(7), one_of_each(8));
    let solver = Solver::new().search(Search::sample(4)).seed(3);
    let mixed: Vec<Instance> = first.iter().zip(&second).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let apart: Vec<Instance> = first.iter().chain(&second).cloned().collect();
    let (mixed, apart) = (values(&solver, &mixed), values(&solver, &apart));
    for (index, pair) in mixed.chunks(2).enumerate() {
        assert_eq!(pair, [apart[index], apart[first.len() + index]], "an instance's place among its own decides");
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let instance = &one_of_each(5)[0];
    let guide = bqnco::Guide { shortlist: bqnco::Shortlist::Likeliest(0), ..Default::default() };
    let decoding = bqnco::Decoding::Sample { count: 2, temperature: 1.0, top_k: Some(0) };
    let none_to_choose = Search::Construct { guide: bqnco::Guide::default(), decoding };
    let no_candidates = Search::greedy().with_guide(guide);
    for search in [Search::beam(0), Search::sample(0), Search::beam(1_000_000), no_candidates, none_to_choose] {
        let error = Solver::new().search(search).solve(instance).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    }
}

#[test]
fn a_converted_file_keeps_the_name_that_it_gives_its_instance() {
    let text = "NAME : own\nTYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 0\n3 0 4\nEOF\n";
    let instance = Instance::parse("folder/file.tsp", text).unwrap();
    assert_eq!(instance.name(), "file");
    let json = String::from_utf8(instance.to_bytes(bqnco::io::Format::Json).unwrap()).unwrap();
    assert!(json.contains("\"own\""), "{json}");
}

/// The best known values; knapsack's is proven, the others no search of ours has ever beaten.
const EXAMPLES: [(&str, f64); 5] = [
    ("city48.tsp", 4792.0),
    ("depot40.vrp", 6378.0),
    ("hike40.oplib", 228.0),
    ("oneway24.atsp", 4910.0),
    ("sack50.kp", 900.0),
];

#[test]
fn the_default_search_ends_by_itself_with_the_best_known_values() {
    for (file, best_known) in EXAMPLES {
        let solution = Solver::new().solve(&Instance::read(example(file)).unwrap()).unwrap();
        assert_eq!((solution.value(), solution.found_by()), (best_known, "expert"), "{file}");
        assert!(!solution.cut_short(), "{file}");
    }
}

#[test]
fn the_default_search_gives_the_same_solutions_on_any_number_of_threads() {
    let instances = one_of_each(60);
    let solutions = |threads: usize| {
        let solver = Solver::new().preset(Preset::Fast).seed(3).threads(threads).unwrap();
        let solutions = solver.solve_all(&instances, &silent).unwrap();
        solutions.into_iter().map(|solution| solution.unwrap().numbers()).collect::<Vec<_>>()
    };
    assert_eq!(solutions(1), solutions(3));
}

#[test]
fn the_default_search_is_never_worse_than_the_expert_with_the_same_seed() {
    let instance = &one_of_each(80)[2];
    let auto = Solver::new().seed(5).solve(instance).unwrap();
    let effort = bqnco::ExpertEffort { rounds: Some(800), ..Default::default() }; // auto's patience
    let expert = Solver::new().search(Search::Expert { effort }).seed(5).solve(instance).unwrap();
    assert!(auto.value() <= expert.value(), "one of auto's searches is that of the expert, and at least as long");
}

/// A symmetric matrix without coordinates.
fn matrix(problem: &str) -> Instance {
    let matrix = "[[0,2,9,10],[2,0,6,4],[9,6,0,8],[10,4,8,0]]";
    let rest = match problem {
        "cvrp" => ", \"demands\": [0,1,1,1], \"capacity\": 2",
        "op" => ", \"prizes\": [0,1,1,1], \"limit\": 15",
        "pctsp" => ", \"prizes\": [0,1,1,1], \"penalties\": [0,1,1,1], \"quota\": 2",
        _ => "",
    };
    Instance::parse("m.json", format!("{{\"problem\": \"{problem}\", \"matrix\": {matrix}{rest}}}")).unwrap()
}

#[test]
fn a_matrix_is_shown_to_networks_that_read_costs_and_to_no_others() {
    let tour = Solver::new().search(Search::greedy()).solve(&matrix("tsp")).unwrap();
    assert_eq!((tour.found_by(), tour.check()), ("network atsp", Ok(())));
    for problem in ["cvrp", "op"] {
        let message = Solver::new().search(Search::greedy()).solve(&matrix(problem)).unwrap_err().to_string();
        assert!(message.contains("only a matrix of distances: use the search `auto` or `expert`"), "{message}");
        assert_eq!(Solver::new().solve(&matrix(problem)).unwrap().found_by(), "expert");
    }
    let without_expert = Solver::new().solve(&matrix("pctsp")).unwrap();
    assert_eq!((without_expert.found_by(), without_expert.check()), ("best saving, reconstructed", Ok(())));
    let guide = bqnco::Guide { policy: bqnco::PolicySource::Network("tsp".parse().unwrap()), ..Default::default() };
    let message = Solver::new().search(Search::greedy().with_guide(guide)).solve(&matrix("tsp")).unwrap_err();
    assert!(message.to_string().starts_with("the network tsp needs coordinates"), "{message}");
}

#[test]
fn a_network_that_reads_costs_sees_the_same_of_a_tsp_and_of_its_matrix_as_atsp() {
    let instances = one_of_each(30);
    let tsp = instances[0].get::<bqnco::problems::Tsp>().unwrap();
    let nodes = tsp.geometry().len();
    let costs = (0..nodes * nodes).map(|k| tsp.geometry().distance(k / nodes, k % nodes)).collect();
    let atsp = bqnco::problems::atsp::Instance::tour(nodes, costs).unwrap();
    let guide = bqnco::Guide { policy: bqnco::PolicySource::Network("atsp".parse().unwrap()), ..Default::default() };
    let solver = Solver::new().search(Search::greedy().with_guide(guide));
    let as_tsp = solver.solve(&instances[0]).unwrap();
    let as_atsp = solver.solve(&Instance::from_typed::<bqnco::problems::Atsp>("same", atsp)).unwrap();
    assert_eq!(as_tsp.numbers(), as_atsp.numbers());
}

#[test]
fn what_one_network_cannot_see_does_not_keep_others_from_being_solved() {
    let instances = [matrix("cvrp"), Instance::read(example("depot40.vrp")).unwrap()];
    let solutions = Solver::new().search(Search::greedy()).solve_all(&instances, &silent).unwrap();
    assert!(matches!(solutions[0], Err(Error::NoCoordinates { .. })));
    assert!(solutions[1].is_ok());
}

#[test]
fn several_steps_at_once_need_a_network_that_plans_them() {
    let follow = |policy| bqnco::Guide { policy, follow: bqnco::Follow::Likely(0.9), ..Default::default() };
    let network = follow(bqnco::PolicySource::Network("knapsack".parse().unwrap()));
    let instance = Instance::read(example("sack50.kp")).unwrap();
    let message = Solver::new().search(Search::greedy().with_guide(network)).solve(&instance).unwrap_err().to_string();
    assert!(message.contains("single steps only"), "{message}");
}

#[test]
fn constructions_in_fewer_passes_are_solutions_too() {
    use bqnco::{Decoding, Ends, Follow, Guide};
    let instance = &one_of_each(30)[0];
    let solve = |guide: Guide, decoding| {
        let solution = Solver::new().search(Search::Construct { guide, decoding }).solve(instance).unwrap();
        (solution.passes().expect("a network's passes"), solution.value())
    };
    let one = || Guide { follow: Follow::One, ends: Ends::One, ..Guide::default() };
    let (passes, _) = solve(one(), Decoding::Greedy);
    assert_eq!(passes, 29.0, "a pass per step");
    let both = Guide { ends: Ends::Both, ..one() };
    assert_eq!(solve(both.clone(), Decoding::Greedy).0, 57.0, "all states but the first are looked at twice");
    let narrow = Decoding::Beam { width: 8, keep: 0.5, merge: true };
    let ((some, _), (all, _)) = (solve(one(), narrow), solve(one(), Decoding::beam(8)));
    assert!(passes <= some && some < all, "{some} and {all} passes");
    for (guide, decoding) in [
        (Guide { follow: Follow::Verified(0.9), ..both }, Decoding::Greedy),
        (one(), Decoding::Beam { width: 8, keep: 1.5, merge: true }),
    ] {
        let error = Search::Construct { guide, decoding }.check().expect_err("a contradiction, or out of range");
        assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    }
}
