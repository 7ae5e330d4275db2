//! Jobs that outlive the server: in a file of its own, or in a PostgreSQL that several servers share.

mod file;
#[cfg(feature = "postgres")]
mod shared;

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::error::{Problem, ServeError};
use crate::options::Options;
use crate::settings::Place;

/// A job that brought down the server this many times is not tried again.
const MOST_STARTS: u32 = 3;

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
    /// How often it was started: a server whose number is lower has lost it to another.
    pub starts: u32,
    /// Whether its owner has cancelled it while it was running.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelling: bool,
    /// The options of the query.
    pub options: Options,
    /// The best so far of a running job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
    /// The solution.
    pub result: Option<Answer>,
    /// Why there is none.
    pub error: Option<Problem>,
}

/// The best of a running job so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Best {
    /// The objective.
    pub value: f64,
    /// Seconds since the work began.
    pub seconds: f64,
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

impl Record {
    /// A job that waits.
    pub fn new(options: Options) -> Self {
        Record {
            id: crate::id::new(),
            status: Status::Queued,
            submitted: now(),
            ended: None,
            starts: 0,
            cancelling: false,
            options,
            best: None,
            result: None,
            error: None,
        }
    }

    /// A server begins to solve it.
    fn begin(&mut self) {
        (self.status, self.starts) = (Status::Running, self.starts + 1);
    }

    /// The server that was solving it went down: it waits again, unless that has happened too often.
    fn abandon(&mut self) {
        self.status = match self.starts {
            _ if self.cancelling => Status::Cancelled,
            MOST_STARTS.. => Status::Interrupted,
            _ => Status::Queued,
        };
    }

    /// What follows from a new status.
    fn settle(&mut self) {
        if self.status != Status::Running {
            (self.best, self.cancelling) = (None, false);
        }
        if self.status.has_ended() {
            self.ended = Some(now());
        }
    }
}

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// A job that is being solved here.
#[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "only a shared store has other servers to tell"))]
pub struct Running {
    /// Its id.
    pub id: String,
    /// [`Record::starts`] when it was claimed.
    pub starts: u32,
    /// Its best so far.
    pub best: Option<Best>,
}

/// A change of a record; it may be asked for twice.
pub type Change<'a> = &'a mut dyn FnMut(&mut Record);

/// Jobs by id. A change is durable when a method returns.
pub trait Store: Send + Sync {
    /// Adds a job with the body of its request, unless there are `most` already.
    fn add(&self, record: &Record, body: &[u8], most: usize) -> Result<bool>;

    /// A job.
    fn get(&self, id: &str) -> Result<Option<Record>>;

    /// The job that has waited longest, with its body; from now on it is running, here and nowhere else.
    fn claim(&self) -> Result<Option<(Record, Vec<u8>)>>;

    /// Changes a job that has not ended; returns it, changed or not.
    fn update(&self, id: &str, change: Change<'_>) -> Result<Option<Record>>;

    /// Tells other servers what is running here, and takes back what was running on servers that went down. Returns the
    /// jobs that are to end: cancelled by their owners, or lost to another server.
    fn beat(&self, running: &[Running]) -> Result<Vec<String>>;

    /// Removes jobs that ended longer ago than this.
    fn expire(&self, keep: Duration) -> Result<()>;

    /// Number of jobs by status.
    fn counts(&self) -> Result<Vec<(Status, usize)>>;
}

/// Opens a store, or creates it.
pub fn open(place: &Place) -> std::result::Result<Box<dyn Store>, ServeError> {
    let refuse = |error: StoreError| ServeError::Store { place: place.to_string(), reason: error.0 };
    match place {
        Place::File(path) => Ok(Box::new(file::File::open(path).map_err(refuse)?)),
        #[cfg(feature = "postgres")]
        Place::Postgres(url) => Ok(Box::new(shared::Shared::open(url).map_err(refuse)?)),
        #[cfg(not(feature = "postgres"))]
        Place::Postgres(_) => {
            Err(refuse(StoreError("this bqnco was built without it; build it with --features postgres".into())))
        }
    }
}

type Result<T> = std::result::Result<T, StoreError>;

/// Why a store failed, in a sentence. No `std::error::Error` itself, so that `?` makes it of all errors.
#[derive(Debug)]
pub struct StoreError(String);

impl<E: std::error::Error> From<E> for StoreError {
    /// The causes of an error are often what matters: databases say "db error" and no more.
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text += &format!(": {error}");
            cause = error.source();
        }
        StoreError(text)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Problem::unavailable(&error.0)
    }
}

fn json(record: &Record) -> Result<String> {
    Ok(serde_json::to_string(record)?)
}

fn parse(json: &[u8]) -> Result<Record> {
    serde_json::from_slice(json)
        .map_err(|error| StoreError(format!("a job cannot be read, another version of bqnco wrote it: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_brings_down_its_server_is_not_tried_for_ever() {
        let mut record = Record::new(Options::default());
        for _ in 1..MOST_STARTS {
            record.begin();
            record.abandon();
            assert_eq!(record.status, Status::Queued);
        }
        record.begin();
        record.abandon();
        record.settle();
        assert_eq!(record.status, Status::Interrupted);
        assert!(record.ended.is_some());
        let mut cancelled = Record { cancelling: true, ..Record::new(Options::default()) };
        cancelled.begin();
        cancelled.abandon();
        assert_eq!(cancelled.status, Status::Cancelled, "its owner does not want it any more");
    }
}
