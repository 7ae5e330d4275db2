//! Known optima, for gaps.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use bqnco::core::Problem;

/// Where the best known objectives come from.
pub enum References {
    /// Only what the instance files say themselves.
    InFile,
    /// One value for all instances.
    Value(f64),
    /// A table: the ends of files' paths (a name, or folders and a name), without extension, and their optima.
    Table(Vec<(PathBuf, f64)>),
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
        let mut optima = Vec::new();
        for row in table.records() {
            let row = row.with_context(|| argument.to_string())?;
            let line = row.position().map_or(0, csv::Position::line);
            let text = row.get(value).unwrap_or_default();
            let optimum = text
                .parse()
                .with_context(|| format!("{argument}, line {line}: expected a number as optimum, found `{text}`"))?;
            optima.push((without_extension(row.get(name).unwrap_or_default()), optimum));
        }
        Ok(References::Table(optima))
    }

    /// The best known objective of an instance, with the sign a person expects. `label` is the path of the file, or the
    /// instance's name where a file holds several.
    pub fn of(&self, label: &str, in_file: Option<f64>) -> Option<f64> {
        match self {
            References::InFile => in_file,
            References::Value(value) => Some(*value),
            References::Table(optima) => {
                let label = without_extension(label);
                optima.iter().find(|(name, _)| label.ends_with(name)).map(|&(_, optimum)| optimum).or(in_file)
            }
        }
    }
}

fn without_extension(path: &str) -> PathBuf {
    Path::new(path).with_extension("")
}

/// How far an objective is behind the reference, in percent of the reference; positive is worse for every problem.
pub fn gap<P: Problem>(objective: f64, reference: f64) -> Option<f64> {
    let behind = (objective - reference) * P::OBJECTIVE.1;
    (reference != 0.0).then(|| 100.0 * behind / reference.abs())
}
