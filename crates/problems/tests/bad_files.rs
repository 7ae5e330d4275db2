//! Bad files and the exact sentences they are answered with.

#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Write};

use crate::records::PROBLEMS;
use bqnco_io::{InstanceIo, ReadOptions, Source, detect, read, read_solution};
use bqnco_problems::{Atsp, Cvrp, Geometry, Knapsack, Metric, Op, Tsp, knapsack, op};

fn complaint<P: InstanceIo>(name: &str, content: &[u8]) -> String {
    let answer = read::<P>(&Source::new(name, content), &ReadOptions::default());
    answer.map(|_| "no complaint".to_string()).unwrap_or_else(|error| error.to_string())
}

fn tsp(content: &str) -> String {
    complaint::<Tsp>("a.tsp", content.as_bytes())
}

const HEAD: &str = "NAME : a\nTYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\n";

#[test]
fn tsplib() {
    let nodes = |body: &str| tsp(&format!("{HEAD}NODE_COORD_SECTION\n{body}EOF\n"));
    assert_eq!(nodes("1 0 0\n2 1 0\n3 1 1\n"), "no complaint");
    assert_eq!(nodes("1 0 0\n2 1 0\n"), "a.tsp, line 5: expected 3 lines in NODE_COORD_SECTION, one per node, found 2");
    assert_eq!(
        nodes("1 0 0\n2 1\n3 1 1\n"),
        "a.tsp, line 7: expected a node and 2 numbers in NODE_COORD_SECTION, found `2 1`"
    );
    assert_eq!(
        nodes("1 0 0\n2 1 abc\n3 1 1\n"),
        "a.tsp, line 7: expected a node and 2 numbers in NODE_COORD_SECTION, found `2 1 abc`"
    );
    assert_eq!(
        nodes("1 0 0\n2 1 0\n2 1 1\n"),
        "a.tsp, line 8: expected each node from 1 to 3 once in NODE_COORD_SECTION, found a second line for node 2"
    );
    assert_eq!(
        nodes("1 0 0\n2 1 0\n4 1 1\n"),
        "a.tsp, line 8: expected each node from 1 to 3 once in NODE_COORD_SECTION, found node 4"
    );
    assert_eq!(
        nodes("1 0 0\n2 1e999 0\n3 1 1\n"),
        "a.tsp, line 7: expected a node and 2 numbers in NODE_COORD_SECTION, found `2 1e999 0`"
    );
    assert_eq!(
        tsp("TYPE : TSP\nDIMENSON : 3\n"),
        "a.tsp, line 2: `DIMENSON` is no known keyword (did you mean `DIMENSION`?); correct it, or delete the line to solve \
         without it"
    );
    assert_eq!(tsp("TYPE : TSP\n"), "a.tsp: expected the keyword DIMENSION, found none");
    assert_eq!(
        tsp("TYPE : TSP\nDIMENSION : 1000000000000\n"),
        "a.tsp, line 2: expected a DIMENSION that fits a file of 37 bytes, found `1000000000000`"
    );
    assert_eq!(
        tsp("TYPE : TSP\nDIMENSION : -3\n"),
        "a.tsp, line 2: expected a whole number above 0 for DIMENSION, found `-3`"
    );
    assert_eq!(
        tsp("TYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC2D\n"),
        "a.tsp, line 3: expected an EDGE_WEIGHT_TYPE among EXACT_2D, EUC_2D, CEIL_2D, ATT, GEO, MAN_2D, MAX_2D, EUC_3D, \
         GREAT_CIRCLE, EXPLICIT, found `EUC2D` (did you mean `EUC_2D`?)"
    );
    assert_eq!(
        tsp("TYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORDS_SECTION\n1 0 0\n"),
        "a.tsp, line 4: `NODE_COORDS_SECTION` is no known keyword (did you mean `NODE_COORD_SECTION`?); correct it, or \
         delete the section to solve without it"
    );
    assert_eq!(tsp("TYPE : TSP\n17\n"), "a.tsp, line 2: expected a keyword of TSPLIB, found `17`");
    assert_eq!(tsp(&HEAD.replace("TSP", "CVRP")), "a.tsp: expected the keyword NODE_COORD_SECTION, found none");
    let fixed = format!("{HEAD}FIXED_EDGES_SECTION\n1 2\n2 3\n-1\nNODE_COORD_SECTION\n1 0 0\n2 1 0\n3 1 1\n");
    assert_eq!(
        tsp(&fixed),
        "a.tsp, line 5: 4 node numbers in FIXED_EDGES_SECTION: one fixed edge is supported; delete the others to solve \
         without them"
    );
    for (edge, found) in [("1 4", "1 and 4"), ("0 1", "0 and 1"), ("2 2", "2 and 2")] {
        let expected = "a.tsp, line 5: expected two different nodes from 1 to 3 in FIXED_EDGES_SECTION, found";
        assert_eq!(tsp(&fixed.replace("1 2\n2 3", edge)), format!("{expected} {found}"));
    }
}

