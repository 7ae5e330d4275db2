//! `bqnco train` through the real binary: training from scratch, and resuming after every kind of interruption.

use std::path::Path;
use std::time::Duration;

use bqnco::core::{Effort, random};
use bqnco::experts::tsp::{Insertion, Rule};
use bqnco::io::{ReadOptions, Source, read};
use bqnco::kernels::{CpuPath, available_paths};
use bqnco::problems::Tsp;
use bqnco_testing::{Absent, skip};
use rand::RngExt;
use serde_json::Value;
use tempfile::TempDir;

use super::worker::{Worker, cut_off};
use super::{bqnco, command, done, objects, refused};

/// A recipe for a small network that trains fast.
const RECIPE: &str = r#"
problem = "tsp"
[data]
files = ["train.npz"]
[validation]
files = ["validation.npz"]
[network]
preset = "tiny"
[training]
steps = 60
batch = 16
optimizer = "muon"
rate = 5e-3
average = 0.9
schedule = "linear"
validate_every = 20
save_every = 3
report_every = 1
auxiliary = 0.1
[self_improvement]
every = 8
instances = 10
search = { sample = { count = 4, temperature = 1.0 } }
"#;

/// A folder with a recipe and its data.
fn scratch() -> TempDir {
    let folder = super::scratch();
    std::fs::write(folder.path().join("recipe.toml"), RECIPE).expect("written");
    let expert = ["--expert", "--effort", "50"];
    // The training data has no labels: heuristic solutions are improved during training.
    for (name, count, seed, labels) in [("train.npz", "40", "1", &[][..]), ("validation.npz", "10", "2", &expert[..])] {
        let size = ["generate", "tsp", "--size", "10", "--count", count, "--seed", seed, "-q", "-o", name];
        done(&folder, &[&size[..], labels].concat());
    }
    folder
}

const TRAIN: [&str; 7] = ["train", "recipe.toml", "--threads", "1", "-q", "-o", "run"];

/// The last step that a run has reported.
fn reported(run: &Path) -> u64 {
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    let last = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).next_back();
    last.and_then(|row| row["step"].as_u64()).unwrap_or(0)
}

fn weights(run: &Path) -> [Vec<u8>; 2] {
    ["best", "last"].map(|name| std::fs::read(run.join(name).join("model.safetensors")).expect("a checkpoint"))
}

#[cfg(unix)]
#[test]
fn killed_runs_end_with_the_same_weights() {
    let (calm, rough) = (scratch(), scratch());
    done(&calm, &TRAIN);
    let path = rough.path().join("run");
    cut_off(&rough, 8, &TRAIN); // while it writes its first state
    assert!(!path.join("state.bin").exists(), "half a file");
    for session in 0..10 {
        let step = 5 * session + random(1, &[session]).random_range(1..=5);
        let worker = Worker::start(&rough, &TRAIN);
        worker.wait_until(|| reported(&path) >= step);
        // At random points of the following steps. On a busy machine the run may have ended; then nothing is killed.
        worker.is_still_working_after(Duration::from_micros(random(2, &[session]).random_range(0..20_000)));
        let output = worker.kill();
        assert!(matches!(output.status.code(), None | Some(0)), "{}", String::from_utf8_lossy(&output.stderr));
    }
    done(&rough, &TRAIN);
    assert!(weights(&path) == weights(&calm.path().join("run")), "weights differ from those without interruption");
    let labels = |folder: &TempDir| std::fs::read(folder.path().join("run/labels-7.json")).expect("improved labels");
    assert_eq!(labels(&rough), labels(&calm));
    let rows = |folder: &TempDir| std::fs::read_to_string(folder.path().join("run/metrics.csv")).expect("a table");
    let losses = |text: String| -> Vec<String> {
        text.lines().map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!(losses(rows(&rough)), losses(rows(&calm)), "step, samples, loss");
}

#[cfg(unix)]
#[test]
fn a_signal_saves_and_stops_the_run() {
    let folder = scratch();
    let path = folder.path().join("run");
    let long = [&TRAIN[..], &["training.steps=100000", "training.save_every=100000"]].concat();
    let worker = Worker::start(&folder, &long);
    assert!(worker.wait_until(|| reported(&path) >= 2));
    worker.signal("-TERM", 1);
    let output = worker.finish();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("run the same command to resume"));
    let before = reported(&path);
    let worker = Worker::start(&folder, &long);
    assert!(worker.wait_until(|| reported(&path) >= before + 2));
    worker.kill();
    let steps = std::fs::read_to_string(path.join("metrics.csv")).expect("a table");
    let steps: Vec<u64> = steps.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert!(steps.is_sorted_by(|a, b| a + 1 == *b) && steps[0] == 1, "{steps:?}");
}

