//! `bqnco check`, and the names of instances.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{bqnco, command, done, example, objects, refused, scratch};

/// A square with sides of length 1.
const SQUARE: &str = r#"{"name": "tiny", "problem": "tsp", "coordinates": [[0, 0], [0, 1], [1, 1], [1, 0]]}"#;
/// The same, with a fixed edge: a path of length 3.
const PATH: &str = "NAME : hook\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION
1 0 0\n2 0 10\n3 10 10\n4 10 0\nFIXED_EDGES_SECTION\n4 1\n-1\nEOF\n";

fn write(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).expect("writable");
}

/// Exit code and the objects printed.
fn judged(output: &Output) -> (Option<i32>, Vec<Value>) {
    (output.status.code(), objects(&String::from_utf8_lossy(&output.stdout)))
}

#[test]
fn a_wrong_claim_does_not_make_a_solution_infeasible() {
    let folder = scratch();
    write(&folder, "a.json", SQUARE);
    let judge = |claim: &str| {
        write(&folder, "a.tour", &format!("COMMENT : {claim}\nTOUR_SECTION\n1 2 3 4 -1\n"));
        judged(&bqnco(&folder, &["check", "a.json", "a.tour", "--json"]))
    };
    let verdict = json!({"name": "tiny", "problem": "tsp", "feasible": true, "length": 4.0});
    let with = |claimed: f64, holds: bool| {
        let mut verdict = verdict.clone();
        (verdict["claimed"], verdict["claim_holds"]) = (claimed.into(), holds.into());
        verdict
    };
    assert_eq!(judge("by hand"), (Some(0), vec![verdict.clone()]));
    assert_eq!(judge("length 4"), (Some(0), vec![with(4.0, true)]));
    assert_eq!(judge("length 3"), (Some(1), vec![with(3.0, false)]));
    let line = bqnco(&folder, &["check", "a.json", "a.tour"]);
    let line = String::from_utf8_lossy(&line.stdout).into_owned();
    assert_eq!(line, "tiny: feasible, length 4, but the file claims a length of 3\n");
}

#[test]
fn solutions_of_other_instances_are_refused() {
    let folder = scratch();
    write(&folder, "short.txt", "1 0 1\n");
    assert!(refused(&folder, &["check", &example("sack50.kp"), "short.txt"]).contains("expected 50 zeros and ones"));
    write(&folder, "no-depot.tour", "TOUR_SECTION\n2 3 -1\n");
    let message = refused(&folder, &["check", &example("hike40.oplib"), "no-depot.tour"]);
    assert!(message.contains("does not visit the depot"), "{message}");
    done(&folder, &["solve", &example("city48.tsp"), "--preset", "fast", "-o", "city.tour"]);
    let message = refused(&folder, &["check", &example("depot40.vrp"), "city.tour"]);
    let sentence = "error: city.tour: expected a solution of problem cvrp: routes (as in .sol files), \
                    found a tour (as in .tour files); does it belong to another instance?\n";
    assert_eq!(message, sentence);
    write(&folder, "a.json", SQUARE);
    write(&folder, "large.tour", "DIMENSION : 99\nTOUR_SECTION\n1 2 3 4 -1\n");
    let message = refused(&folder, &["check", "a.json", "large.tour"]);
    assert!(message.contains("large.tour, line 1: expected a DIMENSION of 4"), "{message}");
}

/// Routes through some nodes, which count from 0 or from 1.
#[test]
fn plain_lists_of_an_orienteering_route() {
    let folder = scratch();
    let hike = example("hike40.oplib");
    let solved = objects(&done(&folder, &["solve", &hike, "--preset", "fast", "--json"])).remove(0);
    let nodes: Vec<u64> = solved["solution"].as_array().expect("nodes").iter().filter_map(Value::as_u64).collect();
    for first in [0, 1] {
        let list: Vec<String> = nodes.iter().map(|node| (node + first).to_string()).collect();
        write(&folder, "route.txt", &list.join(" "));
        let verdict = objects(&done(&folder, &["check", &hike, "route.txt", "--json"])).remove(0);
        assert_eq!(verdict["prize"], solved["prize"], "from {first}");
    }
    write(&folder, "route.txt", "7 9 12");
    let message = refused(&folder, &["check", &hike, "route.txt"]);
    assert!(
        message.contains("expected the number of the first node or depot, 0 or 1, found neither; add it"),
        "{message}"
    );
}

