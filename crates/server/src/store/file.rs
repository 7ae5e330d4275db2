//! Jobs in one file: an embedded database whose every change survives `kill -9`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use super::{Change, Record, Result, Running, Status, Store, StoreError, json, now, parse};

/// Records by id, as JSON.
const JOBS: TableDefinition<&str, &[u8]> = TableDefinition::new("jobs");
/// Bodies of requests by id, until the job has ended.
const BODIES: TableDefinition<&str, &[u8]> = TableDefinition::new("bodies");

/// The jobs of one server.
pub struct File {
    database: Database,
    index: Mutex<HashMap<String, Entry>>, // of all jobs; changed after the file, and held meanwhile
}

/// What is asked of many jobs at once: reading all their results would take long.
struct Entry {
    status: Status,
    submitted: f64,
    ended: Option<f64>,
}

impl Entry {
    fn of(record: &Record) -> Self {
        Entry { status: record.status, submitted: record.submitted, ended: record.ended }
    }
}

impl File {
    /// Opens the file, or creates it, for its owner only. What was running when the server went down waits again.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)?;
        }
        create(path)?;
        let database = Database::create(path).map_err(|error| match error {
            redb::DatabaseError::DatabaseAlreadyOpen => StoreError("another server is using it".into()),
            error => error.into(),
        })?;
        let store = File { database, index: Mutex::default() };
        let change = store.database.begin_write()?;
        let (mut index, mut running) = (HashMap::new(), Vec::new()); // results of all together may be large
        for entry in change.open_table(JOBS)?.iter()? {
            let record = parse(entry?.1.value())?;
            index.insert(record.id.clone(), Entry::of(&record));
            running.extend(Some(record).filter(|record| record.status == Status::Running));
        }
        for record in &mut running {
            record.abandon();
            write(&change, record)?;
            index.insert(record.id.clone(), Entry::of(record));
        }
        change.open_table(BODIES)?;
        change.commit()?;
        *store.index() = index;
        Ok(store)
    }

    fn index(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update_in(&self, index: &mut HashMap<String, Entry>, id: &str, change: Change<'_>) -> Result<Option<Record>> {
        let Some(mut record) = self.get(id)? else { return Ok(None) };
        if record.status.has_ended() {
            return Ok(Some(record)); // a job ends once
        }
        change(&mut record);
        let change = self.database.begin_write()?;
        write(&change, &mut record)?;
        change.commit()?;
        index.insert(record.id.clone(), Entry::of(&record));
        Ok(Some(record))
    }
}

impl Store for File {
    fn add(&self, record: &Record, body: &[u8], most: usize) -> Result<bool> {
        let mut index = self.index();
        if index.len() >= most {
            return Ok(false);
        }
        let change = self.database.begin_write()?;
        change.open_table(JOBS)?.insert(record.id.as_str(), json(record)?.as_bytes())?;
        change.open_table(BODIES)?.insert(record.id.as_str(), body)?;
        change.commit()?;
        index.insert(record.id.clone(), Entry::of(record));
        Ok(true)
    }

    fn get(&self, id: &str) -> Result<Option<Record>> {
        let jobs = self.database.begin_read()?.open_table(JOBS)?;
        jobs.get(id)?.map(|bytes| parse(bytes.value())).transpose()
    }

    fn claim(&self) -> Result<Option<(Record, Vec<u8>)>> {
        let mut index = self.index();
        let waiting = index.iter().filter(|(_, entry)| entry.status == Status::Queued);
        let oldest = waiting.min_by(|a, b| a.1.submitted.total_cmp(&b.1.submitted)).map(|(id, _)| id.clone());
        let Some(id) = oldest else { return Ok(None) };
        let Some(record) = self.update_in(&mut index, &id, &mut Record::begin)? else { return Ok(None) };
        let bodies = self.database.begin_read()?.open_table(BODIES)?;
        let body = bodies.get(id.as_str())?.map(|bytes| bytes.value().to_vec());
        Ok(Some((record, body.unwrap_or_default())))
    }

    fn update(&self, id: &str, change: Change<'_>) -> Result<Option<Record>> {
        self.update_in(&mut self.index(), id, change)
    }

    /// There are no other servers; a job that was cancelled in the moment when it was claimed is found here.
    fn beat(&self, running: &[Running]) -> Result<Vec<String>> {
        let mut to_end = Vec::new();
        for job in running {
            if self.get(&job.id)?.is_some_and(|record| record.cancelling) {
                to_end.push(job.id.clone());
            }
        }
        Ok(to_end)
    }

