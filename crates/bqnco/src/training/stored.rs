//! What must stay the same over all sessions of a run: the recipe, and the data by its content.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use bqnco_train::Folder;
use serde_json::Value;

use super::RunEvent;
use crate::{Error, Recipe, RecipeError, Result};

const RECIPE: &str = "recipe.toml";
const DATA: &str = "data.json";

/// Keys of paths of data, which [`settle_data`] compares by content.
const PATHS: [&str; 2] = ["data.files", "validation.files"];

/// Stores the recipe of a new run. The recipe of a resumed run must equal the stored one, except for more steps and for
/// where the data are.
pub(super) fn settle_recipe(folder: &Folder, recipe: &Recipe, on_event: &mut dyn FnMut(RunEvent<'_>)) -> Result<()> {
    let resolved = recipe.resolved()?;
    let store = || Ok(folder.write(RECIPE, resolved.to_toml()?.as_bytes())?);
    let Some(text) = read(&folder.path().join(RECIPE))? else { return store() };
    let stored: Recipe = text.parse().map_err(|_| other_run(folder, RECIPE))?;
    let (from, to) = (stored.training.steps, recipe.training.steps);
    let mut keys = resolved.differences(&stored)?;
    keys.retain(|key| !PATHS.contains(&key.as_str()) && (key != "training.steps" || to < from));
    if !keys.is_empty() {
        return Err(other_run(folder, &keys.join(", ")));
    }
    if from < to {
        on_event(RunEvent::Extended { from, to });
        store()?;
    }
    Ok(())
}

/// Stores the checksums of a new run's data; those of a resumed run must equal the stored ones.
pub(super) fn settle_data(folder: &Folder, checksums: &Value) -> Result<()> {
    let Some(text) = read(&folder.path().join(DATA))? else {
        return Ok(folder.write(DATA, format!("{checksums:#}\n").as_bytes())?);
    };
    let stored: Value = serde_json::from_str(&text).unwrap_or_default();
    let same = ["train", "validation"].iter().all(|&set| {
        let former = if set == "validation" { stored.get("exam") } else { None };
        stored.get(set).or(former).is_some_and(|stored| is_same(stored, &checksums[set]))
    });
    if same { Ok(()) } else { Err(other_run(folder, DATA)) }
}

/// Whether stored checksums are these. Older versions stored them by path, so their order is not known.
fn is_same(stored: &Value, checksums: &Value) -> bool {
    let Some(by_path) = stored.as_object() else { return stored == checksums };
    let mut former: Vec<&Value> = by_path.values().collect();
    let mut current: Vec<&Value> = checksums.as_array().into_iter().flatten().collect();
    [&mut former, &mut current].into_iter().for_each(|sums| sums.sort_by(|a, b| a.as_str().cmp(&b.as_str())));
    former == current
}

pub(super) fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("cannot read", path)(error)),
    }
}

fn other_run(folder: &Folder, what: &str) -> Error {
    RecipeError::OtherRun { folder: folder.path().to_path_buf(), differences: what.into() }.into()
}
