//! Batches of tails, prepared on a background thread.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use bqnco_core::{Costs, Frame, Imitate, Observation, Observe, Problem, Random, Subproblem, random};
use bqnco_net::{Batch, Config};
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::{Augmentation, Example, Examples, Imitation, LoadError, Sampling, TrainError, Training};

/// A batch of tails with the steps that an expert would take there.
pub(crate) struct TrainingBatch {
    /// What the network sees.
    pub batch: Batch,
    /// The probabilities an expert gives to the slots: `[batch, slots]`.
    pub right: Tensor<2>,
    /// Added to the scores: zero where a step is allowed, very low elsewhere; `[batch, slots]`.
    pub mask: Tensor<2>,
    /// For the auxiliary losses, where there are any.
    pub paths: Option<Paths>,
}

/// Where the expert's paths lead from token to token.
pub(crate) struct Paths {
    /// The probability of each token (last axis) to follow each token; all steps of a path together weigh 1:
    /// `[batch, tokens, tokens]`.
    pub successors: Tensor<3>,
    /// The probability of a token to stand before the destination: `[batch, tokens]`.
    pub last: Tensor<2>,
    /// Zero for tokens, very low for padding: `[batch, tokens]`.
    pub padding: Tensor<2>,
}

/// A tail as numbers, with the steps that an expert would take there.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What the network sees.
    pub observation: Observation,
    /// The slots of all allowed steps, ascending.
    pub allowed: Vec<usize>,
    /// The slots of the expert's next steps, which are equally right: some of the allowed ones.
    pub right: Vec<usize>,
    path: Vec<Option<usize>>, // tokens, where the auxiliary losses want them
}

/// Draws batches of tails from examples: those that [`train`](crate::train) learns from.
pub struct Sampler<'a, P: Problem> {
    /// The examples; of several parts the one in use.
    pub examples: &'a [Example<P>],
    /// The seed, the size of batches and which tails are drawn.
    pub training: &'a Training,
    /// How the network sees tails: frame, shortlist and identifiers.
    pub config: &'a Config,
    /// Number of parts that the examples are one of ([`Examples::parts`]).
    pub parts: usize,
}

/// Batches prepared before they are needed.
const AHEAD: usize = 4;

/// Distinguishes the random sources of batches and of epochs from others of the same seed.
const BATCHES: u64 = 1;
const EPOCHS: u64 = 2;

/// The golden ratio's fractional part: its multiples, modulo 1, are spread evenly, and so are those of any process.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Far below every score, yet finite, so that nothing becomes NaN.
const NEVER: f32 = -1e9;

/// This process's shares of some batches, in order. Batch k depends on the seed, the examples and k only.
pub(crate) fn prepare_ahead<'scope, 'a: 'scope, P: Observe + Imitate>(
    scope: &'scope Scope<'scope, 'a>,
    task: &'scope Imitation<'a, P>,
    examples: &'scope dyn Examples<P>,
    steps: Range<u64>,
) -> Receiver<Result<TrainingBatch, TrainError>> {
    let (send, receive) = sync_channel(AHEAD);
    let device = task.device.clone().autodiff();
    scope.spawn(move || {
        let mut parts = Parts { scope, source: examples, training: task.training, current: None, next: None };
        for step in steps {
            let batch = parts.at(step).and_then(|examples| training_batch(task, &examples, step, &device));
            let failed = batch.is_err();
            if send.send(batch).is_err() || failed {
                return; // the receiver is gone, or the error ends the run
            }
        }
    });
    receive
}

type Loaded<P> = Result<Arc<[Example<P>]>, LoadError>;

