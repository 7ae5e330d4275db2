//! Work on several cores where the feature `threads` allows it.
//!
//! A network of a few tokens is a sequence of stages of some hundred microseconds, each shared out to the threads. A
//! thread that sleeps or gives way to other programs between two of them comes back too late, so threads here look
//! out for the next stage for a while before they do.

pub use pool::{inside, map, run, width};

#[cfg(feature = "threads")]
mod pool {
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use rayon::Yield;
    use rayon::prelude::*;

    /// How often a thread looks for work in vain before it lets go: one or two milliseconds.
    const PATIENCE: usize = 10_000;

    /// Maps items, results in the items' order.
    pub fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
        match items {
            [item] => vec![f(item)],
            _ => items.par_iter().map(f).collect(),
        }
    }

    /// Runs a task for every item.
    pub fn run<T: Send>(items: Vec<T>, f: impl Fn(T) + Sync + Send) {
        if items.len() <= 1 {
            return items.into_iter().for_each(f);
        }
        let (left, f) = (&AtomicUsize::new(items.len()), &f);
        rayon::scope(|scope| {
            for item in items {
                scope.spawn(move |_| {
                    f(item);
                    left.fetch_sub(1, Ordering::Release);
                });
            }
            work_until(|| left.load(Ordering::Acquire) == 0);
        });
    }

    /// Runs a sequence of parallel stages. Called from outside the pool, up to `threads` threads stay awake for it;
    /// within the pool, threads have other work beside it.
    pub fn inside<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        if rayon::current_thread_index().is_some() {
            return work();
        }
        let done = &AtomicBool::new(false);
        rayon::scope(|scope| {
            let main = rayon::current_thread_index();
            for _ in 1..threads.min(width()) {
                scope.spawn(move |_| {
                    if rayon::current_thread_index() != main {
                        work_until(|| done.load(Ordering::Acquire));
                    }
                });
            }
            let result = work();
            done.store(true, Ordering::Release);
            result
        })
    }

    /// Does what work there is, until the end or until there has been none for a while.
    fn work_until(end: impl Fn() -> bool) {
        let mut vain = 0;
        while !end() && vain < PATIENCE {
            match rayon::yield_now() {
                Some(Yield::Executed) => vain = 0,
                _ => vain += 1,
            }
            spin_loop();
        }
    }

    /// How many tasks can run at once.
    pub fn width() -> usize {
        rayon::current_num_threads()
    }
}

#[cfg(not(feature = "threads"))]
mod pool {
    /// Maps items.
    pub fn map<T, R>(items: &[T], f: impl Fn(&T) -> R) -> Vec<R> {
        items.iter().map(f).collect()
    }

    /// Runs a task for every item.
    pub fn run<T>(items: Vec<T>, f: impl Fn(T)) {
        items.into_iter().for_each(f);
    }

    /// Runs work.
    pub fn inside<R>(_: usize, work: impl FnOnce() -> R) -> R {
        work()
    }

    /// How many tasks can run at once.
    pub fn width() -> usize {
        1
    }
}
