//! Random instances.

use std::ops::Range;

use bqnco_core::{Distribution, random};
use bqnco_io::RawInstance;

use crate::{Builtin, Error, Instance, ProblemName, Result};

/// A set of random instances, by default from the paper's training and test distributions: uniform points in the unit square;
/// CVRP: demands 1 to 9, capacity by size; OP: prizes by distance, limit by size; ATSP: Euclidean costs with broken
/// symmetry; knapsack: uniform values and weights, capacity by size; PCTSP, which the paper does not have: prizes and
/// penalties of Kool et al. (2019).
///
/// Instance k depends only on the seed and k, so parts of a set can be generated on several machines.
///
/// ```
/// use bqnco::{GeneratedSet, ProblemName};
///
/// let set = GeneratedSet { seed: 7, ..GeneratedSet::new(ProblemName::Cvrp, 20, 1000) };
/// let last = set.instances(set.shard(8, 8))?;
/// assert_eq!((last.len(), last[124].name()), (125, "cvrp20-7-999"));
/// let file = bqnco::write_all(&last, bqnco::io::Format::Npz)?;
/// # assert!(!file.is_empty());
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedSet {
    /// The problem.
    pub problem: ProblemName,
    /// Nodes, customers or items per instance; the depot of CVRP, OP and PCTSP is not counted.
    pub size: usize,
    /// Number of instances.
    pub count: u64,
    /// Random seed.
    pub seed: u64,
    /// How places are spread over the unit square.
    pub distribution: Distribution,
    /// Whether parameters that users choose freely are drawn from a wide range: CVRP: depot, demands, and a capacity for
    /// routes of 3 to 60 customers; OP: prizes and limit; ATSP: the kind of asymmetry; knapsack: the capacity; PCTSP: quota
    /// and penalties.
    pub varied: bool,
}

impl GeneratedSet {
    /// The set with seed 0 and the usual parameters.
    pub fn new(problem: ProblemName, size: usize, count: u64) -> Self {
        GeneratedSet { problem, size, count, seed: 0, distribution: Distribution::Uniform, varied: false }
    }

    /// Checks that the settings are valid.
    ///
    /// # Errors
    /// No instances, a size out of range, or a problem without places to spread or without a parameter to vary.
    pub fn check(&self) -> Result<()> {
        dispatch!(self.problem, P => self.check_problem::<P>())
    }

    fn check_problem<P: Builtin>(&self) -> Result<()> {
        let GeneratedSet { problem, size, count, distribution, varied, .. } = *self;
        if count == 0 {
            let expected = "at least 1 instance".into();
            return Err(Error::OutOfRange { setting: "count", found: "0".into(), expected });
        }
        if !(P::SMALLEST_SIZE..=P::LARGEST_SIZE).contains(&size) {
            let expected = format!("{} to {} for {problem}", P::SMALLEST_SIZE, P::LARGEST_SIZE);
            return Err(Error::OutOfRange { setting: "size", found: size.to_string(), expected });
        }
        let exists = |distribution, varied| {
            P::generate_from(distribution, varied, P::SMALLEST_SIZE, &mut random(0, &[])).is_some()
        };
        if !exists(distribution, false) {
            return Err(Error::NoPlaces { problem });
        }
        if !exists(distribution, varied) {
            return Err(Error::NothingToVary { problem });
        }
        Ok(())
    }

    /// The indices of part `part` of `parts`, counted from 1.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn shard(&self, part: u64, parts: u64) -> Range<u64> {
        assert!((1..=parts).contains(&part), "part {part} of {parts}");
        let start = |part: u64| (u128::from(self.count) * u128::from(part) / u128::from(parts)) as u64;
        start(part - 1)..start(part)
    }

    /// The instances with these indices.
    ///
    /// # Errors
    /// See [`GeneratedSet::check`]; also indices beyond the set.
    pub fn instances(&self, indices: Range<u64>) -> Result<Vec<Instance>> {
        self.check()?;
        if indices.end > self.count {
            let (found, expected) = (indices.end.to_string(), format!("at most the set's {} instances", self.count));
            return Err(Error::OutOfRange { setting: "indices.end", found, expected });
        }
        dispatch!(self.problem, P => self.generate::<P>(indices))
    }

    fn generate<P: Builtin>(&self, indices: Range<u64>) -> Result<Vec<Instance>> {
        let count = indices.end.saturating_sub(indices.start);
        let too_many = |most: String| Error::OutOfRange {
            setting: "count",
            found: count.to_string(),
            expected: format!(
                "at most {most} of size {}, which fit into memory; generate a large set in shards",
                self.size
            ),
        };
        if let Some(most) = self.most::<P>().filter(|&most| count > most) {
            return Err(too_many(most.to_string()));
        }
        let mut instances = Vec::new();
        let room = usize::try_from(count).ok().and_then(|count| instances.try_reserve_exact(count).ok());
        room.ok_or_else(|| too_many("as many instances".into()))?;
        instances.extend(indices.map(|index| self.instance::<P>(index)));
        Ok(instances)
    }

    /// How many instances of this size fit into the memory of this machine, if that is known.
    fn most<P: Builtin>(&self) -> Option<u64> {
        const PER_NUMBER: u64 = 32; // in the instance, in the solution, and in what is written
        const PER_INSTANCE: u64 = 2048;
        let mut fields = RawInstance::default();
        P::instance_to(self.instance::<P>(0).data::<P>(), &mut fields);
        let numbers: usize = fields.arrays().map(|(_, array)| array.values.len()).sum();
        Some(total_memory()? / (PER_INSTANCE + PER_NUMBER * numbers as u64))
    }

    fn instance<P: Builtin>(&self, index: u64) -> Instance {
        let mut rng = random(self.seed, &[index]);
        let instance = P::generate_from(self.distribution, self.varied, self.size, &mut rng);
        let instance = instance.expect("checked, as everything that calls this does");
        Instance::from_typed::<P>(format!("{}{}-{}-{index}", P::NAME, self.size, self.seed), instance)
    }
}

/// Bytes of memory of this machine; `None` where the system does not tell.
fn total_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_counts_are_refused_before_memory_is_taken() {
        for count in [1_000_000_000_000_000, u64::MAX] {
            let set = GeneratedSet::new(ProblemName::Tsp, 10, count);
            let error = set.instances(0..count).expect_err("too many").to_string();
            assert!(error.contains("count") && error.contains("shards"), "{error}");
            assert_eq!(set.instances(count - 2..count).expect("two of them").len(), 2);
        }
    }
}