/// The part in use and the one that is being loaded meanwhile.
struct Parts<'scope, 'a, P: Problem> {
    scope: &'scope Scope<'scope, 'a>,
    source: &'scope dyn Examples<P>,
    training: &'scope Training,
    current: Option<(usize, Arc<[Example<P>]>)>,
    next: Option<(usize, ScopedJoinHandle<'scope, Loaded<P>>)>,
}

impl<P: Problem> Parts<'_, '_, P> {
    fn at(&mut self, step: u64) -> Result<Arc<[Example<P>]>, TrainError> {
        let parts = self.source.parts().max(1);
        let part = self.training.part_at(step, parts);
        match &self.current {
            Some((current, examples)) if *current == part => return Ok(Arc::clone(examples)),
            _ => self.current = None,
        }
        let examples = match self.next.take() {
            Some((next, loading)) if next == part => {
                loading.join().unwrap_or_else(|_| Err("the loader panicked".into()))
            }
            _ => self.source.load(part),
        };
        let examples = examples.map_err(TrainError::Load)?;
        self.current = Some((part, Arc::clone(&examples)));
        if parts > 1 {
            let (next, source) = ((part + 1) % parts, self.source);
            self.next = Some((next, self.scope.spawn(move || source.load(next))));
        }
        Ok(examples)
    }
}

/// This process's share of a batch.
pub(crate) fn training_batch<P: Observe + Imitate>(
    task: &Imitation<'_, P>,
    examples: &[Example<P>],
    step: u64,
    device: &Device,
) -> Result<TrainingBatch, TrainError> {
    let parts = task.examples.parts();
    let sampler = Sampler { examples, training: task.training, config: task.config, parts };
    let samples = sampler.samples(step, task.communicator.share(task.training.batch))?;
    let paths = wants_paths(task.training).then(|| paths(&samples, device));
    let (mut observations, mut right, mut mask) = (Vec::new(), Vec::new(), Vec::new());
    let slots = samples.iter().map(|sample| sample.observation.tokens).max().unwrap_or(0) * P::KINDS;
    for sample in samples {
        let row = right.len();
        right.resize(row + slots, 0.0);
        mask.resize(row + slots, NEVER);
        sample.allowed.iter().for_each(|slot| mask[row + slot] = 0.0);
        sample.right.iter().for_each(|slot| right[row + slot] = 1.0 / sample.right.len() as f32);
        observations.push(sample.observation);
    }
    let shape = [observations.len(), slots];
    Ok(TrainingBatch {
        batch: Batch::new(task.config, &observations, device)?,
        right: Tensor::from_data(TensorData::new(right, shape), device),
        mask: Tensor::from_data(TensorData::new(mask, shape), device),
        paths,
    })
}

fn wants_paths(training: &Training) -> bool {
    training.auxiliary > 0.0 || training.second_target > 0.0
}

fn paths(samples: &[Sample], device: &Device) -> Paths {
    let (batch, tokens) = (samples.len(), samples.iter().map(|sample| sample.observation.tokens).max().unwrap_or(0));
    let mut successors = vec![0.0; batch * tokens * tokens];
    let (mut last, mut padding) = (vec![0.0; batch * tokens], vec![NEVER; batch * tokens]);
    for (k, sample) in samples.iter().enumerate() {
        padding[k * tokens..][..sample.observation.tokens].fill(0.0);
        let pairs = || sample.path.windows(2).filter_map(|pair| pair[0].zip(pair[1]));
        let weight = 1.0 / pairs().count() as f32;
        for (token, successor) in pairs() {
            successors[(k * tokens + token) * tokens + successor] += weight;
        }
        if let Some(token) = sample.path[sample.path.len() - 2] {
            last[k * tokens + token] = 1.0;
        }
    }
    Paths {
        successors: Tensor::from_data(TensorData::new(successors, [batch, tokens, tokens]), device),
        last: Tensor::from_data(TensorData::new(last, [batch, tokens]), device),
        padding: Tensor::from_data(TensorData::new(padding, [batch, tokens]), device),
    }
}

impl<P: Observe + Imitate> Sampler<'_, P> {
    /// Some tails of batch `step`, drawn as [`Training::sampling`] says. Batch and tail depend on the seed and their
    /// numbers only.
    ///
    /// # Errors
    /// Examples without anything to learn, an order that the problem does not have, and auxiliary losses that it has no
    /// targets for.
    pub fn samples(&self, step: u64, share: Range<usize>) -> Result<Vec<Sample>, TrainError> {
        let Sampler { examples, training, .. } = *self;
        let nothing = || TrainError::NothingToLearn { found: examples.len() };
        if examples.is_empty() {
            return Err(nothing());
        }
        let order = training.order_of::<P>()?;
        let first: f64 = random(training.seed, &[BATCHES, step]).random();
        let due = match training.sampling {
            Sampling::Mixed => vec![None; share.len()],
            Sampling::Epochs => self.due(step, share.clone()).into_iter().map(Some).collect(),
        };
        let sample = |(k, mut due): (usize, Option<usize>)| {
            let far = if training.sampling == Sampling::Mixed { far(first, k) } else { first };
            // Every sample has a random source of its own, so that any share of a batch can be made without the rest.
            let mut rng = random(training.seed, &[BATCHES, step, k as u64]);
            let mut attempt = |_| {
                // The example that is due gets the first attempt.
                let example = due.take().unwrap_or_else(|| rng.random_range(0..examples.len()));
                self.sample(&examples[example], order, far, &mut rng).transpose()
            };
            (0..100).find_map(&mut attempt).unwrap_or_else(|| Err(nothing()))
        };
        share.zip(due).map(sample).collect()
    }

