//! What spanning trees tell of a tail: potentials of its tokens and alpha values of their pairs, as inputs of a network.
//!
//! A path from the origin through all tokens to the destination is a spanning tree in which the ends have one edge and all
//! others two. Potentials are added to the costs of all edges of a token: this changes the cost of all paths by the same
//! amount, but not that of all trees. The ascent of Held and Karp (1971) raises the potentials of tokens that have too many
//! edges in the minimum spanning tree and lowers those of leaves, until the tree is almost a path. The alpha value of an edge
//! (Helsgaun, 2000) is what the tree costs more if it must contain the edge: zero for its own edges, small for most edges of
//! the best path.
//!
//! Where costs depend on the direction, so do potentials: a token has one for the edge by which the path leaves it and one
//! for the edge by which the path enters it, each of which there should be one of. The tree takes the cheaper direction of
//! a pair. (Helsgaun reaches the same by two nodes per token, one to enter and one to leave.)

use bqnco_core::{Costs, Observation};
use bqnco_kernels::simd::{Kernel, LANES, Simd, dispatch};

/// Potentials and alpha values of a tail, in units of the mean edge of its minimum spanning tree.
pub(crate) struct Ascent {
    /// By direction and token: where the path leaves it and, of directed costs, where it enters it. The mean of each
    /// direction is zero.
    pub potentials: Vec<Vec<f32>>,
    /// From token to token, `[tokens, tokens]`.
    pub alphas: Vec<f32>,
}

/// The first step and the one after the last, in mean edges. In between they fall by the same factor from round to round.
/// Between measured ones (docs/lab/2026-11-ascent.md); one pair for both kinds of costs.
const STEPS: [f32; 2] = [1.0, 0.005];
/// Share of the new degrees in a direction, beside those of the round before (Volgenant and Jonker, 1982).
const NEW: f32 = 0.7;

/// Larger alpha values are all the same.
const LARGEST: f32 = 3.0;

/// Cost of an edge that no path has.
const FORBIDDEN: f32 = 1e6;

impl Ascent {
    /// So many rounds for an observation with these costs, `[tokens, tokens]`; `directed`: each direction has its own
    /// costs, otherwise their mean.
    pub fn new(rounds: usize, directed: bool, o: &Observation, costs: &[f32]) -> Self {
        let n = o.tokens;
        if n < 2 || o.costs == Costs::None {
            return Ascent { potentials: vec![vec![0.0; n]; 1 + usize::from(directed)], alphas: vec![0.0; n * n] };
        }
        let ends = [o.origin, o.destination];
        dispatch(Climb { rounds, ends, edges: Edges::new(n, costs, ends, directed) })
    }
}

/// Costs of edges, with rows of whole vectors.
struct Edges {
    nodes: usize,
    stride: usize,
    directed: bool,
    leaving: Vec<f32>,
    entering: Vec<f32>, // the transpose; empty if both directions cost the same
}

impl Edges {
    fn new(nodes: usize, costs: &[f32], ends: [Option<usize>; 2], directed: bool) -> Self {
        let stride = nodes.next_multiple_of(LANES);
        let cost = |from: usize, to: usize| {
            let is = |end: Option<usize>, token| end == Some(token);
            let joins = |from, to| nodes > 2 && is(ends[0], from) && is(ends[1], to);
            match directed {
                true if joins(from, to) || is(ends[0], to) || is(ends[1], from) => FORBIDDEN,
                true => costs[from * nodes + to],
                false if joins(from, to) || joins(to, from) => FORBIDDEN,
                false => 0.5 * (costs[from * nodes + to] + costs[to * nodes + from]),
            }
        };
        let matrix = |cost: &dyn Fn(usize, usize) -> f32| {
            let mut matrix = vec![0.0; nodes * stride];
            for (from, row) in matrix.chunks_mut(stride).enumerate() {
                row.iter_mut().take(nodes).enumerate().for_each(|(to, entry)| *entry = cost(from, to));
            }
            matrix
        };
        let entering = if directed { matrix(&|to, from| cost(from, to)) } else { Vec::new() };
        Edges { nodes, stride, directed, leaving: matrix(&cost), entering }
    }

