//! The networks that are built into the program.

use std::path::Path;

use bqnco::kernels::{CpuPath, available_paths};
use serde_json::Value;

use super::{bqnco, command, done, example, objects, refused, scratch};

/// Every file in `models/` is built into the program unchanged.
#[test]
fn all_networks_are_listed_and_have_cards() {
    let folder = scratch();
    let listed = objects(&done(&folder, &["models", "--json"]));
    let mut names: Vec<_> = listed.iter().map(|model| model["name"].as_str().expect("a name").to_string()).collect();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let entries = std::fs::read_dir(&models).expect("the folder of networks").map(|entry| entry.expect("an entry"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut expected: Vec<_> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
    let table = done(&folder, &["models"]);
    for name in &names {
        assert!(table.contains(name), "{table}");
        let card = std::fs::read_to_string(models.join(name).join("README.md")).expect("a card");
        assert_eq!(done(&folder, &["models", name]), card);
    }
    let unknown = bqnco(&folder, &["models", "chess"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no network is called `chess`"));
}

/// Every network must beat the greedy heuristic.
#[test]
fn every_network_beats_the_greedy_heuristic() {
    let folder = scratch();
    for model in objects(&done(&folder, &["models", "--json"])) {
        let (name, problem) = (model["name"].as_str().expect("a name"), model["config"]["problem"].as_str());
        let problem = problem.expect("a problem");
        done(&folder, &["generate", problem, "--size", "40", "--count", "24", "--seed", "99", "-o", "set.npz"]);
        let total = |policy: &[&str]| -> f64 {
            let solve = ["solve", "set.npz", "--search", "greedy", "--json"];
            let solved = objects(&done(&folder, &[&solve[..], policy].concat()));
            let cost = |object: &Value| object[object["objective"].as_str()?].as_f64();
            solved.iter().map(|object| cost(object).expect("an objective")).sum()
        };
        let (network, heuristic) = (total(&["--model", name]), total(&["--policy", "heuristic"]));
        let is_better = if ["op", "knapsack"].contains(&problem) { network > heuristic } else { network < heuristic };
        assert!(is_better, "{name}: {network}, the greedy heuristic {heuristic}");
    }
}

#[test]
fn solve_uses_the_network_of_the_problem_by_default() {
    let folder = scratch();
    let search = |more: &[&str]| {
        let solve = ["solve", &example("city48.tsp"), "--rounds", "2", "--search", "reconstruct", "--json"];
        let solved = objects(&done(&folder, &[&solve[..], more].concat()));
        solved[0]["search"].as_str().expect("a search").to_string()
    };
    assert!(search(&[]).starts_with("network tsp"), "{}", search(&[]));
    assert!(search(&["--policy", "myopic"]).starts_with("nearest neighbour"));
    done(&folder, &["convert", MODEL, "-o", "tsp"]);
    assert!(search(&["--model", "tsp"]).starts_with("network tsp"));
    assert!(search(&["--model", "./tsp"]).starts_with("network ./tsp"));
    let wrong = refused(&folder, &["solve", &example("city48.tsp"), "--model", "tps"]);
    assert!(wrong.contains("network `tps`: neither a folder nor one of the networks"), "{wrong}");
    // Rejected before anything is solved.
    let several = bqnco(&folder, &["solve", &example("city48.tsp"), &example("depot40.vrp"), "--model", "tsp"]);
    assert_eq!((several.status.code(), several.stdout.len()), (Some(2), 0));
    let message = String::from_utf8_lossy(&several.stderr).into_owned();
    assert!(message.contains("tsp is a network for tsp, but the problem is cvrp"), "{message}");
}

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tsp");

#[test]
fn an_environment_variable_selects_the_instruction_set() {
    let folder = scratch();
    let arguments = ["solve", &example("city48.tsp"), "--search", "greedy", "--json"];
    let length = |cpu: &str| {
        let output = command(&folder, &arguments).env("BQNCO_CPU", cpu).output().expect("the binary starts");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        objects(&String::from_utf8_lossy(&output.stdout))[0]["length"].as_f64().expect("a length")
    };
    let refused_path = |cpu: &str| {
        let output = command(&folder, &arguments).env("BQNCO_CPU", cpu).output().expect("the binary starts");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        message
    };
    let (paths, portable) = (available_paths(), length("portable"));
    for cpu in [CpuPath::Amx, CpuPath::Avx512, CpuPath::Avx2] {
        if paths.contains(&cpu) {
            assert_eq!(length(cpu.name()), portable, "{cpu}");
        } else {
            let message = refused_path(cpu.name());
            assert!(message.contains("this CPU has no") && message.contains("it has"), "{message}");
        }
    }
    let message = refused_path("sse9");
    assert!(message.contains("sse9") && message.contains("avx512"), "{message}");
}

#[test]
fn networks_in_folders_are_described() {
    let folder = scratch();
    done(&folder, &["convert", MODEL, "-o", "run/best"]);
    let shown = done(&folder, &["models", "run/best"]);
    assert!(
        shown.starts_with("run/best: a network for tsp (transformer), ") && shown.contains("\nrecipe: "),
        "{shown}"
    );
    let listed = objects(&done(&folder, &["models", "run/best", "--json"]));
    assert_eq!(listed[0]["config"]["problem"], "tsp");
    assert!(listed[0]["provenance"]["recipe"].is_string(), "{}", listed[0]);
    for arguments in [&["models", "run"][..], &["solve", &example("city48.tsp"), "--model", "run"]] {
        let message = refused(&folder, arguments);
        assert!(
            message.contains("run: no network in this folder") && message.contains("did you mean run/best?"),
            "{message}"
        );
    }
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    let message = refused(&folder, &["models", "empty"]);
    assert!(message.contains("expected model.safetensors and config.json") && !message.contains("mean"), "{message}");
}
