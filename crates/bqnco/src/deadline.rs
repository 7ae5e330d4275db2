//! Time limits and cancellation, as the [`Stop`](bqnco_core::Stop) of rollouts and experts.

use std::time::{Duration, Instant};

use crate::CancelToken;

/// A point in time after which work must end, or cancellation before it.
#[derive(Clone, Copy)]
pub(crate) struct Deadline<'a> {
    end: Option<Instant>,
    cancel: &'a CancelToken,
}

impl<'a> Deadline<'a> {
    /// This long from now (`None`: unlimited), or until `cancel` is cancelled.
    pub fn after(limit: Option<Duration>, cancel: &'a CancelToken) -> Self {
        Deadline { end: limit.and_then(|limit| Instant::now().checked_add(limit)), cancel }
    }

    /// The remaining time; `None`: unlimited.
    pub fn left(&self) -> Option<Duration> {
        if self.cancel.is_cancelled() {
            return Some(Duration::ZERO);
        }
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether work must end now.
    pub fn has_passed(&self) -> bool {
        self.cancel.is_cancelled() || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