#[test]
fn a_run_writes_all_documented_files() {
    let folder = scratch();
    done(&folder, &[&TRAIN[..], &["training.steps=4", "training.validate_every=2"]].concat());
    let path = folder.path().join("run");
    for name in ["recipe.toml", "run.json", "data.json", "metrics.csv", "metrics.jsonl", "curves.svg", "state.bin"] {
        assert!(path.join(name).exists(), "{name}");
    }
    let events = std::fs::read_dir(&path).expect("a folder").flatten();
    assert!(events.map(|file| file.file_name()).any(|name| name.to_string_lossy().contains("tfevents")));
    let resolved = std::fs::read_to_string(path.join("recipe.toml")).expect("the recipe");
    assert!(resolved.contains("steps = 4") && resolved.contains("n_layers = 2"), "{resolved}");
    let lines = done(&folder, &["solve", "validation.npz", "--model", "run/best", "--json"]);
    assert_eq!(lines.lines().count(), 10);
    assert!(lines.contains("network"), "{lines}");
    // A finished run is left unchanged, or extended; another recipe needs another folder.
    done(&folder, &[&TRAIN[..], &["training.steps=4", "training.validate_every=2"]].concat());
    let loud = ["train", "recipe.toml", "--threads", "1", "-o", "run", "training.steps=5", "training.validate_every=2"];
    let longer = bqnco(&folder, &loud);
    let said = String::from_utf8_lossy(&longer.stderr).into_owned();
    assert!(said.contains("resuming at step 4\n"), "{said}");
    let longer = String::from_utf8_lossy(&longer.stdout).into_owned();
    assert!(longer.starts_with("5 steps in"), "{longer}");
    let said = refused(&folder, &[&TRAIN[..], &["training.steps=5"]].concat());
    assert!(said.contains("holds another run") && said.contains("training.validate_every"), "{said}");
}

#[test]
fn training_with_bf16_products_follows_training_with_f32() {
    let paths = available_paths();
    if !paths.contains(&CpuPath::Bf16) {
        return skip(Absent::Cpu, "no bf16: both runs would be the same");
    }
    let default = paths.into_iter().find(|&path| path != CpuPath::Bf16).expect("every CPU has the portable path");
    let folder = scratch();
    let losses = |cpu: CpuPath| -> Vec<f64> {
        let arguments = ["train", "recipe.toml", "--threads", "1", "-q", "-o", cpu.name(), "training.steps=15"];
        let output = command(&folder, &arguments).env("BQNCO_CPU", cpu.name()).output().expect("the binary starts");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let table = std::fs::read_to_string(folder.path().join(cpu.name()).join("metrics.csv")).expect("a table");
        table.lines().skip(1).map(|row| row.split(',').nth(2).expect("a loss").parse().expect("a number")).collect()
    };
    let (bf16, f32) = (losses(CpuPath::Bf16), losses(default));
    assert_eq!(bf16.len(), 15);
    let far = bf16.iter().zip(&f32).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
    assert!(far < 0.03, "{bf16:?}, {f32:?}");
    assert!(f32[10..].iter().sum::<f64>() < 0.9 * f32[..5].iter().sum::<f64>(), "the loss did not fall: {f32:?}");
}

#[test]
fn sets_of_several_sizes_are_generated_and_shortlists_are_stored() {
    let folder = scratch();
    let sets = "data={sets=[{size=8,count=5,seed=1},{size=12,count=5,seed=2}]}";
    done(&folder, &[&TRAIN[..], &[sets, "network.shortlist=6", "training.steps=4", "training.part_every=1"]].concat());
    let path = folder.path().join("run");
    for name in ["train-1.npz", "train-2.npz"] {
        let set = path.join(name).display().to_string();
        assert_eq!(done(&folder, &["check", &set, "--json"]).lines().count(), 5, "{name}");
    }
    let config = std::fs::read_to_string(path.join("best/config.json")).expect("a checkpoint");
    assert!(config.contains("\"shortlist\": 6"), "{config}");
}

/// A smaller version of the first recipe that a new user runs: trains a policy that beats simple constructions.
#[test]
fn the_tiny_recipe_beats_simple_constructions() {
    let folder = super::scratch();
    let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes/tiny.toml").display().to_string();
    let smaller = ["data.count=1000", "validation.count=100", "training.steps=500", "training.average=0.95"];
    done(&folder, &[&["train", &recipe, "-q", "-o", "run"], &smaller[..]].concat());
    let validation = folder.path().join("run/validation.npz");
    let records = read::<Tsp>(&Source::open(&validation).expect("a file"), &ReadOptions::default()).expect("a dataset");
    let insertion = Insertion { rule: Rule::Random };
    let costs = records.iter().map(|record| insertion.solve(&record.instance, &Effort::rounds(1, 1)));
    let inserted: f64 = costs.map(|solution| solution.expect("a tour").cost).sum();
    let total = |policy: &[&str]| -> f64 {
        let solve = ["solve", "run/validation.npz", "--search", "greedy", "--json", "-q"];
        let solved = objects(&done(&folder, &[&solve[..], policy].concat()));
        solved.iter().map(|line| line["length"].as_f64().expect("a length")).sum()
    };
    let (network, nearest) = (total(&["--model", "run/best"]), total(&["--policy", "myopic"]));
    assert!(network < inserted && inserted < nearest, "{network}, {inserted}, {nearest}");
}

