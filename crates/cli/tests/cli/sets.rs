//! Sets of instances: generated, found in folders, converted; and networks of others, converted.

use std::path::Path;

use super::{assert_code, bqnco, done, err, example, objects, out, refused, scratch};

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
            objects(&out(&output)).iter().map(|object| object["solution"].clone()).collect::<Vec<_>>()
        };
        let from_npz = costs(&made);
        assert_eq!(from_npz.len(), 3);
        assert_eq!(from_npz, costs(&lines), "{problem}");
    }
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
        let made = objects(&done(&folder, &["generate", problem, "--size", "10"])).remove(0);
        assert_eq!(made["name"], format!("{problem}10-0-0"));
    }
    assert!(out(&bqnco(&folder, &["generate", "--help"])).contains("the depot of CVRP, OP and PCTSP is not counted"));
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
    let names: Vec<_> = objects(&out(&solved)).iter().map(|object| object["name"].to_string()).collect();
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
        let names: Vec<_> = objects(&solved).iter().map(|object| object["name"].to_string()).collect();
        assert_eq!(names, ["\"a-x\"", "\"b-x\""], "{file}");
    }
    assert!(refused(&folder, &["convert", "all", "-o", "all.tsp"]).contains("jsonl and npz hold many"));
    assert!(refused(&folder, &["convert", "all", "-o", "new/"]).contains("new/: it is a folder; name a file in it"));
    let message = refused(&folder, &["convert", "all", &example("sack50.kp"), "-o", "all.npz"]);
    assert!(message.contains("instances of both tsp and knapsack"), "{message}");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    assert!(refused(&folder, &["convert", "empty", "-o", "all.npz"]).contains("no instance files in this folder"));
}

/// An extension that belongs to one problem is not given to instances of another.
#[test]
fn extensions_tell_the_problem() {
    let folder = scratch();
    let city = example("city48.tsp");
    for arguments in [&["convert", &city, "-o", "x.vrp"][..], &["generate", "tsp", "--size", "9", "-o", "x.VRP"]] {
        let message = refused(&folder, arguments);
        let sentence = "a .vrp file holds an instance of cvrp, this is one of tsp; name it .tsp";
        assert!(message.contains(sentence), "{message}");
    }
    assert!(refused(&folder, &["generate", "pctsp", "--size", "9", "-o", "x.tsp"]).contains("name it .json"));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing was written");
    for name in ["x.tsp", "x.json", "x.csv"] {
        done(&folder, &["convert", &city, "-o", name]);
    }
    done(&folder, &["convert", &city, "--format", "tsplib", "-o", "x.vrp"]);
    assert!(done(&folder, &["solve", "x.vrp", "--preset", "fast"]).contains(" tsp "));
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
