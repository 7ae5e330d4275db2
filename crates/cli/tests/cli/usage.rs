//! Bad files, wrong arguments and help texts.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{assert_code, bqnco, command, err, example, out, scratch};

#[test]
fn bad_input_gives_a_message_and_exit_code_two() {
    let folder = scratch();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
    let good = std::fs::read_to_string(example("city48.tsp")).expect("shipped");
    write("typo.tsp", &good.replace("\n7 ", "\n7 x"));
    write("short.tsp", &good[..good.len() / 2]);
    write("huge.tsp", &good.replace("DIMENSION : 48", "DIMENSION : 999999999999"));
    write("empty.tsp", "");
    write("prose.tsp", "Dear solver,\nplease find attached nothing.\n");
    write("two.csv", "x,y\n1,2\n");
    std::fs::write(folder.path().join("bytes.npz"), [0u8, 159, 146, 150].repeat(100)).expect("writable");
    for (file, part) in [
        ("typo.tsp", "line 13"),
        ("short.tsp", "expected"),
        ("huge.tsp", "expected"),
        ("empty.tsp", "empty"),
        ("prose.tsp", "not a known file format"),
        ("two.csv", "at least 2"),
        ("bytes.npz", "not a known file format"),
        ("absent.tsp", "No such file"),
    ] {
        let output = bqnco(&folder, &["solve", file, "-o", "out.tour"]);
        assert_code(&output, 2);
        let message = err(&output);
        assert!(message.starts_with(&format!("error: {file}")) && message.contains(part), "{file}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(!folder.path().join("out.tour").exists(), "half a result for {file}");
    }
}

#[test]
fn wrong_usage_gives_exit_code_two_before_any_work() {
    let folder = scratch();
    let city = example("city48.tsp");
    for arguments in [
        vec!["solve"],
        vec!["solve", &city, "--time-limit", "-1"],
        vec!["solve", &city, "--time-limit", "soon"],
        vec!["solve", &city, "--search", "sample", "--temperature", "0"],
        vec!["solve", &city, "--search", "beam", "--width", "0"],
        vec!["solve", &city, "--width", "4"],
        vec!["solve", &city, "--search", "greedy", "--effort", "4"],
        vec!["solve", &city, "--optimum", "nan"],
        vec!["solve", &city, "-o", "no-such-folder/tour.tour"],
        vec!["solve", &city, "-o", "tour.sol"],
        vec!["solve", &city, "--plot", "picture.gif"],
        vec!["solve", &city, "-o", "tour.xyz"],
        vec!["solve", &city, &city, "-o", "tour.tour"],
        vec!["solve", &city, &city, "-o", "."],
        vec!["solve", &city, &example("sack50.kp"), "-o", "tour.tour"],
        vec!["solve", &city, &example("sack50.kp"), "--plot", "picture.svg"],
        vec!["solve", &city, "--optimum", "no-such-file.csv"],
        vec!["solve", &city, "--problem", "jssp"],
        vec!["generate", "tsp", "--size", "0"],
        vec!["generate", "tsp", "-o", "tour.xyz"],
        vec!["convert", &city, "--format", "sol"],
        vec!["check", &city],
    ] {
        let output = bqnco(&folder, &arguments);
        assert_code(&output, 2);
        assert!(err(&output).contains("error: "), "{arguments:?}: {}", err(&output));
        assert_eq!(out(&output), "", "{arguments:?} printed output");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0, "nothing was written");
}

#[test]
fn error_names_an_unsupported_device() {
    let folder = scratch();
    let asked = bqnco(&folder, &["bench", "net", "--device", "rocm"]);
    assert_code(&asked, 2);
    assert!(err(&asked).contains("no device 'rocm'"), "{}", err(&asked));
    let useless = bqnco(&folder, &["solve", &example("city48.tsp"), "--search", "expert", "--device", "cpu"]);
    assert_code(&useless, 2);
    assert!(err(&useless).contains("--device is for networks"), "{}", err(&useless));
}

#[test]
fn a_closed_pipe_ends_printing_without_a_word() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bqnco"))
        .args(["generate", "tsp", "--size", "1000", "--count", "50"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_code(&output, 141);
    assert_eq!(err(&output), "");
}

#[test]
fn help_has_an_example_for_every_command() {
    let folder = scratch();
    for command in ["solve", "check", "generate", "convert", "plot", "laws", "completions"] {
        let output = bqnco(&folder, &[command, "--help"]);
        assert_code(&output, 0);
        assert!(out(&output).contains(&format!("bqnco {command} ")), "{}", out(&output));
        assert!(out(&output).contains("Example"), "{}", out(&output));
    }
    let script = bqnco(&folder, &["completions", "bash"]);
    assert!(out(&script).contains("complete -F _bqnco"));
}

/// Paragraphs fit the terminal; examples stay on their lines.
#[test]
fn help_is_wrapped_by_the_terminal() {
    let folder = scratch();
    for name in ["solve", "check", "generate", "convert", "train", "eval", "models", "plot", "laws", "bench"] {
        let output = command(&folder, &[name, "--help"]).env("COLUMNS", "200").output().expect("it starts");
        let text = out(&output);
        let about = text.split("\n\nUsage:").next().unwrap_or_default();
        let lines: Vec<&str> = about.lines().collect();
        let is_broken = |pair: &[&str]| pair[0].len() < 170 && !pair[0].is_empty() && !pair[1].is_empty();
        assert!(!lines.windows(2).any(is_broken), "a line break of the source within a paragraph: {about}");
        assert!(text.contains("Example") && text.contains(&format!("\n  bqnco {name}")), "{text}");
    }
}

#[test]
fn examples_of_the_help_fit_in_80_columns() {
    let folder = scratch();
    let examples = |name: &str, columns: &str| {
        let output = command(&folder, &[name, "--help"]).env("COLUMNS", columns).output().expect("it starts");
        out(&output).split_once("\nExample").map(|(_, examples)| examples.to_string())
    };
    for name in ["solve", "check", "generate", "convert", "train", "eval", "models", "plot", "laws", "bench", "serve"] {
        assert!(examples(name, "80").is_some(), "{name}");
        assert_eq!(examples(name, "80"), examples(name, "1000"), "{name}: an example is wrapped");
    }
}

/// Every row of docs/paper.md has a command that the program knows, with recipes that exist.
#[test]
fn the_commands_of_the_paper_are_known() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/paper.md")).expect("the table");
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| paper |"));
    let mut commands = 0;
    for row in rows {
        let found: Vec<&str> = row.split('`').skip(1).step_by(2).filter(|code| code.starts_with("bqnco ")).collect();
        assert!(!found.is_empty(), "no command: {row}");
        for line in found {
            let words: Vec<&str> = line.split_whitespace().skip(1).chain(["--help"]).collect();
            let output = command(&scratch(), &words).output().expect("the binary starts");
            assert_eq!(output.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            let recipes = words.iter().filter(|word| word.ends_with(".toml"));
            recipes.for_each(|recipe| assert!(root.join(recipe).exists(), "{line}"));
            commands += 1;
        }
    }
    assert!(commands > 30, "{commands} commands");
}

#[test]
fn laws_hold_and_are_printed() {
    let folder = scratch();
    let output = bqnco(&folder, &["laws", "--instances", "6"]);
    assert_code(&output, 0);
    let text = out(&output);
    for expected in ["tsp ", "atsp ", "cvrp ", "op ", "knapsack ", "proposition 1", "proposition 2", "tail recursion"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("BROKEN"));
}
