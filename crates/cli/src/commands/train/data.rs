//! The examples of a recipe.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use bqnco::Builtin;
use bqnco::io::{ReadOptions, Source, read};
use bqnco::train::{Example, Examples, LoadError};

use super::recipe::{Data, Files};
use crate::commands::generate::Generate;
use crate::failure::Failure;

/// The files of the data, made by the expert where the recipe says how and they are not there yet.
pub fn files<P: Builtin>(data: &Data, name: &str, folder: &Path, quiet: bool) -> Result<Vec<PathBuf>, Failure> {
    match data {
        Data::Files(Files { files }) => {
            if let Some(missing) = files.iter().find(|path| !path.exists()) {
                let (file, problem) = (missing.display(), P::NAME);
                let hint = format!("bqnco generate {problem} --size N --count N --expert -o {file}");
                return Err(anyhow!("{name}: {file} is missing; make it, for instance with `{hint}`").into());
            }
            Ok(files.clone())
        }
        Data::Made(made) => {
            let path = folder.join(format!("{name}.npz"));
            if !path.exists() {
                if !quiet {
                    eprintln!(
                        "the expert solves {} instances of {} {} for {}",
                        made.count,
                        P::NAME,
                        made.size,
                        path.display()
                    );
                }
                Generate::labelled(P::NAME.parse()?, made, path.clone()).quietly(quiet).generate::<P>()?;
            }
            Ok(vec![path])
        }
    }
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

/// Files of examples, one part each.
pub struct Shards(pub Vec<PathBuf>);

impl<P: Builtin> Examples<P> for Shards {
    fn parts(&self) -> usize {
        self.0.len()
    }

    fn load(&self, part: usize) -> Result<Arc<[Example<P>]>, LoadError> {
        Ok(examples::<P>(&self.0[part])?.into())
    }
}

/// The examples of a file; every record must have a solution.
pub fn examples<P: Builtin>(path: &Path) -> anyhow::Result<Vec<Example<P>>> {
    let file = path.display();
    let records = read::<P>(&Source::open(path)?, &ReadOptions::default())?;
    let examples = records.into_iter().map(|record| {
        let name = record.name;
        let steps = record.solution.ok_or_else(|| {
            anyhow!("{file}: {name} has no solution to learn from; `bqnco generate --expert` makes some")
        })?;
        Example::new(Arc::new(record.instance), steps).with_context(|| format!("{file}: the solution of {name}"))
    });
    examples.collect()
}
