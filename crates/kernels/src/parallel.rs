//! Parallel loops on rayon's thread pool, sequential without the feature `threads`.
//!
//! With few tokens, a forward pass is a sequence of parallel stages of some hundred microseconds each. A thread that
//! sleeps or yields to other processes between two stages wakes up too late, so threads spin for a while before they
//! do.

pub use threads::{keep_awake, map, run, width};

#[cfg(feature = "threads")]
mod threads {
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use rayon::Yield;
    use rayon::prelude::*;

    /// How often a thread looks for work before it gives up: one or two milliseconds.
    const MAX_ATTEMPTS: usize = 10_000;

    /// Maps items in parallel; the results are in the order of the items.
    pub fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
        match items {
            [item] => vec![f(item)],
            _ => items.par_iter().map(f).collect(),
        }
    }

    /// Runs a task for every item, in parallel.
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

    /// Runs a sequence of parallel stages. Called from outside the thread pool, it keeps up to `threads` threads awake
    /// until the end; called from within the pool, where threads have other work, it just runs.
    pub fn keep_awake<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
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

    /// Works on tasks of the pool until the end, or until there have been none for a while.
    fn work_until(end: impl Fn() -> bool) {
        let mut failed = 0;
        while !end() && failed < MAX_ATTEMPTS {
            match rayon::yield_now() {
                Some(Yield::Executed) => failed = 0,
                _ => failed += 1,
            }
            spin_loop();
        }
    }

    /// The number of threads.
    #[inline]
    pub fn width() -> usize {
        rayon::current_num_threads()
    }
}

#[cfg(not(feature = "threads"))]
mod threads {
    /// Maps items.
    pub fn map<T, R>(items: &[T], f: impl Fn(&T) -> R) -> Vec<R> {
        items.iter().map(f).collect()
    }

    /// Runs a task for every item.
    pub fn run<T>(items: Vec<T>, f: impl Fn(T)) {
        items.into_iter().for_each(f);
    }

    /// Runs a sequence of stages.
    pub fn keep_awake<R>(_: usize, work: impl FnOnce() -> R) -> R {
        work()
    }

    /// The number of threads: 1.
    #[inline]
    pub fn width() -> usize {
        1
    }
}
