//! Jobs in a PostgreSQL that several servers share.
//!
//! Whoever has a free thread claims the job that has waited longest (`FOR UPDATE SKIP LOCKED`: nobody waits for another's
//! claim). While it runs, its server tells so every second ([`Store::beat`]); a job of which nothing was heard for
//! [`SILENCE`], by the clock of the database, is up for another server. Should the first one live after all, the job ends
//! once: by whoever is first.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use postgres::{Client, Config, NoTls, Row, Transaction};

use super::{Change, Record, Result, Running, Status, Store, StoreError, json, now, parse};

/// A server that says nothing of a job for so long has gone down.
const SILENCE: Duration = Duration::from_secs(10);
/// How long a connection may take, and for how long nobody tries again after that: others would wait for nothing.
const CONNECT: Duration = Duration::from_secs(3);
/// The number of the lock under which tables are created and jobs are counted.
const LOCK: i64 = 0x6271_6e63_6f00_0001; // "bqnco", 1

const CREATE: &str = "
    CREATE TABLE IF NOT EXISTS bqnco_jobs (
        id text PRIMARY KEY,
        record text NOT NULL, -- JSON; the columns below repeat what queries need
        status text NOT NULL,
        submitted double precision NOT NULL,
        ended double precision,
        seen timestamptz, -- when its server last said that it is running
        body bytea -- of the request, until the job has ended
    );
    CREATE INDEX IF NOT EXISTS bqnco_jobs_waiting ON bqnco_jobs (submitted) WHERE status = 'queued';
    CREATE INDEX IF NOT EXISTS bqnco_jobs_running ON bqnco_jobs (seen) WHERE status = 'running';";

/// The jobs of several servers.
pub struct Shared {
    config: Config,
    connection: Mutex<Connection>,
}

#[derive(Default)]
struct Connection {
    client: Option<Client>,
    failed: Option<Instant>, // the last attempt
    since: Option<Instant>,  // when the connection was made
}

impl Shared {
    /// Connects, and creates the tables if there are none.
    pub fn open(url: &str) -> Result<Self> {
        let mut config: Config = url.parse()?;
        if let (None, Ok(password)) = (config.get_password(), std::env::var("PGPASSWORD")) {
            config.password(password);
        }
        config.application_name("bqnco").connect_timeout(CONNECT);
        config.tcp_user_timeout(SILENCE).keepalives_idle(SILENCE);
        let store = Shared { config, connection: Mutex::default() };
        store.transact(|change| {
            change.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
            Ok(change.batch_execute(CREATE)?)
        })?;
        Ok(store)
    }

