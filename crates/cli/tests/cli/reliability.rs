//! Nothing lost, nothing wrong: outputs that nobody reads, links that lead back, programs of others, absurd numbers.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

#[cfg(target_os = "linux")]
use super::worker::Worker;
use super::{command, done, example, objects, refused, scratch};

/// Runs `bqnco` with a standard output, or error, that nobody reads.
fn unread(folder: &TempDir, arguments: &[&str], stream: &str) -> Output {
    let mut command = command(folder, arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    match stream {
        "output" => drop(child.stdout.take()),
        _ => drop(child.stderr.take()),
    }
    child.wait_with_output().expect("it ends")
}

fn files(folder: &TempDir, name: &str) -> usize {
    fs::read_dir(folder.path().join(name)).map_or(0, Iterator::count)
}

#[test]
fn every_exit_code_is_documented() {
    let help = done(&scratch(), &["--help"]).split_whitespace().collect::<Vec<_>>().join(" "); // whatever its width
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/solving.md")).expect("there");
    for (code, meaning) in [("2", "wrong usage"), ("3", "internal error"), ("134", "out of memory")] {
        assert!(help.contains(&format!("{code} {meaning}")), "{help}");
        assert!(manual.contains(&format!("| {code} | {meaning}")), "{code}");
    }
}

#[test]
fn solutions_are_written_although_nobody_reads_the_results() {
    let folder = scratch();
    done(&folder, &["generate", "tsp", "--size", "8", "--count", "60", "-o", "set.jsonl"]);
    let solve = ["solve", "set.jsonl", "--search", "greedy", "--policy", "heuristic"];
    let output = unread(&folder, &[&solve[..], &["-o", "out/"]].concat(), "output");
    assert_eq!(output.status.code(), Some(141), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files(&folder, "out"), 60);
    let output = unread(&folder, &solve, "output");
    assert_eq!(output.status.code(), Some(141), "without files there is nothing more to do");
}

#[test]
fn a_closed_or_full_standard_error_stops_no_work() {
    let folder = scratch();
    let recipe = "problem = \"tsp\"\nnetwork = { preset = \"tiny\" }\ntraining = { steps = 4, batch = 4, validate_every = 1 }\n\
                  data = { size = 6, count = 4, seed = 1 }\nvalidation = { size = 6, count = 2, seed = 2 }\n";
    fs::write(folder.path().join("recipe.toml"), recipe).expect("written");
    let train = ["train", "recipe.toml", "--threads", "1", "-o"];
    let output = unread(&folder, &[&train[..], &["closed"]].concat(), "error");
    assert_eq!(output.status.code(), Some(0));
    assert!(folder.path().join("closed/state.bin").exists());
    assert_eq!(unread(&folder, &["solve", "absent.tsp"], "error").status.code(), Some(2));
    if let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") {
        let output = command(&folder, &[&train[..], &["full"]].concat()).stderr(full).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0));
        assert!(folder.path().join("full/state.bin").exists());
    }
}

