//! Path-TSP (paper, section 3.3): the shortest path from an origin through all other nodes to a destination.
//! A tour is the case in which origin and destination are the same node.

#[cfg(feature = "draw")]
mod draw;
mod files;

use bqnco_core::{
    Fragment, Frame, Generate, Imitate, Infeasible, Observation, Observe, Problem, Rebuild, SolutionSpace,
};
use rand::{Rng, RngExt};

pub use crate::path::Tail;
use crate::path::{self, PathInstance};
use crate::{Geometry, InvalidInstance, Metric};

/// The Euclidean (or any symmetric) travelling salesman problem.
pub struct Tsp;

/// A path-TSP instance.
#[derive(Clone, Debug)]
pub struct Instance {
    geometry: Geometry,
    origin: usize,
    destination: usize,
    fixed: f64,
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
        Ok(Instance { geometry, origin, destination, fixed: 0.0 })
    }

    /// A tour that must use the edge between two nodes: a path between them, plus the edge's length.
    ///
    /// # Errors
    /// As [`Instance::path`].
    pub fn tour_through_edge(geometry: Geometry, origin: usize, destination: usize) -> Result<Self, InvalidInstance> {
        let mut instance = Self::path(geometry, origin, destination)?;
        instance.fixed = instance.geometry.distance(origin, destination);
        Ok(instance)
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

    /// The length of a fixed edge that closes the path to a tour, included in every cost.
    pub fn fixed(&self) -> f64 {
        self.fixed
    }
}

impl PathInstance for Instance {
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

    fn fixed_cost(&self) -> f64 {
        self.fixed
    }
}

impl SolutionSpace for Tsp {
    type Instance = Instance;
    /// The next node to visit. The last leg, to the destination, is no decision and belongs to the last step.
    type Step = usize;

    fn steps(instance: &Instance) -> Vec<usize> {
        path::steps(instance)
    }

    fn horizon(instance: &Instance) -> usize {
        path::steps(instance).len()
    }

    fn cost(instance: &Instance, partial: &[usize]) -> f64 {
        path::cost(instance, partial)
    }

    fn check(instance: &Instance, solution: &[usize]) -> Result<(), Infeasible> {
        path::check(instance, solution)
    }
}

impl Problem for Tsp {
    const NAME: &'static str = "tsp";
    const OBJECTIVE: (&'static str, f64) = ("length", 1.0);
    const UNIT: &'static str = "nodes";
    const GREEDY_HEURISTIC: &'static str = "nearest neighbour";

    type Tail = Tail;

    fn size(instance: &Instance) -> usize {
        instance.geometry.len()
    }

    fn whole(instance: &Instance) -> Tail {
        path::whole(instance)
    }

    fn allowed(_: &Instance, tail: &Tail) -> impl Iterator<Item = (usize, usize)> {
        path::allowed(tail)
    }

    fn reward(instance: &Instance, tail: &Tail, step: usize) -> f64 {
        path::reward(instance, tail, step)
    }

    fn advance(_: &Instance, tail: &mut Tail, step: usize) {
        path::advance(tail, step);
    }

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        let geometry = instance.geometry.select(&tail.tokens());
        Instance { origin: 0, destination: geometry.len() - 1, geometry, fixed: 0.0 }
    }

    fn shortlist(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        path::shortlist(instance, tail, k)
    }

    fn symmetries(instance: &Instance) -> Vec<Instance> {
        let images = instance.geometry.symmetries().into_iter();
        images.map(|geometry| Instance { geometry, ..*instance }).collect()
    }
}

impl Observe for Tsp {
    const FEATURES: usize = 2; // x, y

    fn observe(instance: &Instance, tail: &Tail, frame: Frame) -> Observation {
        let tokens = tail.tokens();
        let map = instance.geometry.observe_path(frame, &tokens);
        Observation {
            tokens: tokens.len(),
            features: map.places.as_flattened().to_vec(),
            origin: Some(0),
            destination: Some(tokens.len() - 1),
            costs: instance.geometry.observe_costs(&map, &tokens),
        }
    }
}

impl Imitate for Tsp {
    fn sample_subproblem(
        instance: &Instance,
        solution: &[usize],
        length: usize,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<usize>) {
        path::sample_subproblem(instance, solution, length, rng)
    }

    fn path(_: &Instance, tail: &Tail, steps: &[usize]) -> Vec<Option<usize>> {
        path::tokens(&tail.rest, steps)
    }
}

impl Rebuild for Tsp {
    fn fragments(instance: &Instance, solution: &[usize], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        path::fragments(instance, solution, length, rng)
    }

    fn rejoin(instance: &Instance, fragments: &[Fragment<Self>]) -> Vec<usize> {
        path::rejoin(instance, fragments)
    }
}

impl Generate for Tsp {
    /// Uniform in the unit square.
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        let points = (0..size.max(2)).map(|_| rng.random()).collect();
        Geometry::planar(points, Metric::Exact).and_then(Instance::tour).expect("points of the unit square are valid")
    }
}
