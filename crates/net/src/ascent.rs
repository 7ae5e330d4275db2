//! What spanning trees tell of a tail: potentials of its tokens and alpha values of their pairs, as inputs of a network.
//!
//! A path from the origin through all tokens to the destination is a spanning tree in which the ends have degree one and
//! all others degree two. Potentials are added to the costs of all edges of a token: this changes the cost of all paths by
//! the same amount, but not that of all trees. The ascent of Held and Karp (1971) raises the potentials of tokens whose
//! degree in the minimum spanning tree is too high and lowers those of leaves, until the tree is almost a path. The alpha
//! value of an edge (Helsgaun, 2000) is what the tree costs more if it must contain the edge: zero for its own edges, small
//! for most edges of the best path.

use bqnco_core::{Costs, Observation};

/// Potentials and alpha values of a tail, in units of the mean edge of its minimum spanning tree.
pub(crate) struct Ascent {
    /// By token; their mean is zero.
    pub potentials: Vec<f32>,
    /// `[tokens, tokens]`; symmetric, of asymmetric costs by their means.
    pub alphas: Vec<f32>,
}

/// Of the first step, in mean edges; of each step, relative to the one before; of the new degrees in a direction, beside the
/// ones before (Volgenant and Jonker, 1982).
const FIRST_STEP: f32 = 0.3;
const DECAY: f32 = 0.93;
const NEW: f32 = 0.7;

/// Larger alpha values are all the same.
const LARGEST: f32 = 3.0;

/// Cost of an edge that no path has.
const FORBIDDEN: f32 = 1e6;

impl Ascent {
    /// So many rounds for an observation; `cost` gives its costs, by tokens.
    pub fn new(rounds: usize, o: &Observation, cost: impl Fn(usize, usize) -> f32) -> Self {
        let n = o.tokens;
        if n < 2 || o.costs == Costs::None {
            return Ascent { potentials: vec![0.0; n], alphas: vec![0.0; n * n] };
        }
        let mut costs: Vec<f32> = (0..n * n).map(|k| 0.5 * (cost(k / n, k % n) + cost(k % n, k / n))).collect();
        if let (Some(a), Some(b), true) = (o.origin, o.destination, n > 2) {
            (costs[a * n + b], costs[b * n + a]) = (FORBIDDEN, FORBIDDEN); // the ends are not neighbours
        }
        let mut potentials = vec![0.0; n];
        let mut tree = Tree::minimum(&costs, &potentials);
        let edge = (tree.cost(&costs) / (n - 1) as f32).max(1e-6);
        let (mut step, mut last) = (FIRST_STEP * edge, vec![0.0; n]);
        for _ in 0..rounds {
            for (token, degree) in tree.degrees().into_iter().enumerate() {
                let is_end = o.origin == Some(token) || o.destination == Some(token);
                let excess = degree as f32 - if is_end { 1.0 } else { 2.0 };
                potentials[token] += step * (NEW * excess + (1.0 - NEW) * last[token]);
                last[token] = excess;
            }
            step *= DECAY;
            tree = Tree::minimum(&costs, &potentials);
        }
        let mut alphas = tree.alphas(&costs, &potentials);
        alphas.iter_mut().for_each(|alpha| *alpha = (*alpha / edge).clamp(0.0, LARGEST));
        (0..n).for_each(|token| alphas[token * n + token] = LARGEST);
        let mean = potentials.iter().sum::<f32>() / n as f32;
        potentials.iter_mut().for_each(|potential| *potential = (*potential - mean) / edge);
        Ascent { potentials, alphas }
    }
}

/// A spanning tree.
struct Tree {
    order: Vec<usize>,   // of tokens, each behind its parent
    parents: Vec<usize>, // by token; of the first one, itself
}

impl Tree {
    /// Prim's tree (1957) for costs with potentials.
    fn minimum(costs: &[f32], potentials: &[f32]) -> Self {
        let n = potentials.len();
        let (mut order, mut parents, mut keys) = (vec![0], vec![0; n], vec![f32::MAX; n]);
        let mut open: Vec<usize> = (1..n).collect();
        let mut at = 0;
        while !open.is_empty() {
            let row = &costs[at * n..][..n];
            let (mut nearest, mut least) = (0, f32::MAX);
            for (k, &token) in open.iter().enumerate() {
                let cost = row[token] + potentials[at] + potentials[token];
                if cost < keys[token] {
                    (keys[token], parents[token]) = (cost, at);
                }
                if keys[token] < least {
                    (nearest, least) = (k, keys[token]);
                }
            }
            at = open.swap_remove(nearest);
            order.push(at);
        }
        Tree { order, parents }
    }

    /// Edges from children to parents.
    fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.order.iter().skip(1).map(|&child| (child, self.parents[child]))
    }

    fn cost(&self, costs: &[f32]) -> f32 {
        self.edges().map(|(child, parent)| costs[child * self.parents.len() + parent]).sum()
    }

    fn degrees(&self) -> Vec<usize> {
        let mut degrees = vec![0; self.parents.len()];
        self.edges().for_each(|(child, parent)| {
            degrees[child] += 1;
            degrees[parent] += 1;
        });
        degrees
    }

    /// The cost of each edge beyond that of the longest edge between its ends in the tree, which it would replace.
    fn alphas(&self, costs: &[f32], potentials: &[f32]) -> Vec<f32> {
        let n = potentials.len();
        let cost = |a: usize, b: usize| costs[a * n + b] + potentials[a] + potentials[b];
        let mut longest = vec![f32::MIN; n * n];
        for (before, (child, parent)) in (1..).zip(self.edges()) {
            let edge = cost(child, parent);
            for &other in &self.order[..before] {
                let between = edge.max(longest[parent * n + other]);
                (longest[child * n + other], longest[other * n + child]) = (between, between);
            }
        }
        (0..n * n).map(|k| cost(k / n, k % n) - longest[k]).collect()
    }
}

