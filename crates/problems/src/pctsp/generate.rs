//! Random instances of the prize-collecting TSP.

use bqnco_core::{Distribution, Generate};
use rand::{Rng, RngExt};

use super::{Instance, Pctsp};
use crate::geometry::{log_uniform, scatter};
use crate::{Geometry, Metric};

impl Generate for Pctsp {
    /// Uniform in the unit square; prizes up to 4 / n, so that a quota of 1 takes about half the customers; penalties up to
    /// three times the length of a tour of limited length, divided by n (Kool et al. 2019).
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        random_instance(Distribution::Uniform, false, size.max(1), rng)
    }

    /// Varied: a quota of 0.2 to 1.8, and penalties up to four times larger or smaller.
    fn generate_from(distribution: Distribution, varied: bool, size: usize, rng: &mut impl Rng) -> Option<Instance> {
        Some(random_instance(distribution, varied, size.max(1), rng))
    }
}

fn random_instance(distribution: Distribution, varied: bool, customers: usize, rng: &mut impl Rng) -> Instance {
    let points = scatter(distribution, customers + 1, rng);
    let geometry = Geometry::planar(points, Metric::Exact).expect("points of the unit square are valid");
    let (quota, scale) = match varied {
        true => (rng.random_range(0.2..1.8), log_uniform(0.25, 4.0, rng)),
        false => (1.0, 1.0),
    };
    let mut numbers = |largest: f64| -> Vec<f64> {
        (0..=customers).map(|node| if node == 0 { 0.0 } else { rng.random_range(0.0..largest) }).collect()
    };
    let prizes = numbers(4.0 / customers as f64);
    let penalties = numbers(scale * 3.0 * length(customers) / customers as f64);
    Instance::new(geometry, prizes, penalties, quota).expect("numbers from 0 on are valid")
}

/// The length of a tour that Kool et al. relate penalties to: 2, 3 and 4 for 20, 50 and 100 customers.
fn length(customers: usize) -> f64 {
    match customers {
        0..=20 => 2.0,
        21..=50 => 3.0,
        _ => 4.0,
    }
}
