//! Recipes: all settings of a training run, in one TOML file.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bqnco_core::Distribution;
use bqnco_net::Config;
use bqnco_train::{Schedule, SelfImprovement, Training};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use toml::{Table, Value};

use crate::{Builtin, Error, GeneratedSet, ProblemName, RecipeError, Result};

/// A training run: data, network, settings. The key `share` of a file or a change, such as `share=0.01`, makes it a shorter
/// run with that part of the instances and updates.
///
/// ```
/// use bqnco::{Recipe, TrainOptions};
///
/// let text = r#"
///     problem = "tsp"
///     data = { size = 6, count = 4, seed = 1 }
///     validation = { size = 6, count = 2, seed = 1000001 }
///     network = { preset = "tiny" }
///     training = { batch = 4 }
/// "#;
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("recipe.toml");
/// std::fs::write(&path, text)?;
/// let recipe = Recipe::read(&path, &["training.steps=2"])?;
/// let run = TrainOptions::new(folder.path().join("run")); // trained again, it resumes
/// let outcome = recipe.train(&run, &mut |event| println!("{event:?}"))?;
/// assert!(outcome.finished && run.folder.join("best/model.safetensors").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The problem.
    #[serde(serialize_with = "write_name", deserialize_with = "read_name")]
    pub problem: ProblemName,
    /// The training set.
    pub data: Data,
    /// The validation set.
    #[serde(alias = "exam")]
    pub validation: Data,
    /// A `preset`, and the fields of the network's configuration that differ from it.
    #[serde(default)]
    pub network: Table,
    /// The training settings.
    #[serde(default)]
    pub training: Training,
    /// Whether and how labels are improved during training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_improvement: Option<SelfImprovement>,
}

/// Labelled instances: from files, or generated on first use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Table")]
pub enum Data {
    /// Files.
    Files(Files),
    /// Several sets to generate.
    Sets(Sets),
    /// One set to generate.
    Set(LabelledSet),
}

/// The variant is chosen by the keys `files` and `sets`, so that errors name the wrong field.
impl TryFrom<Table> for Data {
    type Error = toml::de::Error;

    fn try_from(table: Table) -> std::result::Result<Self, Self::Error> {
        match (table.contains_key("files"), table.contains_key("sets")) {
            (true, _) => Ok(Data::Files(table.try_into()?)),
            (false, true) => Ok(Data::Sets(table.try_into()?)),
            (false, false) => Ok(Data::Set(table.try_into()?)),
        }
    }
}

/// Files of labelled instances, of which one at a time is in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// Their paths.
    pub files: Vec<PathBuf>,
}

/// Several sets to generate, of which one at a time is in memory: several sizes, for instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sets {
    /// The sets.
    pub sets: Vec<LabelledSet>,
}

/// A set of random instances to generate, and whether the expert labels them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelledSet {
    /// See [`GeneratedSet`].
    pub size: usize,
    /// See [`GeneratedSet`].
    pub count: u64,
    /// See [`GeneratedSet`].
    pub seed: u64,
    /// See [`GeneratedSet`].
    #[serde(
        default,
        serialize_with = "write_name",
        deserialize_with = "read_name",
        skip_serializing_if = "is_uniform"
    )]
    pub distribution: Distribution,
    /// See [`GeneratedSet`].
    #[serde(default)]
    pub varied: bool,
    /// Whether the expert solves them; if not, `[self_improvement]` is required.
    #[serde(default = "yes")]
    pub expert: bool,
    /// Number of files that the set is divided into, of which one at a time is in memory.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub shards: u64,
    /// Whether the files keep solutions only; instances are then made again from the seed, which takes less space.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub solutions_only: bool,
}

fn yes() -> bool {
    true
}

fn one() -> u64 {
    1
}

fn is_uniform(distribution: &Distribution) -> bool {
    *distribution == Distribution::Uniform
}

fn is_one(number: &u64) -> bool {
    *number == 1
}

impl LabelledSet {
    pub(crate) fn of(&self, problem: ProblemName) -> GeneratedSet {
        let LabelledSet { size, count, seed, distribution, varied, .. } = *self;
        GeneratedSet { problem, size, count, seed, distribution, varied }
    }
}

/// The default preset.
const PRESET: &str = "small";

/// Most validations of a shortened run: as many as the whole run has would take longer than its updates.
const VALIDATIONS: u64 = 20;

