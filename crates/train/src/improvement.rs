//! Self-improvement: labels are replaced by better solutions that the network finds itself.
//!
//! Every so many updates the averaged network solves some of the instances by search; where it beats a label, its solution
//! is the label from then on. So the first labels may be poor, and a problem without an expert can be learnt.

use std::collections::BTreeMap;
use std::sync::Arc;

use bqnco_core::rollout::{Decoding, Options, solve};
use bqnco_core::{Observe, Problem, Subproblem};
use bqnco_net::Network;
use serde::{Deserialize, Serialize};

use crate::{Communicator, Example, Examples, Folder, Imitation, LoadError, TrainError};

/// How labels are improved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfImprovement {
    /// Updates between rounds.
    pub every: u64,
    /// Instances that are solved in a round; the rounds go through all of them in turn.
    pub instances: usize,
    /// How they are solved.
    pub search: Search,
}

/// How the network searches for better solutions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Search {
    /// The best of several random constructions.
    Sample {
        /// How many.
        count: usize,
        /// Scores are divided by it.
        temperature: f32,
    },
    /// The best of a beam.
    Beam {
        /// How many partial solutions are kept.
        width: usize,
    },
}

/// A round of self-improvement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ImprovementRound {
    /// The update after which it took place.
    pub step: u64,
    /// Instances that were solved.
    pub tried: usize,
    /// Labels that were replaced.
    pub improved: usize,
    /// Mean cost of their labels before.
    pub before: f64,
    /// Mean cost of their labels after.
    pub after: f64,
}

impl Default for SelfImprovement {
    fn default() -> Self {
        SelfImprovement { every: 500, instances: 500, search: Search::Sample { count: 32, temperature: 1.0 } }
    }
}

impl SelfImprovement {
    /// Checks that the numbers are in range.
    ///
    /// # Errors
    /// Names the first number that does not fit, with what was expected of it.
    pub fn check(&self) -> Result<(), TrainError> {
        let (count, temperature) = match self.search {
            Search::Sample { count, temperature } => (count, temperature),
            Search::Beam { width } => (width, 1.0),
        };
        for (field, found) in [("every", self.every), ("instances", self.instances as u64), ("search", count as u64)] {
            if found == 0 {
                return Err(TrainError::BadSetting { field, expected: "at least 1", found: 0.0 });
            }
        }
        if !(temperature > 0.0 && temperature.is_finite()) {
            let found = f64::from(temperature);
            return Err(TrainError::BadSetting { field: "temperature", expected: "above 0", found });
        }
        Ok(())
    }

    /// The update before which the next round takes place, seen from a step.
    pub(crate) fn next_round(&self, step: u64) -> u64 {
        (step / self.every + 1) * self.every
    }

    fn options(&self, shortlist: Option<usize>, seed: u64, first: u64) -> Options<'static> {
        let decoding = match self.search {
            Search::Sample { count, temperature } => Decoding::Sample { count, temperature, top_k: None },
            Search::Beam { width } => Decoding::beam(width),
        };
        Options { decoding, shortlist, seed, first, ..Options::default() }
    }
}

/// Solutions that replaced labels, by part and number; a solution is kept as the slots of its steps from state to state,
/// which means the same for all problems.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Labels {
    round: u64,
    better: BTreeMap<usize, BTreeMap<usize, Vec<u32>>>,
}

impl Labels {
    /// The labels after so many rounds; none if the last round has not been finished.
    pub fn after(round: u64, folder: &Folder) -> Result<Option<Self>, TrainError> {
        if round == 0 {
            return Ok(Some(Labels::default()));
        }
        let name = name(round);
        let Some(bytes) = folder.read(&name)? else { return Ok(None) };
        let labels = serde_json::from_slice(&bytes);
        let bad = |reason: String| TrainError::BadState { path: folder.path().join(&name), reason };
        labels.map(Some).map_err(|error| bad(error.to_string()))
    }

    /// Saves the labels of a new round and removes those of the round before, which are no longer needed.
    pub fn save(&self, folder: &Folder) -> Result<(), TrainError> {
        folder.write(&name(self.round), &serde_json::to_vec(self).expect("numbers can be written as JSON"))?;
        folder.remove(&name(self.round - 1))
    }

