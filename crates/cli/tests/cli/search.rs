//! Searches with a policy, with the real binary and networks of random weights.

use std::path::PathBuf;

use bqnco::core::Observe;
use bqnco::net::{Config, Device, Network, Precision, Provenance};
use bqnco::problems::{Atsp, Cvrp, Knapsack, Op, Tsp};
use serde_json::Value;
use tempfile::TempDir;

use super::worker::Worker;
use super::{bqnco, done, example, objects, refused, scratch};

/// Runs `bqnco` in a folder and returns the JSON lines that it prints.
#[track_caller]
fn json(folder: &TempDir, arguments: &[&str]) -> Vec<Value> {
    objects(&done(folder, arguments))
}

/// A tiny network with random weights, in its own folder.
fn network<P: Observe>(folder: &TempDir) -> PathBuf {
    let config = match P::NAME {
        "atsp" => Config { n_layers: 1, ..Config::edges::<P>() },
        _ => Config::tiny::<P>(),
    };
    let config = Config { n_layers: 1, n_heads: 2, dim: 16, dim_ff: 16, ..config };
    let network = Network::new(config, 7, &Device::flex()).expect("the sizes make a network");
    let path = folder.path().join(P::NAME);
    network.save(&path, Precision::Single, &Provenance::new()).expect("a scratch folder takes files");
    path
}

/// For every search of a problem, the written solution has the printed cost.
fn every_search_tells_the_truth<P: Observe>(file: &str) {
    let folder = scratch();
    let (model, instance) = (network::<P>(&folder).display().to_string(), example(file));
    let (objective, sign) = P::OBJECTIVE;
    let mut costs = Vec::new();
    for search in ["greedy", "sample", "beam", "reconstruct", "hybrid"] {
        let limit: &[&str] = if search == "hybrid" { &["--rounds", "2", "--effort", "20"] } else { &[] };
        let solve = ["solve", &instance, "--model", &model, "--search", search, "--json", "-o", "found.json"];
        let solved = json(&folder, &[&solve[..], limit].concat());
        let printed = solved[0][objective].as_f64().expect("the objective");
        let checked = json(&folder, &["check", &instance, "found.json", "--json"]);
        assert_eq!(checked[0][objective].as_f64(), Some(printed), "{file}, {search}");
        costs.push(sign * printed);
    }
    assert!(costs[3] <= costs[0], "{file}: reconstruct starts from greedy and never gets worse: {costs:?}");
    // With a given start, equal seeds and rounds give equal solutions, none worse than the start.
    let again = ["solve", &instance, "--model", &model, "--search", "reconstruct", "--start", "found.json", "--json"];
    let again = [&again[..], &["--rounds", "3", "--seed", "5", "--threads", "1"]].concat();
    let (one, two) = (json(&folder, &again), json(&folder, &again));
    assert_eq!(one[0]["solution"], two[0]["solution"], "{file}");
    assert_eq!(one[0]["start"], "given solution");
    let cost = sign * one[0][objective].as_f64().expect("the objective");
    assert!(cost <= costs[4], "{file}: {cost} from {}", costs[4]);
}

#[test]
fn every_tsp_search_prints_the_cost_of_its_solution() {
    every_search_tells_the_truth::<Tsp>("city48.tsp");
}

#[test]
fn every_atsp_search_prints_the_cost_of_its_solution() {
    every_search_tells_the_truth::<Atsp>("oneway24.atsp");
}

#[test]
fn every_cvrp_search_prints_the_cost_of_its_solution() {
    every_search_tells_the_truth::<Cvrp>("depot40.vrp");
}

#[test]
fn every_op_search_prints_the_cost_of_its_solution() {
    every_search_tells_the_truth::<Op>("hike40.oplib");
}

#[test]
fn every_knapsack_search_prints_the_cost_of_its_solution() {
    every_search_tells_the_truth::<Knapsack>("sack50.kp");
}

#[test]
fn beam_of_width_one_is_greedy_and_a_model_selects_reconstruct() {
    let folder = scratch();
    let (model, instance) = (network::<Tsp>(&folder).display().to_string(), example("city48.tsp"));
    let solve = |more: &[&str]| {
        let mut found = json(&folder, &[&["solve", &instance, "--model", &model, "--json"], more].concat());
        found.remove(0)
    };
    let greedy = solve(&["--search", "greedy"]);
    assert_eq!(solve(&["--search", "beam", "--width", "1"])["solution"], greedy["solution"]);
    let search = |found: &Value| found["search"].as_str().expect("text").to_string();
    assert!(search(&solve(&[])).ends_with("reconstructed"));
    assert!(search(&solve(&["--preset", "quality", "--rounds", "1"])).ends_with("reconstructed"));
    assert_eq!(solve(&["--search", "reconstruct", "--rounds", "0"])["solution"], greedy["solution"]);
}

#[test]
fn a_short_limit_on_a_large_instance_gives_a_solution() {
    let folder = scratch();
    let generate = ["generate", "tsp", "--size", "5000", "--count", "1", "-o", "large.tsp"];
    done(&folder, &generate);
    let model = network::<Tsp>(&folder).display().to_string();
    for search in ["greedy", "beam", "reconstruct", "hybrid"] {
        let solve = ["solve", "large.tsp", "--model", &model, "--search", search, "--time-limit", "0.2", "--json"];
        let solved = json(&folder, &[&solve[..], &["-o", "large.tour"]].concat());
        let checked = json(&folder, &["check", "large.tsp", "large.tour", "--json"]);
        assert_eq!(checked[0]["length"], solved[0]["length"], "{search}");
    }
    // Completing a hopeless construction would take seconds on larger instances.
    let hopeless = ["solve", "large.tsp", "--model", &model, "--search", "greedy", "--time-limit", "0.001", "--json"];
    let solved = json(&folder, &hopeless);
    assert_eq!((&solved[0]["found_by"], &solved[0]["cut_short"]), (&"greedy edges".into(), &true.into()));
}