#[test]
fn a_full_standard_output_is_an_error() {
    let folder = scratch();
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let output = command(&folder, &["generate", "tsp"]).stdout(full).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot print"));
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_are_followed_once() {
    let folder = scratch();
    let set = folder.path().join("set");
    fs::create_dir_all(set.join("below")).expect("folders");
    fs::copy(example("city48.tsp"), set.join("city48.tsp")).expect("copied");
    fs::copy(example("oneway24.atsp"), set.join("below/oneway24.atsp")).expect("copied");
    for (target, link) in [(".", "a"), (".", "b"), ("..", "below/up"), ("below", "same")] {
        std::os::unix::fs::symlink(target, set.join(link)).expect("a link");
    }
    let solved = done(&folder, &["solve", "set", "--search", "greedy", "--policy", "heuristic", "--json", "-q"]);
    assert_eq!(objects(&solved).len(), 2, "{solved}");
}

#[test]
fn long_names_of_instances_get_files_of_their_own() {
    let folder = scratch();
    let line = |name: &str| format!("{{\"name\":\"{name}\",\"coordinates\":[[0,0],[1,0],[0,1]]}}\n");
    let long = "é".repeat(300);
    let set: String = ["short", &format!("{long}1"), &format!("{long}2")].map(line).concat();
    fs::write(folder.path().join("set.jsonl"), set).expect("written");
    done(&folder, &["solve", "set.jsonl", "--search", "greedy", "--policy", "heuristic", "-o", "out/"]);
    assert_eq!(files(&folder, "out"), 3);
}

#[test]
fn absurd_counts_are_refused() {
    let folder = scratch();
    for count in ["1000000000000000", "18446744073709551615"] {
        for expert in [&[][..], &["--expert"]] {
            let message = refused(&folder, &[&["generate", "tsp", "--count", count, "-o", "a.npz"], expert].concat());
            assert!(message.contains("which fit into memory"), "{message}");
        }
    }
}

/// The file is handed over a second after the start.
#[test]
fn reading_is_part_of_the_time_limit() {
    let folder = scratch();
    let solve = ["solve", "-", "--search", "expert", "--time-limit", "2", "--json", "-q"];
    let mut child = command(&folder, &solve).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let (mut pipe, started) = (child.stdin.take().expect("a pipe"), Instant::now());
    while started.elapsed() < Duration::from_secs(1) {
        std::thread::yield_now();
    }
    pipe.write_all(&fs::read(example("city48.tsp")).expect("shipped")).expect("it reads");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    let seconds = objects(&String::from_utf8_lossy(&output.stdout))[0]["seconds"].as_f64().expect("a time");
    assert!(seconds < 1.6, "{seconds} s of search after a second of reading");
}

#[test]
fn a_limit_beyond_all_lengths_is_no_damage_of_the_network() {
    let folder = scratch();
    let instance = r#"{"problem":"op","coordinates":[[0,0],[1,0],[0,1],[1,1]],"prizes":[0,1,2,3],"limit":1e308}"#;
    fs::write(folder.path().join("op.json"), instance).expect("written");
    let solved = done(&folder, &["solve", "op.json", "--search", "greedy", "--model", "op", "--json"]);
    assert_eq!(objects(&solved)[0]["prize"].as_f64(), Some(6.0), "{solved}");
}

#[test]
fn files_cannot_control_the_terminal() {
    let folder = scratch();
    let evil = "\u{1b}[31mEVIL\u{7}\u{9b}2J";
    fs::write(folder.path().join("evil.tsp"), evil).expect("written");
    fs::write(folder.path().join("evil.csv"), format!("x,y,{evil}\n1,2,3\n")).expect("written");
    let assert_tame = |text: &str| {
        assert!(text.contains("EVIL") && !text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
    };
    for file in ["evil.tsp", "evil.csv"] {
        assert_tame(&refused(&folder, &["solve", file]));
    }
    // Names of instances, two of which are equal; and what a network says of itself.
    let quoted = serde_json::Value::from(evil).to_string();
    let line = format!("{{\"name\": {quoted}, \"coordinates\": [[0, 0], [0, 1], [1, 1]], \"solution\": [0, 1, 2]}}\n");
    fs::write(folder.path().join("evil.jsonl"), line.repeat(2)).expect("written");
    assert_tame(&done(&folder, &["solve", "evil.jsonl", "--search", "greedy", "--policy", "heuristic"]));
    assert_tame(&done(&folder, &["check", "evil.jsonl"]));
    let solved = done(&folder, &["solve", "evil.jsonl", "--search", "greedy", "--policy", "heuristic", "--json"]);
    assert_tame(&solved);
    assert_eq!(objects(&solved)[0]["file"], evil, "escaped, not lost");
    done(&folder, &["convert", concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tsp"), "-o", "evil"]);
    let config = folder.path().join("evil/config.json");
    let text = fs::read_to_string(&config).expect("a file");
    fs::write(&config, text.replacen("\"tsp\"", &quoted, 1)).expect("written");
    assert_tame(&done(&folder, &["convert", "evil", "-o", "again"]));
}

#[test]
fn resuming_says_what_changed_and_whether_it_matters() {
    let folder = scratch();
    let recipe = "problem = \"tsp\"\nnetwork = { preset = \"tiny\" }\ntraining = { steps = 4, batch = 4 }\n\
                  data = { size = 6, count = 4, seed = 1 }\nvalidation = { size = 6, count = 2, seed = 2 }\n";
    fs::write(folder.path().join("recipe.toml"), recipe).expect("written");
    let train = |cpu: Option<&str>, threads: &str, steps: &str| {
        let mut command = command(&folder, &["train", "recipe.toml", "--threads", threads, "-o", "run", steps]);
        cpu.map(|cpu| command.env("BQNCO_CPU", cpu));
        let output = command.output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    train(Some("portable"), "1", "training.steps=2");
    let said = train(Some("portable"), "2", "training.steps=3");
    assert!(said.contains("threads 2 instead of 1: the results stay the same"), "{said}");
    let said = train(None, "2", "training.steps=4");
    let best = bqnco::kernels::available_paths().into_iter().find(|path| path.name() != "bf16").expect("a path");
    if best.name() != "portable" {
        assert!(said.contains(&format!("cpu {best} instead of portable: the weights will differ")), "{said}");
    }
    let run: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("run/run.json")).expect("a file")).expect("JSON");
    assert!(run["sessions"].as_array().is_some_and(|sessions| sessions.len() >= 2), "{run:#}");
}

/// `kill -9` leaves neither the program of others nor its scratch folder, nor what has left the program's group.
#[cfg(target_os = "linux")]
#[test]
fn programs_of_others_do_not_survive_us() {
    let sleep = "echo $$ > pid.new; mv pid.new pid; exec sleep 600";
    assert_ends_with_us(&format!("echo $2 > scratch; {sleep}"));
    assert_ends_with_us(&format!("echo $2 > scratch; setsid sh -c '{sleep}' & wait"));
}

/// Kills `bqnco` as soon as its external solver, a script, has written the number of a process to the file `pid`.
#[cfg(target_os = "linux")]
fn assert_ends_with_us(script: &str) {
    let folder = scratch();
    fs::write(folder.path().join("solver"), script).expect("written");
    let city = example("city48.tsp");
    let solve = ["solve", &city, "--search", "external", "--command", "/bin/sh solver {instance} {folder} {solution}"];
    let worker = Worker::start(&folder, &solve);
    assert!(worker.wait_until(|| folder.path().join("pid").exists()));
    worker.kill();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written").trim().to_string();
    let (process, scratch) = (read("pid"), read("scratch"));
    let alive = || {
        let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z")
    };
    let started = Instant::now();
    while (alive() || fs::exists(&scratch).unwrap_or(true)) && started.elapsed() < Duration::from_secs(30) {
        std::thread::yield_now();
    }
    assert!(!alive(), "process {process} is still running");
    assert!(!fs::exists(&scratch).unwrap_or(true), "{scratch} is still there");
}

#[test]
fn the_program_prints_the_licences_of_its_parts() {
    let folder = scratch();
    let printed = done(&folder, &["--licences"]);
    for part in ["burn ", "clap ", "rayon ", "Apache License", "Permission is hereby granted"] {
        assert!(printed.contains(part), "{part}");
    }
}
