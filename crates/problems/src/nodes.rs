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
pub(crate) fn path(rest: &[u32], nodes: &[usize]) -> Vec<Option<usize>> {
    let between = nodes.iter().map(|&node| token(rest, node));
    std::iter::once(Some(0)).chain(between).chain([Some(rest.len() + 1)]).collect()
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

/// A path (origin, nodes between, destination) as one walk through all its nodes. Where origin and destination are one
/// node, the path is a circle and the walk starts, and ends, at a random node of it.
pub(crate) fn walk((origin, between, destination): (usize, &[usize], usize), rng: &mut impl Rng) -> Vec<usize> {
    let mut nodes: Vec<usize> = std::iter::once(origin).chain(between.iter().copied()).collect();
    if origin == destination {
        let start = rng.random_range(0..nodes.len());
        nodes.rotate_left(start);
    }
    nodes.push(if origin == destination { nodes[0] } else { destination });
    nodes
}

/// A walk cut into pieces with about `length` nodes between their ends; each starts where the one before ends. The first
/// cut is at a random place, so that every stretch of the walk can be inside a piece.
pub(crate) fn pieces<'w>(walk: &'w [usize], length: usize, rng: &mut impl Rng) -> impl Iterator<Item = &'w [usize]> {
    let last = walk.len() - 1;
    let stride = length.saturating_add(1).min(last);
    let is_circle = walk[0] == walk[last]; // which starts at a random place anyway
    let first = if is_circle { stride } else { rng.random_range(1..=stride) };
    let cuts = std::iter::once(0).chain((first..last).step_by(stride));
    cuts.map(move |start| {
        let end = if start == 0 { first } else { start + stride };
        &walk[start..=end.min(last)]
    })
}

/// The nodes between the ends of a path, from a walk without its last node that may have gone the other way round.
pub(crate) fn between(mut walk: Vec<usize>, (origin, destination): (usize, usize)) -> Vec<usize> {
    if origin == destination {
        let start = walk.iter().position(|&node| node == origin).expect("a walk goes through the origin");
        walk.rotate_left(start);
    }
    let first = walk.remove(0);
    if first != origin {
        walk.reverse();
    }
    walk
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
