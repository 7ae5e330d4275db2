//! Sets of nodes as ascending lists, so that equal sets are equal lists.

use bqnco_core::Infeasible;

/// The nodes of `0..count` that are open.
pub(crate) fn open(count: usize, is_open: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut nodes = Vec::with_capacity(count); // most are
    nodes.extend((0..count).filter(|&node| is_open(node)).map(|node| node as u32));
    nodes
}

/// Removes a node from an ascending list.
pub(crate) fn remove(rest: &mut Vec<u32>, node: usize) {
    if let Ok(position) = rest.binary_search(&(node as u32)) {
        rest.remove(position);
    }
}

/// The nodes of a tail in the order of their tokens.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'t> {
    /// The first token: where the path is.
    pub origin: usize,
    /// The nodes of the tokens in between.
    pub rest: &'t [u32],
    /// The last token: where the path ends.
    pub destination: usize,
}

impl Tokens<'_> {
    /// Number of tokens.
    pub(crate) fn count(&self) -> usize {
        self.rest.len() + 2
    }

    /// All nodes.
    pub(crate) fn nodes(&self) -> Vec<usize> {
        let rest = self.rest.iter().map(|&node| node as usize);
        std::iter::once(self.origin).chain(rest).chain([self.destination]).collect()
    }
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
