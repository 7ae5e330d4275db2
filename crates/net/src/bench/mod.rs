//! Speed of networks on this machine: the measurements of `bqnco bench net`.

mod peak;
mod rollout;
mod speed;

use std::time::Instant;

pub use rollout::{Preparation, Rollout, preparation, rollout};
pub use speed::{Measurement, measure, train_steps};

/// The best time of at least three runs.
fn best(seconds: f64, mut work: impl FnMut()) -> f64 {
    let (start, mut best, mut runs) = (Instant::now(), f64::INFINITY, 0);
    while runs < 3 || start.elapsed().as_secs_f64() < seconds {
        best = best.min(time(&mut work));
        runs += 1;
    }
    best
}

/// Seconds of one run.
fn time(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}
