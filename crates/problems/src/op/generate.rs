//! Random instances of path-OP.

use bqnco_core::{Distribution, Generate};
use rand::{Rng, RngExt};

use super::{Instance, Op};
use crate::geometry::scatter;
use crate::{Geometry, Metric};

impl Generate for Op {
    /// Uniform in the unit square, prizes by distance to the depot, limit by size (Kool et al. 2019, "dist").
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        let geometry = places(Distribution::Uniform, size, rng);
        instance(prizes_by_distance(&geometry), geometry, limit(size))
    }

    /// Varied: prizes by distance, constant or uniform, and a limit of 0.2 to 0.95 of a tour through everything.
    fn generate_from(distribution: Distribution, varied: bool, size: usize, rng: &mut impl Rng) -> Option<Instance> {
        let geometry = places(distribution, size, rng);
        if !varied {
            return Some(instance(prizes_by_distance(&geometry), geometry, limit(size)));
        }
        let mut prizes = match rng.random_range(0..3) {
            0 => prizes_by_distance(&geometry),
            1 => vec![0.01; geometry.len()],
            _ => (0..geometry.len()).map(|_| f64::from(rng.random_range(1..=100u8)) / 100.0).collect(),
        };
        prizes[0] = 0.0;
        let nearest = (1..geometry.len()).map(|node| geometry.distance(0, node)).fold(f64::INFINITY, f64::min);
        let limit = (rng.random_range(0.2..0.95) * tour(&geometry)).max(2.0 * nearest); // something can be visited
        Some(instance(prizes, geometry, limit))
    }
}

fn places(distribution: Distribution, size: usize, rng: &mut impl Rng) -> Geometry {
    let points = scatter(distribution, size.max(1) + 1, rng);
    Geometry::planar(points, Metric::Exact).expect("points of the unit square are valid")
}

fn instance(prizes: Vec<f64>, geometry: Geometry, limit: f64) -> Instance {
    Instance::new(geometry, prizes, limit).expect("prizes up to 1 are valid")
}

/// From 0.01 to 1, the farther from the depot, the more.
fn prizes_by_distance(geometry: &Geometry) -> Vec<f64> {
    let distances: Vec<f64> = (0..geometry.len()).map(|node| geometry.distance(0, node)).collect();
    let farthest = distances.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let prize = |(node, d): (usize, f64)| if node == 0 { 0.0 } else { (1.0 + (99.0 * d / farthest).floor()) / 100.0 };
    distances.into_iter().enumerate().map(prize).collect()
}

/// The usual length limit: 2, 3 and 4 for 20, 50 and 100 nodes (Kool et al.); 4 beyond (the paper does not say).
fn limit(size: usize) -> f64 {
    match size {
        0..=20 => 2.0,
        21..=50 => 3.0,
        _ => 4.0,
    }
}

/// About the length of the shortest tour: four fifths of the one that goes to the nearest node next (Johnson and McGeoch,
/// 1997). It takes time with the square of the nodes, so of many only the first are visited, and the length grows with the root.
fn tour(geometry: &Geometry) -> f64 {
    const MOST: usize = 10_000;
    let visited = geometry.len().min(MOST);
    let (mut left, mut at, mut length): (Vec<usize>, _, _) = ((1..visited).collect(), 0, 0.0);
    while !left.is_empty() {
        let distances = left.iter().map(|&node| geometry.distance(at, node)).enumerate();
        let (next, distance) = distances.min_by(|a, b| a.1.total_cmp(&b.1)).expect("some are left");
        (at, length) = (left.swap_remove(next), length + distance);
    }
    0.8 * (length + geometry.distance(at, 0)) * (geometry.len() as f64 / visited as f64).sqrt()
}
