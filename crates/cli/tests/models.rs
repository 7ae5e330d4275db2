//! The networks that are part of the program.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn bqnco(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bqnco"));
    command.current_dir(folder).args(arguments).output().expect("the binary runs")
}

fn done(folder: &TempDir, arguments: &[&str]) -> String {
    let output = bqnco(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/examples").join(name).display().to_string()
}

/// Every file that `models/` holds is in the program, as it is.
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

/// A network that does not beat the policy that needs no network is not worth its bytes.
#[test]
fn every_network_beats_the_short_sighted_policy() {
    let folder = scratch();
    for model in objects(&done(&folder, &["models", "--json"])) {
        let (name, problem) = (model["name"].as_str().expect("a name"), model["config"]["problem"].as_str());
        let problem = problem.expect("a problem");
        done(&folder, &["generate", problem, "--size", "40", "--count", "24", "--seed", "99", "-o", "set.npz"]);
        let total = |policy: &[&str]| -> f64 {
            let solve = ["solve", "set.npz", "--search", "greedy", "--json"];
            let solved = objects(&done(&folder, &[&solve[..], policy].concat()));
            let cost = |object: &Value| ["length", "prize", "value"].iter().find_map(|key| object[*key].as_f64());
            solved.iter().map(|object| cost(object).expect("an objective")).sum()
        };
        let (network, myopic) = (total(&["--model", name]), total(&["--policy", "myopic"]));
        let is_better = if ["op", "knapsack"].contains(&problem) { network > myopic } else { network < myopic };
        assert!(is_better, "{name}: {network}, the short-sighted policy {myopic}");
    }
}

#[test]
fn solve_takes_the_network_of_the_problem_unless_told_otherwise() {
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
    let wrong = bqnco(&folder, &["solve", &example("city48.tsp"), "--model", "tps"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("neither a folder nor one of the networks"));
    let other = bqnco(&folder, &["solve", &example("depot40.vrp"), "--model", "tsp"]);
    assert_eq!(other.status.code(), Some(2));
}

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tsp");