    #[inline(always)]
    fn leaving(&self, token: usize) -> &[f32] {
        &self.leaving[token * self.stride..][..self.stride]
    }

    #[inline(always)]
    fn entering(&self, token: usize) -> &[f32] {
        &self.entering[token * self.stride..][..self.stride]
    }
}

/// What is added to the cost of the edge by which the path leaves or enters a token; the same for both unless directed.
struct Potentials {
    leaving: Vec<f32>,
    entering: Vec<f32>,
}

/// The ascent, as plain loops that the compiler turns into vector instructions of this CPU.
struct Climb {
    rounds: usize,
    ends: [Option<usize>; 2],
    edges: Edges,
}

impl Kernel for Climb {
    type Output = Ascent;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Ascent {
        let Climb { rounds, ends, edges } = self;
        let n = edges.nodes;
        let mut potentials = Potentials { leaving: vec![0.0; n], entering: vec![0.0; n] };
        let mut tree = Tree::new(n);
        tree.grow(&edges, &potentials);
        let edge = (tree.cost(&edges, &potentials) / (n - 1) as f32).max(1e-6);
        let factor = (STEPS[1] / STEPS[0]).powf(1.0 / rounds.max(1) as f32);
        let (mut step, mut last) = (STEPS[0] * edge, [vec![0.0; n], vec![0.0; n]]);
        for _ in 0..rounds {
            let excess = tree.excess(ends, edges.directed);
            for (own, (last, excess)) in potentials.both().into_iter().zip(last.iter().zip(&excess)) {
                for ((own, last), excess) in own.iter_mut().zip(last).zip(excess) {
                    *own += step * (NEW * excess + (1.0 - NEW) * last);
                }
            }
            (last, step) = (excess, step * factor);
            tree.grow(&edges, &potentials);
        }
        let mut alphas = tree.alphas(&edges, &potentials);
        alphas.iter_mut().for_each(|alpha| *alpha = (*alpha / edge).clamp(0.0, LARGEST));
        (0..n).for_each(|token| alphas[token * n + token] = LARGEST);
        let centred = |potentials: Vec<f32>| {
            let mean = potentials.iter().sum::<f32>() / n as f32;
            potentials.into_iter().map(|potential| (potential - mean) / edge).collect()
        };
        let mut potentials = vec![centred(potentials.leaving), centred(potentials.entering)];
        potentials.truncate(1 + usize::from(edges.directed));
        Ascent { potentials, alphas }
    }
}

impl Potentials {
    fn both(&mut self) -> [&mut Vec<f32>; 2] {
        [&mut self.leaving, &mut self.entering]
    }

    #[inline(always)]
    fn cost(&self, edges: &Edges, from: usize, to: usize) -> f32 {
        edges.leaving(from)[to] + self.leaving[from] + self.entering[to]
    }
}

/// A spanning tree.
struct Tree {
    order: Vec<usize>,      // of tokens, each behind its parent
    parents: Vec<u32>,      // by token: twice its parent, and one more if the edge leads from the token to the parent
    keys: Vec<f32>,         // cost of the cheapest edge from the tree to a token outside; infinite inside
    outside: [Vec<f32>; 2], // potentials of tokens outside where they are entered and left; infinite inside
}

impl Tree {
    fn new(nodes: usize) -> Self {
        let padded = || vec![0.0; nodes.next_multiple_of(LANES)];
        let parents = vec![0; nodes.next_multiple_of(LANES)];
        Tree { order: Vec::with_capacity(nodes), parents, keys: padded(), outside: [padded(), padded()] }
    }

