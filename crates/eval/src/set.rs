//! The instances of a set: drawn when they are needed, or read from files.

use std::collections::BTreeMap;

use bqnco::core::random;
use bqnco::io::{Array, RawInstance};
use bqnco::problems::Metric;
use bqnco::{Builtin, GeneratedSet, Instance, ProblemName, Result, dispatch};

use crate::results::SetInfo;
use crate::suite::RandomSet;

/// Instances that a figure is a mean over.
pub(crate) struct Set {
    pub name: String,
    pub problem: ProblemName,
    instances: Instances,
}

enum Instances {
    Random { set: RandomSet, count: usize, seed: u64 },
    Read { instances: Vec<Instance>, references: Vec<Option<Reference>> },
}

/// A best known objective.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    /// With the sign a person expects.
    pub value: f64,
    /// Who says so.
    pub by: String,
}

/// An instance and the best known objective that comes with it.
pub(crate) type Referenced = (Instance, Option<Reference>);

impl Set {
    /// Random instances: those of `bqnco generate` with the same seed.
    pub fn random(set: &RandomSet, count: usize, seed: u64) -> Result<Self> {
        let problem = set.problem;
        GeneratedSet::new(problem, set.size, 1).check()?;
        Ok(Set { name: set.name.clone(), problem, instances: Instances::Random { set: set.clone(), count, seed } })
    }

    /// Instances of files with their best known objectives.
    pub fn read(name: String, problem: ProblemName, known: Vec<Referenced>) -> Self {
        let (mut instances, references): (Vec<_>, Vec<_>) = known.into_iter().unzip();
        bqnco::distinguish_names(&mut instances);
        Set { name, problem, instances: Instances::Read { instances, references } }
    }

    pub fn len(&self) -> usize {
        match &self.instances {
            Instances::Random { count, .. } => *count,
            Instances::Read { instances, .. } => instances.len(),
        }
    }

    fn is_random(&self) -> bool {
        matches!(self.instances, Instances::Random { .. })
    }

    /// The size of the largest instance.
    fn largest(&self) -> usize {
        match &self.instances {
            Instances::Random { set, .. } => set.size,
            Instances::Read { instances, .. } => instances.iter().map(Instance::size).max().unwrap_or(0),
        }
    }

    /// The size of an instance.
    pub fn size(&self, index: usize) -> usize {
        match &self.instances {
            Instances::Random { set, .. } => set.size,
            Instances::Read { instances, .. } => instances[index].size(),
        }
    }

    /// How many instances are solved together: fewer of larger sizes, so that an interruption costs little. Instances of
    /// different sizes are solved one by one, so that each has a time of its own.
    pub fn batch_size(&self) -> usize {
        let is_even = self.is_random() || (1..self.len()).all(|index| self.size(index) == self.size(0));
        if is_even { (6400 / self.largest().max(1)).clamp(1, 64) } else { 1 }
    }

    pub fn instance(&self, index: usize) -> Result<Instance> {
        match &self.instances {
            Instances::Random { set, seed, .. } => dispatch!(self.problem, P => {
                let instance = P::generate(set.size, &mut random(*seed, &[index as u64]));
                Ok(Instance::from_typed::<P>(self.name_of(index), replace::<P>(instance, &set.set)?))
            }),
            Instances::Read { instances, .. } => Ok(instances[index].clone()),
        }
    }

    /// An instance's name in tables.
    pub fn name_of(&self, index: usize) -> String {
        match &self.instances {
            Instances::Random { set, seed, .. } => {
                let parameters: String = set.set.iter().map(|(name, value)| format!("-{name}{value}")).collect();
                format!("{}{}{parameters}-{seed}-{index}", self.problem, set.size)
            }
            Instances::Read { instances, .. } => instances[index].name().into(),
        }
    }

    /// All that an instance's reference depends on, but for the rounds.
    pub fn key(&self, index: usize) -> String {
        let name = self.name_of(index);
        match &self.instances {
            Instances::Random { .. } => name,
            Instances::Read { instances, .. } => format!("{name}-crc32:{:08x}", checksum(&instances[index])),
        }
    }

    /// The best known objective that comes with an instance.
    pub fn reference(&self, index: usize) -> Option<&Reference> {
        match &self.instances {
            Instances::Random { .. } => None,
            Instances::Read { references, .. } => references[index].as_ref(),
        }
    }

    /// All that the instances depend on, but for the seed.
    pub fn fingerprint(&self) -> u32 {
        let mut checksum = crc32fast::Hasher::new();
        let read = if self.is_random() { 0 } else { self.len() };
        (0..read).for_each(|index| checksum.update(self.key(index).as_bytes()));
        checksum.finalize()
    }

    pub fn info(&self) -> SetInfo {
        SetInfo {
            name: self.name.clone(),
            problem: self.problem.to_string(),
            instances: self.len(),
            random: self.is_random(),
            size: self.largest(),
            batch: self.batch_size(),
        }
    }
}

/// The instance with other numbers under these names.
fn replace<P: Builtin>(instance: P::Instance, numbers: &BTreeMap<String, f64>) -> Result<P::Instance> {
    if numbers.is_empty() {
        return Ok(instance);
    }
    let mut fields = RawInstance::default();
    P::instance_to(&instance, &mut fields);
    numbers.iter().for_each(|(name, &value)| fields.insert(name.clone(), Array::scalar(value)));
    Ok(P::instance_from(&mut fields)?)
}

/// Of the numbers that files give names to.
fn checksum(instance: &Instance) -> u32 {
    let mut fields = RawInstance::default();
    dispatch!(instance.problem(), P => {
        if let Some(instance) = instance.get::<P>() {
            P::instance_to(instance, &mut fields);
        }
    });
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(fields.metric.map_or("", Metric::name).as_bytes());
    for (name, array) in fields.arrays() {
        checksum.update(name.as_bytes());
        array.values.iter().for_each(|value| checksum.update(&value.to_le_bytes()));
    }
    checksum.finalize()
}
