//! Jobs: accepted now, solved later, their results kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bqnco::CancelToken;
use serde::Serialize;

use crate::answer::Improved;
use crate::app::App;
use crate::error::Problem;
use crate::pool::Class;
use crate::request::{Input, Options};
use crate::store::{Record, Status, Store, now};
use crate::task::Task;

/// The jobs of a server.
pub struct Jobs {
    store: Store,
    live: Mutex<HashMap<String, Live>>, // queued and running ones
}

/// A job that has not ended.
#[derive(Clone, Default)]
struct Live {
    cancel: CancelToken,
    cancelled: CancelToken, // by its owner, and not because the server ends
    best: Arc<Mutex<Option<Best>>>,
}

/// The best of a running job so far.
#[derive(Clone, Serialize)]
pub struct Best {
    value: f64,
    seconds: f64,
}

/// A job as its owner sees it.
#[derive(Serialize)]
pub struct JobView {
    #[serde(flatten)]
    record: Record,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<Best>,
    url: String,
}

impl Jobs {
    /// The jobs in a store.
    pub fn new(store: Store) -> Self {
        Jobs { store, live: Mutex::default() }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    fn live(&self) -> MutexGuard<'_, HashMap<String, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts a job whose request was understood: it is on disk when this returns.
    pub fn accept(app: &Arc<App>, body: &[u8], options: Options, seconds: f64) -> Result<JobView, Problem> {
        let (jobs, most) = (&app.jobs, app.settings.limits.jobs);
        let record = Record {
            id: crate::id::new(),
            status: Status::Queued,
            submitted: now(),
            ended: None,
            starts: 0,
            options,
            result: None,
            error: None,
        };
        if !jobs.store.add(&record, body, most).map_err(|error| jobs.store.failed(&error))? {
            let wait = app.settings.keep.as_secs().clamp(1, 60);
            return Err(Problem::busy(format!("{most} jobs are stored already; the oldest will expire"), wait));
        }
        Self::enqueue(app, &record.id, seconds);
        Ok(jobs.view(record))
    }

    /// Takes up what was waiting or running when the server went down.
    pub fn recover(app: &Arc<App>) -> Result<(), Problem> {
        let waiting = app.jobs.store.recover().map_err(|error| app.jobs.store.failed(&error))?;
        for record in waiting {
            Self::enqueue(app, &record.id, app.settings.limits.seconds);
        }
        Ok(())
    }

    fn enqueue(app: &Arc<App>, id: &str, seconds: f64) {
        let live = Live::default();
        app.jobs.live().insert(id.to_string(), live.clone());
        let (work, id) = (Arc::clone(app), id.to_string());
        let cancel = live.cancel.clone();
        // A pool that is closed leaves the job in the store, for the next start.
        let _ = app.pool.submit(Class::Job, &cancel, seconds, move |solver| {
            let guard = EndGuard { app: &work, id: &id };
            guard.app.jobs.run(guard.app, solver, &id, &live);
            Ok(())
        });
    }

    /// Runs a job on a solving thread.
    fn run(&self, app: &App, solver: &bqnco::Solver, id: &str, live: &Live) {
        let begin = |record: &mut Record| {
            if live.cancelled.is_cancelled() {
                record.status = Status::Cancelled;
            } else {
                (record.status, record.starts) = (Status::Running, record.starts + 1);
            }
        };
        let record = match self.store.update(id, begin) {
            Ok(Some(record)) if record.status == Status::Running => record,
            Ok(_) => return, // cancelled or expired
            Err(error) => return drop(self.store.failed(&error)),
        };
        let observer = |improved: Improved| {
            let best = Best { value: improved.value, seconds: improved.seconds };
            *live.best.lock().unwrap_or_else(PoisonError::into_inner) = Some(best);
        };
        let task = self.task(app, &record);
        let outcome = task.and_then(|task| app.metrics.timed(|| task.run(solver, &live.cancel, &observer)));
        let ended = self.store.update(id, |record| {
            let stopped = live.cancel.is_cancelled() && !live.cancelled.is_cancelled();
            match outcome {
                // The server ends: the job runs again at its next start.
                Ok(answer) if stopped && answer.cut_short => record.status = Status::Queued,
                Err(_) if stopped => record.status = Status::Queued,
                Ok(answer) => {
                    let cancelled = live.cancelled.is_cancelled() && answer.cut_short;
                    record.status = if cancelled { Status::Cancelled } else { Status::Done };
                    record.result = Some(answer);
                }
                Err(_) if live.cancelled.is_cancelled() => record.status = Status::Cancelled,
                Err(problem) => {
                    (record.status, record.error) = (Status::Failed, Some(problem));
                }
            }
        });
        if let Err(error) = ended {
            drop(self.store.failed(&error)); // logged; the job runs again at the next start
        }
    }

    fn task(&self, app: &App, record: &Record) -> Result<Task, Problem> {
        let limits = &app.settings.limits;
        let body = self.store.body(&record.id).map_err(|error| self.store.failed(&error))?.unwrap_or_default();
        Input::read(&body, record.options.clone(), limits)?.task(limits, body.len())
    }

    /// A job.
    pub fn get(&self, id: &str) -> Result<Option<JobView>, Problem> {
        let record = self.store.get(id).map_err(|error| self.store.failed(&error))?;
        Ok(record.map(|record| self.view(record)))
    }

    /// Cancels a job; what it has found so far becomes its result.
    pub fn cancel(&self, id: &str) -> Result<Option<JobView>, Problem> {
        let live = self.live().get(id).cloned();
        if let Some(live) = live {
            live.cancelled.cancel();
            live.cancel.cancel();
        }
        let cancel = |record: &mut Record| {
            if record.status == Status::Queued {
                record.status = Status::Cancelled;
            }
        };
        let record = self.store.update(id, cancel).map_err(|error| self.store.failed(&error))?;
        Ok(record.map(|record| self.view(record)))
    }

    fn view(&self, record: Record) -> JobView {
        let best = self
            .live()
            .get(&record.id)
            .and_then(|live| live.best.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let url = format!("/v1/jobs/{}", record.id);
        JobView { best: best.filter(|_| !record.status.has_ended()), record, url }
    }
}

impl JobView {
    /// Where to look for it.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Ends a job whose work has panicked, and forgets that it was live.
struct EndGuard<'a> {
    app: &'a App,
    id: &'a str,
}

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        let jobs = &self.app.jobs;
        if std::thread::panicking() {
            let problem = Problem::internal(&format!("the job {} has panicked", self.id));
            let fail = |record: &mut Record| (record.status, record.error) = (Status::Failed, Some(problem));
            if let Err(error) = jobs.store.update(self.id, fail) {
                drop(jobs.store.failed(&error));
            }
        }
        jobs.live().remove(self.id);
    }
}
