//! `bqnco eval`, with the real binary in a scratch folder.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bqnco::core::{Generate, random};
use bqnco::io::InstanceIo;
use bqnco::net::{Config, Device, Network, Precision, Provenance};
use bqnco::problems::{Cvrp, Knapsack, Tsp};
use bqnco_testing::{Absent, skip};
use serde_json::Value;
use tempfile::TempDir;

use super::worker::cut_off;
use super::{done, refused, scratch};

fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

fn rows(results: &Value) -> &Vec<Value> {
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
fn networks_have_checksums_and_the_same_costs_as_solve() {
    let folder = scratch();
    let config = Config { n_layers: 1, n_heads: 2, dim: 16, dim_ff: 16, ..Config::tiny::<Tsp>() };
    let network = Network::new(config, 7, &Device::flex()).expect("the sizes make a network");
    network.save(&folder.path().join("net"), Precision::Single, &Provenance::new()).expect("written");
    let eval =
        ["eval", "tsp", "--sizes", "9", "--instances", "3", "--model", "net", "--baselines", "none", "--json", "-q"];
    let results = done(&folder, &[&eval[..], &["--search", "greedy,beam4:5"]].concat());
    let results: Value = serde_json::from_str(&results).expect("JSON");
    assert_eq!(rows(&results).len(), 6);
    let checksum = json(folder.path().join("net/config.json"))["checksum"].clone();
    assert!(rows(&results).iter().all(|row| row["checksum"] == checksum && row["model"] == "net"), "{results}");
    done(&folder, &["generate", "tsp", "--size", "9", "--count", "3", "--seed", "20230", "-o", "set.jsonl"]);
    for (method, search) in
        [("greedy", &["greedy", "--shortlist", "250"][..]), ("beam4:5", &["beam", "--width", "4", "--shortlist", "5"])]
    {
        let solve = ["solve", "set.jsonl", "--model", "net", "--precision", "f32", "--json", "--search"];
        let solved = done(&folder, &[&solve, search].concat());
        let solved = solved.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["length"].clone());
        let evaluated = rows(&results).iter().filter(|row| row["method"] == method).map(|row| row["cost"].clone());
        assert_eq!(solved.collect::<Vec<_>>(), evaluated.collect::<Vec<_>>(), "{method}");
    }
    // By default as many candidates as the network was trained with.
    let path = folder.path().join("net/config.json");
    let mut config = json(path.clone());
    config["config"]["shortlist"] = 3.into();
    fs::write(&path, config.to_string()).expect("writable");
    let greedy = |shortlist: &[&str]| -> Vec<Value> {
        let solve = ["solve", "set.jsonl", "--model", "net", "--search", "greedy", "--json"];
        let solved = done(&folder, &[&solve[..], shortlist].concat());
        solved.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["length"].clone()).collect()
    };
    let message = refused(&folder, &[&eval[..], &["--search", "greedy,beam4:5"]].concat());
    assert!(message.contains("other settings (models)"), "{message}");
    assert_eq!(greedy(&[]), greedy(&["--shortlist", "3"]));
    assert_ne!(greedy(&[]), greedy(&["--shortlist", "all"]));
    // By default the network that has the problem's name.
    let own =
        ["eval", "tsp", "--sizes", "9", "--instances", "1", "--baselines", "none", "--report", "own", "--json", "-q"];
    let own: Value = serde_json::from_str(&done(&folder, &own)).expect("JSON");
    assert!(rows(&own).len() == 2 && rows(&own).iter().all(|row| row["model"] == "tsp"), "{own}");
    let message = refused(&folder, &["eval", "cvrp", "--model", "net"]);
    assert!(message.contains("net is a network of tsp"), "{message}");
}

/// A search may have its own time limit; in the plot against time one search is one line.
#[test]
fn searches_have_their_own_time_limits() {
    let folder = scratch();
    let searches = "greedy,greedy8,reconstruct@0.05,reconstruct@0.15";
    let eval = ["eval", "tsp", "--sizes", "30", "--instances", "2", "--search", searches, "--baselines", "none"];
    done(&folder, &[&eval[..], &["--report", "r", "-q"]].concat());
    let results = json(folder.path().join("r/results.json"));
    let total = |method: &str| -> f64 {
        let ours = rows(&results).iter().filter(|row| row["method"] == method);
        ours.map(|row| row["cost"].as_f64().expect("a number")).sum()
    };
    assert!(total("greedy8") <= total("greedy"), "the best of eight symmetries, including the identity");
    let details = |method: &str| {
        let methods = results["methods"].as_array().expect("methods");
        let found = methods.iter().find(|info| info["name"] == method).expect("the method");
        found["details"].as_str().expect("details").to_string()
    };
    for (method, limit) in [("reconstruct@0.05", "0.05 s per instance"), ("reconstruct@0.15", "0.15 s per instance")] {
        assert!(details(method).contains(limit), "{}", details(method));
    }
    let plot = fs::read_to_string(folder.path().join("r/gap-time-tsp.svg")).expect("a plot");
    assert!(plot.contains(">reconstruct<") && !plot.contains("reconstruct@"), "{plot}");
    assert!(refused(&folder, &["eval", "tsp", "--search", "reconstruct@0"]).contains("reconstruct@0"));
}

