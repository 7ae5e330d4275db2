//! The training and validation examples of a recipe.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bqnco_core::GreedyHeuristic;
use bqnco_core::rollout::{self, Options};
use bqnco_io::{Format, ReadOptions, Source, read, write_atomically};
use bqnco_train::{Example, Examples, LoadError};
use serde_json::Value;

use super::RunEvent;
use crate::label::{check_expert, regenerate};
use crate::recipe::{Data, Files, LabelledSet, Sets};
use crate::tails::example;
use crate::{Builtin, CancelToken, Error, Labeller, ProblemName, RecipeError, Result, journal, write_all};

/// How instances without a solution are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unlabelled {
    /// An error.
    Refused,
    /// The greedy heuristic solves them; self-improvement replaces its solutions.
    Heuristic,
}

/// One of the two sets of a recipe.
#[derive(Clone, Copy)]
pub(super) struct DataSet<'a> {
    pub problem: ProblemName,
    pub name: &'static str, // "train" or "validation"
    pub data: &'a Data,
    pub unlabelled: Unlabelled,
}

impl DataSet<'_> {
    /// Rejects unusable data before a run's folder is created.
    pub fn check(&self) -> Result<()> {
        let checked = match self.data {
            Data::Files(Files { files }) if files.is_empty() => Err(RecipeError::EmptyList { list: "files" }.into()),
            Data::Files(Files { files }) => match files.iter().find(|path| !path.exists()) {
                Some(path) => Err(RecipeError::MissingFile { path: path.clone(), problem: self.problem }.into()),
                None => Ok(()),
            },
            Data::Sets(Sets { sets }) if sets.is_empty() => Err(RecipeError::EmptyList { list: "sets" }.into()),
            Data::Sets(Sets { sets }) => sets.iter().try_for_each(|set| self.check_set(set)),
            Data::Set(set) => self.check_set(set),
        };
        checked.map_err(|reason| RecipeError::Set { set: self.name, reason: Box::new(reason) }.into())
    }

    fn check_set(&self, set: &LabelledSet) -> Result<()> {
        set.of(self.problem).check()?;
        if !(1..=set.count).contains(&set.shards) {
            return Err(RecipeError::BadShards { shards: set.shards, count: set.count }.into());
        }
        if set.solutions_only && !set.expert {
            return Err(RecipeError::NothingToKeep.into());
        }
        match (set.expert, self.unlabelled) {
            (true, _) => check_expert(self.problem),
            (false, Unlabelled::Refused) => Err(RecipeError::NoExpertLabels.into()),
            (false, Unlabelled::Heuristic) => Ok(()),
        }
    }

    /// The files; those of generated sets are in the run's folder, and need not exist yet.
    pub fn files(&self, folder: &Path) -> Vec<PathBuf> {
        if let Data::Files(Files { files }) = self.data {
            return files.clone();
        }
        let shards = self.shards();
        let is_alone = matches!(self.data, Data::Set(_)) && shards.len() == 1;
        let number = |k: usize| if is_alone { String::new() } else { format!("-{}", k + 1) };
        let file = |(k, shard): (usize, &Shard<'_>)| match shard.set.solutions_only {
            true => folder.join(format!("{}{}.{LABELS}", self.name, number(k))),
            false => self.set_file(folder, &number(k)),
        };
        shards.iter().enumerate().map(file).collect()
    }

    /// The sets to generate.
    pub fn sets(&self) -> &[LabelledSet] {
        match self.data {
            Data::Files(_) => &[],
            Data::Sets(Sets { sets }) => sets,
            Data::Set(set) => std::slice::from_ref(set),
        }
    }

    /// The parts of the sets to generate, one per file.
    fn shards(&self) -> Vec<Shard<'_>> {
        let mut shards = Vec::new();
        for set in self.sets() {
            let generated = set.of(self.problem);
            shards.extend((1..=set.shards).map(|part| Shard { set, indices: generated.shard(part, set.shards) }));
        }
        shards
    }

    /// Runs of older versions have `exam` instead of `validation`.
    fn set_file(&self, folder: &Path, number: &str) -> PathBuf {
        let path = folder.join(format!("{}{number}.npz", self.name));
        let former = folder.join(format!("exam{number}.npz"));
        if self.name == "validation" && !path.exists() && former.exists() { former } else { path }
    }

    /// Generates the files of sets that do not exist yet.
    pub fn make(&self, folder: &Path, cancel: &CancelToken, on_event: &mut dyn FnMut(RunEvent<'_>)) -> Result<()> {
        for (shard, path) in self.shards().iter().zip(self.files(folder)) {
            if path.exists() {
                journal::remove(&journal::beside(&path))?; // a session may have ended before it could
            } else {
                make(shard, self.problem, &path, cancel, on_event)?;
            }
        }
        Ok(())
    }

    /// CRC-32 of each file, in their order. Not by path: the same data may be reached by several.
    pub fn checksums(&self, folder: &Path) -> Result<Value> {
        let sum = |path: PathBuf| -> Result<String> {
            let bytes = fs::read(&path).map_err(Error::file("cannot read", &path))?;
            Ok(format!("crc32:{:08x}", crc32fast::hash(&bytes)))
        };
        Ok(self.files(folder).into_iter().map(sum).collect::<Result<Vec<String>>>()?.into())
    }
}

