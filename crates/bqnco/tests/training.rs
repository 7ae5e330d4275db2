//! Training runs through the library: resumed, extended, kept separate.

use std::fs;
use std::path::Path;

use bqnco::train::Outcome;
use bqnco::{CancelToken, Error, Recipe, RunEvent, TrainOptions};

const RECIPE: &str = r#"
problem = "tsp"
[data]
sets = [{ size = 6, count = 4, seed = 1 }, { size = 5, count = 4, seed = 2 }]
[validation]
size = 6
count = 2
seed = 1000001
[network]
preset = "tiny"
[training]
steps = 2
batch = 4
augmentation = "square"
weight_decay = 0.1
save_every = 1
report_every = 1
"#;

fn recipe(changes: &[&str]) -> Recipe {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = scratch.path().join("recipe.toml");
    fs::write(&path, RECIPE).expect("written");
    Recipe::read(path, changes).expect("a recipe")
}

/// Trains, and collects the events outside the training loop.
fn train(folder: &Path, changes: &[&str]) -> (Result<Outcome, Error>, Vec<String>) {
    let mut events = Vec::new();
    let outcome = recipe(changes).train(&TrainOptions::new(folder), &mut |event| match event {
        RunEvent::Extended { from, to } => events.push(format!("extended {from} {to}")),
        RunEvent::MakingData { path, .. } => events.push(path.file_name().expect("a name").display().to_string()),
        RunEvent::Changed { what, .. } => events.push(what.to_string()),
        _ => (),
    });
    (outcome, events)
}

fn refused(folder: &Path, changes: &[&str]) -> String {
    train(folder, changes).0.expect_err("another run").to_string()
}

#[test]
fn a_run_can_be_extended_but_not_mixed_with_others() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    let (outcome, events) = train(folder, &[]);
    assert!(outcome.expect("trained").finished);
    assert_eq!(events, ["train-1.npz", "train-2.npz", "validation.npz"]);
    let (outcome, events) = train(folder, &["training.steps=4"]);
    let outcome = outcome.expect("extended");
    assert_eq!((outcome.step, outcome.finished, outcome.rows.len()), (4, true, 4));
    assert_eq!(events, ["extended 2 4"]);
    let stored = fs::read_to_string(folder.join("recipe.toml")).expect("a recipe");
    assert!(stored.contains("steps = 4"), "{stored}");
    for (changes, keys) in [
        (&["training.steps=3"][..], "differs in training.steps;"),
        (&["training.steps=9", "training.rate=1", "network.dim=64"][..], "differs in network.dim, training.rate;"),
        (&["training.steps=4", "self_improvement.every=2"], "self_improvement.every"),
    ] {
        let said = refused(folder, changes);
        assert!(said.contains("holds another run") && said.contains(keys), "{said}");
    }
    fs::write(folder.join("train-1.npz"), "other data").expect("written");
    assert!(refused(folder, &["training.steps=4"]).contains("data.json"));
}

#[test]
fn a_run_of_an_older_version_is_resumed() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    train(folder, &[]).0.expect("trained");
    for (name, words) in [
        ("recipe.toml", [("[validation]", "[exam]"), ("augmentation =", "images =")]),
        ("data.json", [("\"validation\"", "\"exam\""), ("validation.npz", "exam.npz")]),
    ] {
        let text = fs::read_to_string(folder.join(name)).expect("a file");
        let former = words.iter().fold(text.clone(), |text, (new, old)| text.replace(new, old));
        assert_ne!(former, text);
        fs::write(folder.join(name), former).expect("written");
    }
    fs::rename(folder.join("validation.npz"), folder.join("exam.npz")).expect("renamed");
    let (outcome, events) = train(folder, &["training.steps=3"]);
    assert_eq!(outcome.expect("resumed").step, 3);
    assert_eq!(events, ["extended 2 3"], "no data is generated again");
    assert!(!folder.join("validation.npz").exists());
}

#[test]
fn labels_of_an_expert_that_does_not_exist_are_refused() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let said = refused(&scratch.path().join("run"), &["problem=pctsp"]);
    assert!(said.starts_with("train: pctsp has no built-in expert"), "{said}");
    assert!(!scratch.path().join("run").exists(), "no folder of a run that cannot begin");
}

#[test]
fn cancelled_runs_stop_and_resume() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let options = TrainOptions::new(scratch.path());
    options.cancel.cancel();
    let error = recipe(&[]).train(&options, &mut |_| ()).expect_err("cancelled while labelling");
    assert!(matches!(error, Error::Cancelled { done: 0, total: 4 }), "{error}");
    let cancel = CancelToken::new();
    let options = TrainOptions { cancel: cancel.clone(), ..options };
    let mut on_event = |event: RunEvent<'_>| {
        if let RunEvent::Train(_) = event {
            cancel.cancel();
        }
    };
    let stopped = recipe(&["training.steps=200"]).train(&options, &mut on_event).expect("stopped");
    assert!(!stopped.finished && stopped.step > 0, "{stopped:?}");
    let resumed = train(scratch.path(), &["training.steps=200"]).0.expect("resumed");
    assert!(resumed.finished);
}

