//! What a recipe will take, before it is trained.

use std::sync::Arc;
use std::time::Instant;

use bqnco_core::rollout::{self, Options};
use bqnco_core::{Effort, GreedyHeuristic, never};
use bqnco_io::Format;
use bqnco_net::{Provenance, device};
use bqnco_train::{Example, Folder, Imitation, Sampler, SingleProcess, Training};

use super::data::DataSet;
use crate::recipe::{Data, Files, LabelledSet};
use crate::{Builtin, Error, Instance, Recipe, Result, Solution, write_all};

/// What a recipe will take: counted where possible, else estimated from a few instances and updates on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Instances that the expert will label, for training and validation; none for data from files.
    pub labels: u64,
    /// Time of all labels on one thread, in seconds.
    pub label_seconds: f64,
    /// Files of the training and validation sets.
    pub files: usize,
    /// Size of the files, in bytes.
    pub bytes: f64,
    /// Weights of the network.
    pub parameters: usize,
    /// Tails that the network will learn from.
    pub samples: u64,
    /// How often every training instance is used; none for data from files.
    pub epochs: Option<f64>,
    /// Floating-point operations of all updates: forward passes and, twice as much, backward passes.
    pub flop: f64,
    /// Tails per second that this machine learns from.
    pub samples_per_second: f64,
}

/// Instances that a set's estimates are made from.
const PROBES: u64 = 8;
/// Most tails per update of the measured ones.
const MEASURED_BATCH: usize = 64;
/// Updates that are measured; the fastest counts.
const MEASURED_UPDATES: u64 = 3;
/// Batches whose lengths are counted.
const COUNTED_BATCHES: u64 = 64;

impl Plan {
    /// Seconds of training on so many machines like this one, if they share every batch without loss.
    pub fn training_seconds(&self, processes: usize) -> f64 {
        self.samples as f64 / self.samples_per_second / processes.max(1) as f64
    }
}

impl Recipe {
    /// Finds out what the recipe will take. Solves one instance of every set and makes a few small updates, which takes
    /// seconds; nothing is kept.
    ///
    /// ```
    /// let text = r#"
    ///     problem = "tsp"
    ///     data = { size = 6, count = 400, seed = 1 }
    ///     validation = { size = 6, count = 100, seed = 1000001 }
    ///     network = { preset = "tiny" }
    ///     training = { steps = 100, batch = 4 }
    /// "#;
    /// let plan = text.parse::<bqnco::Recipe>()?.plan("cpu")?;
    /// assert_eq!((plan.labels, plan.samples, plan.epochs), (500, 400, Some(1.0)));
    /// println!("labels: {:.0} s, updates: {:.0} s", plan.label_seconds, plan.training_seconds(1));
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// Whatever would keep the recipe from being trained at once.
    pub fn plan(&self, device_name: &str) -> Result<Plan> {
        dispatch!(self.problem, P => self.plan_problem::<P>(device_name))
    }

