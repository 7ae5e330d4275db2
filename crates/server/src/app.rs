//! What all requests share.

use std::sync::Arc;

use bqnco::{CancelToken, Solver};
use tokio::sync::{mpsc, oneshot};

use crate::answer::{Answer, Improved};
use crate::error::{Problem, ServeError};
use crate::jobs::Jobs;
use crate::metrics::Metrics;
use crate::pool::{Class, Pool, Ticket};
use crate::settings::{Settings, cores};
use crate::store::Store;
use crate::task::{self, Member, Task};

/// What all requests share.
pub struct App {
    /// What the operator has set.
    pub settings: Settings,
    /// The threads that solve.
    pub pool: Pool<Member>,
    /// Jobs.
    pub jobs: Jobs,
    /// Counts.
    pub metrics: Arc<Metrics>,
    /// For checks before the work; shares its networks with the threads' solvers.
    pub solver: Solver,
    /// Cancelled when the server ends.
    pub ending: CancelToken,
}

/// A solve under way. Dropping it, as when the client hangs up, ends the search.
pub struct Underway {
    /// Improvements; some are left out if nobody reads them.
    pub events: mpsc::Receiver<Improved>,
    answer: Ticket<Answer>,
    cancel: CancelToken,
}

/// Improvements that wait for a slow reader.
const UNREAD: usize = 16;

impl App {
    /// Opens the store and starts the threads.
    pub fn start(settings: Settings, ending: &CancelToken) -> Result<Arc<Self>, ServeError> {
        let solver = Solver::new();
        let threads = (cores() / settings.solves.max(1)).max(1);
        let solvers = (0..settings.solves.max(1)).map(|_| solver.clone().threads(threads));
        let solvers = solvers.collect::<Result<Vec<_>, _>>()?;
        let jobs = Jobs::new(Store::open(&settings.store)?);
        let pool = Pool::start(solvers, settings.limits.queue, task::together).map_err(ServeError::Threads)?;
        let (metrics, ending) = (Arc::default(), ending.clone());
        let app = Arc::new(App { settings, pool, jobs, metrics, solver, ending });
        Jobs::recover(&app)
            .map_err(|problem| ServeError::Store { path: app.settings.store.clone(), reason: problem.message })?;
        Ok(app)
    }

    /// Queues a solve that somebody waits for.
    pub fn solve(self: &Arc<Self>, task: Task) -> Result<Underway, Problem> {
        let cancel = CancelToken::new();
        let (send, events) = mpsc::channel(UNREAD);
        let seconds = task.seconds.as_secs_f64();
        let answer = match task.key() {
            Some(key) => {
                let (answer, ticket) = oneshot::channel();
                let (metrics, cancel) = (Arc::clone(&self.metrics), cancel.clone());
                let member = Member { task, cancel: cancel.clone(), events: send, metrics, answer };
                self.pool.submit_member(&cancel, seconds, key, member)?;
                ticket
            }
            None => {
                let (app, token) = (Arc::clone(self), cancel.clone());
                self.pool.submit(Class::Request, &cancel, seconds, move |solver| {
                    if token.is_cancelled() {
                        return Err(Problem::dropped()); // the client has left while this waited
                    }
                    let observer = |improved: Improved| drop(send.try_send(improved)); // a slow reader misses some
                    app.metrics.timed(|| task.run(solver, &token, &observer))
                })?
            }
        };
        Ok(Underway { events, answer, cancel })
    }
}

impl Underway {
    /// The answer, when it is there.
    pub async fn answer(&mut self) -> Result<Answer, Problem> {
        (&mut self.answer).await.unwrap_or_else(|_| Err(Problem::dropped()))
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
