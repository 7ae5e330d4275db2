//! Path-TSP (paper, section 3.3): the shortest path from an origin through all other nodes to a destination.
//! A tour is the case in which origin and destination are the same node.

#[cfg(feature = "draw")]
mod draw;
mod files;

use bqnco_core::{Distribution, Frame, Generate, Observation, Observe, Relations};
use rand::Rng;

use crate::geometry::scatter;
pub use crate::path::Tail;
use crate::path::{PathInstance, PathProblem};
use crate::{Geometry, InvalidInstance, Metric, atsp};

/// The Euclidean (or any symmetric) travelling salesman problem.
pub type Tsp = PathProblem<Instance>;

/// A path-TSP instance.
#[derive(Clone, Debug)]
pub struct Instance {
    geometry: Geometry,
    origin: usize,
    destination: usize,
}

impl Instance {
    /// A tour through all nodes, constructed from node 0.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn tour(geometry: Geometry) -> Result<Self, InvalidInstance> {
        Self::path(geometry, 0, 0)
    }

    /// A path through all nodes with given ends.
    ///
    /// # Errors
    /// Fewer than two nodes, or ends that are not nodes.
    pub fn path(geometry: Geometry, origin: usize, destination: usize) -> Result<Self, InvalidInstance> {
        let nodes = geometry.len();
        if nodes < 2 {
            return Err(InvalidInstance::TooFew { what: "nodes", needed: 2, found: nodes });
        }
        for (what, index) in [("origin", origin), ("destination", destination)] {
            if index >= nodes {
                return Err(InvalidInstance::NoSuchNode { what, index, nodes });
            }
        }
        Ok(Instance { geometry, origin, destination })
    }

    /// The nodes and their distances.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Where the path starts.
    pub fn origin(&self) -> usize {
        self.origin
    }

    /// Where the path ends; the origin for a tour.
    pub fn destination(&self) -> usize {
        self.destination
    }
}

impl PathInstance for Instance {
    const NAME: &'static str = "tsp";
    const REVERSIBLE: bool = true;

    fn count(&self) -> usize {
        self.geometry.len()
    }

    fn ends(&self) -> [usize; 2] {
        [self.origin, self.destination]
    }

    #[inline]
    fn leg(&self, from: usize, to: usize) -> f64 {
        self.geometry.distance(from, to)
    }

    fn extract(&self, nodes: &[usize]) -> Self {
        Instance { geometry: self.geometry.select(nodes), origin: 0, destination: nodes.len() - 1 }
    }

    fn symmetries(&self) -> Vec<Self> {
        self.geometry.symmetries().into_iter().map(|geometry| Instance { geometry, ..*self }).collect()
    }
}

impl Observe for Tsp {
    const FEATURES: usize = 2; // x, y
    const COST_PROBLEM: Option<&'static str> = Some(<atsp::Instance as PathInstance>::NAME);

    fn tokens(_: &Instance, tail: &Tail) -> usize {
        tail.tokens().count()
    }

    fn observe_into(instance: &Instance, tail: &Tail, frame: Frame, features: &mut [f32]) -> Relations {
        instance.geometry.observe_path(frame, tail.tokens()).write(features, |place, _| place)
    }

    fn has_features(instance: &Instance) -> bool {
        instance.geometry.has_map()
    }

    fn observe_costs(instance: &Instance, tail: &Tail, frame: Frame) -> Option<Observation> {
        let distance = |a, b| instance.geometry.distance(a, b);
        let all = || (0..instance.count()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let largest = || all().map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
        Some(atsp::observe_costs(&tail.tokens().nodes(), (frame == Frame::Instance).then(largest), distance))
    }
}

impl Generate for Tsp {
    const SMALLEST_SIZE: usize = 2;

    /// Uniform in the unit square.
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        random_instance(Distribution::Uniform, size, rng)
    }

    fn generate_from(distribution: Distribution, varied: bool, size: usize, rng: &mut impl Rng) -> Option<Instance> {
        (!varied).then(|| random_instance(distribution, size, rng))
    }
}

fn random_instance(distribution: Distribution, size: usize, rng: &mut impl Rng) -> Instance {
    let points = scatter(distribution, size.max(Tsp::SMALLEST_SIZE), rng);
    Geometry::planar(points, Metric::Exact).and_then(Instance::tour).expect("points of the unit square are valid")
}
