//! Jobs: accepted now, solved later, their results kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bqnco::{CancelToken, Solver};
use serde::Serialize;

use crate::answer::{Answer, Improved};
use crate::app::{App, is_large};
use crate::error::Problem;
use crate::options::Options;
use crate::pool::{Class, guarded};
use crate::request::Input;
use crate::store::{Best, Record, Running, Status, Store};
use crate::task::Task;

/// The jobs of a server. The store is their queue: a solving thread whose turn it is claims the one that waits longest.
pub struct Jobs {
    store: Box<dyn Store>,
    live: Mutex<HashMap<String, Live>>, // those that run here
    parsing: Mutex<()>,                 // held while a large body is parsed
}

/// A job that is being solved here.
#[derive(Clone)]
struct Live {
    starts: u32, // see `Record::starts`
    cancel: CancelToken,
    best: Arc<Mutex<Option<Best>>>,
}

/// A job as its owner sees it.
#[derive(Serialize)]
pub struct JobView {
    #[serde(flatten)]
    record: Record,
    url: String,
}

impl Jobs {
    /// The jobs in a store.
    pub fn new(store: Box<dyn Store>) -> Self {
        Jobs { store, live: Mutex::default(), parsing: Mutex::default() }
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    fn live(&self) -> MutexGuard<'_, HashMap<String, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts a job whose request was understood: it is stored when this returns.
    pub fn accept(app: &Arc<App>, body: &[u8], options: Options) -> Result<JobView, Problem> {
        let (jobs, most) = (&app.jobs, app.settings.limits.jobs);
        let record = Record::new(options);
        if !jobs.store.add(&record, body, most)? {
            let wait = app.settings.keep.as_secs().clamp(1, 60);
            return Err(Problem::busy(format!("{most} jobs are stored already; the oldest will expire"), wait));
        }
        Self::offer(app);
        Ok(jobs.view(record))
    }

    /// Lets a solving thread look for a job, unless as many will look as there are threads. A pool that is closed leaves
    /// jobs in the store, for the next start.
    pub fn offer(app: &Arc<App>) {
        if app.pool.load().1 >= app.settings.solves.max(1) {
            return;
        }
        let (work, cancel) = (Arc::clone(app), CancelToken::new());
        let token = cancel.clone();
        let _ = app.pool.submit(Class::Job, &cancel, 0.0, move |solver| {
            if let Some((record, body)) = work.jobs.store.claim()? {
                work.jobs.run(&work, solver, &record, &body, &token);
                Self::offer(&work); // more may wait
            }
            Ok(())
        });
    }

    /// Every second: ends jobs that are not wanted any more, takes up those of servers that went down, and looks for work
    /// that other servers have accepted.
    pub fn tend(app: &Arc<App>) -> Result<(), Problem> {
        let running: Vec<Running> = app.jobs.live().iter().map(|(id, live)| live.running(id)).collect();
        for id in app.jobs.store.beat(&running)? {
            app.jobs.stop(&id);
        }
        Self::offer(app);
        Ok(())
    }

    /// Solves a job.
    fn run(&self, app: &App, solver: &Solver, record: &Record, body: &[u8], cancel: &CancelToken) {
        let live = Live { starts: record.starts, cancel: cancel.clone(), best: Arc::default() };
        if let Some(lost) = self.live().insert(record.id.clone(), live.clone()) {
            lost.cancel.cancel(); // this server had lost the job, and now has it again
        }
        let observer = |improved: Improved| {
            let best = Best { value: improved.value, seconds: improved.seconds };
            *live.best.lock().unwrap_or_else(PoisonError::into_inner) = Some(best);
        };
        let outcome = guarded(|| {
            let task = self.task(app, record, body)?;
            app.metrics.timed(|| task.run(solver, cancel, &observer))
        });
        let outcome = outcome.and_then(|outcome| outcome);
        let ended = self.store.update(&record.id, &mut |stored| {
            if (stored.status, stored.starts) == (Status::Running, record.starts) {
                end(stored, &outcome, cancel); // otherwise another server has it
            }
        });
        self.forget(record);
        if let Err(error) = ended {
            drop(Problem::from(error)); // logged; the job runs again at the next start, or on another server
        }
    }

    /// What a job asks for. Large bodies are parsed one after the other: together they could fill the memory.
    fn task(&self, app: &App, record: &Record, body: &[u8]) -> Result<Task, Problem> {
        let parsing = is_large(body.len()).then(|| self.parsing.lock().unwrap_or_else(PoisonError::into_inner));
        let (started, limits) = (Instant::now(), &app.settings.limits);
        let input = Input::read(body, record.options.clone(), limits)?;
        drop(parsing);
        input.task(limits, body.len(), started.elapsed())
    }

    /// A job is no longer solved here, unless it was claimed again meanwhile.
    fn forget(&self, record: &Record) {
        let mut all = self.live();
        if all.get(&record.id).is_some_and(|live| live.starts == record.starts) {
            all.remove(&record.id);
        }
    }

    /// A job.
    pub fn get(&self, id: &str) -> Result<Option<JobView>, Problem> {
        if !crate::id::is_one(id) {
            return Ok(None);
        }
        Ok(self.store.get(id)?.map(|record| self.view(record)))
    }

    /// Cancels a job; what it has found so far becomes its result.
    pub fn cancel(&self, id: &str) -> Result<Option<JobView>, Problem> {
        if !crate::id::is_one(id) {
            return Ok(None);
        }
        let record = self.store.update(id, &mut |record| match record.status {
            Status::Queued => record.status = Status::Cancelled,
            _ => record.cancelling = true,
        })?;
        self.stop(id); // if it runs here; another server asks the store
        Ok(record.map(|record| self.view(record)))
    }

    fn stop(&self, id: &str) {
        if let Some(live) = self.live().get(id) {
            live.cancel.cancel();
        }
    }

    fn view(&self, mut record: Record) -> JobView {
        if let (Status::Running, Some(live)) = (record.status, self.live().get(&record.id)) {
            record.best = live.best();
        }
        JobView { url: format!("/v1/jobs/{}", record.id), record }
    }
}

/// Enters the outcome of a search. One that was stopped because the server ends is as good as none: the job waits again.
fn end(record: &mut Record, outcome: &Result<Answer, Problem>, cancel: &CancelToken) {
    let stopped = cancel.is_cancelled() && !record.cancelling;
    match outcome {
        Ok(answer) if stopped && answer.cut_short => record.status = Status::Queued,
        Err(_) if stopped => record.status = Status::Queued,
        Ok(answer) => {
            record.status = if record.cancelling && answer.cut_short { Status::Cancelled } else { Status::Done };
            record.result = Some(answer.clone());
        }
        Err(_) if record.cancelling => record.status = Status::Cancelled,
        Err(problem) => (record.status, record.error) = (Status::Failed, Some(problem.clone())),
    }
}

impl Live {
    fn best(&self) -> Option<Best> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn running(&self, id: &str) -> Running {
        Running { id: id.into(), starts: self.starts, best: self.best() }
    }
}

impl JobView {
    /// Where to look for it.
    pub fn url(&self) -> &str {
        &self.url
    }
}
