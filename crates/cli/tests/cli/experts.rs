//! Experts through the real binary: labels that survive interruption, feasible solutions.

use super::worker::cut_off;
use super::{bqnco, command, done, example, objects, refused, scratch};

#[test]
fn labels_are_feasible_and_the_same_on_any_number_of_threads() {
    let folder = scratch();
    for problem in ["tsp", "atsp", "cvrp", "op", "knapsack"] {
        let [one, three] = ["one", "three"].map(|name| format!("{problem}-{name}.npz"));
        let make = |threads: &str, file: &str| {
            let size = ["generate", problem, "--size", "15", "--count", "6", "--seed", "3"];
            done(&folder, &[&size[..], &["--expert", "--effort", "20", "--threads", threads, "-o", file]].concat());
            std::fs::read(folder.path().join(file)).expect("written")
        };
        assert_eq!(make("1", &one), make("3", &three), "{problem}");
        let checked = done(&folder, &["check", &one]);
        assert_eq!(checked.matches("feasible, ").count(), 6, "{problem}");
        assert!(!folder.path().join(format!("{one}.journal")).exists(), "the journal is removed");
    }
}

#[test]
fn shards_together_equal_the_whole_set() {
    let folder = scratch();
    let lines = |shard: &str| {
        let arguments =
            ["generate", "tsp", "--size", "9", "--count", "10", "--expert", "--effort", "5", "--shard", shard];
        done(&folder, &arguments)
    };
    assert_eq!(lines("1/1"), ["1/3", "2/3", "3/3"].map(lines).concat());
}

#[cfg(unix)]
#[test]
fn killed_work_is_resumed() {
    let folder = scratch();
    let arguments = |file: &'static str| {
        let size = ["generate", "cvrp", "--size", "40", "--count", "30", "--seed", "1", "--quiet"];
        [&size[..], &["--expert", "--effort", "60", "-o", file]].concat()
    };
    done(&folder, &arguments("whole.npz"));
    let journal = folder.path().join("killed.npz.journal");
    // In the middle of journal lines, the last one well before the end of the work.
    for blocks in [1, 3, 5] {
        cut_off(&folder, blocks, &arguments("killed.npz"));
        assert_eq!(std::fs::metadata(&journal).expect("a journal").len(), 512 * blocks as u64);
        assert!(!folder.path().join("killed.npz").exists(), "half a file");
    }
    done(&folder, &arguments("killed.npz"));
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
    assert_eq!(read("whole.npz"), read("killed.npz"));
}

#[test]
fn a_journal_with_other_settings_is_rejected() {
    let folder = scratch();
    std::fs::write(folder.path().join("labels.npz.journal"), "{\"problem\":\"tsp\",\"size\":10}\n[0,[]]\n")
        .expect("writable");
    let output = command(&folder, &["generate", "tsp", "--size", "9", "--expert", "-o", "labels.npz"]).output();
    let output = output.expect("the binary starts");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("other settings") && message.contains("remove it"), "{message}");
}

#[test]
fn the_expert_beats_the_greedy_heuristic() {
    let folder = scratch();
    for (problem, objective, sign) in [
        ("tsp", "length", 1.0),
        ("atsp", "length", 1.0),
        ("cvrp", "length", 1.0),
        ("op", "prize", -1.0),
        ("knapsack", "value", -1.0),
    ] {
        done(&folder, &["generate", problem, "--size", "30", "--count", "4", "-o", "set.npz"]);
        let total = |arguments: &[&str]| -> f64 {
            let solved = objects(&done(&folder, &[&["solve", "set.npz", "--json"], arguments].concat()));
            solved.iter().map(|object| sign * object[objective].as_f64().expect("a number")).sum()
        };
        let myopic = total(&["--search", "greedy", "--policy", "myopic"]);
        let expert = total(&["--search", "expert", "--effort", "100"]);
        assert!(expert <= myopic, "{problem}: expert {expert}, myopic {myopic}");
    }
}