impl Recipe {
    /// Reads a recipe and applies `key=value` changes such as `training.steps=100`.
    ///
    /// # Errors
    /// Files that cannot be read or are not a recipe, and changes that do not fit.
    pub fn read(path: impl AsRef<Path>, changes: &[impl AsRef<str>]) -> Result<Self> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(Error::file("cannot read", path))?;
        let name = path.display();
        let mut table: Table = text.parse().map_err(Error::recipe(&name))?;
        changes.iter().try_for_each(|change| apply(&mut table, change.as_ref()))?;
        Self::from_table(table, &name.to_string())
    }

    /// The recipe of a table; its key `share` is applied.
    fn from_table(mut table: Table, place: &str) -> Result<Self> {
        let share = table.remove("share");
        let recipe: Recipe = table.try_into().map_err(Error::recipe(place))?;
        let share = match share {
            None => return Ok(recipe),
            Some(share) => share.as_float().or(share.as_integer().map(|share| share as f64)),
        };
        let wrong = |reason: &str| RecipeError::Syntax { place: format!("{place}: share"), reason: reason.into() };
        let share = share.filter(|share| *share > 0.0 && *share <= 1.0);
        recipe
            .scaled(share.ok_or_else(|| wrong("expected a number above 0, at most 1"))?)
            .map_err(|why| wrong(why).into())
    }

    /// The recipe for a share of the instances and of the updates, so that every instance is seen as often.
    fn scaled(mut self, share: f64) -> std::result::Result<Self, &'static str> {
        let part = |count: u64| ((count as f64 * share).round() as u64).max(1);
        let sets = match &mut self.data {
            Data::Files(_) => return Err("expected [data] with size, count and seed: files cannot be shortened"),
            Data::Sets(Sets { sets }) => &mut sets[..],
            Data::Set(set) => std::slice::from_mut(set),
        };
        for set in sets {
            (set.count, set.shards) = (part(set.count), part(set.shards));
        }
        let training = &mut self.training;
        let validate_every = training.validate_every;
        for updates in [&mut training.steps, &mut training.validate_every, &mut training.part_every] {
            *updates = part(*updates);
        }
        let seldom = training.steps.div_ceil(VALIDATIONS).min(validate_every);
        training.validate_every = training.validate_every.max(seldom);
        training.warm_up = (training.warm_up as f64 * share).round() as u64;
        if let Schedule::Step { every, .. } = &mut training.schedule {
            *every = part(*every);
        }
        Ok(self)
    }

    /// The network's configuration: the preset with the recipe's changes.
    ///
    /// # Errors
    /// Unknown presets and fields, and values that do not fit each other.
    pub fn config(&self) -> Result<Config> {
        dispatch!(self.problem, P => self.config_of::<P>())
    }

    fn config_of<P: Builtin>(&self) -> Result<Config> {
        let mut changes = self.network.clone();
        let preset = changes.remove("preset").unwrap_or_else(|| PRESET.into());
        type Preset = fn() -> Config;
        let presets: [(&str, Preset); 7] = [
            ("paper", Config::paper::<P>),
            ("gcn", Config::gcn::<P>),
            ("perceiver", Config::perceiver::<P>),
            ("modern", Config::modern::<P>),
            ("edges", Config::edges::<P>),
            ("small", Config::small::<P>),
            ("tiny", Config::tiny::<P>),
        ];
        let make = presets.iter().find(|(name, _)| preset.as_str() == Some(name)).map(|(_, make)| make);
        let presets = || presets.iter().map(|&(name, _)| name).collect();
        let make = make.ok_or_else(|| RecipeError::UnknownPreset { preset: preset.to_string(), presets: presets() })?;
        let mut table = table_of(&make())?;
        let is_given = changes.contains_key("features");
        table.extend(changes);
        let mut config: Config = table.try_into().map_err(Error::recipe("the recipe's network"))?;
        if !is_given {
            config.features = Config::features_of::<P>(config.random_identifiers);
        }
        config.check()?;
        Ok(config)
    }

    /// The recipe with all fields of the network instead of a preset.
    ///
    /// # Errors
    /// See [`Recipe::config`].
    pub fn resolved(&self) -> Result<Self> {
        Ok(Recipe { network: table_of(&self.config()?)?, ..self.clone() })
    }

    /// The recipe as TOML.
    ///
    /// # Errors
    /// Paths that are not Unicode.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string_pretty(self).map_err(not_toml)
    }

    /// The keys, such as `training.steps`, in which two recipes differ. Formatting, order and values left to defaults
    /// do not count.
    ///
    /// # Errors
    /// See [`Recipe::config`].
    pub fn differences(&self, other: &Recipe) -> Result<Vec<String>> {
        let values = |recipe: &Recipe| {
            let mut values = BTreeMap::new();
            flatten("", &Value::Table(table_of(&recipe.resolved()?)?), &mut values);
            Ok::<_, Error>(values)
        };
        let (mine, theirs) = (values(self)?, values(other)?);
        let keys: std::collections::BTreeSet<&String> = mine.keys().chain(theirs.keys()).collect();
        Ok(keys.into_iter().filter(|key| mine.get(*key) != theirs.get(*key)).cloned().collect())
    }
}