#[test]
fn options_that_do_not_apply_are_rejected() {
    let folder = scratch();
    let instance = example("city48.tsp");
    std::fs::write(folder.path().join("bad.tour"), "TYPE : TOUR\nTOUR_SECTION\n1\n2\n-1\nEOF\n").expect("written");
    let cases: [(&[&str], &str); 10] = [
        (&["--search", "greedy", "--rounds", "3"], "reconstruct or hybrid"),
        (&["--search", "beam", "--start", "bad.tour"], "auto, reconstruct, hybrid or expert"),
        (&["--search", "reconstruct", "--start", "bad.tour"], "bad.tour"),
        (&["--search", "reconstruct", "--start", "nowhere.tour"], "nowhere.tour"),
        (&["--search", "greedy", "--shortlist", "0"], "above zero"),
        (&["--search", "greedy", "--no-merge"], "--no-merge needs --search beam"),
        (&["--json", "-o", "-"], "standard output"),
        (&["--optimum", "4792", "--", &example("sack50.kp")], "2 were given"),
        (&["--seed", "-1"], "--seed"),
        (&["--time-limit", "1e10"], "a billion"),
    ];
    for (options, words) in cases {
        let output = bqnco(&folder, &[&["solve", &instance], options].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(words), "{options:?}: {said}");
    }
    let two = refused(&folder, &["solve", &instance, &example("depot40.vrp"), "--start", "bad.tour"]);
    assert!(two.contains("2 were given"), "{two}");
}

/// Symmetries are mentioned only if an instance has some, and an interrupted construction is marked.
#[test]
fn search_descriptions_are_accurate() {
    let folder = scratch();
    let greedy = |file: &str| json(&folder, &["solve", &example(file), "--search", "greedy", "--symmetries", "--json"]);
    assert_eq!(greedy("sack50.kp")[0]["search"], "network knapsack");
    assert_eq!(greedy("city48.tsp")[0]["search"], "network tsp", "in the frame `origin` all symmetries look the same");
    let images =
        ["solve", &example("city48.tsp"), "--json", "--search", "greedy", "--policy", "myopic", "--symmetries"];
    assert_eq!(json(&folder, &images)[0]["search"], "nearest neighbour, 8 symmetries");
    let tour = ["solve", &example("city48.tsp"), "--json", "--search", "greedy", "--policy", "uniform"];
    assert_eq!(json(&folder, &tour)[0]["search"], "first allowed");
    done(&folder, &["generate", "tsp", "--size", "3000", "--seed", "5", "-o", "large.tsp"]);
    let short = ["--search", "greedy", "--shortlist", "all", "--time-limit", "0.3", "--json"];
    let solved = json(&folder, &[&["solve", "large.tsp"], &short[..]].concat());
    assert_eq!(solved[0]["cut_short"], true, "stopped by the time limit");
}

/// Beams merge equal tails unless they are told not to.
#[test]
fn the_search_says_whether_a_beam_merges() {
    let (folder, instance) = (scratch(), example("city48.tsp"));
    let beam = ["solve", &instance, "--search", "beam", "--width", "4", "--policy", "heuristic"];
    assert!(done(&folder, &beam).contains(", beam 4"));
    assert!(done(&folder, &[&beam[..], &["--no-merge"]].concat()).contains(", plain beam 4"));
}

/// Wide beams compare many tails with each other at every step.
#[test]
fn a_wide_beam_respects_the_time_limit() {
    let folder = scratch();
    let beam =
        ["solve", &example("city48.tsp"), "--search", "beam", "--width", "10000", "--policy", "myopic", "--json"];
    let solved = json(&folder, &[&beam[..], &["--time-limit", "0.05"]].concat());
    assert_eq!(solved[0]["cut_short"], true);
    let width = refused(&folder, &[&beam[..3], &["beam", "--width", "10001"]].concat());
    assert!(width.contains("10000"), "{width}");
}

/// Ctrl-C prints the best solution so far, marked as cut short.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_search_is_marked() {
    let folder = scratch();
    let city = example("city48.tsp");
    let effort = ["--effort", "1000000000"];
    let hybrid = [&["--search", "hybrid", "--policy", "myopic", "--rounds", "1"], &effort[..]].concat();
    let expert = [&["--search", "expert"], &effort[..]].concat();
    for search in [&hybrid[..], &expert, &["--time-limit", "600"]] {
        let solve = ["solve", &city, "--json", "-o", "best.tour"];
        let worker = Worker::start(&folder, &[&solve[..], search].concat());
        // Signals are caught before the work starts. CPU time, which does not depend on other processes, shows that it
        // has started: half a second is many times the startup.
        let ticks = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", worker.id())).expect("a process");
            stat.split_whitespace().nth(13).and_then(|ticks| ticks.parse::<u32>().ok()).expect("its time")
        };
        assert!(worker.wait_until(|| ticks() >= 50), "it ended before it could be interrupted");
        worker.signal("-INT", 2); // twice, as `timeout` does
        let output = worker.finish();
        let best = &objects(&String::from_utf8_lossy(&output.stdout))[0];
        assert_eq!((output.status.code(), &best["cut_short"]), (Some(0), &Value::Bool(true)), "{search:?}");
        let checked = json(&folder, &["check", &city, "best.tour", "--json"]);
        assert_eq!(checked[0]["length"], best["length"]);
    }
}