    /// Runs a transaction; once more on a new connection if the database has closed this one. All of them may be run twice.
    fn transact<T>(&self, mut work: impl FnMut(&mut Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let old = connection.client.take().filter(|client| !client.is_closed());
        if let Some(mut client) = old {
            let done = run(&mut client, &mut work);
            if done.is_ok() || (client.check_connection().is_ok() && !client.is_closed()) {
                connection.client = Some(client);
                return done;
            }
        }
        let mut client = self.connect(&mut connection)?;
        let done = run(&mut client, &mut work);
        connection.client = Some(client);
        done
    }

    fn connect(&self, connection: &mut Connection) -> Result<Client> {
        if connection.failed.is_some_and(|failed| failed.elapsed() < CONNECT) {
            return Err(StoreError("the database could not be reached just now".into()));
        }
        connection.failed = Some(Instant::now());
        let mut client = self.config.connect(NoTls)?;
        client.batch_execute("SET statement_timeout = '10s'; SET idle_in_transaction_session_timeout = '30s'")?;
        (connection.failed, connection.since) = (None, Some(Instant::now()));
        Ok(client)
    }

    /// Whether this server has listened long enough to tell that another is silent. After the database was down all are.
    fn can_judge(&self) -> bool {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.since.is_some_and(|since| since.elapsed() > SILENCE)
    }
}

fn run<T>(client: &mut Client, work: &mut impl FnMut(&mut Transaction<'_>) -> Result<T>) -> Result<T> {
    let mut change = client.transaction()?;
    let result = work(&mut change)?; // an error drops the transaction, which undoes it
    change.commit()?;
    Ok(result)
}

impl Store for Shared {
    fn add(&self, record: &Record, body: &[u8], most: usize) -> Result<bool> {
        let json = json(record)?;
        self.transact(|change| {
            change.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?; // so that the number is exact
            let count: i64 = change.query_one("SELECT count(*) FROM bqnco_jobs", &[])?.try_get(0)?;
            if count >= most as i64 {
                return Ok(false);
            }
            let add = "INSERT INTO bqnco_jobs (id, record, status, submitted, body) VALUES ($1, $2, $3, $4, $5)
                       ON CONFLICT (id) DO NOTHING";
            change.execute(add, &[&record.id, &json, &name(record.status)?, &record.submitted, &body])?;
            Ok(true)
        })
    }

    fn get(&self, id: &str) -> Result<Option<Record>> {
        let row =
            self.transact(|change| Ok(change.query_opt("SELECT record FROM bqnco_jobs WHERE id = $1", &[&id])?))?;
        row.as_ref().map(record).transpose()
    }

    fn claim(&self) -> Result<Option<(Record, Vec<u8>)>> {
        self.transact(|change| {
            let next = "SELECT record, body FROM bqnco_jobs WHERE status = 'queued' ORDER BY submitted LIMIT 1
                        FOR UPDATE SKIP LOCKED";
            let Some(row) = change.query_opt(next, &[])? else { return Ok(None) };
            let (mut record, body) = (record(&row)?, row.try_get::<_, Option<Vec<u8>>>(1)?);
            record.begin();
            write(change, &mut record)?;
            change.execute("UPDATE bqnco_jobs SET seen = now() WHERE id = $1", &[&record.id])?;
            Ok(Some((record, body.unwrap_or_default())))
        })
    }

    fn update(&self, id: &str, change: Change<'_>) -> Result<Option<Record>> {
        self.transact(|transaction| {
            let Some(mut record) = locked(transaction, id)? else { return Ok(None) };
            if !record.status.has_ended() {
                change(&mut record);
                write(transaction, &mut record)?;
            }
            Ok(Some(record)) // a job ends once
        })
    }

    fn beat(&self, running: &[Running]) -> Result<Vec<String>> {
        let mut to_end = Vec::new();
        for job in running {
            let goes_on = self.transact(|change| {
                let Some(mut record) = locked(change, &job.id)? else { return Ok(false) };
                if record.status != Status::Running || record.starts != job.starts {
                    return Ok(false); // another server has it
                }
                record.best.clone_from(&job.best);
                write(change, &mut record)?;
                change.execute("UPDATE bqnco_jobs SET seen = now() WHERE id = $1", &[&job.id])?;
                Ok(!record.cancelling)
            })?;
            if !goes_on {
                to_end.push(job.id.clone());
            }
        }
        if !self.can_judge() {
            return Ok(to_end);
        }
        self.transact(|change| {
            let lost = "SELECT record FROM bqnco_jobs
                        WHERE status = 'running' AND seen < now() - make_interval(secs => $1) FOR UPDATE SKIP LOCKED";
            for row in change.query(lost, &[&SILENCE.as_secs_f64()])? {
                let mut record = record(&row)?;
                record.abandon();
                write(change, &mut record)?;
            }
            Ok(())
        })?;
        Ok(to_end)
    }

    fn expire(&self, keep: Duration) -> Result<()> {
        let oldest = now() - keep.as_secs_f64();
        self.transact(|change| Ok(change.execute("DELETE FROM bqnco_jobs WHERE ended < $1", &[&oldest])?)).map(drop)
    }

    fn counts(&self) -> Result<Vec<(Status, usize)>> {
        let rows =
            self.transact(|change| Ok(change.query("SELECT status, count(*) FROM bqnco_jobs GROUP BY status", &[])?))?;
        let mut counts = Vec::new();
        for row in rows {
            let (status, count): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
            counts.push((serde_json::from_value(status.into())?, count as usize));
        }
        counts.sort_unstable();
        Ok(counts)
    }
}

fn record(row: &Row) -> Result<Record> {
    parse(row.try_get::<_, &str>(0)?.as_bytes())
}

/// A job that nobody else can change until the transaction has ended.
fn locked(change: &mut Transaction<'_>, id: &str) -> Result<Option<Record>> {
    let row = change.query_opt("SELECT record FROM bqnco_jobs WHERE id = $1 FOR UPDATE", &[&id])?;
    row.as_ref().map(record).transpose()
}

/// Writes a record after a change; the body of a job that has ended is not kept.
fn write(change: &mut Transaction<'_>, record: &mut Record) -> Result<()> {
    record.settle();
    let write = "UPDATE bqnco_jobs SET record = $2, status = $3, ended = $4,
                 body = CASE WHEN $4::float8 IS NULL THEN body END WHERE id = $1";
    change.execute(write, &[&record.id, &json(record)?, &name(record.status)?, &record.ended])?;
    Ok(())
}

/// A status as in JSON.
fn name(status: Status) -> Result<String> {
    Ok(serde_json::from_value(serde_json::to_value(status)?)?)
}
