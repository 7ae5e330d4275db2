//! Damaged files of every format: no panic, no large allocation, whatever the bytes.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::io::{Cursor, Read, Write};

use bqnco_io::{Format, InstanceIo, ReadOptions, Source, detect, read, read_solution, write, write_solution};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};

use crate::records::{Freedom, PROBLEMS, Random, instance_formats};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rand::{Rng, RngExt, SeedableRng};

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

const EXTREMES: [&str; 12] =
    ["999999999999", "-1", "0", "1e308", "nan", "inf", "18446744073709551616", "1e-320", "0.5", "2", "4294967295", ""];

fn damage(bytes: &mut Vec<u8>, rng: &mut impl Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = rng.random_range(0..bytes.len());
    let end = (at + rng.random_range(1..12)).min(bytes.len());
    match rng.random_range(0..7) {
        0 => bytes[at] ^= 1 << rng.random_range(0..8),
        1 => bytes.insert(at, rng.random()),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let copy = bytes[at..end].to_vec();
            bytes.splice(at..at, copy);
        }
        4 => bytes.truncate(at),
        5 => replace_number(bytes, at, EXTREMES[rng.random_range(0..EXTREMES.len())]),
        _ => bytes[at] = b" \n,:\t[]{}()-.0#"[rng.random_range(0..15)],
    }
}

/// Replaces the first run of digits from a place on.
fn replace_number(bytes: &mut Vec<u8>, from: usize, number: &str) {
    let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit).map(|offset| from + offset) else { return };
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.splice(start..start + length, number.bytes());
}

/// Damages one array of an archive and packs it again, so that no checksum gives it away.
fn damage_inside(archive: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut old = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut new = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let unlucky = rng.random_range(0..old.len());
    for index in 0..old.len() {
        let mut file = old.by_index(index).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        if index == unlucky {
            damage(&mut bytes, rng);
        }
        new.start_file(file.name().unwrap().to_string(), zip::write::SimpleFileOptions::default()).unwrap();
        new.write_all(&bytes).unwrap();
    }
    new.finish().unwrap().into_inner()
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
            if bytes.starts_with(b"PK") && rng.random_bool(0.8) {
                bytes = damage_inside(&bytes, &mut rng);
            } else {
                (0..rng.random_range(1..4)).for_each(|_| damage(&mut bytes, &mut rng));
            }
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
