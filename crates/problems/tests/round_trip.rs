//! Writing and reading gives back the same record, in every format, with every bit.

#![allow(clippy::unwrap_used)]

use std::cell::Cell;

use crate::records::{Freedom, PROBLEMS, Random, instance_formats, objective, portrait};
use bqnco_core::SolutionSpace;
use bqnco_io::{Format, ReadOptions, Record, Source, WriteError, detect, read, read_solution, write, write_solution};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Pctsp, Tsp};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const CASES: u32 = 60;

/// Formats that hold nothing but what [`Freedom::Plain`] grants.
fn is_plain(format: Format) -> bool {
    matches!(format, Format::NpzBq | Format::NpzRl4co | Format::Pickle | Format::Lines)
}

/// The record as the format can hold it. Names count instances where the format has none.
fn kept<P: Random>(mut record: Record<P>, format: Format, index: usize, count: usize) -> Record<P> {
    use Format::*;
    if !matches!(format, Tsplib | Csv | Json | JsonLines | Npz) {
        record.name = if count == 1 { "file".to_string() } else { format!("file-{}", index + 1) };
    }
    let routes = ["tsp", "cvrp"].contains(&P::NAME);
    if !(matches!(format, Json | JsonLines | Npz | KpText) || (format == Lines && routes)) {
        record.solution = None;
    }
    if !(matches!(format, Tsplib | Csv | Json | JsonLines | Npz | NpzBq) || (format == Lines && P::NAME != "tsp")) {
        record.reference = None;
    }
    record
}

fn same_after_reading<P: Random>(format: Format) {
    let freedom = if is_plain(format) { Freedom::Plain } else { Freedom::Rich };
    let ragged = matches!(format, Format::Json | Format::JsonLines | Format::Npz | Format::Pickle | Format::Lines);
    let most = if format.holds_many() { 4 } else { 1 };
    let size = if P::NAME == "knapsack" { 1..6_usize } else { 2..7 };
    let one = move |size| P::record(size, freedom);
    let records = if ragged {
        vec(size.prop_flat_map(one), 1..=most).boxed()
    } else {
        size.prop_flat_map(move |size| vec(one(size), 1..=most)).boxed()
    };
    let mut runner =
        TestRunner::new(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() });
    let written = Cell::new(0);
    runner
        .run(&records.no_shrink(), |mut records| {
            if format == Format::NpzBq {
                records[0].solution = None; // otherwise the nodes are stored in another order
            }
            let bytes = match write::<P>(&records, format) {
                Ok(bytes) => bytes,
                // An archive holds instances of one kind, a table either coordinates or a matrix of more than two columns.
                Err(WriteError::Unsupported { what, .. }) if what.contains("different") || format == Format::Csv => {
                    return Ok(());
                }
                Err(error) => panic!("{error}"),
            };
            let source = Source::new("folder/file.txt", bytes.clone());
            let text = String::from_utf8(bytes).unwrap_or_else(|_| format.to_string());
            let again = read::<P>(&source, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
            // Fractional demands look like prizes, and two nodes always have a symmetric matrix.
            if ![(Format::Pickle, "cvrp"), (Format::NpzRl4co, "atsp")].contains(&(format, P::NAME)) {
                let detected = detect(&source, &PROBLEMS).unwrap();
                assert_eq!(detected.problem, P::NAME, "{text}");
                assert!(detected.format == format || format == Format::JsonLines, "{detected:?}\n{text}");
            }
            let count = records.len();
            assert_eq!(again.len(), count);
            for (index, (record, again)) in records.into_iter().zip(&again).enumerate() {
                assert_eq!(portrait(again), portrait(&kept(record, format, index, count)), "{text}");
            }
            written.set(written.get() + 1);
            Ok(())
        })
        .unwrap();
    assert!(written.get() > 0, "{format} took none of {CASES} files");
}

#[test]
fn tsp_records_survive_every_format() {
    use Format::*;
    for format in [Tsplib, Csv, Json, JsonLines, Npz, NpzBq, NpzRl4co, Pickle, Lines] {
        same_after_reading::<Tsp>(format);
    }
}

#[test]
fn atsp_records_survive_every_format() {
    use Format::*;
    for format in [Tsplib, Csv, Json, JsonLines, Npz, NpzRl4co] {
        same_after_reading::<Atsp>(format);
    }
}

#[test]
fn cvrp_records_survive_every_format() {
    use Format::*;
    for format in [Tsplib, Csv, Json, JsonLines, Npz, NpzBq, NpzRl4co, Pickle, Lines] {
        same_after_reading::<Cvrp>(format);
    }
}

#[test]
fn op_records_survive_every_format() {
    use Format::*;
    for format in [Tsplib, Csv, Json, JsonLines, Npz, NpzBq, NpzRl4co, Pickle, Lines] {
        same_after_reading::<Op>(format);
    }
}

#[test]
fn pctsp_records_survive_every_format() {
    use Format::*;
    for format in [Csv, Json, JsonLines, Npz, NpzRl4co] {
        same_after_reading::<Pctsp>(format);
    }
}

#[test]
fn knapsack_records_survive_every_format() {
    use Format::*;
    for format in [Kp, KpText, Csv, Json, JsonLines, Npz, NpzBq, Lines] {
        same_after_reading::<Knapsack>(format);
    }
}

