//! What all requests share.

use std::sync::Arc;

use bqnco::{CancelToken, Solver};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::answer::{Answer, Improved};
use crate::error::{Problem, ServeError};
use crate::jobs::Jobs;
use crate::metrics::Metrics;
use crate::pool::{Class, Pool, Ticket};
use crate::settings::{Settings, cores};
use crate::store;
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
    /// Has a clone per open connection.
    pub connections: Arc<()>,
    /// Requests that may use the store of jobs at a time.
    pub store_calls: Arc<Semaphore>,
    /// Kibibytes for the bodies of requests that are not answered yet.
    room: Arc<Semaphore>,
}

/// Room in memory for the body of a request, given back when the request is answered.
pub struct Room {
    _permit: OwnedSemaphorePermit,
}

/// A solve under way. Dropping it, as when the client hangs up, ends the search.
pub struct Underway {
    /// Improvements; some are left out if nobody reads them.
    pub events: mpsc::Receiver<Improved>,
    answer: Ticket<Answer>,
    cancel: CancelToken,
    _room: Room,
}

/// Requests that use the store of jobs at a time: while a database does not answer, no more threads wait for it.
pub const STORE_CALLS: usize = 4;
/// Improvements that wait for a slow reader.
const UNREAD: usize = 16;
/// So many bodies of the largest size are held at a time, of smaller ones more; and this many KiB at least.
const LARGEST_BODIES: usize = 8;
const LEAST_ROOM: usize = 64 << 10;

impl App {
    /// Opens the store and starts the threads.
    pub fn start(settings: Settings, ending: &CancelToken) -> Result<Arc<Self>, ServeError> {
        let solver = Solver::new();
        let threads = (cores() / settings.solves.max(1)).max(1);
        let solvers = (0..settings.solves.max(1)).map(|_| solver.clone().threads(threads));
        let solvers = solvers.collect::<Result<Vec<_>, _>>()?;
        let jobs = Jobs::new(store::open(&settings.store)?);
        let pool = Pool::start(solvers, settings.limits.queue, task::together).map_err(ServeError::Threads)?;
        let (metrics, connections, ending) = (Arc::default(), Arc::default(), ending.clone());
        let room = LEAST_ROOM.max(LARGEST_BODIES * kibibytes(settings.limits.body) as usize);
        let (room, store_calls) = (Arc::new(Semaphore::new(room)), Arc::new(Semaphore::new(STORE_CALLS)));
        let app = Arc::new(App { settings, pool, jobs, metrics, solver, ending, connections, store_calls, room });
        (0..app.settings.solves).for_each(|_| Jobs::offer(&app)); // what an earlier server has left
        Ok(app)
    }

    /// Room for a body of so many bytes, unless those of other requests fill it.
    pub fn room(&self, bytes: usize) -> Result<Room, Problem> {
        match Arc::clone(&self.room).try_acquire_many_owned(kibibytes(bytes)) {
            Ok(permit) => Ok(Room { _permit: permit }),
            Err(_) => Err(Problem::busy("too many large requests are under way; try again later", 1)),
        }
    }

    /// Queues a solve that somebody waits for.
    pub fn solve(self: &Arc<Self>, task: Task, room: Room) -> Result<Underway, Problem> {
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
        Ok(Underway { events, answer, cancel, _room: room })
    }
}

/// Rounded up.
fn kibibytes(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX >> 4)
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