    fn plan_problem<P: Builtin>(&self, device_name: &str) -> Result<Plan> {
        let (config, device) = (self.config()?, device(device_name)?);
        self.training.check()?;
        self.training.order_of::<P>()?;
        let mut plan = Plan {
            labels: 0,
            label_seconds: 0.0,
            files: 0,
            bytes: 0.0,
            parameters: bqnco_net::Network::new(config.clone(), 0, &device)?.parameters(),
            samples: self.training.steps * self.training.batch as u64,
            epochs: None,
            flop: 0.0,
            samples_per_second: 0.0,
        };
        let sets = self.data_sets();
        for set in &sets {
            set.check()?;
            plan.add_data::<P>(set)?;
        }
        let count: u64 = sets[0].sets().iter().map(|set| set.count).sum();
        plan.epochs = (count > 0).then(|| plan.samples as f64 / count as f64);

        let examples = probes::<P>(&sets[0])?;
        let training = Training {
            steps: MEASURED_UPDATES,
            batch: self.training.batch.min(MEASURED_BATCH),
            warm_start: None,
            validate_every: MEASURED_UPDATES,
            save_every: MEASURED_UPDATES,
            report_every: 1,
            ..self.training.clone()
        };
        let sampler = Sampler { examples: &examples, training: &training, config: &config, parts: 1 };
        let mut operations = Vec::new();
        for step in 0..COUNTED_BATCHES {
            let samples = sampler.samples(step, 0..PROBES as usize)?;
            operations.extend(samples.iter().map(|sample| 3.0 * config.flop(sample.observation.tokens)));
        }
        let per_sample = operations.iter().sum::<f64>() / operations.len() as f64;
        plan.flop = plan.samples as f64 * per_sample;

        let scratch =
            tempfile::tempdir().map_err(Error::file("cannot create a scratch folder in", std::env::temp_dir()))?;
        let folder = Folder::open(scratch.path())?;
        let task = Imitation {
            config: &config,
            training: &training,
            examples: &examples,
            validation: &[],
            device: &device,
            provenance: &Provenance::new(),
            improvement: None,
            communicator: &SingleProcess,
        };
        let outcome = bqnco_train::train::<P>(&task, &folder, &mut |_| (), &never)?;
        plan.samples_per_second = outcome.rows.iter().map(|row| row.samples_per_second).fold(0.0, f64::max);
        Ok(plan)
    }
}

impl Plan {
    fn add_data<P: Builtin>(&mut self, data: &DataSet<'_>) -> Result<()> {
        self.files += data.files(std::path::Path::new("")).len();
        if let Data::Files(Files { files }) = data.data {
            for path in files {
                self.bytes += path.metadata().map_err(Error::file("cannot read", path))?.len() as f64;
            }
        }
        for set in data.sets() {
            let probes = solved_by_heuristic::<P>(data, set)?;
            let bytes = if set.solutions_only {
                probes.iter().filter_map(Instance::solution).map(|solution| label_bytes(&solution)).sum::<usize>()
            } else {
                write_all(&probes, Format::Npz)?.len()
            };
            self.bytes += bytes as f64 / probes.len() as f64 * set.count as f64;
            if let (true, Some(expertise)) = (set.expert, P::expertise()) {
                let rounds = (expertise.label_rounds)(set.size);
                let started = Instant::now();
                expertise.expert.solve(probes[0].data::<P>(), &Effort::rounds(rounds, set.seed))?;
                self.labels += set.count;
                self.label_seconds += started.elapsed().as_secs_f64() * set.count as f64;
            }
        }
        Ok(())
    }
}

/// A line of a journal: the index, the numbers, brackets and commas.
fn label_bytes(solution: &Solution) -> usize {
    solution.numbers().iter().map(|number| number.to_string().len() + 1).sum::<usize>() + 10
}

/// A few examples like those of the training set: good enough to measure speed.
fn probes<P: Builtin>(data: &DataSet<'_>) -> Result<Arc<[Example<P>]>> {
    let mut examples = Vec::new();
    for set in data.sets() {
        for instance in solved_by_heuristic::<P>(data, set)? {
            examples.push(crate::tails::example::<P>(&instance)?);
        }
    }
    if let Data::Files(Files { files }) = data.data {
        for path in files.iter().take(1) {
            examples.extend(super::data::examples::<P>(path, data.unlabelled)?);
        }
    }
    Ok(examples.into())
}

/// The first instances of a set, with solutions of the greedy heuristic.
fn solved_by_heuristic<P: Builtin>(data: &DataSet<'_>, set: &LabelledSet) -> Result<Vec<Instance>> {
    let instances = set.of(data.problem).instances(0..PROBES.min(set.count))?;
    let typed: Vec<_> = instances.iter().map(|instance| Arc::clone(&instance.typed::<P>().instance)).collect();
    let found = rollout::solve::<P>(&GreedyHeuristic, &typed, &Options::default())?;
    let with_label = |(instance, found): (&Instance, bqnco_core::Solution<P::Step>)| {
        instance.with_solution(&Solution::from_steps::<P>(instance, found.steps, "heuristic"))
    };
    instances.iter().zip(found).map(with_label).collect()
}
