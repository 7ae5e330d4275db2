//! Datasets that numpy and Python's pickle wrote (`data/make.py`) are read as what they mean.

#![allow(clippy::unwrap_used)]

use crate::records::PROBLEMS;
use bqnco_io::{Detected, Format, InstanceIo, RawInstance, ReadOptions, Record, Source, detect, read};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};

fn load<P: InstanceIo>(file: &str, format: Format) -> Vec<Record<P>> {
    let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let source = Source::open(path).unwrap();
    assert_eq!(detect(&source, &PROBLEMS).unwrap(), Detected { format, problem: P::NAME }, "{file}");
    read::<P>(&source, &ReadOptions::default()).unwrap()
}

/// The numbers of a field of the second instance.
fn second<P: InstanceIo>(records: &[Record<P>], field: &str) -> Vec<f64> {
    let mut raw = RawInstance::default();
    P::instance_to(&records[1].instance, &mut raw);
    raw.take(field).unwrap().values
}

fn sixteenths(range: std::ops::Range<u8>) -> Vec<f64> {
    range.map(|number| f64::from(number) / 16.0).collect()
}

#[test]
fn rl4co() {
    let tsp = load::<Tsp>("rl4co_tsp.npz", Format::NpzRl4co);
    assert_eq!(second(&tsp, "coordinates"), sixteenths(6..12));
    let cvrp = load::<Cvrp>("rl4co_cvrp.npz", Format::NpzRl4co);
    assert_eq!(second(&cvrp, "coordinates"), [vec![0.75, 0.125], sixteenths(6..12)].concat());
    assert_eq!(second(&cvrp, "demands"), [0.0, 4.0, 5.0, 6.0]); // stored as shares of 30 in single precision
    assert_eq!(cvrp[1].instance.capacity(), 30.0);
    let op = load::<Op>("rl4co_op.npz", Format::NpzRl4co);
    assert_eq!(second(&op, "prizes"), [0.0, 1.0, 0.75, 0.0625]); // stored in half precision
    assert_eq!(op[1].instance.limit(), 2.0);
    let atsp = load::<Atsp>("rl4co_atsp.npz", Format::NpzRl4co);
    assert_eq!(second(&atsp, "matrix"), [0.0, 10.0, 11.0, 12.0, 0.0, 14.0, 15.0, 16.0, 0.0]); // big-endian
}

#[test]
fn the_papers_scripts() {
    let tsp = load::<Tsp>("bq_tsp_test.npz", Format::NpzBq);
    assert_eq!(second(&tsp, "coordinates"), sixteenths(6..12));
    assert_eq!((tsp[1].reference, &tsp[1].solution), (Some(1.75), &None));
    let tsp = load::<Tsp>("bq_tsp_train.npz", Format::NpzBq);
    assert_eq!(second(&tsp, "coordinates"), sixteenths(6..12)); // stored column by column
    assert_eq!((tsp[1].reference, &tsp[1].solution), (None, &Some(vec![1, 2])));
    let cvrp = load::<Cvrp>("bq_cvrp_train.npz", Format::NpzBq);
    assert_eq!(second(&cvrp, "demands"), [0.0, 4.0, 5.0, 6.0]);
    let routes = |record: &Record<Cvrp>| bqnco_problems::cvrp::routes(record.solution.as_ref().unwrap());
    assert_eq!(
        cvrp.iter().map(routes).collect::<Vec<_>>(),
        [vec![vec![1, 2], vec![3]], vec![vec![1], vec![2], vec![3]]]
    );
    let op = load::<Op>("bq_op_train.npz", Format::NpzBq);
    assert_eq!(second(&op, "prizes"), [0.0, 1.0, 0.75, 0.0625]);
    assert_eq!([&op[0].solution, &op[1].solution], [&Some(vec![1, 2]), &Some(vec![1])]);
    let knapsack = load::<Knapsack>("bq_kp_test.npz", Format::NpzBq);
    assert_eq!(second(&knapsack, "values"), [4.0, 5.0, 6.0]);
    assert_eq!((knapsack[1].instance.capacity(), knapsack[1].reference), (8.0, Some(6.0)));
}

#[test]
fn named_arrays_of_anyone() {
    let tsp = load::<Tsp>("ours.npz", Format::Npz);
    assert_eq!(second(&tsp, "coordinates"), sixteenths(6..12));
    assert_eq!(tsp[1].name, "ours-2");
}

#[test]
fn pickles_of_kool() {
    let tsp = load::<Tsp>("tsp.pkl", Format::Pickle);
    assert_eq!(second(&tsp, "coordinates"), sixteenths(6..12));
    let cvrp = load::<Cvrp>("vrp.pkl", Format::Pickle);
    assert_eq!(second(&cvrp, "coordinates"), [vec![0.75, 0.125], sixteenths(6..12)].concat());
    assert_eq!((second(&cvrp, "demands"), cvrp[1].instance.capacity()), (vec![0.0, 4.0, 5.0, 6.0], 40.0));
    let op = load::<Op>("op.pkl", Format::Pickle);
    assert_eq!((second(&op, "prizes"), op[1].instance.limit()), (vec![0.0, 1.0, 0.75, 0.0625], 3.0));
}
