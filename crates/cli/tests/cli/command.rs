//! The commands for instances and solutions.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::{bqnco, done, example, refused, scratch};

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

fn objects(output: &Output) -> Vec<Value> {
    super::objects(&out(output))
}

const ALL: [(&str, &str); 5] = [
    ("city48.tsp", "length"),
    ("oneway24.atsp", "length"),
    ("depot40.vrp", "length"),
    ("hike40.oplib", "prize"),
    ("sack50.kp", "value"),
];

#[test]
fn check_accepts_the_output_of_solve_with_the_same_cost() {
    let folder = scratch();
    for (file, objective) in ALL {
        let solved = bqnco(&folder, &["solve", &example(file), "--search", "beam", "--json", "-o", "solutions/"]);
        assert_code(&solved, 0);
        let printed = objects(&solved)[0][objective].as_f64().expect("the objective");
        let stem = file.split('.').next().expect("a stem");
        let written = std::fs::read_dir(folder.path().join("solutions")).expect("the folder was made");
        let mut names = written.map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8"));
        let solution = names.find(|name| name.starts_with(stem)).expect("the solution was written");
        let checked = bqnco(&folder, &["check", &example(file), &format!("solutions/{solution}"), "--json"]);
        assert_code(&checked, 0);
        assert_eq!(objects(&checked)[0][objective].as_f64(), Some(printed), "{file}");
    }
}

