//! Parallel work with results in the calling thread.

use std::sync::mpsc;

use rayon::prelude::*;

use crate::{CancelToken, Result};

/// Runs `work` on a thread of a pool; `None`: on this thread, whose parallel loops use rayon's global pool.
pub(crate) fn on_threads<T: Send>(pool: Option<&rayon::ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Runs `work` for all indices on the threads of a pool (`None`: rayon's global pool), and passes the results to `emit`
/// on the calling thread as they arrive. Work that had not started when it was cancelled has no result.
///
/// # Errors
/// That of `emit`, which ends the work.
pub(crate) fn in_parallel<T: Send>(
    indices: Vec<usize>,
    pool: Option<&rayon::ThreadPool>,
    cancel: &CancelToken,
    work: impl Fn(usize) -> T + Sync,
    emit: &mut dyn FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    if pool.is_none() && rayon::current_thread_index().is_some() {
        // The caller is itself a worker of a pool: if all of them waited here, no work would be done.
        for index in indices.into_iter().take_while(|_| !cancel.is_cancelled()) {
            emit(index, work(index))?;
        }
        return Ok(());
    }
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The sender is dropped at the end of the work, which ends the loop below.
            let all = || {
                let _ = indices.into_par_iter().try_for_each_with(send, |send, index| {
                    if cancel.is_cancelled() { None } else { send.send((index, work(index))).ok() }
                });
            };
            on_threads(pool, all);
        });
        receive.into_iter().try_for_each(|(index, result)| emit(index, result))
    })
}
