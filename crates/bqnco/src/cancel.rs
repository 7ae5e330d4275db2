//! Cancellation from any thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends work early; clones share the flag. A search returns the best solution found so far, training saves
/// its state and returns what it has, and a [`Labeller`](crate::Labeller) returns
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// ```
/// let token = bqnco::CancelToken::new();
/// let other = token.clone();
/// std::thread::spawn(move || other.cancel()).join().expect("no panic");
/// assert!(token.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the work of all holders of a clone: searches and labelling within milliseconds, training after the current
    /// update or validation, when its state is saved.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`CancelToken::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
