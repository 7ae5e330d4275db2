//! Regression test of the built-in networks: greedy solutions of fixed instances must not change unnoticed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;

use super::{command, done, objects, scratch};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.json");
const RENEW: &str = "If a network or its solution should change, renew tests/golden.json and review the difference: \
                     BQNCO_GOLDEN=renew cargo test --workspace --test cli golden";

/// The greedy solution of an instance of 30 nodes or items by one network.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    network: String,
    objective: f64,
    solution: Vec<usize>,
}

/// In single precision, with the code path that every CPU supports, so that near ties are resolved the same everywhere.
fn answer(folder: &TempDir, network: &str, problem: &str) -> Answer {
    let instance = done(folder, &["generate", problem, "--size", "30", "--seed", "5"]);
    let mut solve = command(folder, &["solve", "-", "--model", network, "--search", "greedy", "--json"]);
    let solve = solve.env("BQNCO_CPU", "portable").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = solve.spawn().expect("the binary starts");
    child.stdin.take().expect("a pipe").write_all(instance.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{network}: {}", String::from_utf8_lossy(&output.stderr));
    let solved = objects(&String::from_utf8(output.stdout).expect("UTF-8")).remove(0);
    let objective = solved[solved["objective"].as_str().expect("its name")].as_f64();
    Answer {
        network: network.to_string(),
        objective: objective.expect("an objective"),
        solution: serde_json::from_value(solved["solution"].clone()).expect("a solution"),
    }
}

/// The checksum of a network's weights, from its config.
fn checksum(network: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(network).join("config.json");
    let config: Value = serde_json::from_slice(&std::fs::read(path).expect("a config")).expect("JSON");
    config["checksum"].as_str().expect("a checksum").to_string()
}

#[test]
fn networks_give_their_stored_solutions() {
    let folder = scratch();
    let mut found = BTreeMap::new();
    for model in objects(&done(&folder, &["models", "--json"])) {
        let name = model["name"].as_str().expect("a name");
        let problem = model["config"]["problem"].as_str().expect("a problem");
        found.insert(checksum(name), answer(&folder, name, problem));
    }
    if std::env::var_os("BQNCO_GOLDEN").is_some_and(|value| value == "renew") {
        // One line per network.
        let line =
            |(checksum, answer)| format!("  \"{checksum}\": {}", serde_json::to_string(answer).expect("plain data"));
        let lines: Vec<String> = found.iter().map(line).collect();
        std::fs::write(FILE, format!("{{\n{}\n}}\n", lines.join(",\n"))).expect("written");
        panic!("{FILE} is renewed: review the difference, then run the test without BQNCO_GOLDEN");
    }
    let text = std::fs::read_to_string(FILE).expect("the checked-in answers");
    let golden: BTreeMap<String, Answer> = serde_json::from_str(&text).expect("JSON");
    for (checksum, found) in &found {
        let name = &found.network;
        let Some(golden) = golden.get(checksum) else { panic!("no stored solution of {name} ({checksum}). {RENEW}") };
        assert_eq!(found.solution, golden.solution, "{name} gives another solution. {RENEW}");
        // Distances use the system's math library, whose last digits differ.
        let far = (found.objective / golden.objective - 1.0).abs();
        assert!(far < 1e-9, "{name}: {}, expected {}. {RENEW}", found.objective, golden.objective);
    }
    assert_eq!(golden.len(), found.len(), "solutions of removed networks. {RENEW}");
}
