//! What an evaluation found: every instance, and means.

use std::collections::HashMap;
use std::path::Path;

use bqnco::net::Architecture;
use bqnco::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::file_error;
use crate::published::{Published, Twin};
use crate::statistics::margin;

/// `results.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Results {
    /// [`Results::FORMAT`].
    pub format: String,
    /// [`Results::VERSION`].
    pub version: u32,
    /// The suite's name.
    pub suite: String,
    /// The suite's title.
    pub title: String,
    /// Of the report, UTC.
    pub date: String,
    /// Where it ran.
    pub machine: Machine,
    /// Source of all random choices.
    pub seed: u64,
    /// The sets, in the order of the report.
    pub sets: Vec<SetInfo>,
    /// The methods, in the order of the report.
    pub methods: Vec<MethodInfo>,
    /// What a reader must know: what was left out and why.
    pub notes: Vec<String>,
    /// Every instance by every method.
    pub rows: Vec<Row>,
}

/// Where it ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The CPU's name.
    pub cpu: String,
    /// Threads per process.
    pub threads: usize,
    /// Processes that shared the work.
    pub processes: usize,
    /// Operating system and architecture.
    pub system: String,
    /// The library's version.
    pub bqnco: String,
}

/// A set of instances.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetInfo {
    /// What tables call it.
    pub name: String,
    /// The problem.
    pub problem: String,
    /// How many instances.
    pub instances: usize,
    /// Whether they were drawn and not read.
    pub random: bool,
    /// Of the largest instance.
    pub size: usize,
    /// Instances that are solved together.
    pub batch: usize,
}

/// A method on a problem.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MethodInfo {
    /// The problem.
    pub problem: String,
    /// What tables call it.
    pub name: String,
    /// The search as it was spelled, where there is a network.
    pub search: Option<String>,
    /// The network's name.
    pub model: Option<String>,
    /// Of the network's weights.
    pub checksum: Option<String>,
    /// Of the network.
    pub architecture: Option<Architecture>,
    /// Candidates per step of the network; `None`: all.
    #[serde(default)]
    pub candidates: Option<usize>,
    /// In what network and search differ from the paper's, apart from the candidates.
    #[serde(default)]
    pub other_settings: Vec<String>,
    /// How the machine is used.
    pub details: String,
}

/// One instance solved by one method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The set's name.
    pub set: String,
    /// The problem.
    pub problem: String,
    /// The instance's name.
    pub instance: String,
    /// Its place in the set: names may repeat.
    #[serde(default)]
    pub index: usize,
    /// Of the instance.
    pub size: usize,
    /// The method's name.
    pub method: String,
    /// The network's name.
    pub model: Option<String>,
    /// Of the network's weights.
    pub checksum: Option<String>,
    /// What the objective is called.
    pub objective: String,
    /// Its value, with the sign a person expects.
    pub cost: f64,
    /// The best known value.
    pub reference: Option<f64>,
    /// Who says so.
    pub reference_by: Option<String>,
    /// Percent behind the reference; positive is worse.
    pub gap: Option<f64>,
    /// The mean gap of the paper's method that does the same, on its set of this kind, as printed.
    pub published: Option<String>,
    /// In what our settings differ from those of the published figure, if there is one and they do.
    #[serde(default)]
    pub other_settings: Option<String>,
    /// Wall clock: of the instance, or its share of the batch's.
    pub seconds: f64,
    /// Wall clock from the result before to this one: they add up to the total.
    pub wall: f64,
    /// Instances that were solved together.
    pub batch: usize,
    /// Source of all random choices.
    pub seed: u64,
    /// Whether the search was stopped before it had done what was asked for.
    pub cut_short: bool,
}

/// Means over the instances of a set, or of all sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many instances.
    pub instances: usize,
    /// Mean objective.
    pub cost: f64,
    /// Mean gap of the instances that have a reference, in percent.
    pub gap: Option<f64>,
    /// Half the width of the gap's 95 % interval (Student's t), if at least two instances have one.
    pub margin: Option<f64>,
    /// Mean wall clock per instance.
    pub seconds: f64,
    /// Wall clock of all instances.
    pub total: f64,
    /// The most instances that were solved together.
    pub batch: usize,
}