    /// The numbers of the examples that some samples of batch `step` are drawn from, if every epoch draws one from each.
    fn due(&self, step: u64, share: Range<usize>) -> Vec<usize> {
        let Training { seed, batch, .. } = *self.training;
        let count = self.examples.len() as u64;
        let part = self.training.part_at(step, self.parts) as u64;
        let before = self.training.updates_of_part(step, self.parts) * batch as u64; // samples of this part
        let mut shuffled = (u64::MAX, Vec::new()); // the last epoch and its order
        let example = |k: usize| {
            let (epoch, place) = ((before + k as u64) / count, (before + k as u64) % count);
            if shuffled.0 != epoch {
                shuffled = (epoch, (0..self.examples.len()).collect());
                shuffled.1.shuffle(&mut random(seed, &[EPOCHS, part, epoch]));
            }
            shuffled.1[place as usize]
        };
        share.map(example).collect()
    }

    /// A random tail of an example; none when there is nothing to learn from it, as when the expert's step is not on the
    /// shortlist.
    fn sample(
        &self,
        example: &Example<P>,
        order: Option<&str>,
        far: f64,
        rng: &mut Random,
    ) -> Result<Option<Sample>, TrainError> {
        let Sampler { training, config, .. } = *self;
        let (instance, steps) = (example.instance(), example.steps());
        let length = length(steps.len(), training.shortest, far);
        let (tail, steps) = match order {
            Some(order) => P::sample_in_order(instance, steps, length, order, rng),
            None => P::sample_subproblem(instance, steps, length, rng),
        };
        let state = Subproblem::<P>::new(Arc::clone(instance), tail);
        let state = match config.shortlist {
            Some(k) => state.cut_to(k, config.cut), // as in rollouts
            None => state,
        };
        let right = state.targets(&steps);
        if right.is_empty() {
            return Ok(None);
        }
        let mut path = Vec::new();
        if wants_paths(training) {
            path = P::path(state.instance(), state.tail(), &steps);
            if path.len() < 2 {
                let field = if training.auxiliary > 0.0 { "auxiliary" } else { "second_target" };
                return Err(TrainError::NoPath { field, problem: P::NAME });
            }
        }
        let frame = config.frame;
        let mut observation = state.observe(frame);
        if training.augmentation == Augmentation::Square {
            augment(&mut observation, frame, P::FEATURES, rng);
        }
        if config.random_identifiers {
            observation.identify(config.features, rng);
        }
        let allowed = state.allowed().map(|(slot, _)| slot).collect();
        Ok(Some(Sample { observation, allowed, right, path }))
    }
}

/// How far the k-th tail of a batch is from the shortest one: 0 to 1, spread evenly over the batch.
fn far(first: f64, k: usize) -> f64 {
    (first + k as f64 * GOLDEN).fract()
}

/// Expert steps left: `far` of the way from the shortest tail to the whole solution.
fn length(steps: usize, shortest: usize, far: f64) -> usize {
    let shortest = shortest.min(steps);
    (shortest + (far * (steps - shortest + 1) as f64) as usize).min(steps)
}

/// Applies one of the eight symmetries of the square to the map, at random; costs in a plane stay the same.
fn augment(observation: &mut Observation, frame: Frame, features: usize, rng: &mut Random) {
    if observation.costs != Costs::Planar || frame == Frame::Origin {
        return; // seen from the origin all symmetries give the same numbers
    }
    let symmetry: u8 = rng.random_range(0..8);
    for axis in 0..2 {
        let places = || observation.features.iter().skip(axis).step_by(features);
        // A tail scaled to the square by itself starts at zero on both axes, and so must its image.
        let far = match frame {
            Frame::Instance => 1.0,
            _ => places().copied().fold(0.0, f32::max),
        };
        if symmetry & (1 << axis) != 0 {
            observation.features.iter_mut().skip(axis).step_by(features).for_each(|place| *place = far - *place);
        }
    }
    if symmetry & 4 != 0 {
        observation.features.chunks_mut(features).for_each(|token| token.swap(0, 1));
    }
}