/// A run whose data are files, with its recipe.
fn run_on_files(folder: &Path) -> Recipe {
    train(&folder.join("made"), &[]).0.expect("trained");
    let files = |name: &str| format!("{{files=[\"{}\"]}}", folder.join("made").join(name).display());
    let changes = [format!("data={}", files("train-1.npz")), format!("validation={}", files("validation.npz"))];
    recipe(&changes.each_ref().map(String::as_str))
}

#[test]
fn resuming_depends_on_the_data_and_not_on_their_paths() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    let mut recipe = run_on_files(folder);
    let run = folder.join("run");
    recipe.train(&TrainOptions::new(&run), &mut |_| ()).expect("trained");
    // The same files and the same folder, spelled otherwise, and a copy of both.
    let other = folder.join("made/../made/./train-1.npz");
    recipe.data = bqnco::recipe::Data::Files(bqnco::recipe::Files { files: vec![other] });
    recipe.train(&TrainOptions::new(folder.join("./made/../run")), &mut |_| ()).expect("the same data");
    let copy = folder.join("copy.npz");
    fs::copy(folder.join("made/train-1.npz"), &copy).expect("copied");
    recipe.data = bqnco::recipe::Data::Files(bqnco::recipe::Files { files: vec![copy.clone()] });
    recipe.train(&TrainOptions::new(&run), &mut |_| ()).expect("the same data");
    fs::copy(folder.join("made/train-2.npz"), &copy).expect("copied");
    let error = recipe.train(&TrainOptions::new(&run), &mut |_| ()).expect_err("other data").to_string();
    assert!(error.contains("holds another run") && error.contains("data.json"), "{error}");
}

#[test]
fn checksums_by_path_of_an_older_version_are_compared_by_content() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    train(folder, &[]).0.expect("trained");
    let text = fs::read_to_string(folder.join("data.json")).expect("a file");
    let sums: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let by_path = |set: &str| -> serde_json::Value {
        let list = sums[set].as_array().expect("a list").iter().enumerate();
        list.map(|(k, sum)| (format!("elsewhere/{}", 9 - k), sum.clone())).collect::<serde_json::Map<_, _>>().into()
    };
    let former = serde_json::json!({ "train": by_path("train"), "validation": by_path("validation") });
    fs::write(folder.join("data.json"), former.to_string()).expect("written");
    train(folder, &[]).0.expect("the same data");
}

#[test]
fn a_damaged_best_checkpoint_is_an_error_until_it_is_removed() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    train(folder, &[]).0.expect("trained");
    let weights = folder.join("best/model.safetensors");
    let length = fs::metadata(&weights).expect("a checkpoint").len() as usize;
    fs::write(&weights, vec![0; length]).expect("as after a power cut");
    for changes in [&[][..], &["training.steps=4"]] {
        let said = refused(folder, changes);
        assert!(said.contains("best network of this run") && said.contains("damaged"), "{said}");
    }
    fs::remove_dir_all(folder.join("best")).expect("removed");
    let outcome = train(folder, &["training.steps=4"]).0.expect("goes on without it");
    assert!(outcome.finished && outcome.best_gap.is_some());
}

/// Rows of the metrics are means over several steps; an interruption between two rows must not change them.
#[test]
fn metrics_do_not_depend_on_interruptions() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let changes = ["training.steps=20", "training.report_every=5", "training.validate_every=20"];
    let calm = train(&scratch.path().join("calm"), &changes).0.expect("trained");
    let rough = scratch.path().join("rough");
    let mut sessions = 0;
    let resumed = loop {
        let cancel = CancelToken::new();
        let options = TrainOptions { cancel: cancel.clone(), ..TrainOptions::new(&rough) };
        let mut on_event = |event: RunEvent<'_>| {
            if let RunEvent::Train(bqnco::train::TrainEvent::Metrics(_)) = event {
                cancel.cancel(); // ends the session one or two steps later, between two rows
            }
        };
        let outcome = recipe(&changes).train(&options, &mut on_event).expect("trained");
        sessions += 1;
        if outcome.finished {
            break outcome;
        }
    };
    assert!(sessions > 2, "{sessions} sessions");
    let losses = |outcome: &Outcome| outcome.rows.iter().map(|row| (row.step, row.loss)).collect::<Vec<_>>();
    assert_eq!(losses(&resumed), losses(&calm));
}
