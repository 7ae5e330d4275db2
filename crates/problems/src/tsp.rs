//! Path-TSP (paper, section 3.3): the shortest path from an origin to a destination through all other nodes.
//! A tour is the case where origin and destination are the same node.

use bqnco_core::{Fragment, Frame, Infeasible, Observation, Problem, SolutionSpace};
use rand::{Rng, RngExt};

use crate::{Geometry, InvalidInstance, Metric, nodes};

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

    /// Whether a node is neither origin nor destination.
    fn is_between(&self, node: usize) -> bool {
        node != self.origin && node != self.destination
    }
}

/// What remains of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// Where the path stands.
    pub origin: usize,
    /// Nodes still to visit, ascending.
    pub rest: Vec<u32>,
    /// Where the path must end.
    pub destination: usize,
}

impl Tail {
    /// The tail of a path: from its first node through all others to its last.
    pub(crate) fn along(path: &[usize]) -> Self {
        let last = path.len() - 1;
        let mut rest: Vec<u32> = path[1..last].iter().map(|&node| node as u32).collect();
        rest.sort_unstable();
        Tail { origin: path[0], rest, destination: path[last] }
    }

    /// A piece of a path as a fragment: its first node stays, those between its ends are to be put in order.
    pub(crate) fn fragment<P: Problem<Tail = Tail, Step = usize>>(piece: &[usize]) -> Fragment<P> {
        let between = piece[1..piece.len() - 1].to_vec();
        Fragment { before: vec![piece[0]], tail: Tail::along(piece), steps: between, after: Vec::new() }
    }

    /// The nodes in the order of their tokens: origin, rest, destination.
    pub(crate) fn tokens(&self) -> Vec<usize> {
        let rest = self.rest.iter().map(|&node| node as usize);
        std::iter::once(self.origin).chain(rest).chain([self.destination]).collect()
    }
}

impl SolutionSpace for Tsp {
    type Instance = Instance;
    /// The next node to visit. The last leg, to the destination, is no decision and belongs to the last step.
    type Step = usize;

    fn steps(instance: &Instance) -> Vec<usize> {
        (0..instance.geometry.len()).filter(|&node| instance.is_between(node)).collect()
    }

    fn horizon(instance: &Instance) -> usize {
        Self::steps(instance).len()
    }

    fn cost(instance: &Instance, partial: &[usize]) -> f64 {
        let mut at = instance.origin;
        let mut length = instance.fixed;
        for &node in partial {
            length += instance.geometry.distance(at, node);
            at = node;
        }
        if partial.len() == Self::horizon(instance) {
            length += instance.geometry.distance(at, instance.destination);
        }
        length
    }

    fn check(instance: &Instance, solution: &[usize]) -> Result<(), Infeasible> {
        let visits = solution.iter().copied();
        let visited = nodes::visit_once("node", instance.geometry.len(), 1, visits, |node| instance.is_between(node))?;
        match (0..visited.len()).find(|&node| instance.is_between(node) && !visited[node]) {
            Some(node) => Err(Infeasible::Missing { what: "node", number: node + 1 }),
            None => Ok(()),
        }
    }
}

impl Problem for Tsp {
    const NAME: &'static str = "tsp";
    const OBJECTIVE: (&'static str, f64) = ("length", 1.0);
    const UNIT: &'static str = "nodes";
    const GREEDY_HEURISTIC: &'static str = "nearest neighbour";
    const FEATURES: usize = 2; // x, y

    type Tail = Tail;

    fn size(instance: &Instance) -> usize {
        instance.geometry.len()
    }

    fn whole(instance: &Instance) -> Tail {
        let rest = Self::steps(instance).into_iter().map(|node| node as u32).collect();
        Tail { origin: instance.origin, rest, destination: instance.destination }
    }

    fn allowed(_: &Instance, tail: &Tail) -> impl Iterator<Item = (usize, usize)> {
        tail.rest.iter().enumerate().map(|(k, &node)| (k + 1, node as usize)) // token 0 is the origin
    }

    fn reward(instance: &Instance, tail: &Tail, step: usize) -> f64 {
        let home = if tail.rest.len() == 1 { instance.geometry.distance(step, tail.destination) } else { 0.0 };
        -instance.geometry.distance(tail.origin, step) - home
    }

    fn advance(_: &Instance, tail: &mut Tail, step: usize) {
        nodes::remove(&mut tail.rest, step);
        tail.origin = step;
    }

    fn observe(instance: &Instance, tail: &Tail, frame: Frame) -> Observation {
        let tokens = tail.tokens();
        let view = instance.geometry.path_view(frame, &tokens);
        Observation {
            tokens: tokens.len(),
            features: view.places.as_flattened().to_vec(),
            origin: Some(0),
            destination: Some(tokens.len() - 1),
            costs: instance.geometry.observed_costs(&view, &tokens),
        }
    }

    fn shortlist(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let near = |node| instance.geometry.distance(tail.origin, node);
        Tail { rest: nodes::smallest(&tail.rest, k.max(1), near), ..*tail }
    }

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        let geometry = instance.geometry.select(&tail.tokens());
        Instance { origin: 0, destination: geometry.len() - 1, geometry, fixed: 0.0 }
    }

    fn symmetries(instance: &Instance) -> Vec<Instance> {
        let images = instance.geometry.symmetries().into_iter();
        images.map(|geometry| Instance { geometry, ..*instance }).collect()
    }

    /// A random part of the path, in either direction; of a tour, any part of the circle.
    fn sample_subproblem(
        instance: &Instance,
        solution: &[usize],
        length: usize,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<usize>) {
        let mut path = nodes::infix((instance.origin, solution, instance.destination), length, rng);
        if rng.random() {
            path.reverse();
        }
        (Tail::along(&path), path[1..path.len() - 1].to_vec())
    }

    fn path(_: &Instance, tail: &Tail, steps: &[usize]) -> Vec<Option<usize>> {
        nodes::path(&tail.rest, steps)
    }

    /// The path, or the circle from a random node on, cut into pieces; in either direction.
    fn fragments(instance: &Instance, solution: &[usize], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        let mut walk = nodes::walk((instance.origin, solution, instance.destination), rng);
        if rng.random() {
            walk.reverse();
        }
        nodes::pieces(&walk, length, rng).map(Tail::fragment).collect()
    }

    fn rejoin(instance: &Instance, fragments: &[Fragment<Self>]) -> Vec<usize> {
        let walk = fragments.iter().flat_map(Fragment::all_steps).collect();
        nodes::between(walk, (instance.origin, instance.destination))
    }

    /// Uniform in the unit square.
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        let points = (0..size.max(2)).map(|_| rng.random()).collect();
        Geometry::planar(points, Metric::Exact).and_then(Instance::tour).expect("points of the unit square are valid")
    }
}