/// Extension of files that hold solutions only: the journals of their labelling.
const LABELS: &str = "labels";

/// A part of a set.
struct Shard<'a> {
    set: &'a LabelledSet,
    indices: Range<u64>,
}

fn make(
    shard: &Shard<'_>,
    problem: ProblemName,
    path: &Path,
    cancel: &CancelToken,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> Result<()> {
    let Shard { set, indices } = shard;
    let (generated, journal) = (set.of(problem), journal::beside(path));
    on_event(RunEvent::MakingData { set: &generated, expert: set.expert, path });
    let instances = if set.expert {
        let labeller = Labeller::new().cancel_token(cancel);
        let mut progress = |done, total| on_event(RunEvent::Labelled { done, total });
        labeller.label(&generated, indices.clone(), Some(&journal), &mut progress)?
    } else {
        generated.instances(indices.clone())?
    };
    if set.solutions_only {
        return bqnco_files::rename(&journal, path).map_err(Error::file("cannot write", path));
    }
    write_atomically(path, &write_all(&instances, Format::Npz)?).map_err(Error::file("cannot write", path))?;
    journal::remove(&journal)
}

/// Files of examples, one shard each.
pub(super) struct Parts {
    pub files: Vec<PathBuf>,
    pub unlabelled: Unlabelled,
}

impl<P: Builtin> Examples<P> for Parts {
    fn parts(&self) -> usize {
        self.files.len()
    }

    fn load(&self, part: usize) -> std::result::Result<Arc<[Example<P>]>, LoadError> {
        Ok(examples::<P>(&self.files[part], self.unlabelled)?.into())
    }
}

/// The examples of a file.
pub(super) fn examples<P: Builtin>(path: &Path, unlabelled: Unlabelled) -> Result<Vec<Example<P>>> {
    if path.extension().is_some_and(|extension| extension == LABELS) {
        return regenerate::<P>(path)?.iter().map(example).collect();
    }
    let records = read::<P>(&Source::open(path)?, &ReadOptions::default())?;
    let examples = records.into_iter().map(|record| {
        let (name, instance) = (record.name, Arc::new(record.instance));
        let steps = match (record.solution, unlabelled) {
            (Some(steps), _) => steps,
            (None, Unlabelled::Heuristic) => {
                rollout::solve::<P>(&GreedyHeuristic, &[Arc::clone(&instance)], &Options::default())?.remove(0).steps
            }
            (None, Unlabelled::Refused) => {
                return Err(RecipeError::NoSolution { file: path.to_path_buf(), instance: name }.into());
            }
        };
        Example::new(instance, steps).map_err(Error::infeasible(format!("{}: {name}", path.display())))
    });
    examples.collect()
}
