//! `bqnco eval`: networks, their searches, and comparisons of two evaluations.

use std::fs;

use bqnco::net::{Config, Device, Network, Precision, Provenance};
use bqnco::problems::Tsp;
use serde_json::Value;
use tempfile::TempDir;

use super::eval::{json, rows};
use super::{done, refused, scratch};

/// A small network in a folder.
fn save_network(folder: &TempDir, name: &str, seed: u64) {
    let config = Config { n_layers: 1, n_heads: 2, dim: 16, dim_ff: 16, ..Config::tiny::<Tsp>() };
    let network = Network::new(config, seed, &Device::flex()).expect("the sizes make a network");
    network.save(&folder.path().join(name), Precision::Single, &Provenance::new()).expect("written");
}

#[test]
fn networks_have_checksums_and_the_same_costs_as_solve() {
    let folder = scratch();
    save_network(&folder, "net", 7);
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