#[test]
fn check_gives_the_reason_for_rejection() {
    let folder = scratch();
    let solved = bqnco(&folder, &["solve", &example("depot40.vrp"), "-o", "routes.sol"]);
    assert_code(&solved, 0);
    let path = folder.path().join("routes.sol");
    let good = std::fs::read_to_string(&path).expect("written");
    let judge = |text: String| {
        std::fs::write(&path, text).expect("writable");
        bqnco(&folder, &["check", &example("depot40.vrp"), "routes.sol"])
    };
    let without_first: String = good.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let missing = judge(without_first);
    assert_code(&missing, 1);
    assert!(out(&missing).contains("is missing"), "{}", out(&missing));
    let claim = good.lines().find(|line| line.starts_with("Cost")).expect("a cost line").to_string();
    let lying = judge(good.replace(&claim, "Cost 1"));
    assert_code(&lying, 1);
    assert!(out(&lying).contains("the file claims a length of 1"), "{}", out(&lying));
    let one_route = judge(format!("Route #1: {}\n", (1..=40).map(|c| format!("{c} ")).collect::<String>()));
    assert_code(&one_route, 1);
    assert!(out(&one_route).contains("the load of route 1 is"), "{}", out(&one_route));
    assert_code(&judge(good), 0);
}

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
fn results_are_reproducible_by_seed_for_any_number_of_threads() {
    let folder = scratch();
    let run = |threads: &str, seed: &str| {
        let city = example("city48.tsp");
        let sack = example("sack50.kp");
        let output = bqnco(
            &folder,
            &[
                "solve",
                &city,
                &sack,
                "--policy",
                "uniform",
                "--search",
                "sample",
                "--samples",
                "9",
                "--symmetries",
                "--json",
                "--threads",
                threads,
                "--seed",
                seed,
            ],
        );
        assert_code(&output, 0);
        objects(&output).iter().map(|object| object["solution"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(run("1", "4"), run("3", "4"));
    assert_ne!(run("1", "4"), run("1", "5"));
    let generate = |name: &str| {
        assert_code(&bqnco(&folder, &["generate", "op", "--size", "9", "--count", "4", "--seed", "2", "-o", name]), 0);
        std::fs::read(folder.path().join(name)).expect("written")
    };
    assert_eq!(generate("a.jsonl"), generate("b.jsonl"));
}

#[test]
fn a_short_time_limit_still_gives_a_solution() {
    let folder = scratch();
    let generated = bqnco(&folder, &["generate", "tsp", "--size", "300", "--count", "2", "-o", "many.npz"]);
    assert_code(&generated, 0);
    let output = bqnco(&folder, &["solve", "many.npz", "--search", "beam", "--width", "5000", "--time-limit", "0.05"]);
    assert_code(&output, 0);
    assert_eq!(out(&output).lines().count(), 3, "two instances and a summary: {}", out(&output));
}

#[test]
fn generated_datasets_convert_and_solve() {
    let folder = scratch();
    for problem in ["tsp", "atsp", "cvrp", "op", "knapsack"] {
        let made = format!("{problem}.npz");
        assert_code(&bqnco(&folder, &["generate", problem, "--size", "8", "--count", "3", "-o", &made]), 0);
        let lines = format!("{problem}.jsonl");
        assert_code(&bqnco(&folder, &["convert", &made, "-o", &lines]), 0);
        let costs = |file: &str| {
            let output = bqnco(&folder, &["solve", file, "--json"]);
            assert_code(&output, 0);
            objects(&output).iter().map(|object| object["solution"].clone()).collect::<Vec<_>>()
        };
        let from_npz = costs(&made);
        assert_eq!(from_npz.len(), 3);
        assert_eq!(from_npz, costs(&lines), "{problem}");
    }
}

#[test]
fn gaps_come_from_numbers_and_tables() {
    let folder = scratch();
    let city = example("city48.tsp");
    let length = objects(&bqnco(&folder, &["solve", &city, "--json"]))[0]["length"].as_f64().expect("a length");
    let half = format!("{}", length / 2.0);
    let gap = |argument: &str| {
        let output = bqnco(&folder, &["solve", &city, "--json", "--optimum", argument]);
        assert_code(&output, 0);
        objects(&output)[0]["gap_percent"].as_f64()
    };
    assert_eq!(gap(&half), Some(100.0));
    std::fs::write(folder.path().join("optima.csv"), format!("name,n,optimum\nother,1,3\ncity48,48,{half}\n"))
        .expect("ok");
    assert_eq!(gap("optima.csv"), Some(100.0));
    std::fs::write(folder.path().join("bad.csv"), "name,optimum\ncity48,many\n").expect("ok");
    let output = bqnco(&folder, &["solve", &city, "--optimum", "bad.csv"]);
    assert_code(&output, 2);
    assert!(err(&output).contains("bad.csv, line 2: expected a number as optimum, found `many`"), "{}", err(&output));
    for endless in ["nan", "inf", "1e400"] {
        std::fs::write(folder.path().join("bad.csv"), format!("name,optimum\ncity48,{endless}\n")).expect("ok");
        assert_code(&bqnco(&folder, &["solve", &city, "--optimum", "bad.csv"]), 2);
    }
}

#[test]
fn a_solution_never_replaces_its_instance() {
    let folder = scratch();
    assert_code(&bqnco(&folder, &["generate", "knapsack", "--size", "9", "-o", "x.json"]), 0);
    let before = std::fs::read(folder.path().join("x.json")).expect("an instance");
    for output in ["x.json", "./x.json"] {
        let refused = bqnco(&folder, &["solve", "x.json", "-o", output]);
        assert_code(&refused, 2);
        assert!(err(&refused).contains("choose another file"), "{}", err(&refused));
    }
    assert_eq!(std::fs::read(folder.path().join("x.json")).expect("an instance"), before);
}

#[test]
fn pictures_are_drawn() {
    let folder = scratch();
    for (file, _) in ALL {
        assert_code(&bqnco(&folder, &["solve", &example(file), "--plot", "solved.svg"]), 0);
        let svg = std::fs::read_to_string(folder.path().join("solved.svg")).expect("written");
        assert!(svg.starts_with("<svg"), "{file}");
        assert_code(&bqnco(&folder, &["plot", &example(file), "-o", "instance.png"]), 0);
        let png = std::fs::read(folder.path().join("instance.png")).expect("written");
        assert!(png.starts_with(b"\x89PNG"), "{file}");
    }
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
fn a_bad_file_does_not_stop_the_others() {
    let folder = scratch();
    std::fs::write(folder.path().join("bad.tsp"), "TYPE : TSP\nDIMENSION : x\n").expect("writable");
    let output = bqnco(&folder, &["solve", &example("city48.tsp"), "bad.tsp", &example("sack50.kp"), "--json"]);
    assert_code(&output, 2);
    assert_eq!(objects(&output).len(), 2);
    assert!(err(&output).starts_with("error: bad.tsp"), "{}", err(&output));
}

#[test]
fn a_solution_can_be_printed() {
    let folder = scratch();
    let output = bqnco(&folder, &["solve", &example("depot40.vrp"), "-o", "-"]);
    assert_code(&output, 0);
    assert!(out(&output).starts_with("Route #1:"), "{}", out(&output));
    assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
}

#[test]
fn an_unreached_time_limit_changes_nothing() {
    let folder = scratch();
    assert_code(&bqnco(&folder, &["generate", "tsp", "--size", "12", "--count", "3", "-o", "set.jsonl"]), 0);
    let solutions = |limit: &[&str]| {
        let sample = ["solve", "set.jsonl", "--search", "sample", "--policy", "uniform", "--samples", "3", "--json"];
        let output = bqnco(&folder, &[&sample[..], limit].concat());
        assert_code(&output, 0);
        objects(&output).iter().map(|object| object["solution"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(solutions(&[]), solutions(&["--time-limit", "1000"]));
}

/// A checkpoint in the layout of the paper's authors.
fn checkpoint(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../net/tests/reference").join(name).display().to_string()
}

#[test]
fn convert_imports_the_authors_networks() {
    let folder = scratch();
    let imported = bqnco(&folder, &["convert", &checkpoint("authors_perceiver.best"), "-o", "model"]);
    assert_code(&imported, 0);
    assert!(out(&imported).contains("network for tsp with 1 layers, 2 heads"), "{}", out(&imported));
    assert_code(&bqnco(&folder, &["solve", &example("city48.tsp"), "--model", "model"]), 0);
    assert_code(&bqnco(&folder, &["solve", &example("city48.tsp"), "--model", "model", "--device", "cpu"]), 0);
    assert_code(&bqnco(&folder, &["solve", &example("sack50.kp"), "--model", "model"]), 2);
}

#[test]
fn convert_explains_failed_imports() {
    let folder = scratch();
    let refused = |arguments: &[&str], reason: &str| {
        let output = bqnco(&folder, &[&["convert"], arguments].concat());
        assert_code(&output, 2);
        assert!(err(&output).contains(reason), "{}", err(&output));
    };
    let network = checkpoint("authors_perceiver.best");
    refused(&[&network], "name it with -o");
    refused(&[&network, "-o", "model", "--format", "json"], "--format is for instances");
    refused(&[&network, "-o", "model", "--problem", "cvrp"], "expected 4 numbers and 2 scores per token for cvrp");
    let other = checkpoint("authors_transformer.best");
    refused(&[&other, "-o", "model"], "no problem has 3 numbers and 2 scores per token");
    let bytes = std::fs::read(&network).unwrap();
    std::fs::write(folder.path().join("half.best"), &bytes[..bytes.len() / 2]).unwrap();
    refused(&["half.best", "-o", "model"], "half.best: not a checkpoint");
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

/// Unwritable outputs are detected before the search, and a bad picture path loses no solution.
#[test]
fn a_bad_picture_path_loses_no_solution() {
    let folder = scratch();
    let solve = ["solve", &example("city48.tsp"), "--preset", "fast", "-o", "good.tour", "--plot", "nowhere/p.svg"];
    assert!(refused(&folder, &solve).contains("nowhere/p.svg"));
    let message = refused(&folder, &["solve", &example("city48.tsp"), "-o", "city.xyz"]);
    assert!(message.contains(".tour or .json"), "{message}");
}

/// An optimum is valid only for the metric it was computed with.
#[test]
fn optima_do_not_apply_to_other_metrics() {
    let folder = scratch();
    let vrp = std::fs::read_to_string(example("depot40.vrp")).expect("an example");
    let with_optimum = vrp.replacen("TYPE", "COMMENT : (Optimal value: 6000)\nTYPE", 1);
    std::fs::write(folder.path().join("known.vrp"), with_optimum).expect("written");
    let solve = ["solve", "known.vrp", "--search", "greedy", "--policy", "myopic", "--json"];
    assert!(super::objects(&done(&folder, &solve))[0]["gap_percent"].is_number());
    let exact = [&solve[..], &["--round", "none"]].concat();
    assert!(super::objects(&done(&folder, &exact))[0]["gap_percent"].is_null());
}

/// Folders: all instance files are found, and names distinguish files.
#[test]
fn folders_are_searched_for_instances() {
    let folder = scratch();
    for (part, seed) in [("a", "1"), ("b", "2")] {
        std::fs::create_dir_all(folder.path().join("all").join(part)).expect("a folder");
        done(&folder, &["generate", "tsp", "--size", "8", "--seed", seed, "-o", &format!("all/{part}/x.tsp")]);
    }
    std::fs::copy(example("points25.csv"), folder.path().join("all/points25.csv")).expect("copied");
    std::fs::write(folder.path().join("all/optimal.csv"), "name,optimum\nx,3\n").expect("written");
    std::fs::write(folder.path().join("all/README"), "Instances of ours.\n").expect("written");
    let metrics = "{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"loss\":0.25}\n";
    std::fs::write(folder.path().join("all/metrics.jsonl"), metrics).expect("written");
    let journal = "{\"seed\":1}\t0b1f9a3c\n[0,[1,0]]\t5e7d2a10\n";
    std::fs::write(folder.path().join("all/journal.jsonl"), journal).expect("written");
    let solved =
        bqnco(&folder, &["solve", "all", "--search", "greedy", "--policy", "myopic", "-o", "found/", "--json"]);
    let names: Vec<_> = objects(&solved).iter().map(|object| object["name"].to_string()).collect();
    assert_eq!(names, ["\"a-x\"", "\"b-x\"", "\"points25\""]);
    let skipped = "note: skipped all/optimal.csv, line 1: `optimum` is no known column";
    assert!(err(&solved).contains(skipped) && !err(&solved).contains("README"), "{}", err(&solved));
    for file in ["metrics.jsonl", "journal.jsonl"] {
        assert!(err(&solved).contains(&format!("note: skipped all/{file}")), "{}", err(&solved));
    }
    done(&folder, &["convert", "all", "-o", "all.jsonl"]);
    std::fs::create_dir(folder.path().join("table")).expect("a folder");
    std::fs::copy(folder.path().join("all/optimal.csv"), folder.path().join("table/optimal.csv")).expect("copied");
    let message = refused(&folder, &["solve", "table"]);
    assert!(
        message.contains("table: no instance files in this folder; skipped table/optimal.csv, line 1"),
        "{message}"
    );
    assert!(folder.path().join("found/b-x.tour").exists());
}

#[test]
fn files_of_one_problem_become_one_dataset() {
    let folder = scratch();
    for (part, seed) in [("a", "1"), ("b", "2")] {
        std::fs::create_dir_all(folder.path().join("all").join(part)).expect("a folder");
        done(&folder, &["generate", "tsp", "--size", "8", "--seed", seed, "-o", &format!("all/{part}/x.tsp")]);
    }
    std::fs::write(folder.path().join("all/optimal.csv"), "name,optimum\nx,3\n").expect("written");
    done(&folder, &["convert", "all", "-o", "all.npz"]);
    done(&folder, &["convert", "all/a/x.tsp", "all/b/x.tsp", "-o", "both.npz"]);
    for file in ["all.npz", "both.npz"] {
        let solved = done(&folder, &["solve", file, "--search", "greedy", "--policy", "myopic", "--json"]);
        let names: Vec<_> = super::objects(&solved).iter().map(|object| object["name"].to_string()).collect();
        assert_eq!(names, ["\"a-x\"", "\"b-x\""], "{file}");
    }
    assert!(refused(&folder, &["convert", "all", "-o", "all.tsp"]).contains("jsonl and npz hold many"));
    assert!(refused(&folder, &["convert", "all", "-o", "new/"]).contains("new/: it is a folder; name a file in it"));
    let message = refused(&folder, &["convert", "all", &example("sack50.kp"), "-o", "all.npz"]);
    assert!(message.contains("instances of both tsp and knapsack"), "{message}");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    assert!(refused(&folder, &["convert", "empty", "-o", "all.npz"]).contains("no instance files in this folder"));
}

#[test]
fn generate_replaces_no_solutions() {
    let folder = scratch();
    let generate = ["generate", "tsp", "--size", "6", "--count", "5", "-q", "-o"];
    assert!(refused(&folder, &[&generate[..], &["new/"]].concat()).contains("new/: it is a folder; name a file in it"));
    done(&folder, &[&generate[..], &["e.npz"]].concat());
    let labels = [&generate[..], &["e.npz", "--expert", "--effort", "2"]].concat();
    done(&folder, &labels); // nothing is lost
    let before = std::fs::read(folder.path().join("e.npz")).expect("labels");
    for again in [&labels[..], &[&generate[..], &["e.npz"]].concat()] {
        let message = refused(&folder, again);
        assert!(message.contains("e.npz holds 5 solutions") && message.contains("--force"), "{message}");
    }
    assert_eq!(std::fs::read(folder.path().join("e.npz")).expect("labels"), before);
    // An interruption after the file was written and before its journal was removed.
    std::fs::write(folder.path().join("e.npz.journal"), "").expect("written");
    done(&folder, &labels);
    assert_eq!(std::fs::read(folder.path().join("e.npz")).expect("labels"), before);
    done(&folder, &[&generate[..], &["e.npz", "--force"]].concat());
    assert!(refused(&folder, &["check", "e.npz"]).contains("there is no solution to check"));
}

#[test]
fn sizes_are_those_that_were_asked_for() {
    let folder = scratch();
    for problem in ["tsp", "atsp"] {
        let message = refused(&folder, &["generate", problem, "--size", "1"]);
        assert!(message.contains("--size 1: expected 2 to"), "{message}");
    }
    assert!(refused(&folder, &["eval", "tsp", "--sizes", "1"]).contains("--sizes 1: expected 2 to"));
    for problem in ["tsp", "atsp", "cvrp", "op", "knapsack", "pctsp"] {
        let made = super::objects(&done(&folder, &["generate", problem, "--size", "10"])).remove(0);
        assert_eq!(made["name"], format!("{problem}10-0-0"));
    }
    assert!(out(&bqnco(&folder, &["generate", "--help"])).contains("the depot of CVRP, OP and PCTSP is not counted"));
}

/// Every search ends early where there is next to nothing to find.
#[test]
fn tiny_instances_take_no_time() {
    let folder = scratch();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
    write("two.csv", "x,y\n0,0\n3,4\n");
    write("three.csv", "0,1,9\n9,0,1\n1,9,0\n");
    for (file, length) in [("two.csv", 10.0), ("three.csv", 3.0)] {
        for search in ["auto", "expert", "reconstruct", "hybrid"] {
            for more in [&["--preset", "quality"][..], &["--time-limit", "5"]] {
                let solved = objects(&bqnco(&folder, &[&["solve", file, "--json", "--search", search], more].concat()));
                let number = |name: &str| solved[0][name].as_f64().expect("a number");
                assert_eq!(number("length"), length, "{file} {search} {more:?}");
                assert!(number("seconds") < 1.0, "{file} {search} {more:?}: {} s", number("seconds"));
            }
        }
    }
}

/// Paragraphs fit the terminal; examples stay on their lines.
#[test]
fn help_is_wrapped_by_the_terminal() {
    let folder = scratch();
    for name in ["solve", "check", "generate", "convert", "train", "eval", "models", "plot", "laws", "bench"] {
        let output = super::command(&folder, &[name, "--help"]).env("COLUMNS", "200").output().expect("it starts");
        let text = out(&output);
        let about = text.split("\n\nUsage:").next().unwrap_or_default();
        let lines: Vec<&str> = about.lines().collect();
        let is_broken = |pair: &[&str]| pair[0].len() < 170 && !pair[0].is_empty() && !pair[1].is_empty();
        assert!(!lines.windows(2).any(is_broken), "a line break of the source within a paragraph: {about}");
        assert!(text.contains("Example") && text.contains(&format!("\n  bqnco {name}")), "{text}");
    }
}

/// Every row of docs/paper.md has a command that the program knows, with recipes that exist.
#[test]
fn the_commands_of_the_paper_are_known() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/paper.md")).expect("the table");
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| paper |"));
    let mut commands = 0;
    for row in rows {
        let found: Vec<&str> = row.split('`').skip(1).step_by(2).filter(|code| code.starts_with("bqnco ")).collect();
        assert!(!found.is_empty(), "no command: {row}");
        for line in found {
            let words: Vec<&str> = line.split_whitespace().skip(1).chain(["--help"]).collect();
            let output = super::command(&scratch(), &words).output().expect("the binary starts");
            assert_eq!(output.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            let recipes = words.iter().filter(|word| word.ends_with(".toml"));
            recipes.for_each(|recipe| assert!(root.join(recipe).exists(), "{line}"));
            commands += 1;
        }
    }
    assert!(commands > 30, "{commands} commands");
}