#[test]
fn every_solution_of_a_set_is_judged() {
    let folder = scratch();
    let with = |end: &str| SQUARE.replace('}', end);
    let [good, bad, none] = [r#", "solution": [0, 1, 2, 3]}"#, r#", "solution": [0, 1, 2]}"#, "}"].map(with);
    write(&folder, "set.jsonl", &format!("{bad}\n{none}\n{good}\n"));
    let (code, verdicts) = judged(&bqnco(&folder, &["check", "set.jsonl", "--json"]));
    assert_eq!(code, Some(1));
    let feasible: Vec<_> = verdicts.iter().map(|verdict| verdict["feasible"].clone()).collect();
    assert_eq!(feasible, [json!(false), Value::Null, json!(true)]);
    assert_eq!(verdicts[0]["reason"], "node 4 is missing (counted from 1)");
    write(&folder, "set.jsonl", &format!("{good}\n{good}\n"));
    assert_eq!(done(&folder, &["check", "set.jsonl"]), "tiny: feasible, length 4\n".repeat(2));
    write(&folder, "set.jsonl", &format!("{none}\n{none}\n"));
    assert!(refused(&folder, &["check", "set.jsonl"]).contains("there is no solution to check"));
}

/// The result of `solve --search expert --json` with a table of optima; the file is piped to it if it is `-`.
fn solve(folder: &TempDir, file: &str, input: &str) -> Value {
    write(folder, "optima.csv", "name,optimum\ntiny,4\nhook,30\n");
    let arguments = ["solve", file, "--search", "expert", "--effort", "1", "--json", "--optimum", "optima.csv"];
    let mut child =
        command(folder, &arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let (code, mut solved) = judged(&output);
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    solved.remove(0)
}

#[test]
fn instances_have_their_own_names_in_json_and_on_standard_input() {
    let folder = scratch();
    write(&folder, "a.json", SQUARE);
    write(&folder, "b.tsp", PATH);
    for (file, input, name, optimum) in [
        ("a.json", "", "tiny", Some(4.0)),
        ("-", SQUARE, "tiny", Some(4.0)),
        ("-", PATH, "hook", Some(30.0)),
        ("b.tsp", "", "b", None), // of benchmarks the file's name is the better one
    ] {
        let solved = solve(&folder, file, input);
        assert_eq!((solved["name"].as_str(), solved["reference"].as_f64()), (Some(name), optimum), "{file} {name}");
    }
}

/// As in TSPLIB's list of optima, the length of a fixed edge does not count.
#[test]
fn the_gap_of_a_tour_with_a_fixed_edge_is_that_of_the_path() {
    let folder = scratch();
    write(&folder, "hook.tsp", PATH);
    let solved = solve(&folder, "hook.tsp", "");
    assert_eq!((solved["length"].as_f64(), solved["gap_percent"].as_f64()), (Some(30.0), Some(0.0)));
}

#[test]
fn other_names_of_problems_are_explained() {
    let folder = scratch();
    for (arguments, hint) in [
        (["generate", "kp"], "unknown problem `kp` (did you mean `knapsack`?); the problems are tsp, "),
        (["laws", "vrp"], "unknown problem `vrp` (did you mean `cvrp`?); the problems are tsp, "),
        (["laws", "cvrptw"], "unknown problem `cvrptw` (time windows: not supported); the problems are tsp, "),
    ] {
        let message = refused(&folder, &arguments);
        assert!(message.contains(hint), "{message}");
    }
}

#[test]
fn one_customer_is_no_plural() {
    let folder = scratch();
    write(&folder, "one.csv", "# capacity = 5\nx,y,demand\n0,0,0\n3,4,2\n");
    let line = done(&folder, &["solve", "one.csv", "--search", "greedy", "--policy", "heuristic"]);
    assert!(line.contains(" 1 customer  "), "{line}");
}

/// Four customers with demand 2 around a depot, capacity 4.
const ROUTES: &str = "# capacity = 4\nx,y,demand\n0,0,0\n0,3,2\n0,4,2\n3,0,2\n4,0,2\n";

#[test]
fn plain_lists_of_numbers_are_solutions() {
    let folder = scratch();
    write(&folder, "a.json", SQUARE);
    write(&folder, "b.csv", ROUTES);
    for (instance, list) in [
        ("a.json", "0 1 2 3\n"),
        ("a.json", "0\n1\n2\n3\n0\n"),
        ("a.json", "1 2 3 4"),
        ("a.json", "3 4 1 2\n3\n"),
        ("b.csv", "0 1 2 0 3 4 0\n"),
        ("b.csv", "1 2 0\n4 3 0\n"),
    ] {
        write(&folder, "list.txt", list);
        let line = done(&folder, &["check", instance, "list.txt"]);
        assert!(line.contains(if instance == "a.json" { "length 4" } else { "length 16" }), "{list}: {line}");
        done(&folder, &["plot", instance, "list.txt", "-o", "picture.svg"]);
        done(&folder, &["solve", instance, "--start", "list.txt", "--search", "expert", "--effort", "1"]);
    }
    for (instance, list, expected) in [
        ("a.json", "2 3\n", "expected the number of the first node or depot, 0 or 1, found neither"),
        ("a.json", "0 1 2 3 4\n", "expected nodes from 0 to 3 or from 1 to 4, found 0 and 4"),
        ("a.json", "0 1 1 0\n", "expected a solution of problem tsp: a tour (as in .tour files), found zeros and ones"),
        ("b.csv", "1 2 3 4\n", "expected customers from 1 with a 0, the depot, between the routes"),
        ("b.csv", "1 2\n3 4\n", "expected customers from 1 with a 0, the depot, between the routes"),
    ] {
        write(&folder, "list.txt", list);
        let message = refused(&folder, &["check", instance, "list.txt"]);
        assert!(message.contains(expected), "{list}: {message}");
    }
    write(&folder, "list.txt", "3 7 9\n");
    let message = refused(&folder, &["check", &example("sack50.kp"), "list.txt"]);
    assert!(message.contains("expected 50 zeros and ones"), "{message}");
    write(&folder, "list.txt", "0 1 0 9 2\n");
    let (code, verdicts) = judged(&bqnco(&folder, &["check", "b.csv", "list.txt", "--json"]));
    assert_eq!((code, &verdicts[0]["feasible"]), (Some(1), &json!(false)));
}

#[test]
fn results_tell_the_routes() {
    let folder = scratch();
    write(&folder, "b.csv", ROUTES);
    let solve = ["solve", "b.csv", "--search", "expert", "--effort", "20"];
    let line = done(&folder, &solve);
    assert!(line.contains(" length 16, 2 routes "), "{line}");
    let solved = objects(&done(&folder, &[&solve[..], &["--json"]].concat())).remove(0);
    let mut routes = solved["routes"].as_array().expect("routes").clone();
    routes
        .iter_mut()
        .for_each(|route| route["customers"].as_array_mut().expect("a list").sort_by_key(Value::to_string));
    routes.sort_by_key(Value::to_string);
    let route = |customers: [u64; 2]| json!({"customers": customers, "load": 4.0, "length": 8.0});
    assert_eq!(routes, [route([1, 2]), route([3, 4])]);
    write(&folder, "a.json", SQUARE);
    let solved = objects(&done(&folder, &["solve", "a.json", "--search", "expert", "--effort", "1", "--json"]));
    assert!(solved[0].get("routes").is_none());
}
