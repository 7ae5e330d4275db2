//! The assignment problem: its dual prices show which arcs an optimal tour is likely to use.

use bqnco_core::Stop;

/// Limit on the matrix entries the method reads, at a few nanoseconds each.
const ENTRIES: usize = 200_000_000;

/// Prices u, v with `cost[i][j] - u[i] - v[j] >= 0` for all i != j, tight on an optimal assignment without fixed
/// points.
///
/// The Hungarian method with shortest augmenting paths (Jonker, Volgenant, 1987), O(n^3). If it is cut short, by `stop`
/// or because there are thousands of nodes, the prices are still valid but less tight.
pub(super) fn prices(nodes: usize, costs: &[f64], stop: Stop<'_>) -> (Vec<f64>, Vec<f64>) {
    let cost = |i: usize, j: usize| if i == j { f64::INFINITY } else { costs[i * nodes + j] };
    // Subtracting the minimum of each row and then of each column leaves no negative entry.
    let mut u: Vec<f64> = (0..nodes).map(|i| (0..nodes).map(|j| cost(i, j)).fold(f64::INFINITY, f64::min)).collect();
    let mut v = vec![f64::INFINITY; nodes];
    for (i, &u) in u.iter().enumerate() {
        v.iter_mut().enumerate().for_each(|(j, v)| *v = v.min(cost(i, j) - u));
    }
    let mut row_of = vec![usize::MAX; nodes]; // the row assigned to each column
    let mut entries = 0;
    for start in 0..nodes {
        if entries > ENTRIES || stop() {
            break;
        }
        entries += nodes * augment(start, &cost, &mut u, &mut v, &mut row_of);
    }
    (u, v)
}

/// Assigns one more row along the cheapest alternating path and adjusts the prices. Returns the number of rows scanned.
fn augment(
    start: usize,
    cost: &impl Fn(usize, usize) -> f64,
    u: &mut [f64],
    v: &mut [f64],
    row_of: &mut [usize],
) -> usize {
    let nodes = u.len();
    let mut distance = vec![f64::INFINITY; nodes]; // of the cheapest path to each column
    let mut before = vec![usize::MAX; nodes]; // the previous column on that path
    let mut done = vec![false; nodes];
    let mut reached = Vec::new(); // columns finished, in order
    let (mut row, mut column, mut length) = (start, usize::MAX, 0.0);
    let end = loop {
        let mut nearest = usize::MAX;
        for j in 0..nodes {
            if done[j] {
                continue;
            }
            let through = length + cost(row, j) - u[row] - v[j];
            if through < distance[j] {
                distance[j] = through;
                before[j] = column;
            }
            if nearest == usize::MAX || distance[j] < distance[nearest] {
                nearest = j;
            }
        }
        if nearest == usize::MAX || distance[nearest] == f64::INFINITY {
            return 1; // only when sums overflow
        }
        (column, length) = (nearest, distance[nearest]);
        if row_of[column] == usize::MAX {
            break column;
        }
        done[column] = true;
        reached.push(column);
        row = row_of[column];
    };
    u[start] += length;
    for &j in &reached {
        u[row_of[j]] += length - distance[j];
        v[j] -= length - distance[j];
    }
    let mut at = end;
    while at != usize::MAX {
        row_of[at] = if before[at] == usize::MAX { start } else { row_of[before[at]] };
        at = before[at];
    }
    reached.len() + 1
}