#[cfg(test)]
mod tests {
    use bqnco_core::rollout::{Options, solve};
    use bqnco_core::{Cut, Generate, GreedyHeuristic};
    use bqnco_problems::{Cvrp, Tsp};

    use super::*;

    #[test]
    fn lengths_cover_all_from_the_shortest_to_the_whole() {
        let seen: Vec<usize> = (0..100).map(|k| length(10, 2, f64::from(k) / 100.0)).collect();
        assert!(seen.is_sorted() && seen[0] == 2 && seen[99] == 10);
        assert_eq!([length(1, 2, 0.5), length(0, 2, 0.9), length(5, 5, 0.9)], [1, 0, 5]);
    }

    #[test]
    fn a_batch_and_each_share_of_it_have_tails_of_all_lengths() {
        let fars = |first: f64, ks: Range<usize>| -> Vec<f64> { ks.map(|k| far(first, k)).collect() };
        for (first, ks) in [(0.0, 0..64), (0.9, 0..64), (0.3, 32..64), (0.7, 16..32)] {
            let mut seen = fars(first, ks.clone());
            seen.sort_by(f64::total_cmp);
            let widest =
                seen.windows(2).map(|pair| pair[1] - pair[0]).fold(seen[0] + 1.0 - seen[ks.len() - 1], f64::max);
            assert!(seen.iter().all(|far| (0.0..1.0).contains(far)), "{seen:?}");
            assert!(widest < 2.7 / ks.len() as f64, "a gap of {widest} among {}", ks.len());
        }
    }

    #[test]
    fn a_network_sees_its_shortlist() {
        let instance = Arc::new(Tsp::generate(20, &mut random(1, &[])));
        let solution =
            solve::<Tsp>(&GreedyHeuristic, &[Arc::clone(&instance)], &Options::default()).expect("a solution");
        let examples = [Example::<Tsp>::new(instance, solution[0].steps.clone()).expect("feasible")];
        let training = Training { auxiliary: 1.0, ..Training::default() };
        let most = |shortlist| {
            let config = Config { shortlist, ..Config::tiny::<Tsp>() };
            let seen = (0..200u64).filter_map(|k| {
                let far = (k % 10) as f64 / 9.0;
                let sampler = Sampler { examples: &examples, training: &training, config: &config, parts: 1 };
                let sample = sampler.sample(&examples[0], None, far, &mut random(k, &[])).expect("a path")?;
                assert!(sample.right.iter().all(|slot| sample.allowed.contains(slot)));
                assert!(sample.path.iter().flatten().all(|&token| token < sample.observation.tokens));
                Some(sample.observation.tokens)
            });
            seen.max()
        };
        assert_eq!([most(None), most(Some(5))], [Some(21), Some(7)]); // the two ends of the path are always seen
    }

    fn solved(count: u64) -> Vec<Example<Cvrp>> {
        let instances: Vec<_> = (0..count).map(|k| Arc::new(Cvrp::generate(20, &mut random(k, &[])))).collect();
        let found = solve::<Cvrp>(&GreedyHeuristic, &instances, &Options::default()).expect("solutions");
        let pairs = instances.into_iter().zip(found);
        pairs.map(|(instance, solution)| Example::new(instance, solution.steps).expect("feasible")).collect()
    }

    #[test]
    fn an_epoch_draws_from_every_example_once() {
        let (examples, config) = (solved(10), Config::tiny::<Cvrp>());
        let training = Training { batch: 4, part_every: 3, sampling: Sampling::Epochs, ..Training::default() };
        let due = |parts: usize, steps: &[u64]| -> Vec<usize> {
            let sampler = Sampler { examples: &examples, training: &training, config: &config, parts };
            steps.iter().flat_map(|&step| [sampler.due(step, 0..1), sampler.due(step, 1..4)].concat()).collect()
        };
        // Of two parts the first is in use at these steps.
        for (parts, steps) in [(1, [0, 1, 2, 3, 4]), (2, [0, 1, 2, 6, 7])] {
            let drawn = due(parts, &steps);
            let [first, second] = [0..10, 10..20].map(|epoch| {
                let mut numbers = drawn[epoch].to_vec();
                numbers.sort_unstable();
                assert_eq!(numbers, Vec::from_iter(0..10), "{drawn:?}");
                numbers
            });
            assert_eq!(first, second);
            assert_ne!(drawn[..10], drawn[10..], "another order in every epoch");
        }
        assert_ne!(due(2, &[0, 1]), due(2, &[3, 4]), "the other part has an order of its own");
    }

