//! Jobs on disk: an embedded database whose every change survives `kill -9`.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::error::{Problem, ServeError};
use crate::request::Options;

/// Records by id, as JSON.
const JOBS: TableDefinition<&str, &[u8]> = TableDefinition::new("jobs");
/// Bodies of requests by id, until the job has ended.
const BODIES: TableDefinition<&str, &[u8]> = TableDefinition::new("bodies");

/// A job that brought down the server this many times is not tried again.
const MOST_STARTS: u32 = 3;

/// The jobs of a server.
pub struct Store {
    database: Database,
    path: PathBuf,
}

/// A job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Its id, which nobody can guess.
    pub id: String,
    /// Where it stands.
    pub status: Status,
    /// When it was accepted, in seconds since 1970.
    pub submitted: f64,
    /// When it ended.
    pub ended: Option<f64>,
    /// How often it was started.
    pub starts: u32,
    /// The options of the query.
    pub options: Options,
    /// The solution.
    pub result: Option<Answer>,
    /// Why there is none.
    pub error: Option<Problem>,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It waits for a core.
    Queued,
    /// It is being solved.
    Running,
    /// It has a result.
    Done,
    /// It has an error.
    Failed,
    /// It was cancelled; it has a result if there was one by then.
    Cancelled,
    /// The server went down while it was running, several times.
    Interrupted,
}

impl Status {
    /// Whether it will not change any more.
    pub fn has_ended(self) -> bool {
        !matches!(self, Status::Queued | Status::Running)
    }
}

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

type Result<T> = std::result::Result<T, redb::Error>;

impl Store {
    /// Opens the file, or creates it, for its owner only.
    pub fn open(path: &Path) -> std::result::Result<Self, ServeError> {
        let refuse = |reason: String| ServeError::Store { path: path.to_path_buf(), reason };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| refuse(error.to_string()))?;
        }
        create(path).map_err(|error| refuse(error.to_string()))?;
        let database = Database::create(path).map_err(|error| match error {
            redb::DatabaseError::DatabaseAlreadyOpen => refuse("another server is using it".into()),
            error => refuse(error.to_string()),
        })?;
        let store = Store { database, path: path.to_path_buf() };
        store.create_tables().map_err(|error| refuse(error.to_string()))?;
        Ok(store)
    }

    fn create_tables(&self) -> Result<()> {
        let change = self.database.begin_write()?;
        change.open_table(JOBS)?;
        change.open_table(BODIES)?;
        Ok(change.commit()?)
    }

    /// Adds a job, unless there are `most` already.
    pub fn add(&self, record: &Record, body: &[u8], most: usize) -> Result<bool> {
        let change = self.database.begin_write()?;
        {
            let mut jobs = change.open_table(JOBS)?;
            if jobs.len()? >= most as u64 {
                return Ok(false);
            }
            jobs.insert(record.id.as_str(), &*json(record))?;
            change.open_table(BODIES)?.insert(record.id.as_str(), body)?;
        }
        change.commit()?;
        Ok(true)
    }

    /// A job.
    pub fn get(&self, id: &str) -> Result<Option<Record>> {
        let jobs = self.database.begin_read()?.open_table(JOBS)?;
        Ok(jobs.get(id)?.and_then(|bytes| parse(bytes.value())))
    }

    /// The body of a job that has not ended.
    pub fn body(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let bodies = self.database.begin_read()?.open_table(BODIES)?;
        Ok(bodies.get(id)?.map(|bytes| bytes.value().to_vec()))
    }

    /// Changes a job that has not ended; returns it, changed or not.
    pub fn update(&self, id: &str, update: impl FnOnce(&mut Record)) -> Result<Option<Record>> {
        let change = self.database.begin_write()?;
        let mut record = {
            let jobs = change.open_table(JOBS)?;
            let found = jobs.get(id)?.and_then(|bytes| parse(bytes.value()));
            let Some(record) = found else { return Ok(None) };
            record
        };
        if record.status.has_ended() {
            return Ok(Some(record)); // a job ends once
        }
        update(&mut record);
        if record.status.has_ended() {
            record.ended = Some(now());
            change.open_table(BODIES)?.remove(id)?;
        }
        change.open_table(JOBS)?.insert(id, &*json(&record))?;
        change.commit()?;
        Ok(Some(record))
    }

    /// After a start of the server: the jobs to run, in the order of their arrival. Those that were running when the
    /// server went down run again, unless that has happened too often.
    pub fn recover(&self) -> Result<Vec<Record>> {
        let mut waiting = Vec::new();
        for record in self.all()?.into_iter().filter(|record| !record.status.has_ended()) {
            let tried = record.status == Status::Running && record.starts >= MOST_STARTS;
            let status = if tried { Status::Interrupted } else { Status::Queued };
            waiting.extend(self.update(&record.id, |record| record.status = status)?);
        }
        waiting.retain(|record| record.status == Status::Queued);
        waiting.sort_by(|a, b| a.submitted.total_cmp(&b.submitted));
        Ok(waiting)
    }

    /// Removes jobs that ended longer ago than this.
    pub fn expire(&self, keep: Duration) -> Result<()> {
        let oldest = now() - keep.as_secs_f64();
        let change = self.database.begin_write()?;
        change
            .open_table(JOBS)?
            .retain(|_, bytes| parse(bytes).is_some_and(|record| record.ended.is_none_or(|ended| ended >= oldest)))?;
        Ok(change.commit()?)
    }

    /// Number of jobs by status.
    pub fn counts(&self) -> Result<Vec<(Status, usize)>> {
        let mut counts = std::collections::BTreeMap::new();
        self.all()?.into_iter().for_each(|record| *counts.entry(record.status).or_default() += 1);
        Ok(counts.into_iter().collect())
    }

    fn all(&self) -> Result<Vec<Record>> {
        let jobs = self.database.begin_read()?.open_table(JOBS)?;
        let mut all = Vec::new();
        for entry in jobs.iter()? {
            all.extend(parse(entry?.1.value()));
        }
        Ok(all)
    }

    /// The error for a client when the store fails.
    pub fn failed(&self, error: &redb::Error) -> Problem {
        Problem::internal(&format!("{}: {error}", self.path.display()))
    }
}

