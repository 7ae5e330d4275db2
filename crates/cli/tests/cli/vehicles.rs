//! Limits on the number of vehicles, and what routes look like in JSON.

use serde_json::Value;
use tempfile::TempDir;

use super::{bqnco, done, example, objects, refused, scratch};

/// Customers on two arms of a cross; a vehicle for each of three would be cheaper than two.
const CROSS: &str = "# capacity = 10\nx,y,demand\n0,0,0\n0,9,5\n0,-9,5\n9,0,5\n-9,0,5\n";

fn write(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).expect("writable");
}

fn routes(solved: &Value) -> usize {
    solved["routes"].as_array().expect("routes").len()
}

#[test]
fn no_more_vehicles_than_allowed_are_used() {
    let folder = scratch();
    let file = example("depot40.vrp");
    let solve = |more: &[&str]| {
        let solved = done(&folder, &[&["solve", &file, "--json"], more].concat());
        objects(&solved).remove(0)
    };
    let (free, limited) = (solve(&[]), solve(&["--vehicles", "5"])); // as few as the demand allows
    assert_eq!((&limited["length"], routes(&limited)), (&free["length"], 5));
    let message = refused(&folder, &["solve", &file, "--vehicles", "4"]);
    assert!(message.contains("--vehicles 4: 4 vehicles cannot carry the total demand of"), "{message}");
    // The limit in the file counts for `check`, and survives conversions.
    let text = std::fs::read_to_string(&file).expect("the example").replacen("CAPACITY", "VEHICLES : 5\nCAPACITY", 1);
    write(&folder, "five.vrp", &text);
    let one_each: Vec<String> = (1..=40).map(|customer| format!("Route #{customer}: {customer}\n")).collect();
    write(&folder, "forty.sol", &one_each.concat());
    for format in ["json", "jsonl", "npz", "csv", "vrp"] {
        let converted = format!("converted.{format}");
        done(&folder, &["convert", "five.vrp", "-o", &converted]);
        let checked = bqnco(&folder, &["check", &converted, "forty.sol"]);
        let said = String::from_utf8_lossy(&checked.stdout);
        let reason = "not a solution: uses 40 vehicles, above the limit of 5";
        assert!(checked.status.code() == Some(1) && said.contains(reason), "{converted}: {said}");
    }
}

#[test]
fn fleets_that_are_too_small_are_no_solutions() {
    let folder = scratch();
    let sixes = "# capacity = 10\n# vehicles = 2\nx,y,demand\n0,0,0\n0,1,6\n1,0,6\n1,1,6\n";
    write(&folder, "sixes.csv", sixes);
    for search in ["auto", "expert"] {
        let message = refused(&folder, &["solve", "sixes.csv", "--search", search]);
        let sentence =
            "no solution with at most 2 vehicles was found in the time given; allow more vehicles or more time";
        assert!(message.contains(sentence), "{message}");
    }
    let solved = done(&folder, &["solve", "sixes.csv", "--vehicles", "3", "--json"]); // takes precedence
    assert_eq!(routes(&objects(&solved)[0]), 3);
}

#[test]
fn searches_that_cannot_keep_a_fleet_refuse_it() {
    let folder = scratch();
    write(&folder, "cross.csv", CROSS);
    for search in ["greedy", "sample", "beam", "reconstruct", "hybrid"] {
        let asked = ["solve", "cross.csv", "--search", search, "--policy", "heuristic", "--vehicles", "2"];
        let message = refused(&folder, &asked);
        assert!(message.contains("a search with a policy cannot keep a limit on the number of vehicles"), "{message}");
        assert!(message.contains("`auto` or `expert`"), "{message}");
    }
    // Others beside it are solved.
    write(&folder, "limited.csv", &format!("# vehicles = 2\n{CROSS}"));
    let both = bqnco(&folder, &["solve", "limited.csv", "cross.csv", "--search", "greedy", "--policy", "heuristic"]);
    let (printed, said) = (String::from_utf8_lossy(&both.stdout), String::from_utf8_lossy(&both.stderr));
    assert!(both.status.code() == Some(2) && printed.starts_with("cross "), "{printed}");
    assert!(said.contains("limited: a search with a policy cannot keep"), "{said}");
    let message = refused(&folder, &["solve", &example("city48.tsp"), "--vehicles", "2"]);
    assert!(
        message.contains("--vehicles 2: tsp has no vehicles whose number could be limited, only cvrp has"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn external_solvers_see_the_fleet_and_are_checked() {
    let folder = scratch();
    write(&folder, "cross.csv", CROSS);
    write(&folder, "solver.sh", "grep -q 'VEHICLES : 2' $1 && cat $3 > $2\n");
    write(&folder, "two.sol", "Route #1: 1 3\nRoute #2: 2 4\n");
    write(&folder, "four.sol", "Route #1: 1\nRoute #2: 2\nRoute #3: 3\nRoute #4: 4\n");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let solve = |solution: &str, vehicles: &str| {
        let command = format!("/bin/sh {} {{instance}} {{solution}} {}", at("solver.sh"), at(solution));
        bqnco(&folder, &["solve", "cross.csv", "--vehicles", vehicles, "--search", "external", "--command", &command])
    };
    assert_eq!(solve("two.sol", "2").status.code(), Some(0));
    assert_eq!(solve("two.sol", "3").status.code(), Some(2)); // the script does not find its line
    let four = solve("four.sol", "2");
    let said = String::from_utf8_lossy(&four.stderr).into_owned();
    assert!(said.contains("is infeasible: uses 4 vehicles, above the limit of 2"), "{said}");
}

#[test]
fn routes_have_loads_and_lengths() {
    let folder = scratch();
    write(&folder, "cross.csv", CROSS);
    done(&folder, &["solve", "cross.csv", "-o", "cross.sol"]);
    let checked = objects(&done(&folder, &["check", "cross.csv", "cross.sol", "--json"])).remove(0);
    let solved = objects(&done(&folder, &["solve", "cross.csv", "--json"])).remove(0);
    assert_eq!(checked["routes"], solved["routes"]);
    let length = |route: &Value| route["length"].as_f64().expect("a length");
    let all: f64 = checked["routes"].as_array().expect("routes").iter().map(length).sum();
    assert!((all - checked["length"].as_f64().expect("a length")).abs() < 1e-9);
    assert!(checked["routes"][0]["load"] == 10.0 && checked["routes"][0]["customers"].is_array());
}
