//! What all processes have found so far, on disk: each result is written as soon as it is there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bqnco::Result;
use bqnco::journal::{self, Journal};
use bqnco::train::Communicator;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::file_error;

/// A solved instance, as the journal keeps it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub set: String,
    pub method: String,
    pub index: usize,
    /// With the sign a person expects.
    pub cost: f64,
    pub seconds: f64,
    pub wall: f64,
    pub batch: usize,
    pub cut_short: bool,
    pub solution: Vec<usize>,
}

/// A reference by our expert, as its journal keeps it. The key tells the instance, so later runs may use it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ReferenceEntry {
    pub key: String,
    pub rounds: u64,
    pub cost: f64,
}

/// The journals of all processes in the evaluation's folder.
pub(crate) struct Journals<'a> {
    folder: &'a Path,
    settings: Value,
    results: Journal,
    references: Journal,
    /// Results of all processes, when the journals were last read.
    pub entries: Vec<Entry>,
    known: HashMap<(String, u64), f64>, // references by key and rounds
}

impl<'a> Journals<'a> {
    /// Opens them, with what earlier runs have left.
    pub fn open(folder: &'a Path, settings: Value, communicator: &dyn Communicator) -> Result<Self> {
        let rank = communicator.rank();
        let (results, _) = Journal::open::<Entry>(&file(folder, RESULTS, rank), &settings)?;
        let (references, _) = Journal::open::<ReferenceEntry>(&file(folder, REFERENCES, rank), &reference_settings())?;
        let (entries, known) = (Vec::new(), HashMap::new());
        let mut journals = Journals { folder, settings, results, references, entries, known };
        communicator.barrier(); // all files are there, and no process has begun to write
        journals.reread()?;
        communicator.barrier();
        Ok(journals)
    }

    /// Reads what all processes have written.
    pub fn reread(&mut self) -> Result<()> {
        self.entries = read_all(self.folder, RESULTS, &self.settings)?;
        let references: Vec<ReferenceEntry> = read_all(self.folder, REFERENCES, &reference_settings())?;
        self.known = references.into_iter().map(|known| ((known.key, known.rounds), known.cost)).collect();
        Ok(())
    }

    /// The objective of our expert's solution after so many rounds.
    pub fn reference(&self, key: String, rounds: u64) -> Option<f64> {
        self.known.get(&(key, rounds)).copied()
    }

    pub fn add(&mut self, entry: &Entry) -> Result<()> {
        self.results.append(entry)
    }

    pub fn add_reference(&mut self, entry: &ReferenceEntry) -> Result<()> {
        self.references.append(entry)
    }
}

const RESULTS: &str = "journal";
const REFERENCES: &str = "references";

fn reference_settings() -> Value {
    json!({ "references": "by the built-in experts", "version": env!("CARGO_PKG_VERSION") })
}

/// The journal of a process.
fn file(folder: &Path, name: &str, rank: usize) -> PathBuf {
    folder.join(if rank == 0 { format!("{name}.jsonl") } else { format!("{name}-{rank}.jsonl") })
}

/// The entries of all processes of this run and of earlier ones, which may have been more.
fn read_all<E: DeserializeOwned>(folder: &Path, name: &str, settings: &Value) -> Result<Vec<E>> {
    let mut entries = Vec::new();
    for item in std::fs::read_dir(folder).map_err(file_error("cannot list", folder))? {
        let path = item.map_err(file_error("cannot list", folder))?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_ours = file.strip_suffix(".jsonl").and_then(|stem| stem.strip_prefix(name));
        if is_ours.is_some_and(|rank| rank.is_empty() || rank.starts_with('-')) {
            entries.extend(journal::read::<E>(&path, settings)?);
        }
    }
    Ok(entries)
}