/// Parses TOML.
impl FromStr for Recipe {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::from_table(text.parse::<Table>().map_err(Error::recipe("the recipe"))?, "the recipe")
    }
}

fn write_name<S: Serializer>(name: &impl Display, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(name)
}

fn read_name<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(from: D) -> std::result::Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(de::Error::custom)
}

fn table_of(value: &impl Serialize) -> Result<Table> {
    Table::try_from(value).map_err(not_toml)
}

fn not_toml(error: toml::ser::Error) -> Error {
    RecipeError::Syntax { place: "the recipe".into(), reason: error.to_string() }.into()
}

/// Values by dotted key.
fn flatten(key: &str, value: &Value, to: &mut BTreeMap<String, Value>) {
    match value {
        Value::Table(table) => table.iter().for_each(|(name, value)| {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            flatten(&key, value, to);
        }),
        _ => drop(to.insert(key.to_string(), value.clone())),
    }
}

/// Keys with their old names, which are still accepted.
const RENAMED: [(&str, &str); 2] = [("validation", "exam"), ("augmentation", "images")];

/// Sets a value, `a.b=value`; text that is not a TOML value is taken as a string.
fn apply(table: &mut Table, change: &str) -> Result<()> {
    let wrong = |reason: String| RecipeError::Change { change: change.into(), reason };
    let (key, text) =
        change.split_once('=').ok_or_else(|| wrong("expected key=value, such as training.steps=100".into()))?;
    let value = format!("value = {text}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    let value = value.unwrap_or_else(|| Value::String(text.to_string()));
    let (folders, name) =
        key.rsplit_once('.').map_or((Vec::new(), key), |(path, name)| (path.split('.').collect(), name));
    let mut place = table;
    for folder in folders {
        let entry = place.entry(spelled(folder, place)).or_insert_with(|| Value::Table(Table::new()));
        place = entry.as_table_mut().ok_or_else(|| wrong(format!("{folder} is not a table of the recipe")))?;
    }
    place.insert(spelled(name, place), value);
    Ok(())
}

/// The spelling of a key that the table already uses.
fn spelled(key: &str, table: &Table) -> String {
    let mut renamed = RENAMED.iter().flat_map(|&(new, old)| [(new, old), (old, new)]);
    let other = renamed.find(|&(name, other)| name == key && table.contains_key(other));
    other.map_or(key, |(_, other)| other).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn former_spellings_are_read_and_make_no_difference() {
        let text = |validation: &str, augmentation: &str| {
            format!(
                "problem = \"tsp\"\n[{validation}]\nsize = 5\ncount = 1\nseed = 2\n[data]\nseed = 1\nsize = 5\ncount = 3\n\
                 [training]\n{augmentation} = \"square\"\n"
            )
        };
        let (new, old) = (text("validation", "augmentation"), text("exam", "images"));
        let parse = |text: &str| text.parse::<Recipe>().expect("a recipe");
        assert_eq!(parse(&new), parse(&old));
        for text in [&new, &old] {
            let mut table: Table = text.parse().expect("TOML");
            for change in ["validation.count=7", "exam.seed=9", "training.images=one", "training.rate=0.1"] {
                apply(&mut table, change).expect("a change");
            }
            let changed: Recipe = table.try_into().expect("a recipe");
            let keys = ["training.augmentation", "training.rate", "validation.count", "validation.seed"];
            assert_eq!(parse(&new).differences(&changed).expect("recipes"), keys);
        }
        let preset = Recipe { network: Table::from_iter([("preset".into(), "small".into())]), ..parse(&new) };
        assert!(preset.differences(&parse(&new)).expect("recipes").is_empty(), "the default preset");
    }
}
