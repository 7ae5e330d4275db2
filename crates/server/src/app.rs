//! What all requests share.

use std::sync::Arc;

use bqnco::{CancelToken, Solver};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::answer::{Answer, Improved};
use crate::error::{Problem, ServeError};
use crate::jobs::Jobs;
use crate::metrics::Metrics;
use crate::pool::{Class, Pool, Ticket};
use crate::settings::{Limits, Settings, cores};
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
    /// Kibibytes for what is built while large bodies are parsed.
    parse_room: Arc<Semaphore>,
    /// Large bodies that are parsed at a time.
    parsers: Arc<Semaphore>,
}

/// Room in memory for the body of a request, given back when the request is answered.
pub struct Room {
    _permit: OwnedSemaphorePermit,
}

/// Leave to parse a large body, given back when that is done.
pub struct Turn {
    _room: OwnedSemaphorePermit,
    _parser: OwnedSemaphorePermit,
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
/// Bytes above which a body is large. Others are parsed quickly, and no more at a time than the runtime has threads.
const LARGE_BODY: usize = 1 << 20;

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
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits));
        let room = semaphore(LEAST_ROOM.max(LARGEST_BODIES * kibibytes(settings.limits.body) as usize));
        let (store_calls, parse_room) = (semaphore(STORE_CALLS), semaphore(parse_kibibytes(&settings.limits)));
        let parsers = semaphore(settings.solves.clamp(1, cores()));
        let app =
            App { settings, pool, jobs, metrics, solver, ending, connections, store_calls, room, parse_room, parsers };
        let app = Arc::new(app);
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

    /// Leave to parse a body of so many bytes; small ones need none. Large ones take turns, as many at a time as there
    /// are solves, and are refused if what they and others build while they are parsed could fill the memory.
    pub async fn turn(&self, bytes: usize) -> Result<Option<Turn>, Problem> {
        if !is_large(bytes) {
            return Ok(None);
        }
        let Ok(room) = Arc::clone(&self.parse_room).try_acquire_many_owned(kibibytes(parse_bytes(bytes))) else {
            return Err(Problem::busy("too many large requests are being parsed; try again later", 1));
        };
        let parser = Arc::clone(&self.parsers).acquire_owned().await.map_err(|_| Problem::dropped())?;
        Ok(Some(Turn { _room: room, _parser: parser }))
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

/// Whether a body is parsed in turn with other large ones.
pub fn is_large(bytes: usize) -> bool {
    bytes > LARGE_BODY
}

/// Bytes that a reader may need for a body, whatever it claims: what `crates/bqnco/tests/memory.rs` holds readers to.
fn parse_bytes(body: usize) -> usize {
    body.saturating_mul(50).saturating_add(64 << 20)
}

/// Kibibytes for parsing all large bodies: as many as one solve may need, and enough for the largest body.
fn parse_kibibytes(limits: &Limits) -> usize {
    let solve = usize::try_from(limits.memory).unwrap_or(usize::MAX);
    kibibytes(solve.max(parse_bytes(limits.body))) as usize
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use bqnco::kernels::parallel;

    use super::*;
    use crate::options::Options;
    use crate::request::Input;
    use crate::settings::Place;

    const POINTS: &str = "x,y\n0,0\n3,1\n1,5\n4,1\n2,2\n6,5\n3,5\n8,9\n7,9\n3,2\n";

    fn task() -> Task {
        let options = Options { search: Some("expert".into()), seconds: Some(0.1), ..Options::default() };
        let input = Input::read(POINTS.as_bytes(), options, &Limits::default()).expect("an instance");
        input.task(&Limits::default(), POINTS.len(), Duration::ZERO).expect("within the limits")
    }

    #[test]
    fn every_solve_has_its_share_of_the_cores() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Place::File(folder.path().join("jobs.redb"));
        let settings = Settings { solves: 2, store, ..Settings::default() };
        let app = App::start(settings, &CancelToken::new()).expect("it starts");
        let both = Arc::new(Barrier::new(2)); // each on a solving thread of its own
        let submit = || {
            let (both, cancel) = (Arc::clone(&both), CancelToken::new());
            let work = move |solver: &Solver| {
                both.wait();
                let seen = AtomicUsize::new(0);
                let observer = |_: Improved| seen.store(parallel::width(), Ordering::Relaxed);
                let answer = task().run(solver, &CancelToken::new(), &observer);
                answer.map(|_| seen.load(Ordering::Relaxed))
            };
            app.pool.submit(Class::Request, &cancel, 1.0, work).expect("room")
        };
        let tickets = [submit(), submit()];
        let threads = tickets.map(|ticket| ticket.blocking_recv().expect("an answer").expect("a solution"));
        assert_eq!(threads, [(cores() / 2).max(1); 2]);
        app.pool.close();
        app.pool.join();
    }
}
