//! The instance as the search sees it: nodes worth visiting, renumbered, with neighbour lists and fast distances.

use bqnco_core::{Problem, Stop};
use bqnco_problems::op::Instance;
use bqnco_problems::{Distances, Op};

use crate::nearest::{KdTree, in_space, table};

/// The start of every route, in the search's numbering.
pub(super) const ORIGIN: u32 = 0;
/// The end of every route; a different number from the origin's even if both are the same node.
pub(super) const DESTINATION: u32 = 1;
/// The first node that can be chosen.
pub(super) const FIRST: u32 = 2;

/// Up to this many nodes, distances are kept in a matrix (at most 11 MB).
const MATRIX_NODES: usize = 1200;
/// Up to this many nodes, neighbours are found by comparing all pairs.
const ALL_PAIRS_NODES: usize = 1000;
/// Neighbours stored per node.
const NEIGHBOURS: usize = 50;

/// Data that does not change during a search.
pub(super) struct Field<'a> {
    instance: &'a Instance,
    nodes: Vec<usize>, // the instance's number of each node: origin, destination, nodes with a prize
    matrix: Option<Vec<f64>>, // [nodes, nodes]
    neighbours: Vec<u32>, // per node, the nearest ones to choose from, nearest first
    degree: usize,     // neighbours per node
    prizes: Vec<f64>,  // zero at the ends
    pub(super) limit: f64, // including the tolerance for rounding errors
    stop: Stop<'a>,
}

impl<'a> Field<'a> {
    /// Prepares a search; `None` if `stop` fires first.
    pub(super) fn new(instance: &'a Instance, stop: Stop<'a>) -> Option<Self> {
        let ends = Op::whole(instance);
        // A node without a prize is useful only as a shortcut, if the triangle inequality does not hold.
        let shortcuts = matches!(instance.geometry().distances(), Distances::Matrix { .. });
        let rest = ends.rest.iter().map(|&node| node as usize);
        let mut nodes = vec![ends.origin, ends.destination];
        nodes.extend(rest.filter(|&node| shortcuts || instance.prizes()[node] > 0.0));
        let prizes = nodes.iter().enumerate().map(|(k, &node)| if k < 2 { 0.0 } else { instance.prizes()[node] });
        let mut field = Field {
            instance,
            prizes: prizes.collect(),
            matrix: None,
            neighbours: Vec::new(),
            degree: NEIGHBOURS.min(nodes.len().saturating_sub(3)),
            // Half the slack: the BQ-MDP can replay the route in any order of summation.
            limit: instance.limit() + 0.5 * instance.slack(),
            nodes,
            stop,
        };
        if field.len() <= MATRIX_NODES {
            let distance = |a: usize, b: usize| field.computed_distance(a as u32, b as u32);
            field.matrix = Some(table(field.len(), stop, distance)?);
        }
        field.neighbours = field.nearest()?;
        Some(field)
    }

    /// Whether the search must stop.
    pub(super) fn is_stopped(&self) -> bool {
        (self.stop)()
    }

    /// Number of nodes, including the two ends.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn prize(&self, node: u32) -> f64 {
        self.prizes[node as usize]
    }

    /// The total prize of all nodes.
    pub(super) fn total_prize(&self) -> f64 {
        self.prizes.iter().sum()
    }

    #[inline(always)]
    pub(super) fn distance(&self, a: u32, b: u32) -> f64 {
        match &self.matrix {
            Some(matrix) => matrix[a as usize * self.nodes.len() + b as usize],
            None => self.computed_distance(a, b),
        }
    }

    #[inline(never)] // keeps `distance` small enough to be inlined in inner loops
    fn computed_distance(&self, a: u32, b: u32) -> f64 {
        self.instance.geometry().distance(self.nodes[a as usize], self.nodes[b as usize])
    }

    /// The cost of a detour from a to b through a node.
    #[inline(always)]
    pub(super) fn detour(&self, a: u32, node: u32, b: u32) -> f64 {
        self.distance(a, node) + self.distance(node, b) - self.distance(a, b)
    }

    #[inline]
    pub(super) fn neighbours(&self, node: u32) -> &[u32] {
        &self.neighbours[node as usize * self.degree..][..self.degree]
    }

    /// The node's number in the instance.
    pub(super) fn original(&self, node: u32) -> usize {
        self.nodes[node as usize]
    }

    /// The nearest nodes of every node, among those that can be chosen.
    fn nearest(&self) -> Option<Vec<u32>> {
        let geometry = self.instance.geometry();
        let on_map = self.len() > ALL_PAIRS_NODES && matches!(geometry.distances(), Distances::Points { .. });
        let points = in_space(self.nodes.iter().map(|&node| geometry.map()[node]));
        let tree = on_map.then(|| KdTree::new(&points, (FIRST..self.len() as u32).collect()));
        let mut all = Vec::with_capacity(self.len() * self.degree);
        let mut candidates: Vec<(f64, u32)> = Vec::new();
        for node in 0..self.len() as u32 {
            if self.is_stopped() {
                return None;
            }
            match &tree {
                // Twice as many, because the coordinates may only approximate the metric.
                Some(tree) => tree.nearest(node, [0.0; 3], 2 * self.degree, &mut candidates),
                None => {
                    candidates.clear();
                    candidates
                        .extend((FIRST..self.len() as u32).filter(|&other| other != node).map(|other| (0.0, other)));
                }
            }
            for (distance, other) in &mut candidates {
                *distance = self.distance(node, *other);
            }
            candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            all.extend(candidates.iter().take(self.degree).map(|&(_, other)| other));
        }
        Some(all)
    }
}