    fn expire(&self, keep: Duration) -> Result<()> {
        let oldest = now() - keep.as_secs_f64();
        let mut index = self.index();
        let old = |entry: &Entry| entry.ended.is_some_and(|ended| ended < oldest);
        let ids: Vec<String> = index.iter().filter(|(_, entry)| old(entry)).map(|(id, _)| id.clone()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let change = self.database.begin_write()?;
        {
            let mut jobs = change.open_table(JOBS)?;
            for id in &ids {
                jobs.remove(id.as_str())?;
            }
        }
        change.commit()?;
        for id in &ids {
            index.remove(id);
        }
        Ok(())
    }

    fn counts(&self) -> Result<Vec<(Status, usize)>> {
        let mut counts = BTreeMap::new();
        self.index().values().for_each(|entry| *counts.entry(entry.status).or_default() += 1);
        Ok(counts.into_iter().collect())
    }
}

/// Writes a record after a change; the body of a job that has ended is not kept.
fn write(change: &WriteTransaction, record: &mut Record) -> Result<()> {
    record.settle();
    if record.status.has_ended() {
        change.open_table(BODIES)?.remove(record.id.as_str())?;
    }
    change.open_table(JOBS)?.insert(record.id.as_str(), json(record)?.as_bytes())?;
    Ok(())
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
    use super::super::MOST_STARTS;
    use super::*;
    use crate::options::Options;

    fn record(id: &str, submitted: f64) -> Record {
        Record { id: id.into(), submitted, ..Record::new(Options::default()) }
    }

    #[test]
    fn jobs_end_once_and_survive_a_restart_in_their_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/jobs.redb");
        let store = File::open(&path).expect("opens");
        for (id, submitted) in [("b", 2.0), ("a", 1.0), ("c", 3.0), ("d", 4.0)] {
            assert!(store.add(&record(id, submitted), id.as_bytes(), 4).expect("adds"));
        }
        assert!(!store.add(&record("e", 5.0), b"body", 4).expect("no error"), "the store is full");
        let set = |id: &str, status: Status, starts: u32| {
            let mut change = |record: &mut Record| (record.status, record.starts) = (status, starts);
            store.update(id, &mut change).expect("updates");
        };
        set("c", Status::Done, 1);
        set("c", Status::Failed, 2);
        assert_eq!(store.get("c").expect("reads").map(|record| record.status), Some(Status::Done));
        set("d", Status::Running, MOST_STARTS);
        let claimed = store.claim().expect("reads").expect("two wait");
        assert_eq!((claimed.0.id.as_str(), claimed.0.starts, &*claimed.1), ("a", 1, &b"a"[..]));
        assert!(File::open(&path).is_err_and(|error| error.0 == "another server is using it"));
        drop(store);
        let store = File::open(&path).expect("opens again");
        assert_eq!(store.get("d").expect("reads").map(|record| record.status), Some(Status::Interrupted));
        let counts = store.counts().expect("reads");
        assert_eq!(counts, [(Status::Queued, 2), (Status::Done, 1), (Status::Interrupted, 1)]);
        let claim = || store.claim().expect("reads").map(|(record, body)| (record.id, record.starts, body));
        assert_eq!(claim(), Some(("a".into(), 2, b"a".to_vec())));
        assert_eq!(claim(), Some(("b".into(), 1, b"b".to_vec())));
        assert_eq!(claim(), None);
        store.expire(Duration::ZERO).expect("expires");
        assert_eq!(store.counts().expect("reads"), [(Status::Running, 2)]);
        assert!(store.get("c").expect("reads").is_none());
    }

    #[test]
    fn a_running_job_that_was_cancelled_is_to_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = File::open(&folder.path().join("jobs.redb")).expect("opens");
        store.add(&record("a", 1.0), b"body", 4).expect("adds");
        let (claimed, _) = store.claim().expect("reads").expect("one waits");
        let running = [Running { id: claimed.id, starts: claimed.starts, best: None }];
        assert!(store.beat(&running).expect("reads").is_empty());
        store.update("a", &mut |record| record.cancelling = true).expect("updates");
        assert_eq!(store.beat(&running).expect("reads"), ["a"]);
    }
}