    #[test]
    fn a_batch_of_epochs_has_one_length() {
        let (examples, config) = (solved(30), Config::tiny::<Cvrp>());
        let lengths = |sampling| -> Vec<usize> {
            let training = Training { batch: 30, sampling, ..Training::default() };
            let sampler = Sampler { examples: &examples, training: &training, config: &config, parts: 1 };
            let different = |step| {
                let samples = sampler.samples(step, 0..30).expect("samples");
                let tokens = samples.iter().map(|sample| sample.observation.tokens);
                tokens.collect::<std::collections::BTreeSet<_>>().len()
            };
            (0..4).map(different).collect()
        };
        assert_eq!(lengths(Sampling::Epochs), [1; 4]);
        assert!(lengths(Sampling::Mixed).iter().all(|&different| different > 9));
    }

    #[test]
    fn order_cut_and_identifiers_change_what_is_sampled() {
        let examples = solved(8);
        let draw = |training: &Training, config: &Config| {
            Sampler { examples: &examples, training, config, parts: 1 }.samples(0, 0..16)
        };
        let (usual, tiny) = (Training::default(), Config::tiny::<Cvrp>());
        let with = |order: &str| Training { order: Some(order.into()), ..usual.clone() };
        let samples = draw(&usual, &tiny).expect("samples");
        assert_eq!(draw(&with("outside-in"), &tiny).expect("samples"), samples);
        for order in ["fullest", "any"] {
            assert_ne!(draw(&with(order), &tiny).expect("samples"), samples, "{order}");
        }
        let error = draw(&with("emptiest"), &tiny).expect_err("no such order").to_string();
        assert!(error.ends_with("expected outside-in, fullest, any"), "{error}");

        let short = |cut| Config { shortlist: Some(4), cut, ..tiny.clone() };
        let any = with("any"); // from the outside in, the first customers are never the nearest
        let [likeliest, nearest] = [Cut::Likeliest, Cut::Nearest].map(|cut| draw(&any, &short(cut)));
        assert_ne!(likeliest.expect("samples"), nearest.expect("samples"));

        let features = Config::features_of::<Cvrp>(true);
        let named = draw(&usual, &Config { features, random_identifiers: true, ..tiny }).expect("samples");
        for (sample, named) in samples.iter().zip(&named) {
            let last: Vec<f32> = named.observation.features.iter().skip(4).step_by(5).copied().collect();
            assert_eq!(last.len(), sample.observation.tokens);
            assert!(last.iter().all(|name| (0.0..1.0).contains(name)) && last[0] != last[1]);
            let others = named.observation.features.chunks(5).flat_map(|token| &token[..4]);
            assert!(others.eq(&sample.observation.features), "the features of the problem stay");
        }
    }

    #[test]
    fn augmentation_keeps_distances_and_the_corner() {
        let places = vec![0.0, 0.25, 9.0, 1.0, 0.0, 9.0, 0.5, 0.5, 9.0];
        let distances = |features: &[f32]| -> Vec<f32> {
            let place = |token: usize| (features[3 * token], features[3 * token + 1]);
            let pairs = [(0, 1), (0, 2), (1, 2)].map(|(a, b)| (place(a), place(b)));
            pairs.iter().map(|((a, b), (c, d))| (a - c).hypot(b - d)).collect()
        };
        let mut seen = std::collections::BTreeSet::new();
        for k in 0..100 {
            let mut shown = Observation {
                tokens: 3,
                features: places.clone(),
                origin: None,
                destination: None,
                costs: Costs::Planar,
            };
            augment(&mut shown, Frame::Subproblem, 3, &mut random(k, &[]));
            assert_eq!(distances(&shown.features), distances(&places));
            for axis in 0..2 {
                assert_eq!(shown.features.iter().skip(axis).step_by(3).copied().fold(9.0, f32::min), 0.0);
            }
            assert!(shown.features.iter().skip(2).step_by(3).all(|&other| other == 9.0));
            seen.insert(format!("{:?}", shown.features));
        }
        assert_eq!(seen.len(), 8);
    }
}
