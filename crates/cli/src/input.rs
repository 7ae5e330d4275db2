//! Which instances a command works on.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use bqnco::io::{Decoded, Format, InstanceIo, ReadOptions, Record, Source};
use bqnco::problems::Metric;
use bqnco::{ProblemName, decode};
use clap::{Args, ValueEnum};

use crate::failure::Failure;

/// How instance files are read.
#[derive(Args, Clone, Copy, Default)]
pub struct Reading {
    /// Insist on this problem where a file could be read as several.
    #[arg(long, value_name = "PROBLEM")]
    problem: Option<ProblemName>,
    /// Round Euclidean distances like this instead of as the file says.
    #[arg(long, value_enum)]
    round: Option<Rounding>,
}

/// What happens to the decimals of a Euclidean distance.
#[derive(Clone, Copy, ValueEnum)]
pub enum Rounding {
    /// Keep them all.
    None,
    /// To the nearest integer, halves up (EUC_2D).
    Nearest,
    /// Up to the next integer (CEIL_2D).
    Up,
}

/// A file that has been understood, but for the problem.
pub struct Input {
    /// The problem it is about.
    pub problem: ProblemName,
    path: String,
    stem: String,
    decoded: Decoded,
    round: Option<Metric>,
}

/// An instance with the names that people and tables know it by.
pub struct Named<P: InstanceIo> {
    /// What it is called in results: the file's name, or its own where a file holds several.
    pub name: String,
    /// What tables may know it by: the file's path, or its name where a file holds several.
    pub label: String,
    /// What the file says.
    pub record: Record<P>,
}

impl Reading {
    /// The problem that was asked for.
    pub fn problem(&self) -> Option<ProblemName> {
        self.problem
    }

    /// Opens a file and finds out what it is about.
    pub fn open(&self, path: &Path) -> Result<Input, Failure> {
        let source = Source::open(path)?;
        let decoded = decode(&source)?;
        let problem = match self.problem {
            Some(problem) => problem,
            None => decoded.detected.problem.parse()?,
        };
        let round = self.round.map(|rounding| match rounding {
            Rounding::None => Metric::Exact,
            Rounding::Nearest => Metric::Euc2d,
            Rounding::Up => Metric::Ceil2d,
        });
        Ok(Input { problem, path: source.name().into(), stem: source.stem().into(), decoded, round })
    }
}

impl Input {
    /// The file's path, for messages.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The metric that the file's coordinates are for.
    pub fn metric(&self) -> Option<Metric> {
        self.decoded.metric()
    }

    /// All instances of the file.
    pub fn read<P: InstanceIo>(self) -> Result<Vec<Named<P>>, Failure> {
        let records = self.decoded.records::<P>(&ReadOptions { round: self.round })?;
        let holds_several = records.len() > 1;
        let named = |record: Record<P>| {
            // Names inside files are less telling than those of files: many are "eil51".
            let (name, label) = match holds_several {
                true => (record.name.clone(), record.name.clone()),
                false => (self.stem.clone(), self.path.clone()),
            };
            Named { name: name.replace(char::is_control, "?"), label, record }
        };
        Ok(records.into_iter().map(named).collect())
    }

    /// The one instance of the file.
    pub fn read_one<P: InstanceIo>(self) -> Result<Named<P>, Failure> {
        let path = self.path.clone();
        let mut records = self.read::<P>()?;
        match records.len() {
            1 => Ok(records.remove(0)),
            found => Err(anyhow!("{path}: expected one instance, found {found}").into()),
        }
    }
}

/// Gives instances of equal names longer ones: `s000` of two folders becomes `R01000-s000` and `R02000-s000`.
pub fn tell_apart<P: InstanceIo>(mut all: Vec<&mut Named<P>>) {
    for folders in 1.. {
        let mut seen: HashMap<String, usize> = HashMap::new();
        all.iter().for_each(|named| *seen.entry(named.name.clone()).or_default() += 1);
        let mut told_apart = true;
        for named in all.iter_mut().filter(|named| seen[&named.name] > 1) {
            let longer = with_folders(&named.label, folders);
            told_apart &= longer == named.name; // there are no more folders
            named.name = longer;
        }
        if told_apart {
            return;
        }
    }
}

/// A file's name with so many of its folders, without its ending.
fn with_folders(path: &str, folders: usize) -> String {
    let path = Path::new(path);
    let stem = if Format::of_name(path).is_some() { path.with_extension("") } else { path.to_path_buf() };
    let parts: Vec<_> = stem.iter().map(|part| part.to_string_lossy()).filter(|part| part != "/").collect();
    parts[parts.len().saturating_sub(folders + 1)..].join("-")
}

/// The files of all paths; a folder stands for the instance files in it and below it.
pub fn files_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() && path != Path::new("-") {
            let before = files.len();
            collect(path, &mut files)?;
            if files.len() == before {
                return Err(anyhow!("{}: no instance files in this folder", path.display()).into());
            }
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let say = || format!("cannot list {}", folder.display());
    let entries = std::fs::read_dir(folder).with_context(say)?.collect::<Result<Vec<_>, _>>().with_context(say)?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files)?;
        } else if holds_instances(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// In a folder there are other files too, solutions and tables for instance. Of some the name tells; others must be opened.
fn holds_instances(path: &Path) -> bool {
    match Format::of_name(path) {
        Some(format) if format.is_solution_only() => false,
        Some(Format::Csv | Format::Json | Format::Lines) => opens(path),
        Some(_) => true,
        None => path.extension().is_none() && opens(path),
    }
}

fn opens(path: &Path) -> bool {
    path.is_file() && Source::open(path).is_ok_and(|source| decode(&source).is_ok())
}
