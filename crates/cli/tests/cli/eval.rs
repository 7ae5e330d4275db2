//! `bqnco eval`: reports, interruptions and arguments.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bqnco::core::{Generate, random};
use bqnco::io::InstanceIo;
use bqnco::problems::{Cvrp, Tsp};
use bqnco_testing::{Absent, skip};
use serde_json::Value;

use super::worker::cut_off;
use super::{done, refused, scratch};

pub fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

pub fn rows(results: &Value) -> &Vec<Value> {
    results["rows"].as_array().expect("rows")
}

fn journal(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("journal.jsonl")).expect("a journal");
    let entry = |line: &str| serde_json::from_str(line.split('\t').next().expect("an entry")).expect("JSON");
    text.lines().skip(1).map(entry).collect()
}

/// The objective of a journalled solution of a random instance, computed by the problem itself.
fn objective<P: Generate + InstanceIo>(size: usize, entry: &Value) -> f64 {
    let index = entry["index"].as_u64().expect("an index");
    let instance = P::generate(size, &mut random(20_230, &[index]));
    let numbers: Vec<usize> = serde_json::from_value(entry["solution"].clone()).expect("numbers");
    let steps = P::solution_from(&instance, &numbers).expect("steps");
    P::check(&instance, &steps).expect("feasible");
    P::OBJECTIVE.1 * P::cost(&instance, &steps)
}

#[test]
fn the_four_report_files_agree_and_are_correct() {
    let folder = scratch();
    let eval = ["eval", "table1", "--sizes", "8,12", "--instances", "3", "--time-limit", "0.01", "--model", "none"];
    let printed: Value =
        serde_json::from_str(&done(&folder, &[&eval[..], &["--report", "r", "-q", "--json"]].concat())).expect("JSON");
    let report = folder.path().join("r");
    let results = json(report.join("results.json"));
    assert_eq!(printed, results);
    // TSP has four methods, CVRP three, OP and ATSP two; three instances of size 8, two of size 12.
    assert_eq!(rows(&results).len(), (4 + 3 + 2 + 2) * (3 + 2));
    for row in rows(&results) {
        let number = |name: &str| row[name].as_f64().expect("a number");
        let sign = if row["problem"] == "op" { -1.0 } else { 1.0 };
        let gap = 100.0 * sign * (number("cost") - number("reference")) / number("reference");
        assert!((gap - number("gap")).abs() < 1e-9, "{row}");
        assert!(row["reference_by"].as_str().is_some_and(|by| by.starts_with("our expert, ")), "{row}");
    }
    let mut recomputed = 0;
    for entry in journal(&report) {
        let set = entry["set"].as_str().expect("a name");
        let expected = match set {
            "TSP8" => objective::<Tsp>(8, &entry),
            "CVRP12" => objective::<Cvrp>(12, &entry),
            _ => continue,
        };
        assert_eq!(entry["cost"].as_f64(), Some(expected), "{entry}");
        recomputed += 1;
    }
    assert_eq!(recomputed, 4 * 3 + 3 * 2);
    let table = fs::read_to_string(report.join("results.csv")).expect("a table");
    assert_eq!(table.lines().count(), 1 + rows(&results).len());
    let (page, text) = (fs::read_to_string(report.join("report.html")), fs::read_to_string(report.join("report.md")));
    let (page, text) = (page.expect("a page"), text.expect("a text"));
    let gaps = rows(&results).iter().filter(|row| row["set"] == "TSP8" && row["method"] == "nearest neighbour");
    let gaps: Vec<f64> = gaps.map(|row| row["gap"].as_f64().expect("a gap")).collect();
    let mean = format!("{:.3}", gaps.iter().sum::<f64>() / gaps.len() as f64);
    assert!(page.contains(&mean) && text.contains(&mean), "{mean}");
    for foreign in ["<script", "<link", "<img", " src=", "@import", "url("] {
        assert!(!page.contains(foreign), "the page needs nothing else: {foreign}");
    }
}

#[test]
fn one_size_has_no_axis_of_sizes() {
    let folder = scratch();
    let page = |sizes: &str| {
        let eval = ["eval", "tsp", "--instances", "3", "--model", "none", "--baselines", "heuristic", "-q", "--sizes"];
        done(&folder, &[&eval[..], &[sizes, "--report", sizes]].concat());
        fs::read_to_string(folder.path().join(sizes).join("report.html")).expect("a page")
    };
    let one = page("7");
    assert!(!one.contains("gap by size") && !one.contains(">size<") && one.contains(">instance<"));
    let two = page("7,9");
    assert!(two.contains("gap by size") && two.contains(">size<") && !two.contains(">instance<"));
}

/// The README's figures match the dated reports.
#[test]
fn the_readme_matches_the_reports() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = root.join("benchmarks/summary.sh");
    match Command::new("bash").arg(script).arg("--check").output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => skip(Absent::Program, &format!("no bash ({error})")),
    }
}

/// Results without fields that depend on timing.
fn timeless(results: &Value) -> Vec<Value> {
    let mut rows = rows(results).clone();
    for row in &mut rows {
        let row = row.as_object_mut().expect("an object");
        ["seconds", "wall", "batch"].iter().for_each(|name| drop(row.remove(*name)));
    }
    rows
}

