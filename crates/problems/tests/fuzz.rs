//! Damaged files of every format: no panic, no large allocation, whatever the bytes.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use bqnco_io::{Format, InstanceIo, ReadOptions, Source, detect, read, read_solution, write, write_solution};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};
use bqnco_testing::damage;

use crate::records::{Freedom, PROBLEMS, Random, instance_formats};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rand::SeedableRng;

/// Damaged versions per valid file.
const CASES: usize = 1000;

/// Reads bytes in every way there is. Whatever comes out must bear being checked.
fn read_all_ways(bytes: &[u8]) {
    fn read_as<P: InstanceIo>(source: &Source) {
        let Ok(records) = read::<P>(source, &ReadOptions::default()) else { return };
        for record in records {
            if let Some(steps) = &record.solution {
                let _ = P::check(&record.instance, steps);
            }
            if let Ok(solution) = read_solution::<P>(source, &record.instance) {
                let _ = P::check(&record.instance, &solution.steps);
            }
        }
    }
    let source = Source::new("damaged", bytes);
    let _ = detect(&source, &PROBLEMS);
    every_problem!(read_as(&source));
}

/// Small valid files of a problem in every format that can hold it, solutions included.
fn valid_files<P: Random>(runner: &mut TestRunner) -> Vec<(Format, Vec<u8>)> {
    let mut files = Vec::new();
    for format in instance_formats() {
        let record = P::record(4, Freedom::Plain).new_tree(runner).unwrap().current();
        files.extend(write::<P>(&[record], format).ok().map(|bytes| (format, bytes)));
    }
    for _ in 0..20 {
        let record = P::record(4, Freedom::Plain).new_tree(runner).unwrap().current();
        let format = P::NATIVE.solution.0;
        let steps = record.solution.unwrap_or_default();
        if let Ok(bytes) = write_solution::<P>("name", &record.instance, &steps, format) {
            files.push((format, bytes));
            break;
        }
    }
    files
}

fn survives<P: Random>() {
    let mut runner = TestRunner::deterministic();
    let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(7);
    let mut cases = 0;
    for (format, valid) in valid_files::<P>(&mut runner) {
        read_all_ways(&valid);
        for _ in 0..CASES {
            let mut bytes = valid.clone();
            damage(&mut bytes, &valid, &mut rng);
            let case = bytes.clone();
            let outcome = std::panic::catch_unwind(|| read_all_ways(&bytes));
            assert!(outcome.is_ok(), "format {format}: {:?}", String::from_utf8_lossy(&case));
            cases += 1;
        }
    }
    assert!(cases > 5 * CASES, "most formats hold every problem, and one its solutions");
    println!("{}: {cases} damaged files, peak memory {:?} KiB", P::NAME, peak_memory());
    assert!(peak_memory().is_none_or(|kib| kib < 400_000), "{:?} KiB", peak_memory());
}

/// The largest resident set of this process so far, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

#[test]
fn damaged_tsp_files_are_refused_or_read() {
    survives::<Tsp>();
}

#[test]
fn damaged_atsp_files_are_refused_or_read() {
    survives::<Atsp>();
}

#[test]
fn damaged_cvrp_files_are_refused_or_read() {
    survives::<Cvrp>();
}

#[test]
fn damaged_op_files_are_refused_or_read() {
    survives::<Op>();
}

#[test]
fn damaged_knapsack_files_are_refused_or_read() {
    survives::<Knapsack>();
}
