//! Path-ATSP: path-TSP with a cost matrix that depends on the direction.

#[cfg(feature = "draw")]
mod draw;
mod files;
mod generate;

use bqnco_core::{Costs, Frame, Observation, Observe, Relations};

use crate::InvalidInstance;
use crate::error::{finite_and_not_negative, length};
pub use crate::path::Tail;
use crate::path::{PathInstance, PathProblem};

/// The asymmetric travelling salesman problem.
pub type Atsp = PathProblem<Instance>;

/// A path-ATSP instance.
#[derive(Clone, Debug)]
pub struct Instance {
    nodes: usize,
    costs: Vec<f64>,       // [nodes, nodes], from row to column; zero diagonal
    identifiers: Vec<f32>, // per node, in [0, 1): distinguish nodes and mean nothing else (paper, section 4)
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
        let identifiers = (0..nodes).map(identifier).collect();
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
}

impl PathInstance for Instance {
    const NAME: &'static str = "atsp";
    const REVERSIBLE: bool = false;

    fn count(&self) -> usize {
        self.nodes
    }

    fn ends(&self) -> [usize; 2] {
        [self.origin, self.destination]
    }

    #[inline]
    fn leg(&self, from: usize, to: usize) -> f64 {
        self.cost(from, to)
    }

    fn extract(&self, nodes: &[usize]) -> Self {
        let pairs = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| self.cost(from, to)));
        Instance {
            nodes: nodes.len(),
            costs: pairs.collect(),
            identifiers: nodes.iter().map(|&node| self.identifiers[node]).collect(),
            origin: 0,
            destination: nodes.len() - 1,
            largest: self.largest,
        }
    }
}

impl Observe for Atsp {
    const FEATURES: usize = 1; // identifier
    const IDENTIFIED: bool = true;

    fn tokens(_: &Instance, tail: &Tail) -> usize {
        tail.tokens().count()
    }

    fn observe_into(instance: &Instance, tail: &Tail, frame: Frame, features: &mut [f32]) -> Relations {
        let nodes = tail.tokens().nodes();
        features.iter_mut().zip(&nodes).for_each(|(feature, &node)| *feature = instance.identifiers[node]);
        let largest = (frame == Frame::Instance).then_some(instance.largest);
        relations(&nodes, largest, |from, to| instance.cost(from, to))
    }
}

/// The identifier of a node: multiples of the golden ratio are spread evenly for any number of nodes.
fn identifier(node: usize) -> f32 {
    ((node as f64 + 1.0) * 0.618_033_988_749_895).fract() as f32
}

/// What a network sees of a path's tail by its costs, in units of the largest one of the tail, if no other is given. `nodes`
/// are those of the tokens.
pub(crate) fn observe_costs(nodes: &[usize], largest: Option<f64>, cost: impl Fn(usize, usize) -> f64) -> Observation {
    let Relations { origin, destination, costs } = relations(nodes, largest, cost);
    let features = nodes.iter().map(|&node| identifier(node)).collect();
    Observation { tokens: nodes.len(), features, origin, destination, costs }
}

/// The ends of a path's tail and the costs between its tokens.
fn relations(nodes: &[usize], largest: Option<f64>, cost: impl Fn(usize, usize) -> f64) -> Relations {
    let mut costs = Vec::with_capacity(nodes.len() * nodes.len());
    nodes.iter().for_each(|&from| costs.extend(nodes.iter().map(|&to| cost(from, to))));
    let largest = largest.unwrap_or_else(|| costs.iter().copied().fold(0.0, f64::max));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    Relations {
        origin: Some(0),
        destination: Some(nodes.len() - 1),
        costs: Costs::Matrix(costs.into_iter().map(|cost| (cost / unit) as f32).collect()),
    }
}