/// Formats that hold a problem refuse nothing plain; the others say what can hold it instead.
#[test]
fn formats_without_a_place_for_a_problem_say_so() {
    fn refused<P: Random>() -> Vec<Format> {
        let mut runner = TestRunner::deterministic();
        let record = P::record(4, Freedom::Plain).new_tree(&mut runner).unwrap().current();
        instance_formats().filter(|&format| write::<P>(std::slice::from_ref(&record), format).is_err()).collect()
    }
    use Format::*;
    assert_eq!(refused::<Tsp>(), [Kp, KpText]);
    assert_eq!(refused::<Atsp>(), [Kp, KpText, NpzBq, Pickle, Lines]);
    assert_eq!(refused::<Cvrp>(), [Kp, KpText]);
    assert_eq!(refused::<Op>(), [Kp, KpText]);
    assert_eq!(refused::<Pctsp>(), [Tsplib, Kp, KpText, NpzBq, Pickle, Lines]);
    assert_eq!(refused::<Knapsack>(), [Tsplib, NpzRl4co, Pickle]);
}

fn reordered_keeps_costs<P: Random>() {
    let (mut runner, mut compared) = (TestRunner::deterministic(), 0);
    for _ in 0..CASES {
        let records = vec(P::record(6, Freedom::Plain), 3).new_tree(&mut runner).unwrap().current();
        if records.iter().any(|record| record.solution.is_none()) {
            continue;
        }
        let source = Source::new("train.npz", write::<P>(&records, Format::NpzBq).unwrap());
        let again = read::<P>(&source, &ReadOptions::default()).unwrap();
        for (record, again) in records.iter().zip(&again) {
            let (before, after) = (objective(record).unwrap(), objective(again).unwrap());
            assert!(before == after || (before - after).abs() <= 1e-9 * before.abs(), "{before} {after}");
        }
        compared += 1;
    }
    assert!(compared >= 3, "{compared} of {CASES} files have solutions");
}

#[test]
fn training_sets_of_the_paper_store_nodes_in_the_order_of_the_solution() {
    reordered_keeps_costs::<Tsp>();
    reordered_keeps_costs::<Cvrp>();
    reordered_keeps_costs::<Op>();
    reordered_keeps_costs::<Knapsack>();
}

fn solutions_survive<P: Random>() {
    let (mut runner, mut compared) = (TestRunner::deterministic(), 0);
    for _ in 0..CASES {
        let record = P::record(6, Freedom::Plain).new_tree(&mut runner).unwrap().current();
        let feasible = |steps: &&Vec<P::Step>| P::check(&record.instance, steps).is_ok();
        let Some(steps) = record.solution.as_ref().filter(feasible) else { continue };
        if !objective(&record).is_some_and(f64::is_finite) {
            continue;
        }
        for format in [P::NATIVE.solution.0, Format::Json] {
            let bytes = write_solution::<P>("some name", &record.instance, steps, format).unwrap();
            let source = Source::new("solution", bytes);
            let again = read_solution::<P>(&source, &record.instance).unwrap();
            assert_eq!(&again.steps, steps, "{format}");
            if format != Format::ZeroOne {
                assert_eq!(again.claimed, objective(&record), "{format}");
            }
        }
        compared += 1;
    }
    assert!(compared >= CASES / 10, "{compared} of {CASES} records have solutions");
}

#[test]
fn solutions_survive_their_formats() {
    solutions_survive::<Tsp>();
    solutions_survive::<Atsp>();
    solutions_survive::<Cvrp>();
    solutions_survive::<Op>();
    solutions_survive::<Pctsp>();
    solutions_survive::<Knapsack>();
}

#[test]
fn an_infeasible_solution_is_not_written() {
    let mut runner = TestRunner::deterministic();
    let record = Tsp::record(5, Freedom::Plain).new_tree(&mut runner).unwrap().current();
    let error = write_solution::<Tsp>("name", &record.instance, &[1, 2, 2, 3], Format::Tour).unwrap_err();
    assert_eq!(error.to_string(), "the solution is not feasible: node 3 occurs more than once");
}

#[test]
fn a_tour_may_start_anywhere_and_run_either_way() {
    let square = Source::new("square.csv", "x,y\n0,0\n0,1\n1,1\n1,0\n");
    let record = read::<Tsp>(&square, &ReadOptions::default()).unwrap().remove(0);
    for tour in ["1 2 3 4", "3 4 1 2", "2 1 4 3", "3 2 1 4 3"] {
        let file = Source::new("square.tour", format!("TYPE : TOUR\nTOUR_SECTION\n{tour}\n-1\n"));
        let steps = read_solution::<Tsp>(&file, &record.instance).unwrap().steps;
        assert_eq!(Tsp::check(&record.instance, &steps), Ok(()), "{tour}");
        assert_eq!(Tsp::cost(&record.instance, &steps), 4.0, "{tour}");
    }
}

#[test]
fn matrices_with_lists_are_refused_by_csv() {
    let json = br#"{"matrix": [[0, 1, 2], [1, 0, 3], [2, 3, 0]], "demands": [0, 1, 1], "capacity": 2}"#;
    let records = read::<Cvrp>(&Source::new("f", *json), &ReadOptions::default()).unwrap();
    let refusal = write(&records, Format::Csv).unwrap_err().to_string();
    assert_eq!(refusal, "format csv cannot hold a matrix beside `demands`; json can");
}
