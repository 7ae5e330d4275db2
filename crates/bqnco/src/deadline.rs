//! Time limits and interruption, as the [`Stop`](bqnco_core::Stop) of rollouts and experts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A point in time after which work must end, or the moment when somebody interrupts it.
#[derive(Clone, Copy)]
pub struct Deadline<'a> {
    end: Option<Instant>,
    interrupted: &'a AtomicBool,
}

impl<'a> Deadline<'a> {
    /// So long from now (`None`: unlimited), or until `interrupted` becomes true.
    pub fn after(limit: Option<Duration>, interrupted: &'a AtomicBool) -> Self {
        Deadline { end: limit.and_then(|limit| Instant::now().checked_add(limit)), interrupted }
    }

    /// The time left; `None`: unlimited.
    pub fn left(&self) -> Option<Duration> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Duration::ZERO);
        }
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether work must end now.
    pub fn has_passed(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed) || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
