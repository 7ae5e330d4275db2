//! The real binary, in scratch folders, on real files.

mod check;
mod eval;
mod eval_networks;
mod eval_sets;
mod experts;
mod golden;
mod models;
mod reliability;
mod search;
mod sets;
mod solve;
mod train;
mod usage;
mod vehicles;
mod worker;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

/// The path of an example of the repository.
fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/examples").join(name).display().to_string()
}

/// `bqnco` in a folder.
fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bqnco"));
    command.args(arguments).current_dir(folder.path()).stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

fn bqnco(folder: &TempDir, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the binary starts")
}

/// The output of a command that must succeed.
#[track_caller]
fn done(folder: &TempDir, arguments: &[&str]) -> String {
    let output = bqnco(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", err(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The message of a command that must reject bad input.
#[track_caller]
fn refused(folder: &TempDir, arguments: &[&str]) -> String {
    let output = bqnco(folder, arguments);
    let message = err(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    message
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "stdout: {}\nstderr: {}", out(output), err(output));
}

/// JSON, one object per line.
fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("one JSON object per line")).collect()
}