#[cfg(test)]
mod tests {
    use bqnco_core::random;
    use rand::RngExt;

    use super::*;

    fn plane(points: &[[f32; 2]]) -> (Observation, impl Fn(usize, usize) -> f32 + use<>) {
        let features = points.as_flattened().to_vec();
        let (tokens, ends) = (points.len(), [Some(0), Some(points.len() - 1)]);
        let observation = Observation { tokens, features, origin: ends[0], destination: ends[1], costs: Costs::Planar };
        let points = points.to_vec();
        (observation, move |a, b| (points[a][0] - points[b][0]).hypot(points[a][1] - points[b][1]))
    }

    fn random_points(n: usize, seed: u64) -> Vec<[f32; 2]> {
        let mut rng = random(seed, &[]);
        (0..n).map(|_| [rng.random(), rng.random()]).collect()
    }

    /// The edges of the cheapest path from the first to the last point, by trying all orders.
    fn best_path(n: usize, cost: &impl Fn(usize, usize) -> f32) -> (f32, Vec<(usize, usize)>) {
        fn extend(
            path: &mut Vec<usize>,
            n: usize,
            so_far: f32,
            cost: &impl Fn(usize, usize) -> f32,
            best: &mut (f32, Vec<usize>),
        ) {
            let at = path[path.len() - 1];
            if path.len() == n - 1 {
                let total = so_far + cost(at, n - 1);
                if total < best.0 {
                    *best = (total, path.iter().copied().chain([n - 1]).collect());
                }
                return;
            }
            for next in 1..n - 1 {
                if !path.contains(&next) {
                    path.push(next);
                    extend(path, n, so_far + cost(at, next), cost, best);
                    path.pop();
                }
            }
        }
        let mut best = (f32::MAX, Vec::new());
        extend(&mut vec![0], n, 0.0, cost, &mut best);
        (best.0, best.1.windows(2).map(|pair| (pair[0], pair[1])).collect())
    }

    #[test]
    fn a_line_is_its_own_tree() {
        let points: Vec<[f32; 2]> = (0..6).map(|k| [k as f32, 0.0]).collect();
        let (observation, cost) = plane(&points);
        let ascent = Ascent::new(10, &observation, cost);
        for (k, &alpha) in ascent.alphas.iter().enumerate() {
            let apart = (k / 6).abs_diff(k % 6);
            assert_eq!(alpha < 1e-5, apart == 1, "{k}: {alpha}");
        }
        assert!(ascent.potentials.iter().all(|potential| potential.abs() < 1e-5), "nothing to correct");
    }

    #[test]
    fn the_ascent_makes_trees_more_like_paths() {
        let (mut before, mut after) = (0.0, 0.0);
        for seed in 0..20 {
            let (observation, cost) = plane(&random_points(8, seed));
            let (_, best) = best_path(8, &cost);
            let alpha = |rounds| {
                let alphas = Ascent::new(rounds, &observation, &cost).alphas;
                best.iter().map(|&(a, b)| alphas[a * 8 + b]).sum::<f32>()
            };
            before += alpha(0);
            after += alpha(30);
        }
        assert!(after < 0.5 * before, "alpha of the best paths' edges: {before} -> {after}");
    }

    /// The tree with potentials, less what they add to every path, bounds the best path from below.
    #[test]
    fn potentials_bound_the_best_path() {
        for seed in 0..20 {
            let points = random_points(7, seed);
            let (observation, cost) = plane(&points);
            let (best, _) = best_path(7, &cost);
            let costs: Vec<f32> = (0..49).map(|k| cost(k / 7, k % 7)).collect();
            let edge = Tree::minimum(&costs, &[0.0; 7]).cost(&costs) / 6.0;
            let potentials = Ascent::new(30, &observation, &cost).potentials;
            let scaled: Vec<f32> = potentials.iter().map(|potential| potential * edge).collect();
            let tree = Tree::minimum(&costs, &scaled);
            let with: f32 = tree.edges().map(|(a, b)| costs[a * 7 + b] + scaled[a] + scaled[b]).sum();
            let added = 2.0 * scaled.iter().sum::<f32>() - scaled[0] - scaled[6];
            assert!(with - added <= best * (1.0 + 1e-4), "{} > {best}", with - added);
        }
    }

    #[test]
    fn alphas_are_what_trees_with_an_edge_cost_more() {
        let points = random_points(9, 5);
        let (_, cost) = plane(&points);
        let costs: Vec<f32> = (0..81).map(|k| cost(k / 9, k % 9)).collect();
        let tree = Tree::minimum(&costs, &[0.0; 9]);
        let alphas = tree.alphas(&costs, &[0.0; 9]);
        for (a, b) in [(0, 4), (3, 8), (1, 2), (5, 7)] {
            let mut free = costs.clone();
            (free[a * 9 + b], free[b * 9 + a]) = (-1.0, -1.0); // the tree must contain it
            let forced = Tree::minimum(&free, &[0.0; 9]).cost(&free) + 1.0 + costs[a * 9 + b];
            assert!((forced - tree.cost(&costs) - alphas[a * 9 + b]).abs() < 1e-4);
        }
    }

    #[test]
    fn few_tokens_and_equal_places_are_no_problem() {
        for points in [vec![[0.5, 0.5]], vec![[0.1, 0.2], [0.3, 0.4]], vec![[0.5, 0.5]; 7]] {
            let (observation, cost) = plane(&points);
            let ascent = Ascent::new(30, &observation, cost);
            let numbers = ascent.potentials.iter().chain(&ascent.alphas);
            assert!(numbers.copied().all(f32::is_finite), "{points:?}");
        }
    }
}
