//! Policies that keep to a deadline.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bqnco_core::{Policy, PolicyError, Problem, Subproblem};

/// A policy whose calls end in time: batches are scored in pieces of about [`SLICE`], and a piece that would not be ready
/// before the deadline is not begun, which the rollout learns as [`PolicyError::Stopped`].
///
/// How long a piece takes is learnt from those before it. Without a deadline pieces are of equal work, so that an interruption
/// is heard in between.
pub struct TimeLimitedPolicy<'a, P: Problem> {
    policy: &'a dyn Policy<P>,
    left: TimeLeft<'a>,
    pace: Mutex<Option<f64>>, // seconds per unit of work
    stopped: AtomicBool,
}

/// The time left until the deadline; `None`: unlimited. The only clock here, so that tests can bring their own.
pub type TimeLeft<'a> = &'a (dyn Fn() -> Option<Duration> + Sync);

/// How long a piece of a batch should take: long enough to keep all cores busy, short enough for any deadline.
pub const SLICE: Duration = Duration::from_millis(30);
/// Work of a piece where there is no deadline: a few hundred states of a shortlist.
const PIECE: f64 = 16_384.0;
/// The first state is shown with at most so many candidates, to learn the pace on something that cannot take long.
const TRIAL: usize = 64;
/// Tokens at which attention costs as much as the rest of a layer, for networks of a usual width.
const BALANCE: f64 = 768.0;

impl<'a, P: Problem> TimeLimitedPolicy<'a, P> {
    /// The policy under a deadline.
    pub fn new(policy: &'a dyn Policy<P>, left: TimeLeft<'a>) -> Self {
        TimeLimitedPolicy { policy, left, pace: Mutex::new(None), stopped: AtomicBool::new(false) }
    }

    /// Whether it has stopped a rollout, which may be before the deadline: when the next piece would not have been ready.
    pub fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// About how long a construction of a whole instance takes when `shortlist` candidates are scored at every step.
    ///
    /// # Errors
    /// When the policy fails at the first state.
    pub fn predict(&self, state: &Subproblem<P>, shortlist: Option<usize>) -> Result<Duration, PolicyError> {
        let pace = self.pace_for(state)?;
        let steps = P::horizon(state.instance());
        let tokens = |left: usize| (left.min(shortlist.unwrap_or(left)) + 2) as f64;
        let total: f64 = (1..=steps).map(|left| work(tokens(left))).sum();
        Ok(Duration::from_secs_f64((total * pace).min(1e9)))
    }

    fn pace(&self) -> Option<f64> {
        *self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pace, which a trial with few candidates finds out when nothing has been scored yet.
    fn pace_for(&self, state: &Subproblem<P>) -> Result<f64, PolicyError> {
        if let Some(pace) = self.pace() {
            return Ok(pace);
        }
        let trial = state.shortlist(TRIAL);
        self.policy.scores(&[&trial])?; // the first time takes longer
        // The fastest of three: what else the machine is busy with should not count.
        let mut fastest = f64::INFINITY;
        for _ in 0..3 {
            self.learn(None);
            fastest = fastest.min(self.timed(&[&trial])?.1);
        }
        self.learn(Some(fastest));
        Ok(fastest)
    }

    /// Scores a piece and learns from the time it took.
    fn timed(&self, piece: &[&Subproblem<P>]) -> Result<(Vec<Vec<f32>>, f64), PolicyError> {
        let before = (self.left)();
        let scores = self.policy.scores(piece)?;
        let Some((before, after)) = before.zip((self.left)()) else { return Ok((scores, 0.0)) };
        let took = before.saturating_sub(after).as_secs_f64();
        let now = took / piece.iter().map(|state| work(tokens(state))).sum::<f64>().max(1.0);
        let learnt = self.pace().map_or(now, |pace| 0.5 * (pace + now));
        self.learn(Some(learnt));
        Ok((scores, learnt))
    }

    fn learn(&self, pace: Option<f64>) {
        *self.pace.lock().unwrap_or_else(PoisonError::into_inner) = pace;
    }
}

impl<P: Problem> Policy<P> for TimeLimitedPolicy<'_, P> {
    fn scores(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        let mut scores = Vec::with_capacity(batch.len());
        while scores.len() < batch.len() {
            let rest = &batch[scores.len()..];
            let (pace, left) = match (self.left)() {
                None => (SLICE.as_secs_f64() / PIECE, f64::INFINITY),
                Some(Duration::ZERO) => (0.0, 0.0),
                Some(left) => (self.pace_for(rest[0])?, left.as_secs_f64()),
            };
            let seconds = rest.iter().scan(0.0, |sum, state| {
                *sum += pace * work(tokens(state));
                Some(*sum)
            });
            let budget = left.min(SLICE.as_secs_f64());
            let fitting = seconds.clone().take_while(|&seconds| seconds <= budget).count();
            if left <= 0.0 || (fitting == 0 && seconds.clone().next().is_some_and(|seconds| seconds > left)) {
                self.stopped.store(true, Ordering::Relaxed);
                return Err(PolicyError::Stopped);
            }
            scores.extend(self.timed(&rest[..fitting.max(1)])?.0);
        }
        Ok(scores)
    }

    fn distinguishes_augmentations(&self) -> bool {
        self.policy.distinguishes_augmentations()
    }
}

/// The tokens of a state, up to those behind the last step that is allowed.
fn tokens<P: Problem>(state: &Subproblem<P>) -> f64 {
    let last = state.allowed().last().map_or(0, |(slot, _)| slot / P::KINDS);
    (last + 2) as f64
}

/// Work of a network in units of a token's share: linear, and quadratic for attention.
fn work(tokens: f64) -> f64 {
    tokens * (1.0 + tokens / BALANCE)
}