#[cfg(unix)]
#[test]
fn an_external_solver_can_be_the_expert() {
    let folder = scratch();
    done(&folder, &["generate", "tsp", "--size", "6", "--seed", "5", "-o", "six.tsp"]);
    let script = "#!/bin/sh\nprintf 'TYPE : TOUR\\nTOUR_SECTION\\n1\\n2\\n3\\n4\\n5\\n6\\n-1\\nEOF\\n' > \"$2\"\n";
    std::fs::write(folder.path().join("solver.sh"), script).expect("writable");
    let external = "sh solver.sh {instance} {solution}"
        .replace("solver.sh", &folder.path().join("solver.sh").display().to_string());
    let solved = done(&folder, &["solve", "six.tsp", "--search", "external", "--command", &external, "--json"]);
    assert!(solved.contains("\"solution\":[0,1,2,3,4,5]"), "{solved}");
    // A program that uses its whole time limit is not killed before it has written its solution.
    std::fs::write(folder.path().join("time_limited.sh"), script.replace("printf", "sleep \"$3\"; printf"))
        .expect("writable");
    let time_limited = external.replace("solver.sh", "time_limited.sh") + " {seconds}";
    let limited =
        ["solve", "six.tsp", "--search", "external", "--command", &time_limited, "--time-limit", "0.1", "--json"];
    assert!(done(&folder, &limited).contains("\"solution\":[0,1,2,3,4,5]"));
    let missing = ["solve", "six.tsp", "--search", "external", "--command", "no-such-program {instance}"];
    let message = refused(&folder, &missing);
    assert!(message.contains("six") && message.contains("no-such-program"), "{message}");
    // Of several instances, those that it can solve are solved.
    done(&folder, &["generate", "tsp", "--size", "5", "--seed", "5", "-o", "five.tsp"]);
    let both = ["solve", "five.tsp", "six.tsp", "--search", "external", "--command", &external, "--json"];
    let output = bqnco(&folder, &both);
    let (solved, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(solved.contains("\"name\":\"six\"") && solved.lines().count() == 1, "{solved}");
    assert!(said.contains("five") && output.status.code() == Some(2), "{said}");
}

/// Sums of random real numbers: optimality cannot be proven in time.
#[test]
fn a_knapsack_without_optimality_proof_is_still_solved() {
    let folder = scratch();
    let weights: Vec<f64> = (1..60).map(|k| (f64::from(k) * 0.754_877_666).fract() + 0.01).collect();
    let sack = serde_json::json!({ "problem": "knapsack", "weights": weights, "values": weights, "capacity": 15.0 });
    std::fs::write(folder.path().join("hard.json"), sack.to_string()).expect("written");
    for search in ["expert", "hybrid"] {
        let solved = done(&folder, &["solve", "hard.json", "--search", search, "--time-limit", "0.1", "--json"]);
        assert!(objects(&solved)[0]["value"].as_f64().expect("a value") > 14.9, "{search}: {solved}");
        let optimal = &objects(&solved)[0]["optimal"];
        assert!(if search == "expert" { optimal == false } else { optimal.is_null() }, "{search}: {solved}");
    }
    let line = done(&folder, &["solve", "hard.json", "--time-limit", "0.1"]);
    assert!(line.ends_with("s  expert, optimality not proven\n"), "{line}");
    let line = done(&folder, &["solve", &example("sack50.kp")]);
    assert!(line.ends_with("s  expert, proven optimal\n"), "{line}");
    let tour = done(&folder, &["solve", &example("city48.tsp"), "--preset", "fast", "--json"]);
    assert!(objects(&tour)[0]["optimal"].is_null(), "{tour}");
}

/// Labels are expensive: unwritable outputs are detected before the work, and a journal has one writer only.
#[test]
fn label_outputs_are_checked_and_locked_before_any_work() {
    let folder = scratch();
    std::fs::create_dir(folder.path().join("taken")).expect("a folder");
    let generate = ["generate", "tsp", "--size", "9", "--expert", "-o", "taken"];
    assert!(refused(&folder, &generate).contains("it is a folder"));
    assert!(!folder.path().join("taken.journal").exists());
    let journal = std::fs::File::create(folder.path().join("set.npz.journal")).expect("a journal");
    journal.lock().expect("a lock");
    let generate = ["generate", "tsp", "--size", "9", "--expert", "-o", "set.npz"];
    assert!(refused(&folder, &generate).contains("another process is using set.npz.journal"));
}

/// Labels of an external solver go through the same journal as those of the expert.
#[cfg(unix)]
#[test]
fn an_external_solver_makes_labels() {
    let folder = scratch();
    let script = "printf 'TYPE : TOUR\\nTOUR_SECTION\\n1\\n2\\n3\\n4\\n-1\\nEOF\\n' > \"$2\"\n";
    std::fs::write(folder.path().join("solver.sh"), script).expect("writable");
    let external = format!("sh {} {{instance}} {{solution}}", folder.path().join("solver.sh").display());
    let generate =
        ["generate", "tsp", "--size", "4", "--count", "3", "-q", "-o", "labels.jsonl", "--command", &external];
    done(&folder, &generate);
    let checked = done(&folder, &["check", "labels.jsonl"]);
    assert_eq!(checked.matches("feasible").count(), 3, "{checked}");
    assert!(!folder.path().join("labels.jsonl.journal").exists());
    let both = refused(&folder, &[&generate[..], &["--expert", "--force"]].concat());
    assert!(both.contains("cannot be used with"), "{both}");
}
