//! Random instances of the prize-collecting TSP.

use bqnco_core::Generate;
use rand::{Rng, RngExt};

use super::{Instance, Pctsp};
use crate::{Geometry, Metric};

impl Generate for Pctsp {
    /// Uniform in the unit square; prizes up to 4 / n, so that a quota of 1 takes about half the customers; penalties up to
    /// three times the length of a tour of limited length, divided by n (Kool et al. 2019).
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        let customers = size.max(1);
        let points = (0..=customers).map(|_| rng.random()).collect();
        let geometry = Geometry::planar(points, Metric::Exact).expect("points of the unit square are valid");
        let mut numbers = |largest: f64| -> Vec<f64> {
            (0..=customers).map(|node| if node == 0 { 0.0 } else { rng.random_range(0.0..largest) }).collect()
        };
        let prizes = numbers(4.0 / customers as f64);
        let penalties = numbers(3.0 * length(customers) / customers as f64);
        Instance::new(geometry, prizes, penalties, 1.0).expect("numbers from 0 on are valid")
    }
}

/// The length of a tour that Kool et al. relate penalties to: 2, 3 and 4 for 20, 50 and 100 customers.
fn length(customers: usize) -> f64 {
    match customers {
        0..=20 => 2.0,
        21..=50 => 3.0,
        _ => 4.0,
    }
}