#[test]
fn bad_recipes_are_rejected_with_a_message() {
    let folder = scratch();
    let cases = [
        ("training.stepz=4", "stepz"),
        ("training.rate=-1", "expected above 0"),
        ("network.preset=huge", "the presets are"),
        ("network.dim=33", "a multiple of the 2 heads"),
        ("problem=tps", "unknown problem"),
        ("data.files=[\"nowhere.npz\"]", "bqnco generate tsp"),
        ("data.files=[]", "train: the list of files is empty"),
        ("validation.files=[]", "validation: the list of files is empty"),
        ("data.file=3", "file"),
        ("data={size=5,count=0,seed=1}", "count = 0"),
        ("data={size=5,count=2,sead=1}", "sead"),
        ("data={sets=[]}", "train: the list of sets is empty"),
        ("data={sets=[{size=5,count=0,seed=1}]}", "count = 0"),
        ("data={sets=[{size=5,count=2,sead=1}]}", "sead"),
        ("data={sets=[{size=5,count=2,seed=1},{size=5,count=2,seed=1,varied=true}]}", "no parameter to vary"),
        ("data={size=5,count=2,seed=1,distribution='rings'}", "unknown distribution `rings`"),
        ("data={sets=[{size=5,count=2,seed=1},{size=2000000,count=2,seed=1}]}", "expected 2 to"),
        ("network.shortlist=0", "from 1 to"),
        ("steps", "expected key=value"),
    ];
    for (change, words) in cases {
        let said = refused(&folder, &[&TRAIN[..], &[change]].concat());
        assert!(said.contains(words), "{change}: {said}");
    }
    refused(&folder, &["train", "nowhere.toml"]);
}

/// At this learning rate the second loss is not a number.
#[test]
fn a_diverged_run_is_reported() {
    let folder = scratch();
    let message = refused(&folder, &[&TRAIN[..], &["training.rate=1e30"]].concat());
    assert!(message.contains("step 1") && message.contains("rate"), "{message}");
}

#[test]
fn two_processes_cannot_use_the_same_run() {
    let folder = scratch();
    std::fs::create_dir(folder.path().join("run")).expect("a folder");
    let lock = std::fs::File::create(folder.path().join("run/.lock")).expect("a file");
    lock.lock().expect("a lock");
    assert!(refused(&folder, &TRAIN).contains("another process is using run"));
}

#[test]
fn a_dry_run_prints_what_a_recipe_will_take_and_trains_nothing() {
    let folder = scratch();
    let said = done(&folder, &[&TRAIN[..], &["--dry-run", "data={size=10,count=4,seed=1}", "share=0.5"]].concat());
    for words in
        ["labels    2, ", "disk      ", "480 in 30 updates of 16, 240.0 epochs", " FLOP", " samples/s", "64 processes"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!folder.path().join("run").exists());
}

#[test]
fn runs_are_compared_by_their_gaps_or_their_losses() {
    let folder = super::scratch();
    let row = |step: u64, loss: f64, gap: &str| {
        let rest = r#""rate":0.001,"seconds":1.0,"samples_per_second":16.0"#;
        format!("{{\"step\":{step},\"samples\":{},\"loss\":{loss},\"gap\":{gap},{rest}}}\n", 16 * step)
    };
    for (run, better) in [("one", 1.0), ("two", 2.0)] {
        std::fs::create_dir(folder.path().join(run)).expect("a folder");
        let rows = [row(1, 2.0, "8.0"), row(2, 1.5 / better, "null"), row(3, 1.0 / better, "4.0")].concat();
        std::fs::write(folder.path().join(run).join("metrics.jsonl"), rows).expect("written");
    }
    let plot = ["plot", "one", "two", "-o", "runs.svg"];
    let drawn = |options: &[&str]| {
        done(&folder, &[&plot[..], options].concat());
        std::fs::read_to_string(folder.path().join("runs.svg")).expect("a picture")
    };
    let (gaps, losses) = (drawn(&[]), drawn(&["--loss"]));
    assert!(gaps.contains("greedy gap in %") && !gaps.contains("loss"), "{gaps}");
    assert!(losses.contains("loss") && !losses.contains("greedy gap"), "{losses}");
    std::fs::write(folder.path().join("one.tsp"), "").expect("written");
    assert!(refused(&folder, &["plot", "one.tsp", "--loss", "-o", "x.svg"]).contains("--loss needs folders"));
}
