//! Training, labelling and evaluation with two MPI processes give the same results as with one.
#![cfg(feature = "mpi")]

use std::path::Path;
use std::process::{Command, Stdio};

use bqnco::net::{Device, Network, Tensors};
use bqnco::train::Communicator as _;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_bqnco");

const RECIPE: &str = r#"
problem = "tsp"
[data]
files = ["train.npz"]
[validation]
files = ["validation.npz"]
[network]
preset = "tiny"
[training]
steps = 12
batch = 16
optimizer = "muon"
rate = 2e-3
average = 0.5
clip = 1.0
schedule = "linear"
images = "square"
validate_every = 4
report_every = 1
[self_improvement]
every = 5
instances = 7
search = { sample = { count = 4, temperature = 1.0 } }
"#;

#[track_caller]
fn run(folder: &TempDir, program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .env("TMPDIR", folder.path()) // jobs at the same time would share their session folders
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a command with two processes.
#[track_caller]
fn run_two(folder: &TempDir, arguments: &[&str]) {
    let two = ["-n", "2", "--allow-run-as-root", "--oversubscribe", BINARY];
    run(folder, "mpirun", &[&two[..], arguments].concat());
}

fn scratch() -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("recipe.toml"), RECIPE).expect("written");
    for (name, seed) in [("train.npz", "1"), ("validation.npz", "2")] {
        run(&folder, BINARY, &["generate", "tsp", "--size", "9", "--count", "11", "--seed", seed, "-o", name]);
    }
    folder
}

fn weights(run: &Path) -> Tensors {
    Network::load(&run.join("last"), &Device::flex()).expect("a checkpoint").0.tensors()
}

fn losses(run: &Path) -> Vec<f64> {
    let table = std::fs::read_to_string(run.join("metrics.csv")).expect("a table");
    table.lines().skip(1).map(|line| line.split(',').nth(2).expect("a loss").parse().expect("a number")).collect()
}

#[test]
fn two_processes_train_the_same_network_as_one() {
    let folder = scratch();
    let train = ["train", "recipe.toml", "--threads", "1", "-q", "-o"];
    run(&folder, BINARY, &[&train[..], &["one"]].concat());
    run_two(&folder, &[&train[..], &["two"]].concat());
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let (expected, found) = (losses(&one), losses(&two));
    assert_eq!(found.len(), 12);
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?}, expected {expected:?}");
    let (expected, found) = (weights(&one), weights(&two));
    // Adding a constant to all scores changes no probability: the gradient of the head's bias is pure rounding error,
    // which AdamW scales to the size of any other gradient.
    for (name, (_, numbers)) in found.iter().filter(|(name, _)| *name != "body.ends.head_bias") {
        let pairs = numbers.iter().zip(&expected[name].1);
        let far = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 1e-4, "{name}: {far}");
    }
    let labels = |run: &Path| std::fs::read_to_string(run.join("labels-2.json")).expect("labels");
    assert_eq!(labels(&two), labels(&one));
}

#[test]
fn a_failure_of_one_process_ends_all() {
    let folder = scratch();
    let train = ["train", "recipe.toml", "training.batch=15", "-q", "-o", "odd"];
    let two = ["-n", "2", "--allow-run-as-root", "--oversubscribe", BINARY];
    let output = Command::new("mpirun")
        .args(two)
        .args(train)
        .env("TMPDIR", folder.path())
        .current_dir(folder.path())
        .output()
        .expect("it starts");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be shared by 2 processes"));
}

#[test]
fn two_processes_generate_the_same_instances_as_one() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let generate = ["generate", "cvrp", "--size", "5", "--count", "5", "--seed", "3", "-o", "some.jsonl"];
    run(&folder, BINARY, &generate);
    run_two(&folder, &generate);
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    assert_eq!(text("some-1of2.jsonl") + &text("some-2of2.jsonl"), text("some.jsonl"));
}

/// The rows of a report without fields that depend on timing.
fn rows(report: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read(report.join("results.json")).expect("results");
    let mut results: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let mut rows = results["rows"].take();
    let rows = rows.as_array_mut().expect("rows");
    for row in rows.iter_mut().filter_map(serde_json::Value::as_object_mut) {
        ["seconds", "wall", "batch"].iter().for_each(|name| drop(row.remove(*name)));
    }
    std::mem::take(rows)
}

#[test]
fn two_processes_share_an_evaluation() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let eval = [
        "eval",
        "table1",
        "--sizes",
        "8,12",
        "--instances",
        "5",
        "--model",
        "none",
        "--baselines",
        "heuristic",
        "--threads",
        "1",
        "-q",
        "--report",
    ];
    run(&folder, BINARY, &[&eval[..], &["one"]].concat());
    run_two(&folder, &[&eval[..], &["two"]].concat());
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    assert_eq!(rows(&one), rows(&two));
    let lines = |name: &str| std::fs::read_to_string(two.join(name)).expect("a journal").lines().count();
    assert!(lines("journal.jsonl") > 1 && lines("journal-1.jsonl") > 1, "both have worked");
    // One process resumes the work of two, and finds everything done.
    std::fs::remove_file(two.join("results.json")).expect("removed");
    run(&folder, BINARY, &[&eval[..], &["two"]].concat());
    assert_eq!(rows(&one), rows(&two));
}

/// The test runs itself as the two processes of a job, one of which panics while the other waits for it.
#[test]
fn a_rank_that_panics_ends_the_job_with_its_message() {
    const NAME: &str = "a_rank_that_panics_ends_the_job_with_its_message";
    if std::env::var_os("BQNCO_TEST_RANK").is_some() {
        let ranks = bqnco_mpi::Ranks::join().expect("the first time");
        let work = |ranks: &bqnco_mpi::Ranks| -> Result<(), ()> {
            assert!(ranks.rank() == 0, "the second rank gives up");
            ranks.sum(&mut [1.0]);
            Ok(())
        };
        ranks.run(work).expect("never reached");
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("timeout")
        .args(["120", "mpirun", "-n", "2", "--allow-run-as-root", "--oversubscribe"])
        .arg(program)
        .args(["--exact", NAME, "--nocapture"])
        .env("BQNCO_TEST_RANK", "yes")
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("mpirun starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("the second rank gives up"), "{said}");
}
