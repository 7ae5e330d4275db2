//! Recipes: those of the paper, shorter runs, and what a run will take.

use std::path::{Path, PathBuf};

use bqnco::core::{Cut, Frame};
use bqnco::net::{Architecture, Config, CostBias, EndCosts, Residual};
use bqnco::recipe::Data;
use bqnco::train::{Augmentation, OptimizerName, Sampling, Schedule};
use bqnco::{Recipe, RunEvent, TrainOptions};

fn recipes(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes").join(folder);
    let files = std::fs::read_dir(folder).expect("recipes").map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

fn read(path: &Path, changes: &[&str]) -> Recipe {
    Recipe::read(path, changes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_recipe_describes_a_network() {
    for path in ["", "paper", "appendix_e"].into_iter().flat_map(recipes) {
        let path = path.as_path();
        let recipe = read(path, &[]);
        recipe.config().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        recipe.training.check().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Section 5 and appendices A, C, E.1 and E.3, number by number.
#[test]
fn the_recipes_of_the_paper_are_as_printed() {
    let names: Vec<String> =
        recipes("paper").iter().map(|path| path.file_stem().expect("a name").display().to_string()).collect();
    assert_eq!(names, ["atsp", "cvrp", "cvrp_perceiver", "knapsack", "op", "tsp", "tsp_perceiver"]);
    for (path, name) in recipes("paper").iter().zip(&names) {
        let recipe = read(path, &[]);
        let (config, training) = (recipe.config().expect("a network"), &recipe.training);
        let Data::Set(set) = &recipe.data else { panic!("{name}: one set") };
        let size = if name == "knapsack" { 200 } else { 100 };
        assert_eq!((set.size, set.count, set.varied, set.expert), (size, 1_000_000, false, true), "{name}");
        let epochs = training.steps as f64 * training.batch as f64 / set.count as f64;
        assert!((epochs - if name == "knapsack" { 50.0 } else { 500.0 }).abs() < 0.01, "{name}: {epochs} epochs");
        assert_eq!((training.batch, training.sampling), (1024, Sampling::Epochs), "{name}");
        let expected = match name.as_str() {
            "cvrp" | "cvrp_perceiver" => Some("fullest"),
            "knapsack" => Some("any"),
            _ => None,
        };
        assert_eq!(training.order.as_deref(), expected, "{name}");
        assert_eq!((training.optimizer, training.weight_decay), (OptimizerName::AdamW, 0.0), "{name}: Adam");
        let Schedule::Step { every, factor } = training.schedule else { panic!("{name}: a rate in steps") };
        let every = every as f64 * training.batch as f64 / set.count as f64;
        assert!((every - 50.0).abs() < 0.01 && factor == 0.98 && training.rate == 7.5e-4, "{name}: {every} epochs");
        let extras = [training.clip, training.average, training.auxiliary, training.second_target];
        assert_eq!((extras, training.warm_up, &training.warm_start), ([0.0; 4], 0, &None), "{name}: nothing else");
        assert_eq!((training.augmentation, &recipe.self_improvement), (Augmentation::One, &None), "{name}");

        let Config { n_layers, n_heads, dim, dim_ff, .. } = config;
        let perceiver = name.ends_with("perceiver");
        assert_eq!([n_layers, n_heads, dim, dim_ff], [9, if perceiver { 8 } else { 12 }, 192, 512], "{name}");
        let architecture = match name.as_str() {
            _ if perceiver => Architecture::Perceiver,
            "atsp" => Architecture::GcnTransformer,
            _ => Architecture::Transformer,
        };
        assert_eq!(config.architecture, architecture, "{name}");
        assert_eq!((config.residual, config.costs), (Residual::ReZero, CostBias::Unseen), "{name}");
        assert_eq!((config.end_costs, config.frame), (EndCosts::Unseen, Frame::Instance), "{name}");
        assert_eq!((config.cut, config.shortlist), (Cut::Nearest, None), "{name}");
        assert_eq!(config.random_identifiers, name == "atsp", "{name}");
        if perceiver {
            assert_eq!([config.n_latents, config.dim_latent], [64, 48], "{name}");
        }
    }
}

#[test]
fn a_share_takes_fewer_instances_and_updates() {
    let path = recipes("paper").into_iter().find(|path| path.ends_with("tsp.toml")).expect("the TSP's");
    let (whole, share) = (read(&path, &[]), read(&path, &["share=0.002"]));
    let Data::Set(set) = &share.data else { panic!("one set") };
    assert_eq!((set.count, set.shards, share.training.steps, share.training.validate_every), (2000, 1, 977, 49));
    assert_eq!(read(&path, &["share=1"]), whole);
    assert_eq!(share.training.schedule, Schedule::Step { every: 98, factor: 0.98 });
    let mut keys = share.differences(&whole).expect("recipes");
    keys.retain(|key| !key.starts_with("data."));
    let scaled = ["part_every", "schedule.step.every", "steps", "validate_every"].map(|key| format!("training.{key}"));
    assert_eq!(keys, scaled, "nothing else changes");
    for (change, words) in [("share=0", "above 0"), ("share=1.5", "at most 1"), ("share=much", "above 0")] {
        let error = Recipe::read(&path, &[change]).expect_err(change).to_string();
        assert!(error.contains("share") && error.contains(words), "{error}");
    }
    let files = Recipe::read(&path, &["data={files=[\"x.npz\"]}", "share=0.5"]).expect_err("files").to_string();
    assert!(files.contains("files cannot be shortened"), "{files}");
}

const SMALL: &str = r#"
problem = "atsp"
[data]
size = 6
count = 5
seed = 1
[validation]
size = 6
count = 2
seed = 1000001
[network]
preset = "tiny"
[training]
steps = 3
batch = 4
sampling = "epochs"
report_every = 1
"#;

fn train(changes: &str) -> (Vec<f64>, Vec<String>) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let recipe: Recipe = SMALL.replace("seed = 1\n", &format!("seed = 1\n{changes}\n")).parse().expect("a recipe");
    let mut files = Vec::new();
    let outcome = recipe.train(&TrainOptions::new(scratch.path().join("run")), &mut |event| {
        if let RunEvent::MakingData { path, .. } = event {
            files.push(path.file_name().expect("a name").display().to_string());
        }
    });
    // A run is resumed with the files that it has.
    let again = recipe.train(&TrainOptions::new(scratch.path().join("run")), &mut |_| ());
    assert!(again.expect("resumed").finished);
    (outcome.expect("trained").rows.iter().map(|row| row.loss).collect(), files)
}

/// A set in several files, and files with solutions alone: the same instances and labels.
#[test]
fn sets_come_in_shards_and_without_their_instances() {
    let (losses, files) = train("");
    assert_eq!(files, ["train.npz", "validation.npz"]);
    assert_eq!(train("solutions_only = true"), (losses, vec!["train.labels".into(), "validation.npz".into()]));
    let (_, files) = train("shards = 2\nsolutions_only = true");
    assert_eq!(files, ["train-1.labels", "train-2.labels", "validation.npz"]);
    let rings = "distribution = \"ring\"\nvaried = true";
    let (losses, _) = train(rings);
    assert_eq!(train(&format!("{rings}\nsolutions_only = true")).0, losses);
    for (change, words) in [
        ("shards = 6", "1 to the set's 5 instances"),
        ("shards = 0", "1 to the set's 5 instances"),
        ("solutions_only = true\nexpert = false", "expert = false makes none"),
    ] {
        let recipe: Recipe = SMALL.replace("seed = 1\n", &format!("seed = 1\n{change}\n")).parse().expect("a recipe");
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let error = recipe.train(&TrainOptions::new(scratch.path()), &mut |_| ()).expect_err(change).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_plan_tells_what_a_run_will_take() {
    let plan = |changes: &str| {
        let recipe: Recipe = SMALL.replace("seed = 1\n", &format!("seed = 1\n{changes}\n")).parse().expect("a recipe");
        recipe.plan("cpu").expect("a plan")
    };
    let all = plan("");
    assert_eq!((all.labels, all.files, all.samples), (7, 2, 12));
    assert_eq!(all.epochs, Some(12.0 / 5.0));
    assert!(all.bytes > 7.0 * 36.0 * 4.0, "matrices of 36 numbers");
    assert!(all.flop > 0.0 && all.samples_per_second > 0.0 && all.label_seconds > 0.0, "{all:?}");
    assert_eq!(all.training_seconds(4), all.training_seconds(1) / 4.0);
    let few = plan("solutions_only = true\nshards = 2");
    assert!(few.bytes < all.bytes && few.files == 3, "{few:?}");
    let refused: Recipe = SMALL.replace("batch = 4", "batch = 4\norder = \"fullest\"").parse().expect("a recipe");
    let error = refused.plan("cpu").expect_err("one order only").to_string();
    assert!(error.contains("atsp has no order `fullest`"), "{error}");
}
