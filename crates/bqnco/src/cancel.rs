//! Cancellation, from any thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch that ends work early; clones are the same switch. What was found so far is still the result.
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
    /// A switch that nobody has thrown yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the work of everyone who holds a clone, within milliseconds.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was thrown.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
