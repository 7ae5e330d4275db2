//! Work on several cores where the feature `threads` allows it.

#[cfg(feature = "threads")]
use rayon::prelude::*;

/// Maps items, results in the items' order.
#[cfg(feature = "threads")]
pub(crate) fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    items.par_iter().map(f).collect()
}

/// Maps items, results in the items' order.
#[cfg(not(feature = "threads"))]
pub(crate) fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    items.iter().map(f).collect()
}

/// Runs a task for every item.
#[cfg(feature = "threads")]
pub(crate) fn run<T: Send>(items: Vec<T>, f: impl Fn(T) + Sync + Send) {
    match items.len() {
        1 => items.into_iter().for_each(f),
        _ => items.into_par_iter().with_max_len(1).for_each(f),
    }
}

/// Runs a task for every item.
#[cfg(not(feature = "threads"))]
pub(crate) fn run<T: Send>(items: Vec<T>, f: impl Fn(T) + Sync + Send) {
    items.into_iter().for_each(f);
}

/// How many tasks can run at once.
pub(crate) fn width() -> usize {
    #[cfg(feature = "threads")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "threads"))]
    return 1;
}
