//! Known optima, for gaps.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, bail};
use bqnco::core::Problem;

/// Where the best known objectives come from.
pub enum References {
    /// Only what the instance files say themselves.
    InFile,
    /// One value for all instances.
    Value(f64),
    /// A table by name.
    Table(HashMap<String, f64>),
}

/// Columns that hold the best known objective, in published tables.
const OBJECTIVE: [&str; 6] = ["optimum", "optimal", "bks", "best_known", "best_known_score", "reference"];

impl References {
    /// From `--optimum`: a number, or a CSV file with a column `name` (or `file`) and one with the optima.
    pub fn parse(argument: Option<&str>) -> anyhow::Result<Self> {
        let Some(argument) = argument else { return Ok(References::InFile) };
        if let Ok(value) = argument.parse() {
            return Ok(References::Value(value));
        }
        let mut table = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_path(argument)
            .with_context(|| format!("--optimum {argument}: neither a number nor a readable CSV file"))?;
        let header = table.headers().with_context(|| argument.to_string())?.clone();
        let column = |names: &[&str]| header.iter().position(|name| names.contains(&name));
        let (Some(name), Some(value)) = (column(&["name", "file", "instance"]), column(&OBJECTIVE)) else {
            let columns = header.iter().collect::<Vec<_>>().join(", ");
            bail!("{argument}: expected columns `name` and one of {}, found {columns}", OBJECTIVE.join(", "));
        };
        let mut optima = HashMap::new();
        for row in table.records() {
            let row = row.with_context(|| argument.to_string())?;
            let line = row.position().map_or(0, csv::Position::line);
            let text = row.get(value).unwrap_or_default();
            let optimum = text
                .parse()
                .with_context(|| format!("{argument}, line {line}: expected a number as optimum, found `{text}`"))?;
            optima.insert(stem(row.get(name).unwrap_or_default()), optimum);
        }
        Ok(References::Table(optima))
    }

    /// The best known objective of an instance, with the sign a person expects.
    pub fn of(&self, name: &str, file: &str, in_file: Option<f64>) -> Option<f64> {
        match self {
            References::InFile => in_file,
            References::Value(value) => Some(*value),
            References::Table(optima) => {
                optima.get(&stem(file)).or_else(|| optima.get(&stem(name))).copied().or(in_file)
            }
        }
    }
}

/// A file's name without folders and extension.
fn stem(path: &str) -> String {
    Path::new(path).file_stem().map_or_else(|| path.to_string(), |stem| stem.to_string_lossy().into_owned())
}

/// How far an objective is behind the reference, in percent of the reference; positive is worse for every problem.
pub fn gap<P: Problem>(objective: f64, reference: f64) -> Option<f64> {
    let behind = (objective - reference) * P::OBJECTIVE.1;
    (reference != 0.0).then(|| 100.0 * behind / reference.abs())
}