fn json(record: &Record) -> Vec<u8> {
    serde_json::to_vec(record).expect("a record has text keys only")
}

fn parse(bytes: &[u8]) -> Option<Record> {
    serde_json::from_slice(bytes).ok()
}

#[cfg(unix)]
fn create(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path).map(drop)
}

#[cfg(not(unix))]
fn create(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, submitted: f64) -> Record {
        let options = Options::default();
        let (status, ended) = (Status::Queued, None);
        Record { id: id.into(), status, submitted, ended, starts: 0, options, result: None, error: None }
    }

    #[test]
    fn jobs_end_once_and_survive_a_restart_in_their_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/jobs.redb");
        let store = Store::open(&path).expect("opens");
        for (id, submitted) in [("b", 1.0), ("a", 2.0), ("c", 3.0), ("d", 4.0)] {
            assert!(store.add(&record(id, submitted), b"body", 4).expect("adds"));
        }
        assert!(!store.add(&record("e", 5.0), b"body", 4).expect("no error"), "the store is full");
        let end = |id: &str, status: Status| store.update(id, |record| record.status = status).expect("updates");
        end("c", Status::Done);
        end("c", Status::Failed);
        assert_eq!(store.get("c").expect("reads").map(|record| record.status), Some(Status::Done));
        assert_eq!(store.body("c").expect("reads"), None, "the body of a job that has ended is not kept");
        store.update("d", |record| (record.status, record.starts) = (Status::Running, MOST_STARTS)).expect("updates");
        end("a", Status::Running);
        assert!(matches!(Store::open(&path), Err(ServeError::Store { .. })), "one server at a time");
        drop(store);
        let store = Store::open(&path).expect("opens again");
        let waiting: Vec<String> = store.recover().expect("reads").into_iter().map(|record| record.id).collect();
        assert_eq!(waiting, ["b", "a"]);
        assert_eq!(store.body("a").expect("reads").as_deref(), Some(&b"body"[..]));
        assert_eq!(store.get("d").expect("reads").map(|record| record.status), Some(Status::Interrupted));
        let counts = store.counts().expect("reads");
        assert_eq!(counts, [(Status::Queued, 2), (Status::Done, 1), (Status::Interrupted, 1)]);
        store.expire(Duration::ZERO).expect("expires");
        assert_eq!(store.counts().expect("reads"), [(Status::Queued, 2)]);
    }
}
