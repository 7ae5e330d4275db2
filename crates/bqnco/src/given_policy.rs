//! Policies that the caller implements on plain arrays.

use std::fmt;
use std::sync::Arc;

use bqnco_core::{Frame, Observe, Policy, PolicyError, Subproblem};
use rayon::ThreadPool;

use crate::{Error, ObservationBatch, Result};

/// Scores observations, whatever the problem. Every `Fn(&ObservationBatch) -> Result<Vec<f32>, PolicyError>` that may be
/// called from any thread is a scorer.
pub trait Scorer: Send + Sync {
    /// Unnormalised log-probabilities of all slots, `[batch, tokens * kinds]`. Those of steps that are not allowed are
    /// ignored.
    ///
    /// # Errors
    /// The scorer's own reason.
    fn scores(&self, batch: &ObservationBatch) -> std::result::Result<Vec<f32>, PolicyError>;
}

impl<F: Fn(&ObservationBatch) -> std::result::Result<Vec<f32>, PolicyError> + Send + Sync> Scorer for F {
    fn scores(&self, batch: &ObservationBatch) -> std::result::Result<Vec<f32>, PolicyError> {
        self(batch)
    }
}

/// A policy of the caller's: a [`Scorer`] with the name that results have for it, and the frame in which it sees states.
///
/// It is asked by one thread at a time, which is not one of rayon's global pool: batches are large, and the scorer may
/// use all cores itself.
///
/// ```
/// use bqnco::core::{Frame, rollout::Decoding};
/// use bqnco::{GivenPolicy, Guide, Instance, ObservationBatch, PolicySource, Search, Solver};
///
/// // Prefers tokens with a small first feature: a sweep from left to right.
/// let scorer = |batch: &ObservationBatch| Ok(batch.features.iter().step_by(batch.width).map(|x| -x).collect());
/// let policy = PolicySource::Given(GivenPolicy::new("sweep", Frame::Instance, scorer)?);
/// let guide = Guide { policy, ..Guide::default() };
/// let search = Search::Construct { guide, decoding: Decoding::Greedy };
/// let instance = Instance::tsp(&[[0.0, 0.0], [0.9, 0.0], [0.3, 0.0], [0.6, 0.0]])?;
/// let solution = Solver::new().search(search).solve(&instance)?;
/// assert_eq!((solution.numbers(), solution.found_by()), (vec![0, 2, 3, 1], "sweep"));
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone)]
pub struct GivenPolicy {
    name: String,
    frame: Frame,
    scorer: Arc<dyn Scorer>,
    thread: Arc<ThreadPool>, // of one thread
}

impl GivenPolicy {
    /// A policy with a name.
    ///
    /// # Errors
    /// If the system cannot start its thread.
    pub fn new(name: impl Into<String>, frame: Frame, scorer: impl Scorer + 'static) -> Result<Self> {
        let thread = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let thread = Arc::new(thread.map_err(|source| Error::Threads { count: 1, source })?);
        Ok(GivenPolicy { name: name.into(), frame, scorer: Arc::new(scorer), thread })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The thread on which searches around it run.
    pub(crate) fn thread(&self) -> &ThreadPool {
        &self.thread
    }
}

impl fmt::Debug for GivenPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GivenPolicy").field("name", &self.name).field("frame", &self.frame).finish_non_exhaustive()
    }
}

impl<P: Observe> Policy<P> for GivenPolicy {
    fn scores(&self, states: &[&Subproblem<P>]) -> std::result::Result<Vec<Vec<f32>>, PolicyError> {
        let batch = ObservationBatch::of(states, self.frame, 0);
        let (slots, scores) = (batch.slots(), self.scorer.scores(&batch)?);
        if scores.len() != batch.len() * slots {
            let (found, count) = (scores.len(), batch.len());
            let why = format!("{found} scores for {count} states with {slots} slots each");
            return Err(PolicyError::Failed(why.into()));
        }
        let rows = scores.chunks(slots.max(1)).zip(&batch.lengths);
        Ok(rows.map(|(row, tokens)| row[..tokens * P::KINDS].to_vec()).collect())
    }

    fn distinguishes_augmentations(&self) -> bool {
        self.frame != Frame::Origin
    }
}