#[test]
fn the_knapsack_sets_have_the_capacities_of_the_paper() {
    let folder = scratch();
    let results = done(
        &folder,
        &["eval", "kp", "--instances", "5", "--model", "none", "--baselines", "heuristic", "--json", "-q"],
    );
    let results: Value = serde_json::from_str(&results).expect("JSON");
    assert_eq!(results["sets"].as_array().map(Vec::len), Some(12));
    for (set, size, capacity, paper) in [("N=200, C=10", 200, 10.0, 36.073), ("N=500, C=100", 500, 100.0, 182.395)] {
        let ours: Vec<&Value> = rows(&results).iter().filter(|row| row["set"] == set).collect();
        let instance = Knapsack::generate(size, &mut random(20_230, &[0]));
        let weights: f64 = instance.weights().iter().sum();
        assert!(weights > capacity, "not everything fits");
        let mean = ours.iter().map(|row| row["reference"].as_f64().expect("exact")).sum::<f64>() / ours.len() as f64;
        assert!((mean / paper - 1.0).abs() < 0.05, "{set}: optima about {paper} in the paper, {mean} here");
    }
}

/// A TSPLIB file with this many points.
fn tsplib(nodes: usize, kind: &str, metric: &str) -> String {
    let mut text = format!("NAME : x\nTYPE : {kind}\nDIMENSION : {nodes}\nEDGE_WEIGHT_TYPE : {metric}\n");
    if kind == "CVRP" {
        text += "CAPACITY : 9\n";
    }
    text += "NODE_COORD_SECTION\n";
    for k in 0..nodes {
        writeln!(text, "{} {} {}", k + 1, (k * 7919) % 83, (k * 104_729) % 89).expect("a string");
    }
    if kind == "CVRP" {
        text += "DEMAND_SECTION\n1 0\n";
        (2..=nodes).for_each(|k| writeln!(text, "{k} 2").expect("a string"));
        text += "DEPOT_SECTION\n1\n-1\n";
    }
    text + "EOF\n"
}

#[test]
fn libraries_are_grouped_like_the_tables_of_the_paper() {
    let folder = scratch();
    let data = folder.path().join("tsplib");
    fs::create_dir(&data).expect("a folder");
    let sizes = [5, 99, 100, 199, 200, 499, 500, 1000, 1001];
    let mut optima = "name,optimum\n".to_string();
    for size in sizes {
        fs::write(data.join(format!("t{size}.tsp")), tsplib(size, "TSP", "EUC_2D")).expect("written");
        writeln!(optima, "t{size},100").expect("a string");
    }
    fs::write(data.join("geo.tsp"), tsplib(9, "TSP", "GEO")).expect("written");
    fs::write(data.join("linhp318.tsp"), tsplib(9, "TSP", "EUC_2D")).expect("written");
    fs::write(data.join("broken.tsp"), "DIMENSION : many\n").expect("written");
    fs::write(data.join("optimal.csv"), optima).expect("written");
    let results = done(
        &folder,
        &["eval", "tsplib", "--data", "tsplib", "--model", "none", "--baselines", "heuristic", "--json", "-q"],
    );
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let sets = results["sets"].as_array().expect("sets").iter();
    let sets: Vec<(&str, u64)> = sets
        .map(|set| (set["name"].as_str().unwrap_or_default(), set["instances"].as_u64().unwrap_or_default()))
        .collect();
    assert_eq!(sets, [("<100", 2), ("100-200", 2), ("200-500", 2), ("500-1K", 2), (">1K", 1)]);
    assert!(rows(&results).iter().all(|row| row["reference"] == 100.0 && row["reference_by"] == "optimal.csv"));
    let notes = results["notes"].to_string();
    assert!(notes.contains("broken.tsp") && notes.contains("EUC_2D were left out"), "{notes}");
    assert!(notes.contains("1 instances that this suite leaves out"), "{notes}");
    let text = fs::read_to_string(folder.path().join("runs/eval-tsplib/report.md")).expect("a text");
    assert!(text.contains("*0.34%*") && text.contains("*2.55%*"), "published figures stand beside ours: {text}");
}