#[test]
fn matrices() {
    let explicit = |format: &str, body: &str| {
        let head = "TYPE : ATSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EXPLICIT\n";
        let text = format!("{head}EDGE_WEIGHT_FORMAT : {format}\nEDGE_WEIGHT_SECTION\n{body}\nEOF\n");
        complaint::<Atsp>("m.atsp", text.as_bytes())
    };
    assert_eq!(explicit("FULL_MATRIX", "0 1 2 3\n0 1 2 3 0"), "no complaint");
    assert_eq!(
        explicit("FULL_MATRIX", "0 1 2 3 0 1 2   3"),
        "m.atsp, line 5: expected 9 numbers (FULL_MATRIX of 3 nodes) in EDGE_WEIGHT_SECTION, found 8"
    );
    assert_eq!(
        explicit("FULL_MATRIX", "0 1 2\n3 0 1\n2 3 0\n4 5"),
        "m.atsp, line 9: expected 9 numbers (FULL_MATRIX of 3 nodes) in EDGE_WEIGHT_SECTION, found 2 more, from `4`"
    );
    assert_eq!(
        explicit("FULL_MATRIX", "0 1"),
        "m.atsp, line 5: expected 9 numbers (FULL_MATRIX of 3 nodes) in EDGE_WEIGHT_SECTION, found room for 2 at most"
    );
    assert_eq!(explicit("FULL_MATRIX", "0 1 2 3 0 x 2 3 0"), "m.atsp, line 6: expected a number, found `x`");
    assert_eq!(
        explicit("FULL", "0"),
        "m.atsp, line 4: expected an EDGE_WEIGHT_FORMAT among FULL_MATRIX, UPPER_ROW, LOWER_ROW, UPPER_DIAG_ROW, \
         LOWER_DIAG_ROW, UPPER_COL, LOWER_COL, UPPER_DIAG_COL, LOWER_DIAG_COL, found `FULL`"
    );
    assert_eq!(explicit("FULL_MATRIX", "0 1 2 3 0 -1 2 3 0"), "m.atsp: cost number 6 is -1, it must not be negative");
}

#[test]
fn vehicles_and_routes() {
    let vrp = |more: &str| {
        let head = "TYPE : CVRP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nCAPACITY : 10\nNODE_COORD_SECTION\n1 0 0\n2 1 0\n3 1 1\n";
        complaint::<Cvrp>("v.vrp", format!("{head}{more}EOF\n").as_bytes())
    };
    assert_eq!(vrp(""), "v.vrp: problem cvrp needs `demands`, which is missing");
    assert_eq!(
        vrp("DEMAND_SECTION\n1 0\n2 11\n3 1\n"),
        "v.vrp: the demand of customer 1 is 11, above the vehicle's capacity of 10"
    );
    assert_eq!(
        vrp("DEMAND_SECTION\n1 0\n2 1\n3 1\nDEPOT_SECTION\n2\n-1\n"),
        "v.vrp, line 13: node 2 in DEPOT_SECTION: only the first node, 1, can be the depot; make it the first node"
    );
    assert_eq!(
        vrp("DEMAND_SECTION\n1 0\n2 1\n3 1\nDEPOT_SECTION\n1\n2\n-1\n"),
        "v.vrp, line 13: several depots in DEPOT_SECTION (1, 2) are not supported; keep only node 1"
    );
    let oplib = "TYPE : OP\nDIMENSION : 2\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 1 0\nNODE_SCORE_SECTION\n1 0\n2 1\n";
    assert_eq!(complaint::<Op>("o.oplib", oplib.as_bytes()), "o.oplib: problem op needs `limit`, which is missing");
}

