//! What is not supported is refused, never ignored: constraints, variants and misspelt words. What is harmless is read.

#![allow(clippy::unwrap_used)]

use crate::records::PROBLEMS;
use bqnco_core::SolutionSpace;
use bqnco_io::{Format, ReadOptions, Record, Source, decode, detect, read, read_solution, write};
use bqnco_problems::{Cvrp, Tsp};

const VRP: &str = "NAME : a
TYPE : CVRP
DIMENSION : 3
CAPACITY : 10
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 0
3 0 4
DEMAND_SECTION
1 0
2 4
3 7
DEPOT_SECTION
1
-1
";

/// The error of a file of any problem, or the problem.
fn answer(name: &str, text: &str) -> String {
    let detected = detect(&Source::new(name, text), &PROBLEMS);
    detected.map(|detected| detected.problem.to_string()).unwrap_or_else(|error| error.to_string())
}

/// The answer to the file above with a header in line 4.
fn with_header(header: &str) -> String {
    answer("a.vrp", &VRP.replacen("CAPACITY", &format!("{header}\nCAPACITY"), 1))
}

/// The answer to the file above with a section at its end, from line 17.
fn with_section(section: &str) -> String {
    answer("a.vrp", &format!("{VRP}{section}\n1 0 10\n2 0 10\n3 0 10\nEOF\n"))
}

#[test]
fn headers_with_constraints() {
    for (header, meaning) in [
        ("SALESMEN : 3", "several salesmen"),
        ("DISTANCE : 200", "a limit on the length of routes"),
        ("VEHICLES_MAX_DISTANCE : 200", "a limit on the length of routes"),
        ("VEHICLES_MAX_DURATION : 200", "a limit on the duration of routes"),
        ("SERVICE_TIME : 10", "service times"),
        ("PRECEDENCE : 1", "precedences"),
        ("salesmen:3", "several salesmen"),
    ] {
        let key = header.split([' ', ':']).next().unwrap();
        let advice = "delete the line to solve without it";
        let sentence = format!("a.vrp, line 4: `{key}` ({meaning}) is not supported; {advice}");
        assert_eq!(with_header(header), sentence);
    }
}

#[test]
fn sections_with_constraints() {
    for (section, meaning) in [
        ("TIME_WINDOW_SECTION", "time windows"),
        ("SERVICE_TIME_SECTION", "service times"),
        ("BACKHAUL_SECTION", "backhauls"),
        ("LINEHAUL_SECTION", "backhauls"),
        ("PICKUP_AND_DELIVERY_SECTION", "pickups and deliveries"),
        ("CAPACITY_SECTION", "vehicles of several capacities"),
        ("PRIZE_SECTION", "prizes; those of an OP are in NODE_SCORE_SECTION"),
        ("MUTUALLY_EXCLUSIVE_GROUP_SECTION", "groups of nodes of which one is visited"),
        ("PRECEDENCE_SECTION", "precedences"),
        ("EDGE_DATA_SECTION", "a graph with missing edges"),
    ] {
        let advice = "delete the section to solve without it";
        let sentence = format!("a.vrp, line 17: `{section}` ({meaning}) is not supported; {advice}");
        assert_eq!(with_section(section), sentence);
        let untyped = VRP.replace("TYPE : CVRP\n", "");
        let sentence = sentence.replace("line 17", "line 16");
        assert_eq!(answer("a.vrp", &format!("{untyped}{section}\n1 0 10\n")), sentence);
    }
}