    /// Prim's tree (1957) for costs with potentials.
    #[inline(always)]
    fn grow(&mut self, edges: &Edges, potentials: &Potentials) {
        self.order.clear();
        self.parents.fill(0);
        self.keys.fill(f32::INFINITY);
        for (outside, given) in self.outside.iter_mut().zip([&potentials.entering, &potentials.leaving]) {
            outside.fill(f32::INFINITY);
            outside[..given.len()].copy_from_slice(given);
        }
        let mut at = 0;
        loop {
            self.order.push(at);
            (self.keys[at], self.outside[0][at], self.outside[1][at]) = (f32::INFINITY, f32::INFINITY, f32::INFINITY);
            if self.order.len() == edges.nodes {
                return;
            }
            let mut least = self.attach::<0>(at, edges.leaving(at), potentials.leaving[at]);
            if edges.directed {
                least = self.attach::<1>(at, edges.entering(at), potentials.entering[at]);
            }
            at = self.outside_at(least);
        }
    }

    /// Offers the edges of a token that has just joined, away from it or (`BACK`) towards it; the cost of the cheapest edge
    /// between the tree and the outside.
    #[inline(always)]
    fn attach<const BACK: usize>(&mut self, at: usize, row: &[f32], potential: f32) -> f32 {
        let mut least = [f32::INFINITY; LANES];
        let parent = (2 * at + BACK) as u32;
        let rows = row.as_chunks::<LANES>().0.iter().zip(self.outside[BACK].as_chunks::<LANES>().0);
        let own = self.keys.as_chunks_mut::<LANES>().0.iter_mut().zip(self.parents.as_chunks_mut::<LANES>().0);
        for ((row, outside), (keys, parents)) in rows.zip(own) {
            for lane in 0..LANES {
                let cost = row[lane] + potential + outside[lane];
                let is_less = cost < keys[lane];
                parents[lane] = if is_less { parent } else { parents[lane] };
                keys[lane] = if is_less { cost } else { keys[lane] };
                least[lane] = if keys[lane] < least[lane] { keys[lane] } else { least[lane] };
            }
        }
        const { assert!(LANES == 16) };
        for half in [8, 4, 2, 1] {
            for lane in 0..half {
                least[lane] = least[lane].min(least[lane + half]);
            }
        }
        least[0]
    }

    /// The first token whose key is this one.
    #[inline(always)]
    fn outside_at(&self, key: f32) -> usize {
        let chunks = self.keys.as_chunks::<LANES>().0;
        let chunk = chunks.iter().position(|keys| keys.iter().fold(false, |any, &own| any | (own == key)));
        let chunk = chunk.expect("a key that was just found");
        chunk * LANES + chunks[chunk].iter().position(|&own| own == key).expect("in this chunk")
    }

    /// Tokens with their edges to parents, in the direction of the edge.
    fn edges(&self) -> impl Iterator<Item = (usize, [usize; 2])> {
        self.order.iter().skip(1).map(|&child| {
            let parent = self.parents[child] as usize;
            let edge = [parent / 2, child];
            (child, if parent % 2 == 1 { [edge[1], edge[0]] } else { edge })
        })
    }

    #[inline(always)]
    fn cost(&self, edges: &Edges, potentials: &Potentials) -> f32 {
        self.edges().map(|(_, [from, to])| potentials.cost(edges, from, to)).sum()
    }

    /// How many edges more than on a path leave and enter every token; undirected, the sum of both for both.
    fn excess(&self, [origin, destination]: [Option<usize>; 2], directed: bool) -> [Vec<f32>; 2] {
        let n = self.order.len();
        let mut excess = [vec![-1.0; n], vec![-1.0; n]];
        for (end, excess) in [destination, origin].into_iter().zip(&mut excess) {
            end.into_iter().for_each(|end| excess[end] += 1.0);
        }
        for (_, [from, to]) in self.edges() {
            excess[0][from] += 1.0;
            excess[1][to] += 1.0;
        }
        if !directed {
            let [leaving, entering] = &mut excess;
            leaving.iter_mut().zip(entering).for_each(|(a, b)| (*a, *b) = (*a + *b, *a + *b));
        }
        excess
    }

