//! Which instances a command works on.

use std::path::{Path, PathBuf};

use anyhow::Context;
use bqnco::ProblemName;
use bqnco::io::{Files, ReadOptions, Record, Source, detect, read};
use bqnco::problems::Metric;
use clap::{Args, ValueEnum};

use crate::failure::Failure;

/// How instance files are read.
#[derive(Args, Clone, Copy)]
pub struct Reading {
    /// Read the files as this problem instead of detecting it.
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

impl Reading {
    /// The problem that a file is about.
    pub fn problem(&self, source: &Source) -> Result<ProblemName, Failure> {
        match self.problem {
            Some(problem) => Ok(problem),
            None => Ok(detect(source)?.problem.parse()?),
        }
    }

    /// All instances of a file.
    pub fn read<P: Files>(&self, source: &Source) -> Result<Vec<Record<P>>, Failure> {
        let round = self.round.map(|rounding| match rounding {
            Rounding::None => Metric::Exact,
            Rounding::Nearest => Metric::Euc2d,
            Rounding::Up => Metric::Ceil2d,
        });
        Ok(read::<P>(source, &ReadOptions { round })?)
    }

    /// The one instance of a file.
    pub fn read_one<P: Files>(&self, source: &Source) -> Result<Record<P>, Failure> {
        let mut records = self.read::<P>(source)?;
        if records.len() != 1 {
            let found = records.len();
            return Err(anyhow::anyhow!("{}: expected one instance, found {found}", source.name()).into());
        }
        Ok(records.remove(0))
    }
}

/// The files of all paths; a folder stands for the files in it.
pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for path in paths {
        if path.is_dir() {
            for file in files_in(path)? {
                sources.push(Source::open(file)?);
            }
        } else {
            sources.push(Source::open(path)?);
        }
    }
    Ok(sources)
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let say = || format!("cannot list {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(say)? {
        let path = entry.with_context(say)?.path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.is_file() && INSTANCE_EXTENSIONS.contains(&extension) {
            files.push(path);
        }
    }
    if files.is_empty() {
        let known = INSTANCE_EXTENSIONS.join(", ");
        return Err(anyhow::anyhow!("{}: no instance files in this folder (.{known})", folder.display()).into());
    }
    files.sort();
    Ok(files)
}

/// In a folder there are other files too, solutions for instance, so here the name does count.
const INSTANCE_EXTENSIONS: [&str; 5] = ["tsp", "atsp", "vrp", "oplib", "kp"];
