//! Candidate edges: for every node the nearest ones, including some in every direction.

use bqnco_core::Stop;

use crate::nearest::{KdTree, keep_smallest};
use crate::tour_search::{Candidate, Candidates, Costs};

/// Candidates per node with coordinates.
const NEAREST: usize = 6;
/// At least this many of them from each of the four quadrants, if there are any, so that clusters stay connected.
const PER_QUADRANT: usize = 1;
/// Candidates per node without coordinates, for which directions are unknown.
const CHEAPEST: usize = 8;
/// `stop` is polled once per this many nodes.
const PATIENCE: usize = 64;

/// How near nodes are found.
pub(super) enum Places {
    /// By their coordinates; the metric need not be Euclidean, only close to it.
    Points(Vec<[f64; 3]>),
    /// By comparing all distances.
    Unknown,
}

/// The candidate lists within a subset of the nodes, in the order of `subset`. `None` if stopped.
pub(super) fn find<C: Costs>(places: &Places, costs: &C, subset: &[u32], stop: Stop<'_>) -> Option<Candidates> {
    let (tree, per_node) = match places {
        Places::Points(points) => (Some(KdTree::new(points, subset.to_vec())), NEAREST),
        Places::Unknown => (None, CHEAPEST),
    };
    let per_node = per_node.min(subset.len() - 1);
    let mut flat = Vec::with_capacity(subset.len() * per_node);
    let mut near = Vec::new();
    for (index, &node) in subset.iter().enumerate() {
        if index % PATIENCE == 0 && stop() {
            return None;
        }
        match &tree {
            Some(tree) => around(tree, node, per_node, &mut near),
            None => cheapest(costs, node, subset, per_node, &mut near),
        }
        let priced = near.iter().map(|&(_, other)| Candidate { node: other, cost: costs.cost(node, other) });
        let start = flat.len();
        flat.extend(priced);
        flat[start..].sort_unstable_by(|a, b| a.cost.total_cmp(&b.cost).then(a.node.cmp(&b.node)));
    }
    Some(Candidates { per_node, flat })
}

fn around(tree: &KdTree<'_>, node: u32, count: usize, near: &mut Vec<(f64, u32)>) {
    tree.nearest(node, [0.0; 3], count, near);
    let mut chosen = Vec::new();
    let mut part = Vec::new();
    for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        tree.nearest(node, [x, y, 0.0], PER_QUADRANT.min(count / 4), &mut part);
        chosen.extend(part.iter().copied().filter(|found| !near.contains(found)));
    }
    chosen.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    chosen.dedup();
    near.truncate(count - chosen.len());
    near.append(&mut chosen);
}

fn cheapest<C: Costs>(costs: &C, node: u32, subset: &[u32], count: usize, near: &mut Vec<(f64, u32)>) {
    near.clear();
    near.extend(subset.iter().filter(|&&other| other != node).map(|&other| (costs.cost(node, other), other)));
    keep_smallest(near, count);
}
