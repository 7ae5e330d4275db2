//! The threads that solve, and the bounded queue before them.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bqnco::{CancelToken, Solver};
use tokio::sync::oneshot;

use crate::error::Problem;

/// Solving threads, each with a solver of its own that shares the networks of the others. `M` is a request that can be
/// solved together with others.
pub(crate) struct Pool<M> {
    shared: Arc<Shared<M>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared<M> {
    state: Mutex<State<M>>,
    wake: Condvar,
    queue: usize, // requests that may wait
    workers: usize,
    together: fn(&Solver, Vec<M>), // solves requests of one key
}

struct State<M> {
    requests: VecDeque<Work<M>>, // somebody waits for these
    jobs: VecDeque<Work<M>>,
    running: HashMap<u64, CancelToken>,
    started: u64,   // the number of works, for the keys of `running`
    job_next: bool, // if both wait, they take turns
    closed: bool,
}

/// Something to do on a solving thread.
struct Work<M> {
    cancel: CancelToken,
    seconds: f64, // at most
    run: Run<M>,
}

enum Run<M> {
    One(Box<dyn FnOnce(&Solver) + Send>),
    Member { key: String, member: M }, // can be solved together with others of the same key
}

/// The most members of a batch: a request waits for all of them.
const TOGETHER: usize = 8;

/// Who waits for the work.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Class {
    /// A client with an open connection.
    Request,
    /// Nobody: it is a look for a job in the store, where its result goes, too.
    Job,
}

/// Why work was not accepted.
#[derive(Debug, PartialEq)]
pub(crate) enum Refused {
    /// The queue is full.
    Full { waiting: usize, retry_after: u64 },
    /// The pool takes no more work.
    Closed,
}

/// The result to come; dropped work has none.
pub(crate) type Ticket<T> = oneshot::Receiver<Result<T, Problem>>;

impl<M: Send + 'static> Pool<M> {
    /// Starts one thread per solver.
    pub fn start(solvers: Vec<Solver>, queue: usize, together: fn(&Solver, Vec<M>)) -> std::io::Result<Self> {
        let state = Mutex::new(State {
            requests: VecDeque::new(),
            jobs: VecDeque::new(),
            running: HashMap::new(),
            started: 0,
            job_next: false,
            closed: false,
        });
        let shared = Arc::new(Shared { state, wake: Condvar::new(), queue, workers: solvers.len(), together });
        let spawn = |(index, solver): (usize, Solver)| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("solve-{index}")).spawn(move || shared.serve(&solver))
        };
        let threads = solvers.into_iter().enumerate().map(spawn).collect::<Result<_, _>>()?;
        Ok(Pool { shared, threads: Mutex::new(threads) })
    }

    /// Queues work; a panic in it becomes an error with an id.
    pub fn submit<T: Send + 'static>(
        &self,
        class: Class,
        cancel: &CancelToken,
        seconds: f64,
        work: impl FnOnce(&Solver) -> Result<T, Problem> + Send + 'static,
    ) -> Result<Ticket<T>, Refused> {
        let (send, ticket) = oneshot::channel();
        let run = move |solver: &Solver| {
            let _ = send.send(guarded(|| work(solver)).and_then(|result| result)); // nobody may be waiting any more
        };
        self.push(class, Work { cancel: cancel.clone(), seconds, run: Run::One(Box::new(run)) })?;
        Ok(ticket)
    }

    /// Queues a request that may be solved together with others of the same key.
    pub fn submit_member(&self, cancel: &CancelToken, seconds: f64, key: String, member: M) -> Result<(), Refused> {
        self.push(Class::Request, Work { cancel: cancel.clone(), seconds, run: Run::Member { key, member } })
    }

    fn push(&self, class: Class, work: Work<M>) -> Result<(), Refused> {
        let mut state = self.shared.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        match class {
            Class::Job => state.jobs.push_back(work), // bounded by those who submit it
            Class::Request => {
                if state.requests.len() >= self.shared.queue {
                    state.requests.retain(|work| !work.cancel.is_cancelled()); // their clients have left
                }
                // Idle threads have not taken their work yet, but it does not wait.
                let idle = self.shared.workers.saturating_sub(state.running.len());
                if state.requests.len() >= self.shared.queue + idle {
                    return Err(state.full(self.shared.workers));
                }
                state.requests.push_back(work);
            }
        }
        drop(state);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Requests and looks for jobs that wait, and what is running.
    pub fn load(&self) -> (usize, usize, usize) {
        let state = self.shared.lock();
        (state.requests.len(), state.jobs.len(), state.running.len())
    }

    /// Takes no more work and drops what waits; what runs goes on.
    pub fn close(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let dropped = (std::mem::take(&mut state.requests), std::mem::take(&mut state.jobs));
        drop(state);
        drop(dropped); // not under the lock: it runs code of others
        self.shared.wake.notify_all();
    }

    /// Ends what runs with its best so far.
    pub fn cancel_running(&self) {
        self.shared.lock().running.values().for_each(CancelToken::cancel);
    }

    /// Waits for the threads, after [`Pool::close`].
    pub fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join(); // a panic is already logged
        }
    }
}

impl<M> State<M> {
    /// The refusal of a request, with the time after which a place should be free.
    fn full(&self, workers: usize) -> Refused {
        let seconds: f64 = self.requests.iter().map(|work| work.seconds).sum();
        let retry_after = (seconds / workers as f64).ceil().clamp(1.0, 3600.0) as u64;
        Refused::Full { waiting: self.requests.len(), retry_after }
    }

