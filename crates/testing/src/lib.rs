//! What the tests of several crates share: [`properties`] of every problem, [`damage`] to files, and skipping.
//!
//! Tests that cannot run where they are are skipped by name, never passed by accident.
//! libtest calls a test that returns early passed. A test that lacks something calls [`skip`] before it returns: the
//! file that the environment names in `BQNCO_SKIPPED` gets a line, and `./test.sh` counts and lists these lines. With
//! `CI=true` only features of the CPU may be absent: everything else can be installed, and its absence fails the test.

mod damage;
pub mod properties;

pub use damage::damage;

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What a test lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Files that are not part of the repository.
    Data,
    /// A program or a library of the system.
    Program,
    /// Instructions of the CPU.
    Cpu,
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Absent::Data => "data",
            Absent::Program => "program",
            Absent::Cpu => "cpu",
        })
    }
}

/// Reports that the running test, or a part of it, is skipped.
///
/// # Panics
/// With `CI=true`, unless it is the CPU that lacks something.
pub fn skip(absent: Absent, reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unnamed test"); // libtest names a test's thread after the test
    let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    let file = std::env::var_os("BQNCO_SKIPPED").map(PathBuf::from);
    report(absent, test, reason, is_ci, file.as_deref());
}

fn report(absent: Absent, test: &str, reason: &str, is_ci: bool, file: Option<&Path>) {
    assert!(!is_ci || absent == Absent::Cpu, "{test} must not be skipped in CI ({absent}): {reason}");
    eprintln!("SKIPPED: {test} ({absent}): {reason}");
    let Some(file) = file else { return };
    let open = OpenOptions::new().append(true).create(true).open(file);
    // One write per line: tests of several processes share the file.
    let written = open.and_then(|mut file| file.write_all(format!("{absent}\t{test}\t{reason}\n").as_bytes()));
    written.unwrap_or_else(|error| panic!("BQNCO_SKIPPED={}: {error}", file.display()));
}

/// The folder of benchmark files, `shared/data` beside the repository or the environment's `BQNCO_DATA`; without one the
/// running test is skipped.
pub fn shared_data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("BQNCO_DATA").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    skip(Absent::Data, "no benchmark files in ../shared/data, and BQNCO_DATA names no folder");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `report` writes, or the message of its panic.
    fn outcome(absent: Absent, is_ci: bool) -> Result<String, String> {
        let file = std::env::temp_dir().join(format!("bqnco-skipped-{absent}-{is_ci}-{}", std::process::id()));
        let reported = std::panic::catch_unwind(|| {
            report(absent, "one", "why", is_ci, Some(&file));
            report(absent, "two", "why", is_ci, Some(&file));
        });
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(&file);
        reported.map(|()| text).map_err(|panic| panic.downcast_ref::<String>().expect("a message").clone())
    }

    #[test]
    fn every_skip_is_a_line() {
        assert_eq!(outcome(Absent::Data, false).expect("allowed"), "data\tone\twhy\ndata\ttwo\twhy\n");
        assert_eq!(outcome(Absent::Cpu, true).expect("allowed"), "cpu\tone\twhy\ncpu\ttwo\twhy\n");
    }

    #[test]
    fn what_can_be_installed_must_be_there_in_ci() {
        for absent in [Absent::Data, Absent::Program] {
            let message = outcome(absent, true).expect_err("refused");
            assert_eq!(message, format!("one must not be skipped in CI ({absent}): why"));
        }
    }
}
