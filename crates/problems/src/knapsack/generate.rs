//! Random instances of the knapsack problem.

use bqnco_core::{Distribution, Generate};
use rand::{Rng, RngExt};

use super::{Instance, Knapsack};
use crate::geometry::log_uniform;

impl Generate for Knapsack {
    const USUAL_SIZE: usize = 200;

    /// Values and weights uniform in the unit interval; capacity 25 for 200 items (paper, appendix C).
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        random_instance(size.max(1), capacity(size.max(1)), rng)
    }

    /// Varied: capacity for 2 to 100 % of the total weight (log-uniform), a wider range than the paper's twelve test sets.
    fn generate_from(distribution: Distribution, varied: bool, size: usize, rng: &mut impl Rng) -> Option<Instance> {
        if distribution != Distribution::Uniform {
            return None; // items have no places
        }
        let items = size.max(1);
        let capacity = if varied { log_uniform(0.02, 1.0, rng) * items as f64 / 2.0 } else { capacity(items) };
        Some(random_instance(items, capacity, rng))
    }
}

/// Values and weights uniform in the unit interval.
fn random_instance(items: usize, capacity: f64, rng: &mut impl Rng) -> Instance {
    let mut numbers = || (0..items).map(|_| rng.random()).collect();
    Instance::new(numbers(), numbers(), capacity).expect("numbers of the unit interval are valid")
}

/// The usual capacity (Kwon et al. 2020; paper): 12.5 for 50 items, 25 from 100 items on.
fn capacity(items: usize) -> f64 {
    (items as f64 / 4.0).min(25.0)
}