    /// The next work: requests and jobs in turn. Requests that fit to the first one come with it.
    fn next(&mut self) -> Option<Vec<Work<M>>> {
        let job = self.requests.is_empty() || (self.job_next && !self.jobs.is_empty());
        self.job_next = !job;
        let first = if job { self.jobs.pop_front()? } else { self.requests.pop_front()? };
        let mut works = vec![first];
        if let Run::Member { key: wanted, .. } = &works[0].run {
            let wanted = wanted.clone();
            let fits = |work: &Work<M>| matches!(&work.run, Run::Member { key, .. } if *key == wanted);
            while works.len() < TOGETHER {
                let Some(place) = self.requests.iter().position(fits) else { break };
                works.extend(self.requests.remove(place));
            }
        }
        Some(works)
    }
}

impl<M> Shared<M> {
    fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of a solving thread.
    fn serve(&self, solver: &Solver) {
        while let Some((works, numbers)) = self.take() {
            let mut members = Vec::new();
            for work in works {
                match work.run {
                    Run::One(run) => run(solver),
                    Run::Member { member, .. } => members.push(member),
                }
            }
            if !members.is_empty() {
                // The thread must outlive a panic; the members' clients are then told that there is no answer.
                let _ = guarded(|| (self.together)(solver, members));
            }
            let mut state = self.lock();
            state.running.retain(|number, _| !numbers.contains(number));
        }
    }

    /// Waits for work; none if the pool was closed. Numbers identify it among what is running.
    fn take(&self) -> Option<(Vec<Work<M>>, Range<u64>)> {
        let mut state = self.lock();
        loop {
            if let Some(works) = state.next() {
                let first = state.started;
                state.started += works.len() as u64;
                let tokens = works.iter().map(|work| work.cancel.clone());
                state.running.extend((first..).zip(tokens));
                return Some((works, first..state.started));
            }
            if state.closed {
                return None;
            }
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Runs work; a panic becomes an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Problem> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Problem::internal(message)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::error::Kind;

    fn pool(queue: usize) -> Pool<()> {
        Pool::start(vec![Solver::new()], queue, |_, members| drop(members)).expect("threads")
    }

    fn wait<T>(ticket: Ticket<T>) -> Result<T, Problem> {
        ticket.blocking_recv().expect("the work was not dropped")
    }

    #[test]
    fn a_panic_is_an_error_with_an_id_and_the_thread_lives() {
        let pool = pool(4);
        let token = CancelToken::new();
        let panicking = pool.submit(Class::Request, &token, 1.0, |_| -> Result<u8, _> { panic!("on purpose") });
        let problem = wait(panicking.expect("accepted")).expect_err("a panic");
        assert_eq!(problem.kind, Kind::Internal);
        assert_eq!(problem.id.as_ref().map(String::len), Some(32));
        assert!(!problem.message.contains("on purpose"), "{}", problem.message);
        let fine = pool.submit(Class::Request, &token, 1.0, |_| Ok(7)).expect("accepted");
        assert_eq!(wait(fine).expect("no panic"), 7);
        pool.close();
        pool.join();
    }

    #[test]
    fn the_queue_is_bounded_and_those_who_left_make_room() {
        let pool = pool(2);
        let (release, blocked) = mpsc::channel::<()>();
        let (started, has_started) = mpsc::channel::<()>();
        let stay = CancelToken::new();
        let first = pool.submit(Class::Request, &stay, 5.0, move |_| {
            started.send(()).expect("the test waits");
            Ok(blocked.recv().ok())
        });
        has_started.recv().expect("the thread runs it");
        let leave = CancelToken::new();
        let _waiting = pool.submit(Class::Request, &leave, 3.0, |_| Ok(1)).expect("room for two");
        let last = pool.submit(Class::Request, &stay, 4.0, |_| Ok(2)).expect("room for two");
        let refused = pool.submit(Class::Request, &stay, 1.0, |_| Ok(3)).map(drop);
        assert_eq!(refused, Err(Refused::Full { waiting: 2, retry_after: 7 }));
        leave.cancel();
        let _taken = pool.submit(Class::Request, &stay, 1.0, |_| Ok(3)).expect("the place of the one who left");
        release.send(()).expect("it waits");
        assert!(wait(first.expect("accepted")).expect("no panic").is_some());
        assert_eq!(wait(last).expect("no panic"), 2);
        pool.close();
        assert_eq!(pool.submit(Class::Job, &stay, 1.0, |_| Ok(())).map(drop), Err(Refused::Closed));
        pool.join();
    }

    #[test]
    fn requests_and_jobs_take_turns() {
        let (send, order) = mpsc::channel();
        let pool = pool(8);
        let token = CancelToken::new();
        let (release, blocked) = mpsc::channel::<()>();
        let first = pool.submit(Class::Request, &token, 1.0, move |_| Ok(blocked.recv().ok())).expect("accepted");
        for k in 0..3 {
            for (class, name) in [(Class::Job, "job"), (Class::Request, "request")] {
                let send = send.clone();
                let work = move |_: &Solver| {
                    send.send((name, k)).expect("the test waits");
                    Ok(())
                };
                pool.submit(class, &token, 1.0, work).expect("room");
            }
        }
        release.send(()).expect("it waits");
        wait(first).expect("no panic");
        let seen: Vec<_> = order.iter().take(6).collect();
        assert_eq!(seen, [("job", 0), ("request", 0), ("job", 1), ("request", 1), ("job", 2), ("request", 2)]);
        pool.close();
        pool.join();
    }
}