impl Results {
    /// What the file says that it is.
    pub const FORMAT: &'static str = "bqnco-eval";
    /// The version that is written here; others are refused.
    pub const VERSION: u32 = 1;

    /// Means of a method on a set; none if it solved none of its instances.
    pub fn summary(&self, set: &str, method: &str) -> Option<Summary> {
        let is_it = |row: &&Row| row.set == set && row.method == method;
        Summary::of(&self.rows.iter().filter(is_it).collect::<Vec<_>>())
    }

    /// Puts the paper's figures beside ours.
    pub(crate) fn quote(&mut self, published: &Published) {
        let quoted: HashMap<(&str, &str), Twin<'_>> = (self.sets.iter())
            .flat_map(|set| self.methods.iter().filter(|method| method.problem == set.problem).map(move |m| (set, m)))
            .filter_map(|(set, method)| Some(((set.name.as_str(), method.name.as_str()), published.twin(set, method)?)))
            .collect();
        for row in &mut self.rows {
            let twin = quoted.get(&(row.set.as_str(), row.method.as_str()));
            row.published = twin.map(|twin| twin.figure.gap.clone());
            row.other_settings = twin.filter(|twin| !twin.differs.is_empty()).map(|twin| twin.differs.join(", "));
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

    /// The sets of a problem.
    pub fn sets_of<'a>(&'a self, problem: &'a str) -> impl Iterator<Item = &'a SetInfo> {
        self.sets.iter().filter(move |set| set.problem == problem)
    }

    /// The methods on a problem.
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

    /// The content of `results.json`.
    pub fn json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("every value has a form in JSON");
        bytes.push(b'\n');
        bytes
    }

    /// The content of `results.csv`: a line per row.
    pub fn csv(&self) -> Vec<u8> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        self.rows.iter().try_for_each(|row| writer.serialize(row)).expect("a row is a list of plain values");
        writer.into_inner().expect("memory takes everything")
    }

    /// Reads `results.json`, or that of a report's folder.
    ///
    /// # Errors
    /// Files that cannot be read, and files of other formats or versions.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let in_folder = path.as_ref().join("results.json");
        let path = if path.as_ref().is_dir() { in_folder.as_path() } else { path.as_ref() };
        let bytes = std::fs::read(path).map_err(file_error("cannot read", path))?;
        let wrong =
            |why: String| Error::Settings(format!("{}: expected a results.json of an evaluation{why}", path.display()));
        let results: Results = serde_json::from_slice(&bytes).map_err(|error| wrong(format!(": {error}")))?;
        if (results.format.as_str(), results.version) != (Self::FORMAT, Self::VERSION) {
            return Err(wrong(format!(", found {} version {}", results.format, results.version)));
        }
        Ok(results)
    }
}

impl Summary {
    /// Means of these rows; none of none.
    pub(crate) fn of(rows: &[&Row]) -> Option<Self> {
        let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let take = |value: fn(&Row) -> f64| rows.iter().map(|row| value(row)).collect::<Vec<_>>();
        let gaps: Vec<f64> = rows.iter().filter_map(|row| row.gap).collect();
        Some(Summary {
            instances: rows.len(),
            cost: mean(&take(|row| row.cost))?,
            gap: mean(&gaps),
            margin: margin(&gaps),
            seconds: mean(&take(|row| row.seconds))?,
            total: take(|row| row.wall).iter().sum(),
            batch: rows.iter().map(|row| row.batch).max().unwrap_or(0),
        })
    }
}

impl Machine {
    /// This one, as one of so many processes.
    pub(crate) fn here(processes: usize) -> Self {
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
pub(crate) fn today() -> String {
    jiff::Timestamp::now().strftime("%F").to_string()
}
