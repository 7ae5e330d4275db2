//! Path-ATSP: path-TSP with a cost matrix that depends on the direction.

use bqnco_core::{Costs, Fragment, Frame, Infeasible, Observation, Problem, SolutionSpace};
use rand::{Rng, RngExt};

use crate::error::{finite_and_not_negative, length};
use crate::tsp::Tail;
use crate::{InvalidInstance, nodes};

/// The asymmetric travelling salesman problem.
pub struct Atsp;

/// A path-ATSP instance.
#[derive(Clone, Debug)]
pub struct Instance {
    nodes: usize,
    costs: Vec<f64>,       // [nodes, nodes], from row to column; zero diagonal
    identifiers: Vec<f32>, // per node, in [0, 1): tells nodes apart, means nothing else (paper, section 4)
    origin: usize,
    destination: usize,
    largest: f64,
}

impl Instance {
    /// A tour through all nodes, constructed from node 0. The diagonal is ignored.
    ///
    /// # Errors
    /// A matrix that is not square, has fewer than two nodes, or holds negative or infinite numbers.
    pub fn tour(nodes: usize, mut costs: Vec<f64>) -> Result<Self, InvalidInstance> {
        if nodes < 2 {
            return Err(InvalidInstance::TooFew { what: "nodes", needed: 2, found: nodes });
        }
        length("matrix entries", nodes * nodes, costs.len())?;
        costs.iter_mut().step_by(nodes + 1).for_each(|diagonal| *diagonal = 0.0);
        finite_and_not_negative("cost", &costs)?;
        // Multiples of the golden ratio spread evenly, whatever the number of nodes.
        let identifiers = (0..nodes).map(|node| ((node as f64 + 1.0) * 0.618_033_988_749_895).fract() as f32).collect();
        let largest = costs.iter().copied().fold(0.0, f64::max);
        Ok(Instance { nodes, costs, identifiers, origin: 0, destination: 0, largest })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Cost of going from one node to another.
    #[inline]
    pub fn cost(&self, from: usize, to: usize) -> f64 {
        self.costs[from * self.nodes + to]
    }

    /// All costs, from row to column.
    pub fn costs(&self) -> &[f64] {
        &self.costs
    }

    /// Where the path starts.
    pub fn origin(&self) -> usize {
        self.origin
    }

    /// Where the path ends; the origin for a tour.
    pub fn destination(&self) -> usize {
        self.destination
    }

    fn is_between(&self, node: usize) -> bool {
        node != self.origin && node != self.destination
    }
}

impl SolutionSpace for Atsp {
    type Instance = Instance;
    /// The next node to visit. The last leg, to the destination, is no decision and belongs to the last step.
    type Step = usize;

    fn steps(instance: &Instance) -> Vec<usize> {
        (0..instance.nodes).filter(|&node| instance.is_between(node)).collect()
    }

    fn horizon(instance: &Instance) -> usize {
        Self::steps(instance).len()
    }

    fn cost(instance: &Instance, partial: &[usize]) -> f64 {
        let mut at = instance.origin;
        let mut total = 0.0;
        for &node in partial {
            total += instance.cost(at, node);
            at = node;
        }
        if partial.len() == Self::horizon(instance) {
            total += instance.cost(at, instance.destination);
        }
        total
    }

