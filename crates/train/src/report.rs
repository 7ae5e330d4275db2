//! The metrics of a run: JSON lines, a CSV table and TensorBoard events in the run's folder.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::tensorboard::EventFile;
use crate::{Folder, TrainError};

/// A row of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricsRow {
    /// Updates made so far.
    pub step: u64,
    /// Tails seen so far.
    pub samples: u64,
    /// Mean loss since the row before.
    pub loss: f64,
    /// Learning rate.
    pub rate: f64,
    /// Greedy gap on the validation set in percent, where it was measured.
    pub gap: Option<f64>,
    /// Time spent on training and validation, over all sessions.
    pub seconds: f64,
    /// Tails per second of training since the row before.
    pub samples_per_second: f64,
}

/// The metrics files of a run.
pub(crate) struct Report {
    json: File,
    csv: File,
    events: EventFile,
    rows: Vec<MetricsRow>,
    path: PathBuf,
}

const JSON: &str = "metrics.jsonl";
const CSV: &str = "metrics.csv";
const HEAD: &str = "step,samples,loss,rate,gap,seconds,samples_per_second\n";

impl Report {
    /// Opens the metrics of a run that has made `step` updates; later rows, of work that was lost, are dropped.
    pub(crate) fn open(folder: &Folder, step: u64) -> Result<Self, TrainError> {
        let rows: Vec<MetricsRow> = read_metrics(folder.path()).into_iter().filter(|row| row.step <= step).collect();
        let json: String = rows.iter().map(json).collect();
        let csv: String = std::iter::once(HEAD.to_string()).chain(rows.iter().map(csv)).collect();
        folder.write(JSON, json.as_bytes())?;
        folder.write(CSV, csv.as_bytes())?;
        let path = folder.path().to_path_buf();
        let failed = |source| TrainError::File { path: path.clone(), source };
        let append = |name: &str| OpenOptions::new().append(true).open(path.join(name)).map_err(failed);
        let (json, csv) = (append(JSON)?, append(CSV)?);
        let events = EventFile::create(&path, now()).map_err(failed)?;
        Ok(Report { json, csv, events, rows, path })
    }

    pub(crate) fn add(&mut self, row: MetricsRow) -> Result<(), TrainError> {
        self.write(&row).map_err(|source| TrainError::File { path: self.path.clone(), source })?;
        self.rows.push(row);
        Ok(())
    }

    fn write(&mut self, row: &MetricsRow) -> io::Result<()> {
        self.json.write_all(json(row).as_bytes())?;
        self.csv.write_all(csv(row).as_bytes())?;
        let mut numbers = vec![("loss", row.loss), ("rate", row.rate), ("samples per second", row.samples_per_second)];
        numbers.extend(row.gap.map(|gap| ("greedy gap", gap)));
        self.events.scalars(now(), row.step, &numbers)
    }

    /// Waits until all rows are on the disk. Before a state is saved: rows before it are not written again.
    pub(crate) fn sync(&self) -> Result<(), TrainError> {
        let synced = self.json.sync_data().and_then(|()| self.csv.sync_data());
        synced.map_err(|source| TrainError::File { path: self.path.clone(), source })
    }

    pub(crate) fn into_rows(self) -> Vec<MetricsRow> {
        self.rows
    }
}

/// The metrics of the run in a folder; incomplete lines of an interrupted write are left out.
pub fn read_metrics(folder: &Path) -> Vec<MetricsRow> {
    let text = std::fs::read_to_string(folder.join(JSON)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn json(row: &MetricsRow) -> String {
    serde_json::to_string(row).expect("numbers can be written as JSON") + "\n"
}

fn csv(row: &MetricsRow) -> String {
    let MetricsRow { step, samples, loss, rate, gap, seconds, samples_per_second } = row;
    let gap = gap.map(|gap| gap.to_string()).unwrap_or_default();
    format!("{step},{samples},{loss},{rate},{gap},{seconds:.3},{samples_per_second:.1}\n")
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}
