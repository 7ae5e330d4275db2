//! Small helpers for sets of nodes kept as ascending lists, so that equal sets are equal lists.

use bqnco_core::Infeasible;
use rand::{Rng, RngExt};

/// Takes one node out of an ascending list.
pub(crate) fn remove(rest: &mut Vec<u32>, node: usize) {
    if let Ok(position) = rest.binary_search(&(node as u32)) {
        rest.remove(position);
    }
}

/// The token of a node among the tokens origin, rest, destination; the rest is ascending.
pub(crate) fn token(rest: &[u32], node: usize) -> Option<usize> {
    rest.binary_search(&(node as u32)).ok().map(|position| position + 1)
}

/// The tokens of a path from the origin through nodes of the rest to the destination.
pub(crate) fn path(rest: &[u32], nodes: &[usize]) -> Vec<usize> {
    let between = nodes.iter().filter_map(|&node| token(rest, node));
    std::iter::once(0).chain(between).chain([rest.len() + 1]).collect()
}

/// The `k` nodes with the smallest keys, ascending by number; ties go to the smaller number.
pub(crate) fn smallest(nodes: &[u32], k: usize, key: impl Fn(usize) -> f64) -> Vec<u32> {
    if nodes.len() <= k {
        return nodes.to_vec();
    }
    let mut keyed: Vec<(f64, u32)> = nodes.iter().map(|&node| (key(node as usize), node)).collect();
    if k > 0 {
        keyed.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    let mut chosen: Vec<u32> = keyed[..k].iter().map(|&(_, node)| node).collect();
    chosen.sort_unstable();
    chosen
}

/// A random part of a path (origin, nodes between, destination) with `length` nodes between its ends. Where origin and
/// destination are one node, the path is a circle and its parts may start anywhere.
pub(crate) fn infix(path: (usize, &[usize], usize), length: usize, rng: &mut impl Rng) -> Vec<usize> {
    let (origin, between, destination) = path;
    let length = length.min(between.len());
    let nodes: Vec<usize> = std::iter::once(origin).chain(between.iter().copied()).collect();
    if origin == destination {
        let start = rng.random_range(0..nodes.len());
        return (0..length + 2).map(|k| nodes[(start + k) % nodes.len()]).collect();
    }
    let start = rng.random_range(0..=between.len() - length);
    nodes.into_iter().chain([destination]).skip(start).take(length + 2).collect()
}

/// Checks that every visit is to a node of `0..count` that `may_visit` accepts and that none is repeated. Returns which
/// nodes were visited. `first` is the number people give to node 0.
pub(crate) fn visit_once(
    what: &'static str,
    count: usize,
    first: usize,
    visits: impl Iterator<Item = usize>,
    may_visit: impl Fn(usize) -> bool,
) -> Result<Vec<bool>, Infeasible> {
    let mut visited = vec![false; count];
    for node in visits {
        let number = node.saturating_add(first);
        if node >= count {
            let expected = format!("at most {}", count + first - 1);
            return Err(Infeasible::Unknown { what, number, expected });
        }
        if !may_visit(node) {
            let expected = "another, because this one is the start or the end".into();
            return Err(Infeasible::Unknown { what, number, expected });
        }
        if std::mem::replace(&mut visited[node], true) {
            return Err(Infeasible::Repeated { what, number });
        }
    }
    Ok(visited)
}
