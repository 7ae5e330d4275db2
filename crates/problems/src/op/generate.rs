//! Random instances of path-OP.

use bqnco_core::Generate;
use rand::{Rng, RngExt};

use super::{Instance, Op};
use crate::{Geometry, Metric};

impl Generate for Op {
    /// Uniform in the unit square, prizes by distance to the depot, limit by size (Kool et al. 2019, "dist").
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        let points = (0..=size.max(1)).map(|_| rng.random()).collect();
        let geometry = Geometry::planar(points, Metric::Exact).expect("points of the unit square are valid");
        let distances: Vec<f64> = (0..geometry.len()).map(|node| geometry.distance(0, node)).collect();
        let farthest = distances.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let prize =
            |(node, d): (usize, f64)| if node == 0 { 0.0 } else { (1.0 + (99.0 * d / farthest).floor()) / 100.0 };
        let prizes = distances.into_iter().enumerate().map(prize).collect();
        Instance::new(geometry, prizes, limit(size)).expect("prizes up to 1 are valid")
    }
}

/// The usual length limit: 2, 3 and 4 for 20, 50 and 100 nodes (Kool et al.); 4 beyond (the paper does not say).
fn limit(size: usize) -> f64 {
    match size {
        0..=20 => 2.0,
        21..=50 => 3.0,
        _ => 4.0,
    }
}
