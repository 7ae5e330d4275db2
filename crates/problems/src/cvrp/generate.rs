//! Random instances of path-CVRP.

use bqnco_core::Generate;
use rand::{Rng, RngExt};

use super::{Cvrp, Instance};
use crate::{Geometry, Metric};

impl Generate for Cvrp {
    /// Uniform in the unit square, demands 1 to 9, capacity by size (Kool et al. 2019; paper, section 5).
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        random_instance(size, rng, |customers, _, _| capacity(customers))
    }

    /// As above with a capacity for 3 to 60 average customers per route: CVRPLIB's X set has 3 to 25 (Uchoa et al. 2017),
    /// the paper's instances of 1000 customers have 50. Short and long routes are equally likely (log-uniform).
    fn generate_varied(size: usize, rng: &mut impl Rng) -> Option<Instance> {
        Some(random_instance(size, rng, |customers, demands, rng| {
            let mean = demands.iter().sum::<f64>() / customers as f64;
            let per_route = (rng.random_range(3f64.ln()..60f64.ln())).exp();
            (per_route * mean).ceil().max(9.0)
        }))
    }
}

/// An instance whose capacity depends on the number of customers and their demands.
fn random_instance<R: Rng>(size: usize, rng: &mut R, capacity: impl Fn(usize, &[f64], &mut R) -> f64) -> Instance {
    let customers = size.max(1);
    let points = (0..=customers).map(|_| rng.random()).collect();
    let demands = (0..=customers).map(|node| if node == 0 { 0.0 } else { f64::from(rng.random_range(1..=9u8)) });
    let demands: Vec<f64> = demands.collect();
    let capacity = capacity(customers, &demands, rng);
    let geometry = Geometry::planar(points, Metric::Exact).expect("points of the unit square are valid");
    Instance::new(geometry, demands, capacity).expect("demands up to 9 fit every capacity")
}

/// The usual capacity for a number of customers: 50, 80, 100, 250 for 100, 200, 500, 1000 in the paper; 30 and 40 for 20
/// and 50 in Kool et al.
fn capacity(customers: usize) -> f64 {
    match customers {
        0..=10 => 20.0,
        11..=20 => 30.0,
        21..=50 => 40.0,
        51..=100 => 50.0,
        101..=200 => 80.0,
        201..=500 => 100.0,
        _ => 250.0,
    }
}
