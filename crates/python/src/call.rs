//! Work on a thread of its own. The thread that called from Python waits without the interpreter's lock, answers signals
//! such as Ctrl-C, and runs the callbacks: a policy or a progress bar is always called on the thread of the caller, as
//! the caller's context (`torch.no_grad()`, a notebook's cell) demands.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bqnco::CancelToken;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Longest time between two looks at the signals.
const SIGNALS: Duration = Duration::from_millis(20);

/// A callback to run on the caller's thread.
type Task = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

enum Message {
    Task(Task),
    Done,
}

/// A connection to the thread that called from Python, for the thread that works.
#[derive(Clone)]
pub struct Caller(Sender<Message>);

impl Caller {
    /// Runs a callback, some time later. An exception ends the work.
    pub fn post(&self, task: impl FnOnce(Python<'_>) -> PyResult<()> + Send + 'static) {
        let _ = self.0.send(Message::Task(Box::new(task))); // without a caller nobody wants to know
    }

    /// Runs a callback and waits for its result; none if it raised an exception, which ends the work.
    pub fn call<T: Send + 'static>(&self, task: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static) -> Option<T> {
        let (answer, result) = mpsc::sync_channel(1);
        self.post(move |py| {
            let _ = answer.send(task(py)?);
            Ok(())
        });
        result.recv().ok()
    }
}

/// A call of the library from Python.
pub struct Call {
    caller: Caller,
    inbox: Mutex<Receiver<Message>>,
    cancel: CancelToken,
}

/// The result of the work, and the exception that ended it early, if one did: Ctrl-C, or that of a callback.
pub struct Ended<T> {
    pub result: T,
    pub raised: Option<PyErr>,
}

impl<T> Ended<bqnco::Result<T>> {
    /// The result, unless there was an exception.
    pub fn into_result(self, py: Python<'_>) -> PyResult<T> {
        match self.raised {
            Some(raised) => Err(raised),
            None => self.result.map_err(|error| crate::errors::exception(py, error)),
        }
    }
}

impl Call {
    /// A call that has not begun.
    ///
    /// # Errors
    /// In a forked process ([`refuse_fork`]).
    pub fn new() -> PyResult<Self> {
        refuse_fork()?;
        let (send, receive) = mpsc::channel();
        Ok(Call { caller: Caller(send), inbox: Mutex::new(receive), cancel: CancelToken::new() })
    }

    /// For callbacks.
    pub fn caller(&self) -> Caller {
        self.caller.clone()
    }

    /// Is cancelled by an exception.
    pub fn cancel(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// Does the work on a thread of its own.
    ///
    /// # Errors
    /// If the system cannot start the thread.
    pub fn run<T: Send>(self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<Ended<T>> {
        std::thread::scope(|scope| {
            let done = Done(self.caller.clone());
            let worker = std::thread::Builder::new().name("bqnco".into()).spawn_scoped(scope, move || {
                let _done = done; // dropped at the end, also of a panic
                work()
            })?;
            let mut raised = None;
            loop {
                let next = || self.inbox.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(SIGNALS);
                let outcome = match py.detach(next) {
                    Ok(Message::Task(task)) if raised.is_none() => task(py),
                    Ok(Message::Task(_)) | Err(RecvTimeoutError::Timeout) => Ok(()),
                    Ok(Message::Done) | Err(RecvTimeoutError::Disconnected) => break,
                };
                let outcome = if raised.is_none() { outcome.and_then(|()| py.check_signals()) } else { outcome };
                if let Err(error) = outcome {
                    raised = Some(error);
                    self.cancel.cancel();
                }
            }
            match py.detach(|| worker.join()) {
                Ok(result) => Ok(Ended { result, raised }),
                Err(panic) => std::panic::resume_unwind(panic), // PyO3 makes an exception of it
            }
        })
    }
}

/// Tells the caller that the work has ended.
struct Done(Caller);

impl Drop for Done {
    fn drop(&mut self) {
        let _ = self.0.0.send(Message::Done);
    }
}

/// The process that uses the library's threads; zero: none yet.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Refuses work in a process that was forked from one that has used the library: its threads are not there, and the call
/// would never return.
///
/// # Errors
/// In such a process.
pub fn refuse_fork() -> PyResult<()> {
    let this = std::process::id();
    match PROCESS.compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed) {
        Err(process) if process != this => Err(PyRuntimeError::new_err(
            "this process was forked from one that has used bqnco, whose threads do not exist here: use \
             multiprocessing.get_context('spawn') (multiprocessing_context='spawn' of a DataLoader), or threads",
        )),
        _ => Ok(()),
    }
}
