//! `bqnco solve`: what is printed, written and drawn, and what a seed, a time limit or an optimum changes.

use super::{assert_code, bqnco, done, err, example, objects, out, refused, scratch};

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
        let printed = objects(&out(&solved))[0][objective].as_f64().expect("the objective");
        let stem = file.split('.').next().expect("a stem");
        let written = std::fs::read_dir(folder.path().join("solutions")).expect("the folder was made");
        let mut names = written.map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8"));
        let solution = names.find(|name| name.starts_with(stem)).expect("the solution was written");
        let checked = bqnco(&folder, &["check", &example(file), &format!("solutions/{solution}"), "--json"]);
        assert_code(&checked, 0);
        assert_eq!(objects(&out(&checked))[0][objective].as_f64(), Some(printed), "{file}");
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
fn a_bad_file_does_not_stop_the_others() {
    let folder = scratch();
    std::fs::write(folder.path().join("bad.tsp"), "TYPE : TSP\nDIMENSION : x\n").expect("writable");
    let output = bqnco(&folder, &["solve", &example("city48.tsp"), "bad.tsp", &example("sack50.kp"), "--json"]);
    assert_code(&output, 2);
    assert_eq!(objects(&out(&output)).len(), 2);
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

/// Unwritable outputs are detected before the search, and a bad picture path loses no solution.
#[test]
fn a_bad_picture_path_loses_no_solution() {
    let folder = scratch();
    let solve = ["solve", &example("city48.tsp"), "--preset", "fast", "-o", "good.tour", "--plot", "nowhere/p.svg"];
    assert!(refused(&folder, &solve).contains("nowhere/p.svg"));
    let message = refused(&folder, &["solve", &example("city48.tsp"), "-o", "city.xyz"]);
    assert!(message.contains(".tour or .json"), "{message}");
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
        objects(&out(&output)).iter().map(|object| object["solution"].clone()).collect::<Vec<_>>()
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
fn an_unreached_time_limit_changes_nothing() {
    let folder = scratch();
    assert_code(&bqnco(&folder, &["generate", "tsp", "--size", "12", "--count", "3", "-o", "set.jsonl"]), 0);
    let solutions = |limit: &[&str]| {
        let sample = ["solve", "set.jsonl", "--search", "sample", "--policy", "uniform", "--samples", "3", "--json"];
        let output = bqnco(&folder, &[&sample[..], limit].concat());
        assert_code(&output, 0);
        objects(&out(&output)).iter().map(|object| object["solution"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(solutions(&[]), solutions(&["--time-limit", "1000"]));
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
                let solved =
                    objects(&out(&bqnco(&folder, &[&["solve", file, "--json", "--search", search], more].concat())));
                let number = |name: &str| solved[0][name].as_f64().expect("a number");
                assert_eq!(number("length"), length, "{file} {search} {more:?}");
                assert!(number("seconds") < 1.0, "{file} {search} {more:?}: {} s", number("seconds"));
            }
        }
    }
}

#[test]
fn gaps_come_from_numbers_and_tables() {
    let folder = scratch();
    let city = example("city48.tsp");
    let length = objects(&out(&bqnco(&folder, &["solve", &city, "--json"])))[0]["length"].as_f64().expect("a length");
    let half = format!("{}", length / 2.0);
    let gap = |argument: &str| {
        let output = bqnco(&folder, &["solve", &city, "--json", "--optimum", argument]);
        assert_code(&output, 0);
        objects(&out(&output))[0]["gap_percent"].as_f64()
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

/// An optimum is valid only for the metric it was computed with.
#[test]
fn optima_do_not_apply_to_other_metrics() {
    let folder = scratch();
    let vrp = std::fs::read_to_string(example("depot40.vrp")).expect("an example");
    let with_optimum = vrp.replacen("TYPE", "COMMENT : (Optimal value: 6000)\nTYPE", 1);
    std::fs::write(folder.path().join("known.vrp"), with_optimum).expect("written");
    let solve = ["solve", "known.vrp", "--search", "greedy", "--policy", "myopic", "--json"];
    assert!(objects(&done(&folder, &solve))[0]["gap_percent"].is_number());
    let exact = [&solve[..], &["--round", "none"]].concat();
    assert!(objects(&done(&folder, &exact))[0]["gap_percent"].is_null());
}
