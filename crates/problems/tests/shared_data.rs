//! Every benchmark file loads, has the listed size, and its stored solution has the listed value.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // counts are the point of these tests

use std::path::{Path, PathBuf};

use crate::records::PROBLEMS;
use bqnco_core::Problem;
use bqnco_io::{Detected, Format, InstanceIo, ReadOptions, Record, Source, detect, read, read_solution};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};
use bqnco_testing::shared_data as data;

/// The rows of a CSV file with a header.
fn table(path: PathBuf) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.records().map(|row| row.unwrap().iter().map(str::to_string).collect()).collect()
}

/// The one instance of a file, which must be detected as what it is.
fn load<P: InstanceIo>(path: &Path, format: Format) -> Record<P> {
    let source = Source::open(path).unwrap();
    assert_eq!(detect(&source, &PROBLEMS).unwrap(), Detected { format, problem: P::NAME }, "{}", path.display());
    let mut records = read::<P>(&source, &ReadOptions::default()).unwrap();
    assert_eq!(records.len(), 1);
    records.remove(0)
}

/// The objective of a feasible solution, with a person's sign.
fn objective<P: Problem>(instance: &P::Instance, steps: &[P::Step]) -> f64 {
    P::check(instance, steps).unwrap();
    P::OBJECTIVE.1 * P::cost(instance, steps)
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

#[test]
fn tsplib_instances_load_and_their_tours_have_the_optimal_length() {
    let Some(data) = data() else { return };
    let (mut instances, mut tours) = (0, 0);
    for row in table(data.join("tsplib/optimal.csv")) {
        let file = |extension| data.join("tsplib").join(format!("{}.{extension}", row[0]));
        let record = load::<Tsp>(&file("tsp"), Format::Tsplib);
        assert_eq!(record.instance.geometry().len() as f64, number(&row[1]), "{}", row[0]);
        instances += 1;
        if !row[4].is_empty() {
            let tour = read_solution::<Tsp>(&Source::open(file("opt.tour")).unwrap(), &record.instance).unwrap();
            assert_eq!(objective::<Tsp>(&record.instance, &tour.steps), number(&row[3]), "{}", row[0]);
            tours += 1;
        }
    }
    println!("tsplib: {instances} instances, {tours} tours at the listed optimum");
    assert_eq!((instances, tours), (87, 40));
}

#[test]
fn atsp_instances_load() {
    let Some(data) = data() else { return };
    let rows = table(data.join("atsp/optimal.csv"));
    for row in &rows {
        let record = load::<Atsp>(&data.join(format!("atsp/{}.atsp", row[0])), Format::Tsplib);
        assert_eq!(record.instance.nodes() as f64, number(&row[1]), "{}", row[0]);
    }
    println!("atsp: {} instances", rows.len());
    assert_eq!(rows.len(), 15);
}

#[test]
fn cvrplib_instances_load_and_their_routes_have_the_best_known_length() {
    let Some(data) = data() else { return };
    let (mut instances, mut solutions, mut comments) = (0, 0, 0);
    for row in table(data.join("cvrplib/bks.csv")) {
        let file = |extension: &str| data.join("cvrplib").join(&row[0]).join(format!("{}.{extension}", row[1]));
        let record = load::<Cvrp>(&file("vrp"), Format::Tsplib);
        assert_eq!(record.instance.geometry().len() as f64, number(&row[2]), "{}", row[1]);
        assert_eq!(record.instance.capacity(), number(&row[3]), "{}", row[1]);
        instances += 1;
        if let Some(reference) = record.reference {
            assert_eq!(reference, number(&row[4]), "the comment of {}", row[1]);
            comments += 1;
        }
        if file("sol").exists() {
            let routes = read_solution::<Cvrp>(&Source::open(file("sol")).unwrap(), &record.instance).unwrap();
            assert_eq!(objective::<Cvrp>(&record.instance, &routes.steps), number(&row[4]), "{}", row[1]);
            assert_eq!(routes.claimed, Some(number(&row[4])), "{}", row[1]);
            solutions += 1;
        }
    }
    println!("cvrplib: {instances} instances, {solutions} solutions at the listed cost, {comments} optima in comments");
    assert_eq!((instances, solutions), (159, 152));
}

#[test]
fn oplib_instances_load() {
    let Some(data) = data() else { return };
    let rows = table(data.join("op/best_known.csv"));
    for row in &rows {
        let record = load::<Op>(&data.join(format!("op/gen{}/{}.oplib", row[2], row[0])), Format::Tsplib);
        assert_eq!(record.instance.geometry().len() as f64, number(&row[4]), "{}", row[0]);
        assert_eq!(record.instance.limit(), number(&row[6]), "{}", row[0]);
    }
    println!("oplib: {} instances", rows.len());
    assert_eq!(rows.len(), 204);
}

#[test]
fn knapsack_instances_load_and_stored_packings_are_feasible() {
    let Some(data) = data() else { return };
    let (mut instances, mut packings, mut optimal) = (0, 0, 0);
    for (list, format, optimum) in
        [("kplib_optimal.csv", Format::Kp, 4), ("instances_01_KP_optimal.csv", Format::KpText, 3)]
    {
        for row in table(data.join("kp").join(list)) {
            let record = load::<Knapsack>(&data.join("kp").join(&row[0]), format);
            assert_eq!(record.instance.items() as f64, number(&row[1]), "{}", row[0]);
            assert_eq!(record.instance.capacity(), number(&row[2]), "{}", row[0]);
            instances += 1;
            if let Some(packing) = &record.solution {
                let value = objective::<Knapsack>(&record.instance, packing);
                assert!(value <= number(&row[optimum]), "{}: {value}", row[0]);
                packings += 1;
                optimal += usize::from(value == number(&row[optimum]));
            }
        }
    }
    println!("knapsack: {instances} instances, {packings} feasible packings, {optimal} of them optimal");
    assert_eq!((instances, packings), (408, 21));
}

/// Loads a text-line dataset and compares sizes, stored values and solutions with the reference list.
fn check_lines<P: InstanceIo>(data: &Path, set: &str, size: impl Fn(&P::Instance) -> usize) -> (usize, usize) {
    let source = Source::open(data.join(format!("nco/{set}.txt"))).unwrap();
    assert_eq!(detect(&source, &PROBLEMS).unwrap(), Detected { format: Format::Lines, problem: P::NAME }, "{set}");
    let records = read::<P>(&source, &ReadOptions::default()).unwrap();
    let rows: Vec<_> = table(data.join("nco/reference.csv")).into_iter().filter(|row| row[0] == set).collect();
    assert_eq!(records.len(), rows.len(), "{set}");
    let mut solutions = 0;
    for (record, row) in records.iter().zip(rows) {
        let near = |value: f64| (value - number(&row[3])).abs() < 1e-6 * number(&row[3]);
        assert_eq!(size(&record.instance) as f64, number(&row[2]), "{set} {}", row[1]);
        assert!(record.reference.is_none_or(near), "{set} {}", row[1]);
        if let Some(steps) = &record.solution {
            assert!(near(objective::<P>(&record.instance, steps)), "{set} {}", row[1]);
            solutions += 1;
        }
    }
    println!("{set}: {} instances, {solutions} solutions at the listed value", records.len());
    (records.len(), solutions)
}

#[test]
fn text_lines_of_the_field_load_and_their_solutions_have_the_listed_value() {
    let Some(data) = data() else { return };
    for set in ["lehd_tsp200_n128", "lehd_tsp500_n128", "fu_tsp200_n128", "fu_tsp500_n128"] {
        assert_eq!(check_lines::<Tsp>(&data, set, |instance| instance.geometry().len()), (128, 128));
    }
    assert_eq!(check_lines::<Tsp>(&data, "fu_tsp1000_n128_coords", |instance| instance.geometry().len()), (128, 0));
    for set in ["lehd_cvrp200_n128", "lehd_cvrp500_n128"] {
        assert_eq!(check_lines::<Cvrp>(&data, set, |instance| instance.customers()), (128, 128));
    }
    assert_eq!(check_lines::<Cvrp>(&data, "goal_cvrp100_n128", |instance| instance.customers()), (128, 0));
    assert_eq!(check_lines::<Op>(&data, "goal_op100_n128", |instance| instance.geometry().len() - 1), (128, 0));
    assert_eq!(check_lines::<Knapsack>(&data, "goal_kp100_n1000", |instance| instance.items()), (1000, 0));
}

#[test]
fn matnet_matrices_load() {
    let Some(data) = data() else { return };
    let mut instances = 0;
    for file in std::fs::read_dir(data.join("nco/matnet_atsp20")).unwrap() {
        let record = load::<Atsp>(&file.unwrap().path(), Format::Tsplib);
        assert_eq!(record.instance.nodes(), 20);
        instances += 1;
    }
    println!("matnet atsp20: {instances} instances");
    assert_eq!(instances, 128);
}
