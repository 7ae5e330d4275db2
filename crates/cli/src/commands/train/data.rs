//! The examples of a recipe.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use bqnco::Builtin;
use bqnco::core::rollout::{self, Options};
use bqnco::core::{GreedyHeuristic, random};
use bqnco::io::{ReadOptions, Source, read};
use bqnco::train::{Example, Examples, LoadError};

use super::recipe::{Data, Files, GeneratedSet, Sets};
use crate::commands::generate::Generate;
use crate::failure::Failure;

/// Refuses data that cannot be had, before a run has a folder.
pub fn check<P: Builtin>(data: &Data, name: &str, labels: Labels) -> Result<(), Failure> {
    match data {
        Data::Files(Files { files }) if files.is_empty() => Err(anyhow!("{name}: the list of files is empty").into()),
        Data::Files(Files { files }) => match files.iter().find(|path| !path.exists()) {
            Some(missing) => {
                let (file, problem) = (missing.display(), P::NAME);
                let hint = format!("bqnco generate {problem} --size N --count N --expert -o {file}");
                Err(anyhow!("{name}: {file} is missing; make it, for instance with `{hint}`").into())
            }
            None => Ok(()),
        },
        Data::Sets(Sets { sets }) if sets.is_empty() => Err(anyhow!("{name}: the list of sets is empty").into()),
        Data::Sets(Sets { sets }) => sets.iter().try_for_each(|made| check_made::<P>(made, name, labels)),
        Data::GeneratedSet(made) => check_made::<P>(made, name, labels),
    }
}

fn check_made<P: Builtin>(made: &GeneratedSet, name: &str, labels: Labels) -> Result<(), Failure> {
    let (size, problem) = (made.size, P::NAME);
    if made.count == 0 {
        return Err(anyhow!("{name}: count = 0 leaves nothing to learn from").into());
    }
    if size == 0 || size as usize > P::LARGEST_SIZE {
        return Err(anyhow!("{name}: size = {size}: expected 1 to {} for {problem}", P::LARGEST_SIZE).into());
    }
    if made.varied && P::generate_varied(1, &mut random(0, &[])).is_none() {
        return Err(anyhow!("{name}: {problem} has no parameter to vary; leave `varied` out").into());
    }
    if !made.expert && labels == Labels::Given {
        return Err(
            anyhow!("{name}: expert = false leaves no solutions to learn from but by [self_improvement]").into()
        );
    }
    Ok(())
}

/// The files of the data, made by the expert where the recipe says how and they are not there yet.
pub fn files<P: Builtin>(data: &Data, name: &str, folder: &Path, quiet: bool) -> Result<Vec<PathBuf>, Failure> {
    match data {
        Data::Files(Files { files }) => Ok(files.clone()),
        Data::Sets(Sets { sets }) => {
            let path = |k: usize| folder.join(format!("{name}-{}.npz", k + 1));
            sets.iter().enumerate().map(|(k, made)| make::<P>(made, path(k), quiet)).collect()
        }
        Data::GeneratedSet(made) => Ok(vec![make::<P>(made, folder.join(format!("{name}.npz")), quiet)?]),
    }
}

fn make<P: Builtin>(made: &GeneratedSet, path: PathBuf, quiet: bool) -> Result<PathBuf, Failure> {
    if !path.exists() {
        if !quiet {
            let who = if made.expert { "the expert solves" } else { "making" };
            eprintln!("{who} {} instances of {} {} for {}", made.count, P::NAME, made.size, path.display());
        }
        Generate::for_training(P::NAME.parse()?, made, path.clone()).quietly(quiet).generate::<P>()?;
    }
    Ok(path)
}

/// CRC-32 of each file, by name.
pub fn checksums(files: &[PathBuf]) -> Result<serde_json::Value, Failure> {
    let mut sums = serde_json::Map::new();
    for path in files {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        sums.insert(path.display().to_string(), format!("crc32:{:08x}", crc32fast::hash(&bytes)).into());
    }
    Ok(sums.into())
}

/// What is expected of instances without a solution.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// There must be none.
    Given,
    /// The greedy heuristic makes one, to be improved during training.
    MadeUp,
}

/// Files of examples, one part each.
pub struct Shards {
    pub files: Vec<PathBuf>,
    pub labels: Labels,
}

impl<P: Builtin> Examples<P> for Shards {
    fn parts(&self) -> usize {
        self.files.len()
    }

    fn load(&self, part: usize) -> Result<Arc<[Example<P>]>, LoadError> {
        Ok(examples::<P>(&self.files[part], self.labels)?.into())
    }
}

/// The examples of a file.
pub fn examples<P: Builtin>(path: &Path, labels: Labels) -> anyhow::Result<Vec<Example<P>>> {
    let file = path.display();
    let records = read::<P>(&Source::open(path)?, &ReadOptions::default())?;
    let examples = records.into_iter().map(|record| {
        let (name, instance) = (record.name, Arc::new(record.instance));
        let steps = match (record.solution, labels) {
            (Some(steps), _) => steps,
            (None, Labels::MadeUp) => {
                rollout::solve::<P>(&GreedyHeuristic, &[Arc::clone(&instance)], &Options::default())?.remove(0).steps
            }
            (None, Labels::Given) => {
                let hint = "`bqnco generate --expert` makes some, and a recipe with [self_improvement] needs none";
                return Err(anyhow!("{file}: {name} has no solution to learn from; {hint}"));
            }
        };
        Example::new(instance, steps).with_context(|| format!("{file}: the solution of {name}"))
    });
    examples.collect()
}
