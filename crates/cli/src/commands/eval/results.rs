//! What an evaluation found: every instance, and means.

use std::collections::HashMap;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::published::Published;
use crate::failure::Failure;

/// `results.json`.
#[derive(Clone, Serialize, Deserialize)]
pub struct Results {
    /// `bqnco-eval`.
    pub format: String,
    pub version: u32,
    pub suite: String,
    pub title: String,
    /// Of the report, UTC.
    pub date: String,
    pub machine: Machine,
    /// Source of all random choices.
    pub seed: u64,
    pub sets: Vec<SetInfo>,
    pub methods: Vec<MethodInfo>,
    /// What a reader must know: what was left out and why.
    pub notes: Vec<String>,
    pub rows: Vec<Row>,
}

/// Where it ran.
#[derive(Clone, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub threads: usize,
    pub processes: usize,
    pub system: String,
    pub bqnco: String,
}

/// A set of instances.
#[derive(Clone, Serialize, Deserialize)]
pub struct SetInfo {
    pub name: String,
    pub problem: String,
    pub instances: usize,
    /// Whether they were drawn and not read.
    pub random: bool,
    /// Of the largest instance.
    pub size: usize,
    /// Instances that are solved communicator.
    pub batch: usize,
}

/// A method on a problem.
#[derive(Clone, Serialize, Deserialize)]
pub struct MethodInfo {
    pub problem: String,
    pub name: String,
    /// The search, where there is a network.
    pub search: Option<String>,
    pub model: Option<String>,
    pub checksum: Option<String>,
    pub architecture: Option<String>,
    pub details: String,
}

/// One instance solved by one method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub set: String,
    pub problem: String,
    pub instance: String,
    /// Its place in the set: names may repeat.
    #[serde(default)]
    pub index: usize,
    pub size: usize,
    pub method: String,
    pub model: Option<String>,
    pub checksum: Option<String>,
    /// What the objective is called.
    pub objective: String,
    /// Its value, with the sign a person expects.
    pub cost: f64,
    pub reference: Option<f64>,
    pub reference_by: Option<String>,
    /// Percent behind the reference; positive is worse.
    pub gap: Option<f64>,
    /// The mean gap of the paper's method that does the same, on its set of this kind, as printed.
    pub published: Option<String>,
    /// Wall clock: of the instance, or its share of the batch's.
    pub seconds: f64,
    /// Wall clock from the result before to this one: they add up to the total.
    pub wall: f64,
    /// Instances that were solved communicator.
    pub batch: usize,
    pub seed: u64,
    pub cut_short: bool,
}

/// Means over the instances of a set, or of all sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub instances: usize,
    pub cost: f64,
    /// Over the instances that have a reference.
    pub gap: Option<f64>,
    pub seconds: f64,
    /// Wall clock of all instances.
    pub total: f64,
    pub batch: usize,
}

impl Results {
    pub const FORMAT: &'static str = "bqnco-eval";
    pub const VERSION: u32 = 1;

    /// Means of a method on a set; none if it solved none of its instances.
    pub fn summary(&self, set: &str, method: &str) -> Option<Summary> {
        let is_it = |row: &&Row| row.set == set && row.method == method;
        Summary::of(&self.rows.iter().filter(is_it).collect::<Vec<_>>())
    }

    /// Puts the paper's figures beside ours.
    pub fn quote(&mut self, published: &Published) {
        let quoted: HashMap<(&str, &str), String> = (self.sets.iter())
            .flat_map(|set| self.methods.iter().filter(|method| method.problem == set.problem).map(move |m| (set, m)))
            .filter_map(|(set, method)| {
                let figure = published.like(&set.name, method.architecture.as_deref()?, method.search.as_deref()?)?;
                Some(((set.name.as_str(), method.name.as_str()), figure.gap))
            })
            .collect();
        for row in &mut self.rows {
            row.published = quoted.get(&(row.set.as_str(), row.method.as_str())).cloned();
        }
    }

    /// Problems, in the order of the sets.
    pub fn problems(&self) -> Vec<&str> {
        let mut problems: Vec<&str> = Vec::new();
        for set in &self.sets {
            if !problems.contains(&set.problem.as_str()) {
                problems.push(&set.problem);
            }
        }
        problems
    }

    pub fn sets_of<'a>(&'a self, problem: &'a str) -> impl Iterator<Item = &'a SetInfo> {
        self.sets.iter().filter(move |set| set.problem == problem)
    }

    pub fn methods_of<'a>(&'a self, problem: &'a str) -> impl Iterator<Item = &'a MethodInfo> {
        self.methods.iter().filter(move |method| method.problem == problem)
    }

    /// Who says what the best objectives of a set are.
    pub fn references(&self, set: &str) -> String {
        let mut names: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.set == set) {
            match row.reference_by.as_deref() {
                Some(name) if !names.contains(&name) => names.push(name),
                _ => {}
            }
        }
        if names.is_empty() { "none".into() } else { names.join("; ") }
    }

    pub fn json(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = serde_json::to_vec_pretty(self).context("results in memory")?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    pub fn csv(&self) -> Result<Vec<u8>, Failure> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        self.rows.iter().try_for_each(|row| writer.serialize(row))?;
        Ok(writer.into_inner().context("a table in memory")?)
    }

    /// Reads `results.json`.
    pub fn read(path: &std::path::Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let expected = || format!("{}: expected a results.json of `bqnco eval`", path.display());
        let results: Results = serde_json::from_slice(&bytes).with_context(expected)?;
        if (results.format.as_str(), results.version) != (Self::FORMAT, Self::VERSION) {
            let (format, version) = (&results.format, results.version);
            return Err(anyhow::anyhow!("{}, found {format} version {version}", expected()).into());
        }
        Ok(results)
    }
}

impl Summary {
    /// Means of these rows; none of none.
    pub fn of(rows: &[&Row]) -> Option<Self> {
        let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let take = |value: fn(&Row) -> f64| rows.iter().map(|row| value(row)).collect::<Vec<_>>();
        Some(Summary {
            instances: rows.len(),
            cost: mean(&take(|row| row.cost))?,
            gap: mean(&rows.iter().filter_map(|row| row.gap).collect::<Vec<_>>()),
            seconds: mean(&take(|row| row.seconds))?,
            total: take(|row| row.wall).iter().sum(),
            batch: rows.iter().map(|row| row.batch).max().unwrap_or(0),
        })
    }
}

impl Machine {
    /// This one.
    pub fn here(processes: usize) -> Self {
        Machine {
            cpu: cpu().unwrap_or_else(|| "unknown CPU".into()),
            threads: rayon::current_num_threads(),
            processes,
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            bqnco: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// The CPU's name, where the system tells.
fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// Today in UTC, as 2026-11-16.
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%F").to_string()
}
