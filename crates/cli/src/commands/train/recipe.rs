//! Recipes: everything that a training run depends on, in one file.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use bqnco::ProblemName;
use bqnco::core::Observe;
use bqnco::net::Config;
use bqnco::train::{SelfImprovement, Training};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::failure::Failure;

/// A recipe as written by a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    pub problem: String,
    /// What is learnt from.
    pub data: Data,
    /// What validation asks.
    pub validation: Data,
    /// A `preset`, and fields of the network's configuration that differ from it.
    #[serde(default)]
    pub network: Table,
    #[serde(default)]
    pub training: Training,
    /// Whether and how labels are improved on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_improvement: Option<SelfImprovement>,
}

/// Instances with expert solutions: from files, or made by the built-in expert at the first use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Table")]
pub enum Data {
    Files(Files),
    Sets(Sets),
    GeneratedSet(GeneratedSet),
}

/// Which of the three is clear from `files` and `sets`; so what is wrong in it can be told by name.
impl TryFrom<Table> for Data {
    type Error = toml::de::Error;

    fn try_from(table: Table) -> Result<Self, Self::Error> {
        match (table.contains_key("files"), table.contains_key("sets")) {
            (true, _) => Ok(Data::Files(table.try_into()?)),
            (false, true) => Ok(Data::Sets(table.try_into()?)),
            (false, false) => Ok(Data::GeneratedSet(table.try_into()?)),
        }
    }
}

/// Files of `bqnco generate --expert`, one at a time in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    pub files: Vec<PathBuf>,
}

/// Several sets to be made, one at a time in memory: several sizes, for instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sets {
    pub sets: Vec<GeneratedSet>,
}

/// Instances to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedSet {
    pub size: u32,
    pub count: u64,
    pub seed: u64,
    /// Parameters that users choose freely come from a wide range.
    #[serde(default)]
    pub varied: bool,
    /// Whether the expert solves them; if not, `[self_improvement]` must.
    #[serde(default = "yes")]
    pub expert: bool,
}

fn yes() -> bool {
    true
}

/// The preset of recipes that name none.
const PRESET: &str = "small";

impl Recipe {
    /// Reads a recipe and changes it by `key=value` words such as `training.steps=100`.
    pub fn read(path: &Path, changes: &[String]) -> Result<Self, Failure> {
        let say = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(say)?;
        let mut table: Table = text.parse().with_context(say)?;
        for change in changes {
            apply(&mut table, change)?;
        }
        Ok(Value::Table(table).try_into::<Recipe>().with_context(say)?)
    }

    /// The problem.
    pub fn problem(&self) -> Result<ProblemName, Failure> {
        Ok(self.problem.parse()?)
    }

    /// The network's configuration: the preset with the recipe's changes.
    pub fn config<P: Observe>(&self) -> Result<Config, Failure> {
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
        let make = make.ok_or_else(|| {
            let names = presets.map(|(name, _)| name).join(", ");
            anyhow!("the recipe's network has the preset {preset}; the presets are {names}")
        })?;
        let mut table = Table::try_from(make())?;
        table.extend(changes);
        let config: Config = Value::Table(table).try_into().context("the recipe's network")?;
        config.check()?;
        Ok(config)
    }

    /// The recipe with nothing left to defaults, for the run's folder.
    pub fn resolved(&self, config: &Config) -> Result<String, Failure> {
        let network = Table::try_from(config)?;
        Ok(toml::to_string_pretty(&Recipe { network, ..self.clone() })?)
    }
}

/// Sets a value, `a.b=value`; what is no TOML value is taken as a string.
fn apply(table: &mut Table, change: &str) -> Result<(), Failure> {
    let (key, text) =
        change.split_once('=').ok_or_else(|| anyhow!("`{change}`: expected key=value, such as training.steps=100"))?;
    let value = format!("value = {text}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    let value = value.unwrap_or_else(|| Value::String(text.to_string()));
    let (folders, name) =
        key.rsplit_once('.').map_or((Vec::new(), key), |(path, name)| (path.split('.').collect(), name));
    let mut place = table;
    for folder in folders {
        let entry = place.entry(folder).or_insert_with(|| Value::Table(Table::new()));
        place = entry.as_table_mut().ok_or_else(|| anyhow!("`{change}`: {folder} is no table of the recipe"))?;
    }
    place.insert(name.to_string(), value);
    Ok(())
}