#[test]
fn solutions() {
    let square = Source::new("square.csv", "0,0\n0,1\n1,1\n1,0\n");
    let record = read::<Tsp>(&square, &ReadOptions::default()).unwrap().remove(0);
    let tour = |content: &str| {
        let answer = read_solution::<Tsp>(&Source::new("t.tour", content), &record.instance);
        answer.map(|_| "no complaint".to_string()).unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(tour("TOUR_SECTION\n1 2 3 4 -1\n"), "no complaint");
    assert_eq!(tour("TOUR_SECTION\n1 2 x 4 -1\n"), "t.tour, line 2: expected a node number in TOUR_SECTION, found `x`");
    assert_eq!(tour("TOUR_SECTION\n0 1 2 3\n-1\n"), "t.tour, line 1: expected nodes numbered from 1, found node 0");
    assert_eq!(tour("TOUR_SECTION\n2 3 4 -1\n"), "t.tour: the solution does not visit the first node");
    assert_eq!(tour("DIMENSION : 4\nTOUR_SECTION\n1 2 3 4 1 -1\n"), "no complaint");
    assert_eq!(
        tour("TYPE : TOUR\nDIMENSION : 99\nTOUR_SECTION\n1 2 3 4 -1\n"),
        "t.tour, line 2: expected a DIMENSION of 4, as that of the instance, found 99"
    );
    assert_eq!(tour("0,0\n1,1\n"), "t.tour: expected a solution, found instances (format csv)");
    assert_eq!(
        complaint::<Tsp>("t.tour", b"TYPE : TOUR\nTOUR_SECTION\n1\n2\n-1\n"),
        "t.tour: expected instances, found a solution (format tour)"
    );
}

/// What the reader says to a solution of two customers at the corners of a square.
fn routes(content: &str) -> String {
    let square = Source::new("square.csv", "# capacity = 4\nx,y,demand\n0,0,0\n0,1,2\n1,1,2\n");
    let record = read::<Cvrp>(&square, &ReadOptions::default()).unwrap().remove(0);
    let answer = read_solution::<Cvrp>(&Source::new("r.sol", content), &record.instance);
    answer.map(|_| "no complaint".to_string()).unwrap_or_else(|error| error.to_string())
}

#[test]
fn solutions_of_other_problems() {
    assert_eq!(routes("Route #1: 1 2\n"), "no complaint");
    assert_eq!(routes("0 1 2 0\n"), "no complaint");
    assert_eq!(routes("Route #1: 1 0\n"), "r.sol, line 1: expected a customer from 1, found `0`");
    let other = |found: &str| {
        let expected = "r.sol: expected a solution of problem cvrp: routes (as in .sol files)";
        format!("{expected}, found {found}; does it belong to another instance?")
    };
    assert_eq!(routes("TYPE : TOUR\nTOUR_SECTION\n1 2 3 -1\n"), other("a tour (as in .tour files)"));
    assert_eq!(routes("1 0 1 1\n"), other("zeros and ones (one per item)"));
    assert_eq!(
        routes("{\"problem\": \"op\", \"solution\": [1]}"),
        "r.sol: expected a solution of problem cvrp, found one of problem op; does it belong to another instance?"
    );
}

#[test]
fn solutions_of_other_instances() {
    let flags = |text: &str| {
        let sack = knapsack::Instance::new(vec![5.0, 6.0, 7.0], vec![4.0, 5.0, 6.0], 10.0).unwrap();
        let answer = read_solution::<Knapsack>(&Source::new("k.txt", text), &sack);
        answer.map(|file| format!("{:?}", file.steps)).unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(flags("1 0 1\n"), "[0, 2]");
    for (text, found) in [("1 0\n", 2), ("1 0 1 0\n", 4)] {
        let expected = "k.txt: expected 3 zeros and ones, one per item of the instance, found";
        assert_eq!(flags(text), format!("{expected} {found}"));
    }
    let other = "k.txt: expected a solution of problem knapsack: zeros and ones (one per item), found routes";
    assert!(flags("Route #1: 1 2\n").starts_with(other), "{}", flags("Route #1: 1 2\n"));
    let route = |text: &str| {
        let places = Geometry::planar(vec![[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], Metric::Exact).unwrap();
        let hike = op::Instance::new(places, vec![0.0, 1.0, 2.0, 3.0], 9.0).unwrap();
        let answer = read_solution::<Op>(&Source::new("r.tour", text), &hike);
        answer.map(|file| format!("{:?}", file.steps)).unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(route("DIMENSION : 2\nTOUR_SECTION\n1 3 -1\n"), "[2]"); // as this crate writes it
    assert_eq!(route("DIMENSION : 4\nNODE_SEQUENCE_SECTION\n1 3 -1\n"), "[2]"); // as OPLib
    assert_eq!(route("TOUR_SECTION\n3 2 -1\n"), "r.tour: the solution does not visit the depot");
    assert_eq!(
        route("DIMENSION : 3\nTOUR_SECTION\n1 3 -1\n"),
        "r.tour, line 1: expected a DIMENSION of 4, as that of the instance, found 3"
    );
}

#[test]
fn tables_and_lines() {
    let csv = |content: &str| complaint::<Tsp>("t.csv", content.as_bytes());
    assert_eq!(csv("x,y\n1,2\n3,four\n"), "t.csv, line 3: expected a number, found `four`");
    assert_eq!(csv("x,y\n1,2\n3\n"), "t.csv, line 3: expected a number, found ``");
    assert_eq!(csv("1,2\n3,4,5\n"), "t.csv, line 2: expected 2 numbers, as in the first row, found 3");
    assert_eq!(
        csv("1,2,3\n3,4,5\n"),
        "t.csv: expected a header (x,y or value,weight ...), two columns of coordinates or a square matrix, found 2 rows of \
         3 numbers"
    );
    assert_eq!(
        csv("x,y,demnd\n1,2,3\n"),
        "t.csv, line 1: `demnd` is no known column (did you mean `demand`?); known are x, y, z, longitude, \
         latitude, lon, lat, lng, long, demand, prize, score, value, profit, weight, and name or id; delete the column to solve without it"
    );
    assert_eq!(
        csv("# capcity = 5\nx,y\n1,2\n"),
        "t.csv, line 1: `capcity` is no known key (did you mean `capacity`?); known are problem, name, metric, cost, \
         capacity, vehicles, limit, origin, destination; delete the line to solve without it"
    );
    assert_eq!(csv("x,y,demand\n1,2,3\n4,5,6\n"), "t.csv: `demands` means nothing to problem tsp");
    let kp = |content: &str| complaint::<Knapsack>("k.kp", content.as_bytes());
    assert_eq!(kp("3\n10\n\n1 2\n3 4\n"), "k.kp: expected the value of item 3 of 3, found the end of the file");
    assert_eq!(
        kp("999999999\n10\n\n1 2\n3 4\n"),
        "k.kp, line 1: expected a number of items from 1 to 5, which a file of this size can hold, found 999999999"
    );
    assert_eq!(kp("2 10\n1 2\n3 4\n0 2\n"), "k.kp, line 4: expected 0 or 1 for each item, found 2");
    let lines = |content: &str| complaint::<Cvrp>("l.txt", content.as_bytes());
    assert_eq!(
        lines("depot,0,0,customers,1,1\n"),
        "l.txt, line 1: expected one of the keys depot, customer, node, capacity, demand, cost, node_flag, prize, max_length, \
         score, value, weight, optimum, found `customers` (did you mean `customer`?)"
    );
    assert_eq!(
        lines("depot,0,0,customer,1,1\n\ndepot,0,0,customer,1\n"),
        "l.txt, line 3: expected two coordinates for the depot and for each node, found 2 and 1 numbers"
    );
    assert_eq!(
        lines("depot,0,0,customer,1,1,demand,2\n"),
        "l.txt, line 1: problem cvrp needs `capacity`, which is missing"
    );
}

#[test]
fn json() {
    let json = |content: &str| complaint::<Tsp>("j.json", content.as_bytes());
    assert_eq!(json("{\"coordinates\": [[0, 0], [1, 1]]}"), "no complaint");
    assert_eq!(
        json("{\"coordinates\": [[0, 0], [1]]}"),
        "j.json, line 1: expected an instance in JSON, found in `coordinates`: lists of different lengths, 2 and 1"
    );
    assert_eq!(
        json("{\"coordinate\": [[0, 0], [1, 1]]}"),
        "j.json: problem tsp needs `coordinates` or `matrix`, which is missing"
    );
    assert_eq!(
        json("{\"coordinates\": [[0, 0], [1, 1]], \"metrik\": 1}"),
        "j.json: `metrik` means nothing to problem tsp (did you mean `metric`?)"
    );
    assert_eq!(
        json("{\"coordinates\": [[0, 0], [1, 1]], \"orgin\": 1}"),
        "j.json: `orgin` means nothing to problem tsp (did you mean `origin`?)"
    );
    assert_eq!(
        json("{\"coordinates\": [[0, 0], [1, 1]], \"metric\": \"EUC2D\"}"),
        "j.json, line 1: expected an instance in JSON, found the unknown metric `EUC2D` (did you mean `EUC_2D`?)"
    );
    assert_eq!(
        json("{\"coordinates\": [[0, 0],\n"),
        "j.json, line 2: expected an instance in JSON, found in `coordinates`: EOF while parsing a value"
    );
    assert_eq!(json("[]"), "j.json: expected at least one instance, found none");
    assert_eq!(
        json("{\"coordinates\": [[0,0],[1,1]]}\n{\"coordinates\": [[0,0,0],[1,1,1]]}"),
        "j.json, instance 2: `coordinates` must have the shape [n, 2], found [2, 3]"
    );
}

/// A zip archive of the given arrays.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn numpy_and_pickle() {
    let npz = |entries: &[(&str, &[u8])]| complaint::<Tsp>("d.npz", &archive(entries));
    assert_eq!(
        npz(&[("coordinates.npy", &npy("<f8", "(1000000, 1000000, 1000000, 2)", b""))]),
        "d.npz, array `coordinates`: expected [1000000, 1000000, 1000000, 2] items of 8 bytes each, found 0 bytes"
    );
    assert_eq!(
        npz(&[("coordinates.npy", &npy("<f8", "(1000000000, 0, 2)", b""))]),
        "d.npz, array `coordinates`: expected numbers for at least one instance, found the shape [1000000000, 0, 2]"
    );
    assert_eq!(
        npz(&[("coordinates.npy", &npy("|O", "(1,)", b"x"))]),
        "d.npz, array `coordinates`: expected a header with descr, fortran_order and shape, found {'descr': '|O', \
         'fortran_order': False, 'shape': (1,), }"
    );
    assert_eq!(
        npz(&[("locs.npy", &npy("<f8", "(1, 1, 2)", &[0; 16])), ("time_windows.npy", &npy("<f8", "(1,)", &[0; 8]))]),
        "d.npz, array `time_windows`: expected locs, depot, demand, capacity, prize, max_length, penalty, deterministic_prize or cost_matrix, found a part \
         of another problem"
    );
    let bomb = archive(&[("coordinates.npy", &npy("<f8", "(1, 4194304, 2)", &vec![0; 1 << 26]))]);
    assert!(bomb.len() < 100_000);
    assert_eq!(
        complaint::<Tsp>("d.npz", &bomb),
        "d.npz, array `coordinates`: expected data that fill at most 64 MB and 50 times the size of the file, found more; \
         save the arrays without compression, or in several files"
    );
    let cut = &archive(&[("coordinates.npy", &npy("<f8", "(1, 1, 2)", &[0; 16]))])[..80];
    assert!(complaint::<Tsp>("d.npz", cut).starts_with("d.npz: expected a whole zip archive of numpy arrays, found "));
    let pickle = |bytes: &[u8]| complaint::<Tsp>("d.pkl", bytes);
    assert_eq!(pickle(b"\x80\x02](](](K\x00K\x01e](K\x02K\x03eee."), "no complaint");
    assert_eq!(
        pickle(b"\x80\x02cnumpy\narray\n."),
        "d.pkl: expected a pickle of lists, tuples and numbers, found a Python object at byte 2 (numpy arrays must be stored \
         with tolist())"
    );
    assert_eq!(
        pickle(b"\x80\x02](K\x01"),
        "d.pkl: expected a pickle of lists, tuples and numbers, found the end of the file inside the pickle"
    );
    assert_eq!(
        pickle(b"\x80\x02](K\x01e."),
        "d.pkl, instance 1: expected [[x, y], ...] or (depot, locs, demand or prize, capacity or max_length), found something \
         else"
    );
}

#[test]
fn unknown_files() {
    let unknown = |content: &[u8]| detect(&Source::new("f", content), &PROBLEMS).unwrap_err().to_string();
    assert_eq!(unknown(b""), "f: not a known file format: the file is empty");
    assert_eq!(unknown(b" \n\n"), "f: not a known file format: the file is empty");
    assert_eq!(unknown(b"hello world\n"), "f: not a known file format: it begins with `hello world`");
    assert_eq!(
        unknown(b"DIMENSON : 3\n"),
        "f: not a known file format: it begins with `DIMENSON : 3` (did you mean `DIMENSION`?)"
    );
    assert_eq!(
        unknown(b"\x00\x01\x02"),
        "f: not a known file format: it is neither text nor a numpy archive nor a pickle"
    );
    assert!(Source::open("no/such/file").unwrap_err().to_string().starts_with("no/such/file: "));
}

#[test]
fn repeated_keywords() {
    let section = "NODE_COORD_SECTION\n1 0 0\n2 1 0\n3 1 1\n";
    assert_eq!(
        tsp(&format!("{HEAD}dimension : 4\n{section}")),
        "a.tsp, line 5: expected `dimension` only once, as in line 3, found it again"
    );
    assert_eq!(
        tsp(&format!("{HEAD}{section}{section}")),
        "a.tsp, line 9: expected `NODE_COORD_SECTION` only once, as in line 5, found it again"
    );
    assert_eq!(tsp(&format!("{HEAD}COMMENT : a\nCOMMENT : b\n{section}")), "no complaint");
}

/// Rows of two are points, a square with a diagonal is a matrix; a line or a column is a solution of a knapsack.
#[test]
fn maps_may_have_zeros_and_ones_only() {
    let problem = |text: &str| {
        detect(&Source::new("a.csv", text), &PROBLEMS)
            .map(|detected| detected.problem.to_string())
            .unwrap_or_else(|error| error.to_string())
    };
    for map in ["0 0\n0 1\n1 1\n1 0\n", "1 0\n0 1\n1 1\n\n0 0\n", "0\t1\n1\t0\n", "0,1\n1,0\n"] {
        assert_eq!(problem(map), "tsp", "{map}");
    }
    assert_eq!(problem("0 1 1\n0 0 1\n1 1 0\n"), "atsp");
    for solution in ["0 1 1 0\n", "0 1\n", "0\n1\n1\n", "0 1 1\n1\n"] {
        assert_eq!(problem(solution), "a.csv: expected instances, found a solution (format zero-one)", "{solution}");
    }
}

#[test]
fn cut_knapsacks_are_no_maps() {
    let knapsack = |name: &str, text: &str| {
        let source = Source::new(name, text);
        detect(&source, &PROBLEMS)
            .map(|detected| detected.problem.to_string())
            .unwrap_or_else(|error| error.to_string())
    };
    let missing = "expected the value of item 3 of 3, found the end of the file";
    assert_eq!(knapsack("trunc.kp", "3 10\n5 4\n6 5\n"), format!("trunc.kp: {missing}"));
    assert_eq!(knapsack("trunc", "3 10\n5 4\n6 5\n"), format!("trunc: {missing}"));
    assert_eq!(knapsack("a.kp", "3\n10\n5 4\n6 5\n"), format!("a.kp: {missing}"));
    assert_eq!(
        knapsack("a.kp", "9 10\n5 4\n"),
        "a.kp, line 1: expected a number of items from 1 to 2, which a file of this size can hold, found 9"
    );
    assert_eq!(knapsack("a.kp", "1 10\n5 4\n6 5\n"), "a.kp, line 3: expected 0 or 1 for each item, found 6");
    assert_eq!(knapsack("points.csv", "3 10\n5 4\n6 5\n"), "tsp");
    assert_eq!(knapsack("points", "30 10\n5 4\n6 5\n"), "tsp");
}

#[test]
fn rounding_where_there_is_none() {
    let rounded = |text: &str| {
        let options = ReadOptions { round: Some(Metric::Ceil2d) };
        let answer = read::<Tsp>(&Source::new("f", text), &options);
        answer.map(|_| "no complaint".to_string()).unwrap_or_else(|error| error.to_string())
    };
    let only = "f: only distances of metric EXACT_2D, EUC_2D or CEIL_2D can be rounded in another way, these are of";
    let points = |metric: &str| format!(r#"{{"metric": "{metric}", "coordinates": [[0, 0], [1, 2]]}}"#);
    for metric in ["EXACT_2D", "EUC_2D", "CEIL_2D"] {
        assert_eq!(rounded(&points(metric)), "no complaint");
    }
    for metric in ["GEO", "ATT", "MAN_2D", "MAX_2D"] {
        assert_eq!(rounded(&points(metric)), format!("{only} metric {metric}"));
    }
    let spatial = r#"{"metric": "EUC_3D", "coordinates": [[0, 0, 0], [1, 2, 3]]}"#;
    assert_eq!(rounded(spatial), format!("{only} metric EUC_3D"));
    assert_eq!(rounded(r#"{"matrix": [[0, 1], [1, 0]]}"#), format!("{only} a matrix"));
}
