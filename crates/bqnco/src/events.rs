//! Events that a [`Solver`](crate::Solver) reports while it works.

use std::fmt;
use std::time::Duration;

use crate::{Error, Solution};

/// Receives events, from any thread. Every `Fn(&Event) + Sync` is an observer; [`Solver`](crate::Solver) has an example.
pub trait Observer: Sync {
    /// Called for every event. The search waits until this returns.
    fn notify(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Sync> Observer for F {
    fn notify(&self, event: &Event<'_>) {
        self(event);
    }
}

/// An event. Instances are identified by their index in the list that the solver was given.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Work on a list of instances starts.
    Started {
        /// Number of instances.
        instances: usize,
        /// The time limit per instance; `None`: unlimited.
        time_limit: Option<Duration>,
    },
    /// A better solution of an instance.
    Improved {
        /// The instance.
        index: usize,
        /// The solution and its value.
        improvement: &'a Improvement<'a>,
    },
    /// An instance is finished.
    Finished {
        /// The instance.
        index: usize,
        /// Its solution, or why there is none.
        result: &'a Result<Solution, Error>,
    },
    /// All work is done, or was cancelled.
    Ended {
        /// Number of instances with a solution.
        solved: usize,
        /// Number of all instances.
        instances: usize,
        /// Time since the start.
        elapsed: Duration,
    },
}

/// A better solution than before; the solution itself is built only on request.
pub struct Improvement<'a> {
    /// The name of the objective: "length".
    pub objective: &'static str,
    /// The objective value with its usual sign (prizes are positive).
    pub value: f64,
    /// Time since work on the list started.
    pub elapsed: Duration,
    pub(crate) solution: &'a (dyn Fn() -> Solution + 'a),
}

impl fmt::Debug for Improvement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Improvement { objective, value, elapsed, .. } = self;
        let mut debug = f.debug_struct("Improvement");
        debug.field("objective", objective).field("value", value).field("elapsed", elapsed).finish_non_exhaustive()
    }
}

impl Improvement<'_> {
    /// The solution.
    pub fn solution(&self) -> Solution {
        (self.solution)()
    }
}
