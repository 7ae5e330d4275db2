//! The dynamic program of Held and Karp (1962): exact, and exponential in the number of nodes.

/// The cheapest order of the nodes `between` on a path from `origin` to `destination` (the same node for a tour).
///
/// Takes 2^m * m numbers and 2^m * m^2 steps for m nodes.
pub(crate) fn cheapest_path(
    between: &[usize],
    origin: usize,
    destination: usize,
    cost: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    let m = between.len();
    if m == 0 {
        return Vec::new();
    }
    let sets = 1usize << m;
    let mut best = vec![f64::INFINITY; sets * m]; // [visited, last]
    for last in 0..m {
        best[(1 << last) * m + last] = cost(origin, between[last]);
    }
    let through = |best: &[f64], visited: usize, next: usize, to: usize| {
        let lasts = (0..m).filter(|last| visited >> last & 1 == 1 && *last != next);
        let costs = lasts.map(|last| (best[visited * m + last] + cost(between[last], to), last));
        costs.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, 0))
    };
    for visited in 1..sets {
        if visited.count_ones() < 2 {
            continue;
        }
        for last in (0..m).filter(|last| visited >> last & 1 == 1) {
            best[visited * m + last] = through(&best, visited & !(1 << last), last, between[last]).0;
        }
    }
    let mut path = Vec::with_capacity(m);
    let (mut visited, mut to) = (sets - 1, destination);
    while visited != 0 {
        let (_, last) = through(&best, visited, m, to);
        path.push(between[last]);
        to = between[last];
        visited &= !(1 << last);
    }
    path.reverse();
    path
}
