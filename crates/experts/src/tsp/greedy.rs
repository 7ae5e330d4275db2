//! The greedy edge construction: adds the shortest edges first, as long as the result is a set of paths.

use bqnco_core::Stop;

use super::candidates::{self, Places};
use crate::tour_search::{Candidates, Costs};

const NONE: u32 = u32::MAX;

/// Path fragments that are being joined.
struct Fragments {
    links: Vec<[u32; 2]>, // the node's neighbours so far
    other_end: Vec<u32>,  // for a fragment's end: its other end
    count: usize,
}

impl Fragments {
    fn is_end(&self, node: u32) -> bool {
        self.links[node as usize][1] == NONE
    }

    fn join(&mut self, a: u32, b: u32) {
        let (far_a, far_b) = (self.other_end[a as usize], self.other_end[b as usize]);
        if !self.is_end(a) || !self.is_end(b) || far_a == b {
            return;
        }
        for (node, other) in [(a, b), (b, a)] {
            let links = &mut self.links[node as usize];
            links[if links[0] == NONE { 0 } else { 1 }] = other;
        }
        self.other_end[far_a as usize] = far_b;
        self.other_end[far_b as usize] = far_a;
        self.count -= 1;
    }
}

/// A tour that contains the fixed edge, if there is one. `None` if stopped.
pub(super) fn tour<C: Costs>(
    places: &Places,
    costs: &C,
    near: &Candidates,
    fixed: Option<(u32, u32)>,
    stop: Stop<'_>,
) -> Option<Vec<u32>> {
    let n = near.nodes();
    let links = vec![[NONE; 2]; n];
    let mut fragments = Fragments { links, other_end: (0..n as u32).collect(), count: n };
    if let Some((a, b)) = fixed {
        fragments.join(a, b);
    }
    let nodes: Vec<u32> = (0..n as u32).collect();
    join_shortest(&mut fragments, &nodes, near);
    while fragments.count > 1 {
        let ends: Vec<u32> = nodes.iter().copied().filter(|&node| fragments.is_end(node)).collect();
        let near = candidates::find(places, costs, &ends, stop)?;
        join_shortest(&mut fragments, &ends, &near);
    }
    Some(walk(&fragments.links))
}

fn join_shortest(fragments: &mut Fragments, nodes: &[u32], near: &Candidates) {
    let lists = nodes.iter().zip(near.flat.chunks(near.per_node));
    let mut edges: Vec<(f64, u32, u32)> =
        lists.flat_map(|(&a, list)| list.iter().map(move |b| (b.cost, a, b.node))).collect();
    edges.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for (_, a, b) in edges {
        fragments.join(a, b);
    }
}

/// The nodes of the single remaining path, from one end to the other.
fn walk(links: &[[u32; 2]]) -> Vec<u32> {
    let mut at = links.iter().position(|link| link[1] == NONE).unwrap_or(0) as u32;
    let mut order = Vec::with_capacity(links.len());
    let mut before = NONE;
    while at != NONE {
        order.push(at);
        let [a, b] = links[at as usize];
        (before, at) = (at, if a == before { b } else { a });
    }
    order
}