const STEADY: [&str; 9] =
    ["eval", "cvrp", "--sizes=10,15", "--instances=6", "--model", "none", "--baselines", "myopic,constructions", "-q"];

#[cfg(unix)]
#[test]
fn an_interrupted_evaluation_resumes_to_the_same_results() {
    let folder = scratch();
    done(&folder, &[&STEADY[..], &["--report", "whole"]].concat());
    let whole = timeless(&json(folder.path().join("whole/results.json")));
    let lines = |name: &str| fs::read_to_string(folder.path().join(name)).map_or(0, |text| text.lines().count());
    // Killed during the work.
    cut_off(&folder, 2, &[&STEADY[..], &["--report", "killed"]].concat());
    assert!(lines("killed/references.jsonl") >= 3 && !folder.path().join("killed/results.json").exists());
    done(&folder, &[&STEADY[..], &["--report", "killed"]].concat());
    assert_eq!(timeless(&json(folder.path().join("killed/results.json"))), whole);
    // Cut off in the middle of a line: complete lines are kept, the rest is repeated.
    let kept = fs::read_to_string(folder.path().join("whole/journal.jsonl")).expect("a journal");
    let torn: usize = kept.lines().take(6).map(|line| line.len() + 1).sum();
    fs::create_dir(folder.path().join("torn")).expect("a folder");
    fs::write(folder.path().join("torn/journal.jsonl"), &kept[..torn + 9]).expect("written");
    fs::copy(folder.path().join("whole/references.jsonl"), folder.path().join("torn/references.jsonl"))
        .expect("copied");
    done(&folder, &[&STEADY[..], &["--report", "torn"]].concat());
    assert_eq!(timeless(&json(folder.path().join("torn/results.json"))), whole);
    let journal = fs::read_to_string(folder.path().join("torn/journal.jsonl")).expect("a journal");
    assert!(journal.starts_with(&kept[..torn]) && journal.lines().count() == kept.lines().count());
    assert_eq!(lines("torn/references.jsonl"), lines("whole/references.jsonl"), "references are not computed twice");
    // Other settings are rejected.
    let message = refused(&folder, &[&STEADY[..], &["--report", "torn", "--seed", "5"]].concat());
    assert!(message.contains("other settings (seed)"), "{message}");
}

/// A failure of one method is reported; everything else is in the report.
#[cfg(unix)]
#[test]
fn a_failing_external_solver_affects_only_its_own_rows() {
    let folder = scratch();
    done(&folder, &["generate", "tsp", "--size", "6", "--count", "3", "--seed", "5", "-o", "TSP100.jsonl"]);
    let eval =
        ["eval", "tsp", "--data", "TSP100.jsonl", "--model=none", "--baselines=heuristic", "--report=r", "--json"];
    let results = done(&folder, &[&eval[..], &["--external", "bad=false {instance} {solution}"]].concat());
    let results: Value = serde_json::from_str(&results).expect("JSON");
    assert_eq!(rows(&results).len(), 3);
    assert!(rows(&results).iter().all(|row| row["published"].is_null()), "the paper has no figures for this file");
    assert_eq!(results["notes"].to_string().matches("bad has no solution for").count(), 3, "{}", results["notes"]);
}

#[test]
fn bad_arguments_are_rejected_before_any_work() {
    let folder = scratch();
    for (arguments, reason) in [
        (&["eval", "table2"][..], "the suites are"),
        (&["eval", "tsplib"], "needs --data"),
        (&["eval", "table1", "--data", "x"], "--data x: the suite table1 makes its own instances"),
        (&["eval", "tsp", "--search", "gredy"], "search `gredy`"),
        (&["eval", "tsp", "--search", "beam0"], "search `beam0`"),
        (&["eval", "tsp", "--search", "beam16@5"], "search `beam16@5`: constructions take their time"),
        (&["eval", "tsp", "--baselines", "lkh"], "--baselines lkh"),
        (&["eval", "tsp", "--baselines", "none", "--model", "none"], "nothing to evaluate"),
        (&["eval", "tsp", "--model", "nowhere"], "--model: network `nowhere`"),
        (&["eval", "tsp", "--data", "nowhere"], "--data: "),
        (&["eval", "tsp", "--sizes", "0"], "--sizes"),
        (&["eval", "tsp", "--sizes", "2000000", "--baselines", "heuristic"], "--sizes 2000000: expected 2 to"),
        (&["generate", "atsp", "--size", "1000000"], "--size 1000000: expected 2 to"),
        (&["generate", "tsp", "--varied"], "--varied: tsp has no parameter"),
        (&["generate", "knapsack", "--distribution", "ring"], "--distribution: knapsack has no places"),
        (&["generate", "tsp", "--distribution", "rings"], "unknown distribution `rings`; expected uniform, clustered"),
        (&["eval", "order"], "compares 2 networks of cvrp"),
        (&["eval", "--compare", "a.json"], "2 values required"),
        (&["eval", "tsp", "--external", "lkh"], "NAME=COMMAND"),
        (&["eval"], "required"),
    ] {
        let message = refused(&folder, arguments);
        assert!(message.contains(reason), "{arguments:?}: {message}");
    }
    assert!(!folder.path().join("runs").exists(), "nothing was written");
}
