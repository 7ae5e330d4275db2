//! Random instances of path-CVRP.

use bqnco_core::{Distribution, Generate};
use rand::{Rng, RngExt};

use super::{Cvrp, Instance};
use crate::geometry::{log_uniform, scatter};
use crate::{Geometry, Metric};

impl Generate for Cvrp {
    /// Uniform in the unit square, demands 1 to 9, capacity by size (Kool et al. 2019; paper, section 5).
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        usual(Distribution::Uniform, size.max(1), rng)
    }

    /// Varied: depot, demands and capacity as in CVRPLIB's X set.
    fn generate_from(distribution: Distribution, varied: bool, size: usize, rng: &mut impl Rng) -> Option<Instance> {
        let create = if varied { wide } else { usual };
        Some(create(distribution, size.max(1), rng))
    }
}

/// Demands 1 to 9 and the usual capacity.
fn usual(distribution: Distribution, customers: usize, rng: &mut impl Rng) -> Instance {
    let points = scatter(distribution, customers + 1, rng);
    let demands = (0..=customers).map(|node| if node == 0 { 0.0 } else { f64::from(rng.random_range(1..=9u8)) });
    let demands = demands.collect();
    instance(points, demands, capacity(customers))
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

/// The depot in the centre, in a corner or at a place of the distribution; demands of one of seven kinds (Uchoa et al. 2017). The capacity is for 3
/// to 60 average customers per route, with a uniform logarithm (and for the largest demand): the X set has 3 to 25, the paper's
/// instances of 1000 customers have 50.
fn wide(distribution: Distribution, customers: usize, rng: &mut impl Rng) -> Instance {
    let mut points = scatter(distribution, customers + 1, rng);
    match rng.random_range(0..3) {
        0 => points[0] = [0.5, 0.5],
        1 => points[0] = [0.0, 0.0],
        _ => (),
    }
    let kind = rng.random_range(0..7);
    let large = rng.random_range(0.05..0.3); // share of large demands, where most are small
    let mut demand = |[x, y]: [f64; 2]| match kind {
        0 => 1,
        1 => rng.random_range(1..=10),
        2 => rng.random_range(5..=10),
        3 => rng.random_range(1..=100),
        4 => rng.random_range(50..=100),
        5 if (x < 0.5) == (y < 0.5) => rng.random_range(51..=100),
        5 => rng.random_range(1..=50),
        _ if rng.random_bool(large) => rng.random_range(50..=100),
        _ => rng.random_range(1..=10),
    };
    let mut demands: Vec<f64> = points.iter().map(|&point| f64::from(demand(point))).collect();
    demands[0] = 0.0;
    let mean = demands.iter().sum::<f64>() / customers as f64;
    let largest = demands.iter().copied().fold(0.0, f64::max);
    let capacity = (log_uniform(3.0, 60.0, rng) * mean).ceil().max(largest);
    instance(points, demands, capacity)
}

fn instance(points: Vec<[f64; 2]>, demands: Vec<f64>, capacity: f64) -> Instance {
    let geometry = Geometry::planar(points, Metric::Exact).expect("points of the unit square are valid");
    Instance::new(geometry, demands, capacity).expect("the capacity is at least the largest demand")
}
