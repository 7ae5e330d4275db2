//! The examples of docs/server.md are executed.

use std::path::Path;
use std::process::Command;

use bqnco_testing::{Absent, skip};

use super::Server;

/// The text of docs/server.md.
fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/server.md");
    std::fs::read_to_string(path).expect("the page")
}

/// The code blocks of a language in docs/server.md.
fn blocks(language: &str) -> Vec<String> {
    let (text, fence) = (document(), format!("```{language}\n"));
    text.split(&fence).skip(1).map(|block| block.split("\n```").next().unwrap_or(block).to_string()).collect()
}

/// The same, with the address of a running server.
fn blocks_for(language: &str, server: &Server) -> Vec<String> {
    blocks(language).iter().map(|block| block.replace("127.0.0.1:8080", &server.address)).collect()
}

/// Whether a program is installed; without it the running test is skipped.
pub fn has(program: &str) -> bool {
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
    let scripts = blocks_for("sh", &server);
    let scripts: Vec<_> = scripts.iter().filter(|script| script.contains("curl")).collect();
    assert!(scripts.len() >= 4, "{scripts:?}");
    let printed: String = scripts.iter().map(|script| run("bash", &format!("set -euo pipefail\n{script}"))).collect();
    for words in ["\"found_by\"", "event: improved", "event: finished", "\"status\":", "\"looks\"", "Route #1"] {
        assert!(printed.contains(words), "{words} in {printed}");
    }
    let answers = blocks("json");
    assert!(!answers.is_empty() && answers.iter().all(|answer| printed.contains(answer)), "{answers:?} in {printed}");
}

#[test]
fn the_python_example_works() {
    if !has("python3") {
        return;
    }
    let server = Server::start(&[]);
    let scripts = blocks_for("python", &server);
    assert!(!scripts.is_empty());
    for script in scripts {
        let printed = run("python3", &script);
        assert!(printed.contains("length 4.0"), "{printed}");
    }
}

/// What `bqnco serve --help` says of an option.
#[track_caller]
fn help(option: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_bqnco")).args(["serve", "--help"]).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let found = text.split("\n      --").find_map(|about| about.strip_prefix(option)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("there is no option --{option}")).to_string()
}

/// The default of an option that is a number.
#[track_caller]
fn default(option: &str) -> f64 {
    let about = help(option);
    let number = about.split_once("[default: ").and_then(|(_, rest)| rest.split(']').next()?.parse().ok());
    number.unwrap_or_else(|| panic!("--{option}: {about}"))
}

#[test]
fn the_table_of_limits_has_the_defaults_of_the_program() {
    let text = document();
    let rows: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("| `--")?.split_once("` | ")).collect();
    assert_eq!(rows.len(), 9, "{rows:?}");
    for (option, rest) in rows {
        let number = rest.split(' ').next().unwrap_or_default().replace(',', "");
        match number.parse::<f64>() {
            Ok(number) => assert_eq!(default(option), number, "--{option}"),
            Err(_) => assert!(rest.starts_with("one per core") && help(option).contains("one per core"), "--{option}"),
        }
    }
}

#[test]
fn the_unit_and_the_proxy_fit_the_program() {
    let units = blocks("ini");
    let number = |key: &str| {
        let found = units[0].lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')?.parse::<f64>().ok());
        found.unwrap_or_else(|| panic!("no number {key}"))
    };
    units[0].split_whitespace().filter_map(|word| word.strip_prefix("--")).for_each(|option| drop(help(option)));
    assert!(number("TimeoutStopSec") > default("grace"));
    assert!(number("LimitNOFILE") > default("max-connections"));
    let proxy = &blocks("nginx")[0];
    assert!(proxy.contains(&format!("client_max_body_size {}m;", default("max-body"))), "{proxy}");
    let (_, inside) = proxy.split_once("server {").expect("a server, which a location belongs to");
    assert!(inside.contains("location /") && inside.contains("proxy_buffering off;"), "{proxy}");
    assert_eq!(proxy.matches('{').count(), proxy.matches('}').count(), "{proxy}");
}