    /// The cost of each edge beyond that of the longest edge between its ends in the tree, which it would replace.
    #[inline(always)]
    fn alphas(&self, edges: &Edges, potentials: &Potentials) -> Vec<f32> {
        let n = edges.nodes;
        let mut longest = vec![f32::MIN; n * n];
        for (before, (child, [from, to])) in (1..).zip(self.edges()) {
            let (edge, parent) = (potentials.cost(edges, from, to), from + to - child);
            for &other in &self.order[..before] {
                let between = edge.max(longest[parent * n + other]);
                (longest[child * n + other], longest[other * n + child]) = (between, between);
            }
        }
        for (from, alphas) in longest.chunks_mut(n).enumerate() {
            for ((alpha, cost), potential) in alphas.iter_mut().zip(edges.leaving(from)).zip(&potentials.entering) {
                *alpha = cost + potentials.leaving[from] + potential - *alpha;
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use bqnco_core::random;
    use rand::RngExt;

    use super::*;

    fn ascent(rounds: usize, o: &Observation, cost: impl Fn(usize, usize) -> f32) -> Ascent {
        let costs: Vec<f32> = (0..o.tokens * o.tokens).map(|k| cost(k / o.tokens, k % o.tokens)).collect();
        Ascent::new(rounds, false, o, &costs)
    }

    /// The minimum spanning tree and its cost.
    fn minimum(costs: &[f32], potentials: &Potentials, directed: bool) -> (Edges, Tree, f32) {
        minimum_between([None; 2], costs, potentials, directed)
    }

    /// The minimum spanning tree without edges that no path between these ends has.
    fn minimum_between(
        ends: [Option<usize>; 2],
        costs: &[f32],
        potentials: &Potentials,
        directed: bool,
    ) -> (Edges, Tree, f32) {
        let edges = Edges::new(potentials.leaving.len(), costs, ends, directed);
        let mut tree = Tree::new(edges.nodes);
        tree.grow(&edges, potentials);
        let cost = tree.cost(&edges, potentials);
        (edges, tree, cost)
    }

    fn no_potentials(n: usize) -> Potentials {
        Potentials { leaving: vec![0.0; n], entering: vec![0.0; n] }
    }

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
        let ascent = ascent(10, &observation, cost);
        for (k, &alpha) in ascent.alphas.iter().enumerate() {
            let apart = (k / 6).abs_diff(k % 6);
            assert_eq!(alpha < 1e-5, apart == 1, "{k}: {alpha}");
        }
        assert!(ascent.potentials[0].iter().all(|potential| potential.abs() < 1e-5), "nothing to correct");
    }

    #[test]
    fn the_ascent_makes_trees_more_like_paths() {
        let (mut before, mut after) = (0.0, 0.0);
        for seed in 0..20 {
            let (observation, cost) = plane(&random_points(8, seed));
            let (_, best) = best_path(8, &cost);
            let alpha = |rounds| {
                let alphas = ascent(rounds, &observation, &cost).alphas;
                best.iter().map(|&(a, b)| alphas[a * 8 + b]).sum::<f32>()
            };
            before += alpha(0);
            after += alpha(30);
        }
        assert!(after < 0.5 * before, "alpha of the best paths' edges: {before} -> {after}");
    }

    /// The tree with potentials, less what they add to every path, bounds the best path from below; and closely.
    #[test]
    fn potentials_bound_the_best_path() {
        for directed in [false, true] {
            let mut shares = 0.0;
            for seed in 0..20 {
                let (n, mut rng) = (7, random(seed, &[1]));
                let points = random_points(n, seed);
                let (observation, planar) = plane(&points);
                let wind: Vec<f32> =
                    (0..n * n).map(|_| if directed { rng.random_range(0.0..0.5) } else { 0.0 }).collect();
                let cost = |a: usize, b: usize| planar(a, b) + wind[a * n + b];
                let costs: Vec<f32> = (0..n * n).map(|k| cost(k / n, k % n)).collect();
                let (best, _) = best_path(n, &cost);
                let minimum = |potentials: &Potentials| {
                    minimum_between([observation.origin, observation.destination], &costs, potentials, directed).2
                };
                let plain = minimum(&no_potentials(n));
                let edge = plain / (n - 1) as f32;

                let scaled = Ascent::new(100, directed, &observation, &costs).potentials.into_iter();
                let mut scaled = scaled.map(|one| one.into_iter().map(|number| number * edge).collect::<Vec<_>>());
                let leaving = scaled.next().unwrap();
                let potentials = Potentials { entering: scaled.next().unwrap_or(leaving.clone()), leaving };
                let with = minimum(&potentials);
                let added: f32 = potentials.leaving[..n - 1].iter().chain(&potentials.entering[1..]).sum();
                assert!(with - added <= best * (1.0 + 1e-4), "{} > {best}, directed: {directed}", with - added);
                shares += (with - added - plain) / (best - plain);
            }
            assert!(shares > 0.7 * 20.0, "raises the tree by a share of {}, directed: {directed}", shares / 20.0);
        }
    }

    #[test]
    fn alphas_are_what_trees_with_an_edge_cost_more() {
        for (n, directed) in [9, 16, 17, 40].into_iter().flat_map(|n| [(n, false), (n, true)]) {
            let points = random_points(n, 5);
            let (_, planar) = plane(&points);
            let mut rng = random(6, &[]);
            let wind: Vec<f32> = (0..n * n).map(|_| rng.random_range(0.0..0.5)).collect();
            let cost = |k: usize| planar(k / n, k % n) + if directed { wind[k] } else { 0.0 };
            let costs: Vec<f32> = (0..n * n).map(cost).collect();
            let (edges, tree, plain) = minimum(&costs, &no_potentials(n), directed);
            let alphas = tree.alphas(&edges, &no_potentials(n));
            for (a, b) in [(0, 4), (3, 8), (1, 2), (5, 7), (7, 5), (n - 1, 6), (n - 2, n - 3)] {
                let mut free = costs.clone();
                free[a * n + b] = -1.0; // the tree must contain it
                if !directed {
                    free[b * n + a] = -1.0;
                }
                let (.., forced) = minimum(&free, &no_potentials(n), directed);
                let forced = forced + 1.0 + costs[a * n + b];
                assert!((forced - plain - alphas[a * n + b]).abs() < 1e-4, "{a}, {b} of {n}, directed: {directed}");
            }
        }
    }

    /// Kruskal's tree (1956) costs as much.
    #[test]
    fn trees_of_many_tokens_are_the_cheapest() {
        for n in [15, 33, 70] {
            let (_, cost) = plane(&random_points(n, n as u64));
            let costs: Vec<f32> = (0..n * n).map(|k| cost(k / n, k % n)).collect();
            let mut pairs: Vec<(usize, usize)> = (0..n).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
            pairs.sort_by(|&(a, b), &(c, d)| cost(a, b).total_cmp(&cost(c, d)));
            let (mut parts, mut least): (Vec<usize>, f32) = ((0..n).collect(), 0.0);
            for (a, b) in pairs {
                let [one, other] = [parts[a], parts[b]];
                if one != other {
                    least += cost(a, b);
                    parts.iter_mut().filter(|part| **part == other).for_each(|part| *part = one);
                }
            }
            for directed in [false, true] {
                let (.., found) = minimum(&costs, &no_potentials(n), directed);
                assert!((found - least).abs() < 1e-4, "{found} and {least} for {n} tokens");
            }
        }
    }

    #[test]
    fn few_tokens_and_equal_places_are_no_problem() {
        for points in [vec![[0.5, 0.5]], vec![[0.1, 0.2], [0.3, 0.4]], vec![[0.5, 0.5]; 7]] {
            let (observation, cost) = plane(&points);
            let costs: Vec<f32> = (0..points.len().pow(2)).map(|k| cost(k / points.len(), k % points.len())).collect();
            for directed in [false, true] {
                let ascent = Ascent::new(30, directed, &observation, &costs);
                let numbers = ascent.potentials.iter().flatten().chain(&ascent.alphas);
                assert!(numbers.copied().all(f32::is_finite), "{points:?}, directed: {directed}");
            }
        }
    }
}
