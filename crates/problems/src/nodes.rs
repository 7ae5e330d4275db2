//! Sets of nodes as ascending lists, so that equal sets are equal lists.

use bqnco_core::Infeasible;

/// Removes a node from an ascending list.
pub(crate) fn remove(rest: &mut Vec<u32>, node: usize) {
    if let Ok(position) = rest.binary_search(&(node as u32)) {
        rest.remove(position);
    }
}

/// The nodes in the order of their tokens: origin, rest, destination.
pub(crate) fn tokens(origin: usize, rest: &[u32], destination: usize) -> Vec<usize> {
    let rest = rest.iter().map(|&node| node as usize);
    std::iter::once(origin).chain(rest).chain([destination]).collect()
}

/// The token of a node of the rest.
pub(crate) fn token(rest: &[u32], node: usize) -> Option<usize> {
    rest.binary_search(&(node as u32)).ok().map(|position| position + 1)
}

/// The `k` nodes with the smallest keys, ascending by number; in case of a tie the smaller number.
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

/// Checks that every visit is to a node of `0..count` and that none is repeated. Nodes that `may_visit` does not accept
/// are start or end and visited anyway. Returns which nodes were visited. `first` is the number of node 0 in messages.
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
        if !may_visit(node) || std::mem::replace(&mut visited[node], true) {
            return Err(Infeasible::Repeated { what, number });
        }
    }
    Ok(visited)
}
