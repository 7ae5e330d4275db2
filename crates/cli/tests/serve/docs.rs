//! The examples of docs/server.md are executed.

use std::path::Path;
use std::process::Command;

use bqnco_testing::{Absent, skip};

use super::Server;

/// The code blocks of a language in docs/server.md, with the address of a running server.
fn blocks(language: &str, server: &Server) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/server.md");
    let text = std::fs::read_to_string(path).expect("the page");
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    let local = |block: &str| block.split("\n```").next().unwrap_or(block).replace("127.0.0.1:8080", &server.address);
    blocks.map(local).collect()
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        skip(Absent::Program, &format!("{program} is not installed"));
    }
    found
}

/// Runs a script in the repository's folder.
#[track_caller]
fn run(program: &str, script: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(program).args(["-c", script]).current_dir(folder).output().expect("it runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script}\n{out}\n{err}");
    out.into_owned()
}

#[test]
fn the_curl_examples_work() {
    if !has("curl") {
        return;
    }
    let server = Server::start(&[]);
    let scripts = blocks("sh", &server);
    let scripts: Vec<_> = scripts.iter().filter(|script| script.contains("curl")).collect();
    assert!(scripts.len() >= 4, "{scripts:?}");
    let printed: String = scripts.iter().map(|script| run("bash", &format!("set -euo pipefail\n{script}"))).collect();
    for words in ["\"found_by\"", "event: improved", "event: finished", "\"status\":", "\"looks\"", "Route #1"] {
        assert!(printed.contains(words), "{words} in {printed}");
    }
}

#[test]
fn the_python_example_works() {
    if !has("python3") {
        return;
    }
    let server = Server::start(&[]);
    let scripts = blocks("python", &server);
    assert!(!scripts.is_empty());
    for script in scripts {
        let printed = run("python3", &script);
        assert!(printed.contains("length 4.0"), "{printed}");
    }
}