    fn check(instance: &Instance, solution: &[usize]) -> Result<(), Infeasible> {
        let visits = solution.iter().copied();
        let visited = nodes::visit_once("node", instance.nodes, 1, visits, |node| instance.is_between(node))?;
        match (0..visited.len()).find(|&node| instance.is_between(node) && !visited[node]) {
            Some(node) => Err(Infeasible::Missing { what: "node", number: node + 1 }),
            None => Ok(()),
        }
    }
}

impl Problem for Atsp {
    const NAME: &'static str = "atsp";
    const OBJECTIVE: (&'static str, f64) = ("length", 1.0);
    const UNIT: &'static str = "nodes";
    const GREEDY_HEURISTIC: &'static str = "nearest neighbour";
    const LARGEST_SIZE: usize = 10_000;
    const FEATURES: usize = 1; // identifier

    type Tail = Tail;

    fn size(instance: &Instance) -> usize {
        instance.nodes()
    }

    fn whole(instance: &Instance) -> Tail {
        let rest = Self::steps(instance).into_iter().map(|node| node as u32).collect();
        Tail { origin: instance.origin, rest, destination: instance.destination }
    }

    fn allowed(_: &Instance, tail: &Tail) -> impl Iterator<Item = (usize, usize)> {
        tail.rest.iter().enumerate().map(|(k, &node)| (k + 1, node as usize)) // token 0 is the origin
    }

    fn reward(instance: &Instance, tail: &Tail, step: usize) -> f64 {
        let home = if tail.rest.len() == 1 { instance.cost(step, tail.destination) } else { 0.0 };
        -instance.cost(tail.origin, step) - home
    }

    fn advance(_: &Instance, tail: &mut Tail, step: usize) {
        nodes::remove(&mut tail.rest, step);
        tail.origin = step;
    }

    fn observe(instance: &Instance, tail: &Tail, frame: Frame) -> Observation {
        let tokens = tail.tokens();
        let pairs = || tokens.iter().flat_map(|&from| tokens.iter().map(move |&to| instance.cost(from, to)));
        let largest = match frame {
            Frame::Instance => instance.largest,
            Frame::Subproblem | Frame::Origin => pairs().fold(0.0, f64::max),
        };
        let unit = if largest > 0.0 { largest } else { 1.0 };
        Observation {
            tokens: tokens.len(),
            features: tokens.iter().map(|&node| instance.identifiers[node]).collect(),
            origin: Some(0),
            destination: Some(tokens.len() - 1),
            costs: Costs::Matrix(pairs().map(|cost| (cost / unit) as f32).collect()),
        }
    }

    fn shortlist(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let near = |node| instance.cost(tail.origin, node);
        Tail { rest: nodes::smallest(&tail.rest, k.max(1), near), ..*tail }
    }

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        let tokens = tail.tokens();
        let pairs = tokens.iter().flat_map(|&from| tokens.iter().map(move |&to| instance.cost(from, to)));
        Instance {
            nodes: tokens.len(),
            costs: pairs.collect(),
            identifiers: tokens.iter().map(|&node| instance.identifiers[node]).collect(),
            origin: 0,
            destination: tokens.len() - 1,
            largest: instance.largest,
        }
    }

    /// A random part of the path; of a tour, any part of the circle.
    fn sample_subproblem(
        instance: &Instance,
        solution: &[usize],
        length: usize,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<usize>) {
        let path = nodes::infix((instance.origin, solution, instance.destination), length, rng);
        (Tail::along(&path), path[1..path.len() - 1].to_vec())
    }

    fn path(_: &Instance, tail: &Tail, steps: &[usize]) -> Vec<Option<usize>> {
        nodes::path(&tail.rest, steps)
    }

    /// The path, or the circle from a random node on, cut into pieces.
    fn fragments(instance: &Instance, solution: &[usize], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        let walk = nodes::walk((instance.origin, solution, instance.destination), rng);
        nodes::pieces(&walk, length, rng).map(Tail::fragment).collect()
    }

    fn rejoin(instance: &Instance, fragments: &[Fragment<Self>]) -> Vec<usize> {
        let walk = fragments.iter().flat_map(Fragment::all_steps).collect();
        nodes::between(walk, (instance.origin, instance.destination))
    }

    /// A Euclidean matrix of points in the unit square with randomly broken symmetry (paper, section 5): every
    /// direction of every edge is stretched by a factor of its own between 1 and 1.2.
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        let points: Vec<[f64; 2]> = (0..size.max(2)).map(|_| rng.random()).collect();
        let mut costs = Vec::with_capacity(points.len() * points.len());
        for a in &points {
            for b in &points {
                costs.push((a[0] - b[0]).hypot(a[1] - b[1]) * rng.random_range(1.0..1.2));
            }
        }
        Instance::tour(points.len(), costs).expect("distances of points are valid costs")
    }
}
