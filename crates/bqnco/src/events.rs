//! What a [`Solver`](crate::Solver) tells while it works.

use std::time::Duration;

use crate::{Error, Solution};

/// Hears of events, from any thread. Every `Fn(&Event) + Sync` is one.
pub trait Observer: Sync {
    /// Something has happened. The search waits until this returns.
    fn notify(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Sync> Observer for F {
    fn notify(&self, event: &Event<'_>) {
        self(event);
    }
}

/// Something that has happened. Instances are known by their index in the list that the solver was given.
pub enum Event<'a> {
    /// Work on a list of instances begins.
    Started {
        /// How many there are.
        instances: usize,
        /// The bound on the time of each; `None`: unlimited.
        time_limit: Option<Duration>,
    },
    /// A better solution of an instance.
    Improved {
        /// The instance.
        index: usize,
        /// The solution, and how it compares.
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
        /// Instances with a solution.
        solved: usize,
        /// All instances.
        instances: usize,
        /// Time since the start.
        elapsed: Duration,
    },
}

/// A better solution than before, made only for those who ask.
pub struct Improvement<'a> {
    /// What is counted: "length".
    pub objective: &'static str,
    /// The objective's value, with the sign a person expects.
    pub value: f64,
    /// Time since work on the list began.
    pub elapsed: Duration,
    pub(crate) solution: &'a (dyn Fn() -> Solution + 'a),
}

impl Improvement<'_> {
    /// The solution.
    pub fn solution(&self) -> Solution {
        (self.solution)()
    }
}
