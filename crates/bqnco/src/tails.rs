//! Training samples as plain arrays, for training loops outside the library.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bqnco_core::{Frame, Relations};
use bqnco_net::Config;
use bqnco_train::{Example, Sample, Sampler, Training};
use rayon::prelude::*;

use crate::ObservationBatch;
use crate::{Builtin, Error, Instance, ProblemName, Result, one_problem};

/// Batches of tail subproblems on the way along solutions, with the steps that the solutions take there: what
/// [`Recipe::train`](crate::Recipe::train) learns from, batch by batch.
///
/// ```
/// use bqnco::{GeneratedSet, Labeller, ProblemName, Tails, core::Frame, train::Training};
///
/// let set = GeneratedSet::new(ProblemName::Tsp, 10, 4);
/// let labelled = Labeller::new().label(&set, 0..4, None, &mut |_, _| ())?;
/// let tails = Tails::new(&labelled, Training { batch: 32, ..Training::default() }, Frame::Instance, None)?;
/// let batch = tails.batch(0)?; // any batch, in any order
/// assert_eq!(batch.targets.len(), 32 * batch.observations.slots());
/// assert_eq!(batch.targets.iter().sum::<f32>(), 32.0); // probabilities
/// # Ok::<(), bqnco::Error>(())
/// ```
pub struct Tails {
    problem: ProblemName,
    examples: Arc<dyn Any + Send + Sync>, // Vec<Example<P>> of the problem
    training: Training,
    config: Config,
}

impl fmt::Debug for Tails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tails { problem, training, .. } = self;
        f.debug_struct("Tails").field("problem", problem).field("training", training).finish_non_exhaustive()
    }
}

/// A batch of [`Tails`].
#[derive(Clone, Debug, PartialEq)]
pub struct TailBatch {
    /// The tails with the allowed steps.
    pub observations: ObservationBatch,
    /// The probabilities that the solution gives to the slots: `[batch, tokens * kinds]`.
    pub targets: Vec<f32>,
}

impl Tails {
    /// The tails of instances with solutions, in the frame and with the shortlist of the policy that learns from them.
    /// Of the settings those that batches depend on count: seed, batch, shortest, sampling, order, augmentation.
    /// `auxiliary` and `second_target` must be 0: batches have no targets for them.
    ///
    /// # Errors
    /// No instances, instances of several problems, without a feasible solution, or with only a matrix of distances
    /// where policies see coordinates; settings out of range.
    pub fn new(instances: &[Instance], training: Training, frame: Frame, shortlist: Option<usize>) -> Result<Self> {
        training.check()?;
        if shortlist == Some(0) {
            let expected = "at least 1 candidate".into();
            return Err(Error::OutOfRange { setting: "shortlist", found: "0".into(), expected });
        }
        let problem = one_problem(instances)?;
        dispatch!(problem, P => {
            let examples = instances.iter().map(example::<P>).collect::<Result<Vec<_>>>()?;
            let config = Config { frame, shortlist, ..Config::small::<P>() };
            Ok(Tails { problem, examples: Arc::new(examples), training, config })
        })
    }

    /// The batch with this number. It depends on the settings and the number only.
    ///
    /// # Errors
    /// Solutions without any step to learn, and an order that the problem does not have.
    pub fn batch(&self, number: u64) -> Result<TailBatch> {
        dispatch!(self.problem, P => self.batch_of::<P>(number))
    }

    fn batch_of<P: Builtin>(&self, number: u64) -> Result<TailBatch> {
        let examples: &Vec<Example<P>> = self.examples.downcast_ref().expect("the examples are of the problem");
        let sampler = Sampler { examples, training: &self.training, config: &self.config, parts: 1 };
        let samples = sampler.samples(number, 0..self.training.batch)?;
        let longest = samples.iter().map(|sample| sample.observation.tokens).max().unwrap_or(0);
        let mut observations = ObservationBatch::empty::<P>(longest);
        let slots = observations.slots();
        let mut targets = vec![0.0; samples.len() * slots];
        for (k, Sample { right, .. }) in samples.iter().enumerate() {
            right.iter().for_each(|slot| targets[k * slots + slot] = 1.0 / right.len() as f32);
        }
        observations.fill(samples.into_par_iter(), |Sample { observation: seen, allowed, .. }, features, mask| {
            features[..seen.features.len()].copy_from_slice(&seen.features);
            allowed.iter().for_each(|&slot| mask[slot] = true);
            (seen.tokens, Relations { origin: seen.origin, destination: seen.destination, costs: seen.costs })
        });
        Ok(TailBatch { observations, targets })
    }
}

/// An instance with a solution as an example.
pub(crate) fn example<P: Builtin>(instance: &Instance) -> Result<Example<P>> {
    let name = || instance.name().to_string();
    let typed = instance.typed::<P>();
    if !P::has_features(&typed.instance) {
        return Err(Error::NoFeatures { instance: name() });
    }
    let steps = typed.solution.clone().ok_or_else(|| Error::NoSolution { instance: name() })?;
    Example::new(Arc::clone(&typed.instance), steps).map_err(Error::infeasible(name()))
}
