//! Random instances of the knapsack problem.

use bqnco_core::Generate;
use rand::{Rng, RngExt};

use super::{Instance, Knapsack};

impl Generate for Knapsack {
    const USUAL_SIZE: usize = 200;

    /// Values and weights uniform in the unit interval; capacity 25 for 200 items (paper, appendix C).
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        random_instance(size.max(1), capacity(size.max(1)), rng)
    }

    /// Capacity for 2 to 100 % of the total weight (log-uniform): a wider range than the paper's twelve test sets.
    fn generate_varied(size: usize, rng: &mut impl Rng) -> Option<Instance> {
        let share = rng.random_range(0.02f64.ln()..0f64).exp();
        Some(random_instance(size.max(1), share * size.max(1) as f64 / 2.0, rng))
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
