//! Policies that keep to a deadline.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bqnco_core::{Cut, Outlook, Policy, PolicyError, Problem, Subproblem};

/// A policy whose calls end in time: batches are scored in pieces of about [`SLICE`], and a piece that would not finish
/// before the deadline is not started; the rollout then gets [`PolicyError::Stopped`].
///
/// The duration of a piece is predicted from the previous ones. Without a deadline pieces have equal work, so that a
/// cancellation is noticed in between.
pub(crate) struct TimeLimitedPolicy<'a, P: Problem> {
    policy: &'a dyn Policy<P>,
    left: TimeLeft<'a>,
    pace: Mutex<Option<f64>>, // seconds per unit of work
    stopped: AtomicBool,
    scored: AtomicU64, // states
}

/// The time left until the deadline; `None`: unlimited. The only clock here, so that tests can replace it.
pub(crate) type TimeLeft<'a> = &'a (dyn Fn() -> Option<Duration> + Sync);

/// How long a piece of a batch should take: long enough to keep all cores busy, short enough for any deadline.
const SLICE: Duration = Duration::from_millis(30);
/// Work of a piece without a deadline: a few hundred states of a shortlist.
const PIECE: f64 = 16_384.0;
/// The first state is shown with at most this many candidates, to measure the pace on a short call.
const TRIAL: usize = 64;
/// Number of tokens at which attention costs as much as the rest of a layer, for networks of a usual width.
const BALANCE: f64 = 768.0;

impl<'a, P: Problem> TimeLimitedPolicy<'a, P> {
    /// Wraps a policy with a deadline.
    pub fn new(policy: &'a dyn Policy<P>, left: TimeLeft<'a>) -> Self {
        TimeLimitedPolicy {
            policy,
            left,
            pace: Mutex::new(None),
            stopped: AtomicBool::new(false),
            scored: AtomicU64::new(0),
        }
    }

    /// Whether it has stopped a rollout, possibly before the deadline if the next piece would not have finished in
    /// time.
    pub fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Number of states it has scored so far: passes of a network.
    pub fn scored(&self) -> u64 {
        self.scored.load(Ordering::Relaxed)
    }

    /// Estimated time to construct a whole instance if `shortlist` candidates are scored at every step.
    ///
    /// # Errors
    /// If the policy fails at the first state.
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

    /// The pace; if nothing has been scored yet, it is measured with a few candidates.
    fn pace_for(&self, state: &Subproblem<P>) -> Result<f64, PolicyError> {
        if let Some(pace) = self.pace() {
            return Ok(pace);
        }
        let trial = state.cut_to(TRIAL, self.policy.cut());
        self.policy.scores(&[&trial])?; // warm-up: the first call takes longer
        // The fastest of three, to exclude other load on the machine.
        let mut fastest = f64::INFINITY;
        for _ in 0..3 {
            self.learn(None);
            fastest = fastest.min(self.timed(&[&trial], &|states| self.policy.scores(states))?.1);
        }
        self.learn(Some(fastest));
        Ok(fastest)
    }

    /// Scores a piece and updates the pace with its duration.
    fn timed<T>(&self, piece: &[&Subproblem<P>], ask: Ask<'_, P, T>) -> Result<(Vec<T>, f64), PolicyError> {
        let before = (self.left)();
        let scores = ask(piece)?;
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

    /// Scores a batch in pieces.
    fn in_pieces<T>(&self, batch: &[&Subproblem<P>], ask: Ask<'_, P, T>) -> Result<Vec<T>, PolicyError> {
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
            scores.extend(self.timed(&rest[..fitting.max(1)], ask)?.0);
            self.scored.fetch_add(fitting.max(1) as u64, Ordering::Relaxed);
        }
        Ok(scores)
    }
}

/// A question to the policy.
type Ask<'a, P, T> = &'a dyn Fn(&[&Subproblem<P>]) -> Result<Vec<T>, PolicyError>;

impl<P: Problem> Policy<P> for TimeLimitedPolicy<'_, P> {
    fn scores(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.in_pieces(batch, &|states| self.policy.scores(states))
    }

    fn outlooks(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Outlook>, PolicyError> {
        self.in_pieces(batch, &|states| self.policy.outlooks(states))
    }

    fn knows_successors(&self) -> bool {
        self.policy.knows_successors()
    }

    fn cut(&self) -> Cut {
        self.policy.cut()
    }

    fn distinguishes_augmentations(&self) -> bool {
        self.policy.distinguishes_augmentations()
    }
}

/// Number of tokens of a state, up to the last step that is allowed.
fn tokens<P: Problem>(state: &Subproblem<P>) -> f64 {
    let last = state.allowed().last().map_or(0, |(slot, _)| slot / P::KINDS);
    (last + 2) as f64
}

/// Work of a network in units of a token's linear part: linear, plus quadratic for attention.
fn work(tokens: f64) -> f64 {
    tokens * (1.0 + tokens / BALANCE)
}
