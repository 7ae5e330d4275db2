//! `bqnco eval`: the instances of suites and of files, their groups and names.

use std::fmt::Write;
use std::fs;

use bqnco::core::{Generate, random};
use bqnco::problems::Knapsack;
use serde_json::Value;

use super::eval::{json, rows};
use super::{done, refused, scratch};

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
