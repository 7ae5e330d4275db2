//! Best known objectives, for gaps.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bqnco_io::Format;

use crate::{Error, Instance, ProblemName, Result};

/// The source of the best known objectives.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("optima.csv");
/// # std::fs::write(&path, "name,optimum\nsquare,4\n")?;
/// # let path = path.display().to_string();
/// use bqnco::{Instance, References};
///
/// let instance = Instance::parse("square.csv", "x,y\n0,0\n1,1\n1,0\n0,1\n")?;
/// let table = References::parse(&path)?; // a CSV file with columns `name` and `optimum`
/// assert_eq!(table.of_instance(&instance), Some(4.0));
/// assert_eq!(References::parse("3.5")?.of_instance(&instance), Some(3.5)); // one value for all
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub enum References {
    /// Only the values in the instance files.
    #[default]
    InFile,
    /// One value for all instances.
    Value(f64),
    /// A table: for every file name, the paths that end in it and their optima.
    Table(HashMap<OsString, Vec<(PathBuf, f64)>>),
}

/// Column names of the best known objective, in published tables.
const OBJECTIVE: [&str; 6] = ["optimum", "optimal", "bks", "best_known", "best_known_score", "reference"];
/// End of the names of columns with costs of published solvers, of which the least is the best known.
const COST: &str = "_cost";
/// Column names of the instance.
const NAME: [&str; 3] = ["name", "file", "instance"];

impl References {
    /// Parses a number for all instances, or the path of a CSV file. Its instances are named by a column `name`, `file`
    /// or `instance`, or by the columns `set` and `index` (from 0) if they are those of a dataset. Their optima are in
    /// a column `optimum`, `optimal`, `bks`, `best_known`, `best_known_score` or `reference`, or in several that end in
    /// `_cost`, of which the least counts.
    ///
    /// # Errors
    /// Zero and numbers that are not finite; files that cannot be read or lack the columns.
    pub fn parse(text: &str) -> Result<Self> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value != 0.0 => Ok(References::Value(value)),
            Ok(value) => {
                let expected = "a finite number other than zero".into();
                Err(Error::OutOfRange { setting: "optimum", found: value.to_string(), expected })
            }
            Err(_) => Ok(References::Table(read_table(text)?)),
        }
    }

    /// Whether one number is used for all instances.
    pub fn is_number(&self) -> bool {
        matches!(self, References::Value(_))
    }

    /// The best known objective of an instance, with its usual sign (prizes are positive). `label` is the path of the
    /// file, or the instance's name if a file holds several.
    pub fn of(&self, label: &str, in_file: Option<f64>) -> Option<f64> {
        match self {
            References::InFile => in_file,
            References::Value(value) => Some(*value),
            References::Table(optima) => {
                let (label, bare) = (Path::new(label), without_extension(label));
                let is_it = |name: &Path| label.ends_with(name) || bare.ends_with(name);
                let named = |path: &Path| path.file_name().and_then(|name| optima.get(name)).into_iter().flatten();
                let mut alike = named(&bare).chain(named(label));
                alike.find(|(name, _)| is_it(name)).map(|&(_, optimum)| optimum).or(in_file)
            }
        }
    }

    /// The best known objective of an instance: from the table, by its file or its name, or else from its own file.
    pub fn of_instance(&self, instance: &Instance) -> Option<f64> {
        self.of(instance.label(), None).or_else(|| self.of(instance.name(), instance.reference()))
    }

    /// Whether it is a table, which may lack an instance.
    pub fn is_table(&self) -> bool {
        matches!(self, References::Table(_))
    }
}

/// The gap of a value to a reference, in percent of the reference; positive is worse for every problem. `None` if the
/// reference is zero.
///
/// ```
/// use bqnco::ProblemName;
///
/// assert_eq!(bqnco::gap(ProblemName::Tsp, 11.0, 10.0), Some(10.0)); // a longer tour
/// assert_eq!(bqnco::gap(ProblemName::Knapsack, 11.0, 10.0), Some(-10.0)); // a greater value
/// ```
pub fn gap(problem: ProblemName, value: f64, reference: f64) -> Option<f64> {
    let sign = dispatch!(problem, P => P::OBJECTIVE.1);
    (reference != 0.0).then(|| 100.0 * (value - reference) * sign / reference.abs())
}

fn read_table(path: &str) -> Result<HashMap<OsString, Vec<(PathBuf, f64)>>> {
    let wrong = |line: Option<u64>, reason: String| Error::Optima { path: path.into(), line, reason };
    let mut table = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(path)
        .map_err(|error| wrong(None, format!("neither a number nor a readable CSV file: {error}")))?;
    let bad = |error: csv::Error| wrong(None, error.to_string());
    let header = table.headers().map_err(bad)?.clone();
    let column = |names: &[&str]| header.iter().position(|name| names.contains(&name.to_ascii_lowercase().as_str()));
    // Instances of a dataset are named after the file and their index in it, from 0.
    let place = column(&["set"]).zip(column(&["index"]));
    let costs = (0..header.len()).filter(|&at| header[at].to_ascii_lowercase().ends_with(COST)).collect();
    let values: Vec<usize> = column(&OBJECTIVE).map_or(costs, |column| vec![column]);
    let (Some(name), false) = (column(&NAME).or(place.map(|(set, _)| set)), values.is_empty()) else {
        let columns = header.iter().collect::<Vec<_>>().join(", ");
        let expected = OBJECTIVE.join(", ");
        return Err(wrong(None, format!("expected columns `name` and one of {expected}, found {columns}")));
    };
    let place = place.filter(|&(set, _)| set == name);
    let mut optima: HashMap<_, Vec<_>> = HashMap::new();
    for row in table.records() {
        let row = row.map_err(bad)?;
        let name = row.get(name).unwrap_or_default();
        let index = place.and_then(|(_, index)| row.get(index)?.parse::<usize>().ok());
        let name = &index.map_or(name.to_string(), |index| format!("{name}-{}", index + 1));
        let line = row.position().map_or(0, csv::Position::line);
        let texts = values.iter().filter_map(|&column| row.get(column)).filter(|text| !text.is_empty());
        let numbers: Vec<f64> = texts.map(|text| optimum(text, path, line)).collect::<Result<_>>()?;
        let Some(value) = numbers.into_iter().reduce(f64::min).filter(|_| !name.is_empty()) else {
            continue; // no optimum is known
        };
        let name = without_extension(name);
        let file = name.file_name().unwrap_or_default().to_os_string();
        optima.entry(file).or_default().push((name, value));
    }
    Ok(optima)
}

fn optimum(text: &str, path: &str, line: u64) -> Result<f64> {
    let number = text.parse().ok().filter(|value: &f64| value.is_finite());
    let reason = || format!("expected a number as optimum, found `{text}`");
    number.ok_or_else(|| Error::Optima { path: path.into(), line: Some(line), reason: reason() })
}

/// A name without the extension, which a table may omit.
fn without_extension(path: &str) -> PathBuf {
    let path = Path::new(path);
    if Format::of_name(path).is_some() { path.with_extension("") } else { path.to_path_buf() }
}