    /// One more round, with the averaged network after `step` updates.
    pub fn improve<P: Observe>(
        &mut self,
        task: &Imitation<'_, P>,
        network: &Network,
        step: u64,
    ) -> Result<ImprovementRound, TrainError> {
        let settings = task.improvement.expect("rounds are part of self-improvement");
        self.round = step / settings.every;
        let part = task.training.part_at(step, task.examples.parts());
        let examples = Improved { source: task.examples, labels: self }.load(part).map_err(TrainError::Load)?;
        if examples.is_empty() {
            return Err(TrainError::NothingToLearn { found: 0 });
        }
        let tried = settings.instances.min(examples.len());
        let start = ((self.round - 1) as usize * settings.instances) % examples.len();
        let chosen: Vec<usize> = (0..tried).map(|k| (start + k) % examples.len()).collect();
        let (mut before, mut after, mut improved) = (0.0, 0.0, 0);
        let found = search::<P>(&settings, task, network, (&examples, &chosen), self.round)?;
        for (&index, slots) in chosen.iter().zip(found) {
            let example = &examples[index];
            let old = example.cost();
            let new =
                replay::<P>(example.instance(), &slots).map_or(f64::INFINITY, |s| P::cost(example.instance(), &s));
            before += old / tried as f64;
            after += old.min(new) / tried as f64;
            if new < old - 1e-9 * old.abs() {
                self.better.entry(part).or_default().insert(index, slots);
                improved += 1;
            }
        }
        Ok(ImprovementRound { step, tried, improved, before, after })
    }
}

fn name(round: u64) -> String {
    format!("labels-{round}.json")
}

/// The network's solutions of the chosen examples as slots; the work is divided among the processes.
fn search<P: Observe>(
    settings: &SelfImprovement,
    task: &Imitation<'_, P>,
    network: &Network,
    (examples, chosen): (&[Example<P>], &[usize]),
    round: u64,
) -> Result<Vec<Vec<u32>>, TrainError> {
    let communicator: &dyn Communicator = task.communicator;
    let share = communicator.share(chosen.len());
    let instances: Vec<_> = chosen.iter().map(|&index| Arc::clone(examples[index].instance())).collect();
    let seed = task.training.seed.wrapping_add(round);
    let options = settings.options(network.config().shortlist, seed, share.start as u64);
    let solutions = solve::<P>(network, &instances[share.clone()], &options)?;
    // A row per instance: the number of steps, then their slots; exact, because slots are far below 2^24.
    let width = 1 + instances.iter().map(|instance| P::horizon(instance)).max().unwrap_or(0);
    let mut rows = vec![0.0; width * instances.len()];
    for ((row, instance), solution) in rows.chunks_mut(width).zip(&instances).skip(share.start).zip(&solutions) {
        let slots = bqnco_core::replay::<P>(instance, &solution.steps).expect("a rollout takes allowed steps");
        row[0] = slots.len() as f32;
        row[1..].iter_mut().zip(&slots).for_each(|(to, &slot)| *to = slot as f32);
    }
    communicator.sum(&mut rows);
    Ok(rows.chunks(width).map(|row| row[1..].iter().take(row[0] as usize).map(|&slot| slot as u32).collect()).collect())
}

/// The steps in these slots, from state to state; none if they form no solution.
fn replay<P: Problem>(instance: &Arc<P::Instance>, slots: &[u32]) -> Option<Vec<P::Step>> {
    let mut state = Subproblem::<P>::whole(Arc::clone(instance));
    let mut step = |&slot: &u32| {
        let step = state.allowed().find(|&(found, _)| found == slot as usize).map(|(_, step)| step)?;
        state.take(step);
        Some(step)
    };
    let steps: Option<Vec<_>> = slots.iter().map(&mut step).collect();
    steps.filter(|steps| P::check(instance, steps).is_ok())
}

/// Examples with the labels that replaced theirs.
pub(crate) struct Improved<'a, P: Problem> {
    pub source: &'a dyn Examples<P>,
    pub labels: &'a Labels,
}

impl<P: Problem> Examples<P> for Improved<'_, P> {
    fn parts(&self) -> usize {
        self.source.parts()
    }

    fn load(&self, part: usize) -> Result<Arc<[Example<P>]>, LoadError> {
        let examples = self.source.load(part)?;
        let Some(better) = self.labels.better.get(&part) else { return Ok(examples) };
        let with_label = |(index, example): (usize, &Example<P>)| {
            let instance = Arc::clone(example.instance());
            let steps = match better.get(&index) {
                None => example.steps().to_vec(),
                Some(slots) => replay::<P>(&instance, slots)
                    .ok_or_else(|| format!("label {index} of part {part} does not fit its instance"))?,
            };
            Example::new(instance, steps).map_err(LoadError::from)
        };
        examples.iter().enumerate().map(with_label).collect()
    }
}