#[test]
fn hostile_names_are_escaped() {
    let folder = scratch();
    let data = folder.path().join("data");
    fs::create_dir(&data).expect("a folder");
    let name = "<img src=x onerror=alert(1)>|*b*-n6.vrp";
    fs::write(data.join(name), tsplib(6, "CVRP", "EUC_2D")).expect("written");
    fs::write(data.join("A-n7.vrp"), tsplib(7, "CVRP", "EUC_2D")).expect("written");
    done(
        &folder,
        &["eval", "cvrplib", "--data", "data", "--model", "none", "--baselines", "heuristic", "--report", "r", "-q"],
    );
    let page = fs::read_to_string(folder.path().join("r/report.html")).expect("a page");
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;") && !page.contains("<img"));
    let text = fs::read_to_string(folder.path().join("r/report.md")).expect("a text");
    assert!(text.contains("\\<img src=x onerror=alert(1)>\\|\\*b\\*") && !text.contains(" <img"), "{text}");
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
fn comparisons_match_manual_calculation() {
    let folder = scratch();
    done(
        &folder,
        &["eval", "tsp", "--sizes=8", "--instances=5", "--model=none", "--baselines=heuristic", "--report=a", "-q"],
    );
    let a = folder.path().join("a/results.json");
    let mut results = json(a.clone());
    // Differences 1, 2, 3, -4 percentage points, and an instance that the second run does not have.
    let rows = results["rows"].as_array_mut().expect("rows");
    for (row, difference) in rows.iter_mut().zip([1.0, 2.0, 3.0, -4.0]) {
        row["gap"] = (row["gap"].as_f64().expect("a gap") + difference).into();
    }
    rows.pop();
    fs::write(folder.path().join("b.json"), results.to_string()).expect("written");
    let compared = done(&folder, &["eval", "--compare", "a/results.json", "b.json", "--json"]);
    let compared: Value = serde_json::from_str(&compared).expect("JSON");
    let comparison = &compared["comparisons"][0];
    let close = |name: &str, value: f64| (comparison[name].as_f64().expect("a number") - value).abs() < 1e-6;
    // Mean 0.5; deviation sqrt(29 / 3); t(3) = 3.182446. The smaller rank sum is 4: 7 of 16 sign patterns do not exceed
    // it.
    assert!(close("mean_difference", 0.5) && comparison["pairs"] == 4, "{comparison}");
    assert!(close("margin_95", 3.182_446_305 * (29.0 / 3.0f64).sqrt() / 2.0), "{comparison}");
    assert!(close("wilcoxon_p", 14.0 / 16.0), "{comparison}");
    assert_eq!(comparison["worse"].as_array().map(Vec::len), Some(3));
    assert_eq!((&compared["only_in_first"], &compared["only_in_second"]), (&1.into(), &0.into()));
    let text = done(&folder, &["eval", "--compare", "a/results.json", "b.json"]);
    assert!(text.contains("1 results only in a/results.json") && text.contains("+0.500"), "{text}");
    // Rounding errors of costs and references do not count as differences, nor do equal costs without a gap.
    let mut results = json(a);
    let rows = results["rows"].as_array_mut().expect("rows");
    for row in rows.iter_mut() {
        for name in ["cost", "reference", "gap"] {
            row[name] = (row[name].as_f64().expect("a number") * (1.0 + 1e-15)).into();
        }
    }
    rows[0]["reference"] = 0.0.into();
    rows[0]["gap"] = Value::Null;
    fs::write(folder.path().join("c.json"), results.to_string()).expect("written");
    let compared: Value =
        serde_json::from_str(&done(&folder, &["eval", "--compare", "c.json", "c.json", "--json"])).expect("JSON");
    assert_eq!((&compared["comparisons"][0]["pairs"], &compared["only_in_first"]), (&5.into(), &0.into()));
    results["rows"].as_array_mut().expect("rows").remove(0);
    fs::write(folder.path().join("c.json"), results.to_string()).expect("written");
    let compared: Value =
        serde_json::from_str(&done(&folder, &["eval", "--compare", "a/results.json", "c.json", "--json"]))
            .expect("JSON");
    let comparison = &compared["comparisons"][0];
    assert_eq!((&comparison["unit"], &comparison["wilcoxon_p"]), (&"points of gap".into(), &1.0.into()));
    assert_eq!(comparison["worse"].as_array().map(Vec::len), Some(0));
    let message = refused(&folder, &["eval", "--compare", "a/results.json", "a/report.md"]);
    assert!(message.contains("expected a results.json"), "{message}");
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

/// Files with the same name in different folders get different names.
#[test]
fn names_distinguish_instances() {
    let folder = scratch();
    for (part, size) in [("a", "6"), ("b", "30")] {
        fs::create_dir_all(folder.path().join("all").join(part)).expect("a folder");
        done(&folder, &["generate", "tsp", "--size", size, "-o", &format!("all/{part}/x.tsp")]);
    }
    let eval = ["eval", "tsp", "--data", "all", "--model", "none", "--baselines", "heuristic", "-q", "--report", "r"];
    done(&folder, &eval);
    let results = json(folder.path().join("r/results.json"));
    let told: Vec<_> = rows(&results).iter().map(|row| (row["instance"].as_str(), row["index"].as_u64())).collect();
    assert_eq!(told, [(Some("a-x"), Some(0)), (Some("b-x"), Some(1))]);
}

/// A small network in a folder.
fn save_network(folder: &TempDir, name: &str, seed: u64) {
    let config = Config { n_layers: 1, n_heads: 2, dim: 16, dim_ff: 16, ..Config::tiny::<Tsp>() };
    let network = Network::new(config, seed, &Device::flex()).expect("the sizes make a network");
    network.save(&folder.path().join(name), Precision::Single, &Provenance::new()).expect("written");
}

#[test]
fn the_same_network_is_compared_whatever_its_name() {
    let folder = scratch();
    save_network(&folder, "one", 7);
    save_network(&folder, "two", 8);
    let eval = |models: &str, report: &str| {
        let eval =
            ["eval", "tsp", "--sizes", "7", "--instances", "2", "--baselines", "none", "--search", "greedy", "-q"];
        done(&folder, &[&eval[..], &["--model", models, "--report", report]].concat());
    };
    eval("one", "alone");
    eval("two", "other");
    eval("one,two", "both");
    let compare = |before: &str, after: &str| -> Value {
        serde_json::from_str(&done(&folder, &["eval", "--compare", before, after, "--json"])).expect("JSON")
    };
    // `greedy` is `greedy (one)`, and never `greedy (two)`.
    for (before, after) in [("alone", "both"), ("both/results.json", "alone")] {
        let compared = compare(before, after);
        let comparison = &compared["comparisons"][0];
        assert_eq!((&comparison["pairs"], &comparison["mean_difference"]), (&2.into(), &0.0.into()), "{compared}");
        assert_eq!(compared["comparisons"].as_array().map(Vec::len), Some(1), "{compared}");
    }
    let methods = |compared: &Value| compared["comparisons"][0]["method"].clone();
    assert_eq!(methods(&compare("both", "other")), "greedy (two)");
    assert_eq!(methods(&compare("alone", "other")), "greedy", "networks of one name are compared, as before");
    done(&folder, &["eval", "tsp", "--sizes", "8", "--instances=2", "--model=none", "--report", "larger", "-q"]);
    let message = refused(&folder, &["eval", "--compare", "alone", "larger"]);
    assert!(message.contains("nothing to compare") && message.contains("TSP7 by greedy; TSP8 by"), "{message}");
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

#[test]
fn large_instances_have_suites_of_their_own() {
    let folder = scratch();
    for name in ["xl", "tsplib"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    let eval = |suite: &str, data: &str, baselines: &str| -> Value {
        let eval = ["eval", suite, "--data", data, "--baselines", baselines, "-q", "--json"];
        serde_json::from_str(&done(&folder, &eval)).expect("JSON")
    };
    write("xl/XL-n9.vrp", &tsplib(9, "CVRP", "EUC_2D"));
    write("xl/published.csv", "name,n,hgs_cost,hgs_seconds,filo_cost\nXL-n9,9,500,3,400\n");
    let results = eval("xl", "xl", "heuristic");
    let row = &rows(&results)[0];
    assert_eq!(
        (&row["set"], &row["reference"], &row["reference_by"]),
        (&"XL".into(), &400.0.into(), &"published.csv".into())
    );
    write("tsplib/small.tsp", &tsplib(9, "TSP", "EUC_2D"));
    write("tsplib/large.tsp", &tsplib(4462, "TSP", "CEIL_2D"));
    write("tsplib/optimal.csv", "name,optimum\nlarge,100\n");
    let results = eval("tsplib-xl", "tsplib", "heuristic");
    let names: Vec<_> = rows(&results).iter().map(|row| row["instance"].as_str()).collect();
    assert_eq!(names, [Some("large")]);
    let message = refused(&folder, &["eval", "xl", "--data", "xl", "--model", "cvrp"]);
    assert!(message.contains("has no searches with a network"), "{message}");
}

#[test]
fn knapsack_files_are_evaluated_by_either_name() {
    let folder = scratch();
    done(&folder, &["generate", "knapsack", "--size", "9", "--count", "3", "-o", "sacks.npz"]);
    for suite in ["kp", "knapsack"] {
        let eval = ["eval", suite, "--data", "sacks.npz", "--model=none", "--baselines=heuristic", "-q", "--json"];
        let results: Value = serde_json::from_str(&done(&folder, &eval)).expect("JSON");
        assert_eq!(rows(&results).len(), 3, "{suite}");
    }
}