#[test]
fn constraints_of_other_problems() {
    let tsp = "TYPE : TSP\nDIMENSION : 2\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 1 1\n";
    assert_eq!(answer("a.tsp", tsp), "tsp");
    assert_eq!(
        answer("a.tsp", &format!("SALESMEN : 3\n{tsp}").replacen("SALESMEN", "NAME : a\nSALESMEN", 1)),
        "a.tsp, line 2: `SALESMEN` (several salesmen) is not supported; delete the line to solve without it"
    );
    for header in ["VEHICLES : 3", "vehicles:3"] {
        let key = header.split([' ', ':']).next().unwrap();
        let reason = format!("`{key}` (a limit on the number of vehicles) is supported for cvrp only");
        let sentence = format!("a.tsp, line 1: {reason}; delete the line to solve without it");
        assert_eq!(answer("a.tsp", &format!("{header}\n{tsp}")), sentence);
    }
    let json = r#"{"problem": "tsp", "coordinates": [[0, 0], [1, 1]], "vehicles": 3}"#;
    let refusal = read::<Tsp>(&Source::new("a.json", json), &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(refusal, "a.json: `vehicles` means nothing to problem tsp");
    let scores = Source::new("a.vrp", format!("{VRP}NODE_SCORE_SECTION\n1 0\n2 1\n3 1\n"));
    let refusal = read::<Cvrp>(&scores, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(refusal, "a.vrp: `prizes` means nothing to problem cvrp");
}

#[test]
fn misspelt_keywords() {
    assert_eq!(
        with_header("CAPACTY : 5"),
        "a.vrp, line 4: `CAPACTY` is no known keyword (did you mean `CAPACITY`?); correct it, or delete the line to solve \
         without it"
    );
    assert_eq!(
        with_section("DEMANDS_SECTION"),
        "a.vrp, line 17: `DEMANDS_SECTION` is no known keyword (did you mean `DEMAND_SECTION`?); correct it, or delete the \
         section to solve without it"
    );
    assert_eq!(
        with_header("MOONPHASE : 5"),
        "a.vrp, line 4: `MOONPHASE` is no known keyword; make it a COMMENT, or delete the line to solve without it"
    );
}

#[test]
fn harmless_keywords_are_skipped() {
    for header in [
        "COMMENT : 2 trucks, no time windows",
        "NODE_COORD_TYPE : TWOD_COORDS",
        "DISPLAY_DATA_TYPE : COORD_DISPLAY",
        "EDGE_WEIGHT_FORMAT : FUNCTION",
        "BEST_KNOWN : 784",
        "TSPSOL : 12",
    ] {
        assert_eq!(with_header(header), "cvrp", "{header}");
    }
    assert_eq!(with_section("DISPLAY_DATA_SECTION"), "cvrp");
    assert_eq!(answer("a-k1.vrp", &VRP.replace("NAME : a", "NAME : a-n3-k1")), "cvrp");
}

#[test]
fn variants_are_no_misspelt_problems() {
    let problems = "tsp, atsp, cvrp, op, knapsack, pctsp";
    for (kind, meaning) in [
        ("CVRPTW", " (time windows)"),
        ("VRPB", " (backhauls)"),
        ("OVRP", " (routes that do not return)"),
        ("GVRP", " (groups of nodes of which one is visited)"),
        ("HFVRP", " (vehicles of several kinds)"),
        ("DCVRP", " (a limit on the length of routes)"),
        ("SOP", " (precedences)"),
        ("HCP", " (a graph with missing edges)"),
        ("M-PDTSP", " (pickups and deliveries)"),
        ("TSP-D", ""),
        ("XCVRP", ""),
    ] {
        let sentence = format!("a.vrp, line 2: problem `{kind}`{meaning} is not supported; supported: {problems}");
        assert_eq!(answer("a.vrp", &VRP.replace("CVRP", kind)), sentence);
        let json = format!(r#"{{"problem": "{}", "coordinates": [[0, 0], [1, 1]]}}"#, kind.to_lowercase());
        let hint = match meaning.strip_suffix(')') {
            Some(meaning) => format!("{meaning}: not supported)"),
            None => " (a variant that is not supported)".to_string(),
        };
        let found = format!("found `{}`{hint}", kind.to_lowercase());
        assert_eq!(answer("a.json", &json), format!("a.json: expected one of the problems {problems}, {found}"));
    }
    assert!(answer("a.vrp", &VRP.replace("CVRP", "VRP")).ends_with("found `vrp` (did you mean `cvrp`?)"));
    assert!(answer("a.vrp", &VRP.replace("CVRP", "KP")).ends_with("found `kp` (did you mean `knapsack`?)"));
}

#[test]
fn comments_and_columns_of_csv() {
    let known = "known are x, y, z, longitude, latitude, lon, lat, lng, long, demand, prize, score, value, profit, weight, penalty, and name or id";
    for column in ["ready", "due", "service", "vehicle", "tw_start"] {
        let text = format!("# capacity = 10\nx,y,demand,{column}\n0,0,0,0\n1,1,2,5\n");
        let sentence =
            format!("a.csv, line 2: `{column}` is no known column; {known}; delete the column to solve without it");
        assert_eq!(answer("a.csv", &text), sentence);
    }
    let keys = "known are problem, name, metric, cost, capacity, vehicles, limit, origin, destination, quota";
    for key in ["trucks = 1", "time_windows: hard", "Duration = 9"] {
        let word = key.split([' ', ':']).next().unwrap();
        let sentence = format!("a.csv, line 1: `{word}` is no known key; {keys}; delete the line to solve without it");
        assert_eq!(answer("a.csv", &format!("# {key}\nx,y\n0,0\n1,1\n")), sentence);
    }
    let harmless = "# source: a map, of 2 trucks\n# made by hand: yes\n# https://example.org\n,name,id,x,y\n0,A,7,0,0\n1,B,8,1,1\n";
    assert_eq!(answer("a.csv", harmless), "tsp");
    for (matrix, problem) in
        [(",A,B,C\nA,0,1,2\nB,1,0,3\nC,2,3,0\n", "tsp"), ("from;1;2;3\n1;0;1;2\n2;9;0;3\n3;2;3;0\n", "atsp")]
    {
        assert_eq!(answer("a.csv", matrix), problem);
    }
    let other = answer("a.csv", ",A,B,C\nA,0,1,2\nC,1,0,3\nB,2,3,0\n");
    assert!(other.contains("line 1: `A` is no known column"), "{other}");
}

/// The vehicles of a cvrp in all its formats.
#[test]
fn vehicles() {
    let fleet = |name: &str, text: &str| {
        let records = read::<Cvrp>(&Source::new(name, text), &ReadOptions::default());
        let fleet = |records: Vec<Record<Cvrp>>| format!("{:?}", records[0].instance.vehicles());
        records.map(fleet).unwrap_or_else(|error| error.to_string())
    };
    let vrp = |header: &str| fleet("a.vrp", &VRP.replacen("CAPACITY", &format!("{header}\nCAPACITY"), 1));
    let csv = |key: &str| fleet("a.csv", &format!("# capacity = 10\n# {key}\nx,y,demand\n0,0,0\n3,0,4\n0,4,7\n"));
    let json = |value: &str| {
        let fields = r#""coordinates": [[0, 0], [3, 0], [0, 4]], "demands": [0, 4, 7], "capacity": 10"#;
        fleet("a.json", &format!(r#"{{{fields}, "vehicles": {value}}}"#))
    };
    assert_eq!([vrp("VEHICLES : 2"), vrp("vehicles:200")], ["Some(2)", "Some(200)"]);
    assert_eq!([csv("vehicles = 2"), json("2")], ["Some(2)", "Some(2)"]);
    assert_eq!(fleet("a-k1.vrp", &VRP.replace("NAME : a", "NAME : a-n3-k1")), "None");
    let few = "1 vehicle cannot carry the total demand of 11: at least 2 with a capacity of 10 are needed";
    assert_eq!([vrp("VEHICLES : 1"), csv("vehicles = 1")], [format!("a.vrp: {few}"), format!("a.csv: {few}")]);
    for number in ["0", "2.5", "-1"] {
        let sentence = format!("`vehicles` must be a whole number above zero, found {number}");
        let files = [vrp(&format!("VEHICLES : {number}")), csv(&format!("vehicles = {number}")), json(number)];
        assert_eq!(files, ["a.vrp", "a.csv", "a.json"].map(|file| format!("{file}: {sentence}")));
    }
    assert!(vrp("VEHICLES : some").starts_with("a.vrp, line 4: expected"));
}

/// Longitude and latitude in decimal degrees.
#[test]
fn degrees() {
    let lyon_paris = "name,lat,lon\nLyon,45.7597,4.8422\nParis,48.8567,2.3508\n";
    let records = read::<Tsp>(&Source::new("a.csv", lyon_paris), &ReadOptions::default()).unwrap();
    // The example of the Python package `haversine`, whose radius is also 6371.0088 km.
    assert!((records[0].instance.geometry().distance(0, 1) - 392.217_259_559_400_6).abs() < 1e-9);
    let written = String::from_utf8(write(&records, Format::Csv).unwrap()).unwrap();
    assert!(written.contains("# metric = GREAT_CIRCLE\nlongitude,latitude\n4.8422,45.7597\n"), "{written}");
    for (text, sentence) in [
        ("lon,lat\n0,0\n1,91\n", "a.csv: the latitude of node 2 is 91 degrees, expected -90 to 90"),
        ("longitude,latitude\n181,0\n1,9\n", "a.csv: the longitude of node 1 is 181 degrees, expected -180 to 180"),
        (
            "# metric = EUC_2D\nlon,lat\n0,0\n1,1\n",
            "a.csv: expected metric GREAT_CIRCLE for longitude and latitude, found metric EUC_2D",
        ),
        (
            "x,lat\n0,0\n1,1\n",
            "a.csv: expected the columns x and y, or x, y and z, or longitude and latitude, found some of them",
        ),
    ] {
        let error = read::<Tsp>(&Source::new("a.csv", text), &ReadOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), sentence);
    }
}

/// The numbers of customers in solutions are those of a file that counts from 0.
#[test]
fn nodes_from_zero() {
    let zero =
        VRP.replace("\n1 ", "\n0 ").replace("\n2 ", "\n1 ").replace("\n3 ", "\n2 ").replace("\n1\n-1", "\n0\n-1");
    let demands = |text: &str| {
        let records = read::<Cvrp>(&Source::new("a.vrp", text), &ReadOptions::default());
        records.map(|records| format!("{:?}", records[0].instance.demands())).unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(demands(VRP), "[0.0, 4.0, 7.0]");
    assert_eq!(demands(&zero), "[0.0, 4.0, 7.0]");
    assert_eq!(
        demands(&zero.replace("\n0\n-1", "\n1\n-1")),
        "a.vrp, line 14: node 1 in DEPOT_SECTION: only the first node, 0, can be the depot; make it the first node"
    );
    assert_eq!(
        demands(&zero.replace("0 0\n1 4\n2 7", "1 0\n2 4\n3 7")),
        "a.vrp, line 13: expected each node from 0 to 2 once in DEMAND_SECTION, found node 3"
    );
    let tour = "TYPE : TSP\nDIMENSION : 2\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n0 0 0\n1 1 1\n";
    assert_eq!(
        answer("a.tsp", tour),
        "a.tsp, line 5: node 0: nodes are numbered from 1, as in the tours that are read and written; add 1 to the number of \
         every node"
    );
}

/// A tour with a fixed edge is a path between its ends, without the length of the edge.
#[test]
fn a_fixed_edge_is_a_path() {
    let square = "NAME : a\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EXACT_2D\nNODE_COORD_SECTION\n1 0 0\n2 0 1\n3 1 1\n4 1 0\nFIXED_EDGES_SECTION\n4 1\n-1\nEOF\n";
    let records = read::<Tsp>(&Source::new("a.tsp", square), &ReadOptions::default()).unwrap();
    let instance = &records[0].instance;
    assert_eq!((instance.origin(), instance.destination()), (3, 0));
    let written = write(&records, Format::Tsplib).unwrap();
    let again = decode(&Source::new("a.tsp", written), &PROBLEMS).unwrap();
    let again = again.records::<Tsp>(&ReadOptions::default()).unwrap();
    assert_eq!((again[0].instance.origin(), again[0].instance.destination()), (3, 0));
    for tour in ["1 2 3 4", "3 4 1 2", "4 3 2 1"] {
        let file = Source::new("a.tour", format!("TOUR_SECTION\n{tour} -1\n"));
        let solution = read_solution::<Tsp>(&file, instance).unwrap();
        assert_eq!((solution.steps.as_slice(), Tsp::cost(instance, &solution.steps)), (&[2, 1][..], 3.0), "{tour}");
    }
}
