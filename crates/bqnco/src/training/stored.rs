//! Files that must stay the same over all sessions of a run: the recipe and the data's checksums.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use bqnco_train::Folder;
use serde_json::Value;

use super::RunEvent;
use crate::{Error, Recipe, RecipeError, Result};

const RECIPE: &str = "recipe.toml";
const DATA: &str = "data.json";

/// Stores the recipe of a new run. The recipe of a resumed run must equal the stored one, except for more steps.
pub(super) fn settle_recipe(folder: &Folder, recipe: &Recipe, on_event: &mut dyn FnMut(RunEvent<'_>)) -> Result<()> {
    let resolved = recipe.resolved()?;
    let store = || Ok(folder.write(RECIPE, resolved.to_toml()?.as_bytes())?);
    let Some(text) = read(&folder.path().join(RECIPE))? else { return store() };
    let stored: Recipe = text.parse().map_err(|_| other_run(folder, RECIPE))?;
    let (from, to) = (stored.training.steps, recipe.training.steps);
    let mut keys = resolved.differences(&stored)?;
    keys.retain(|key| key != "training.steps" || to < from);
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
    let mut stored: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(former) = stored.as_object_mut().and_then(|sets| sets.remove("exam")) {
        stored["validation"] = former;
    }
    if stored == *checksums { Ok(()) } else { Err(other_run(folder, DATA)) }
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("cannot read", path)(error)),
    }
}

fn other_run(folder: &Folder, what: &str) -> Error {
    RecipeError::OtherRun { folder: folder.path().to_path_buf(), differences: what.into() }.into()
}
