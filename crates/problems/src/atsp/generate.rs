//! Random instances of path-ATSP.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bqnco_core::{Distribution, Generate};
use rand::{Rng, RngExt};

use super::{Atsp, Instance};
use crate::geometry::{log_uniform, scatter};

impl Generate for Atsp {
    const SMALLEST_SIZE: usize = 2;
    const LARGEST_SIZE: usize = 10_000;

    /// A Euclidean matrix of points in the unit square with randomly broken symmetry (paper, section 5): every
    /// direction of every edge is stretched by a factor of its own between 1 and 1.2.
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        instance(stretched(Distribution::Uniform, nodes(size), 1.2, rng))
    }

    /// Varied: one of several kinds of asymmetry; two of them have no places and ignore the distribution.
    fn generate_from(distribution: Distribution, varied: bool, size: usize, rng: &mut impl Rng) -> Option<Instance> {
        let nodes = nodes(size);
        let kind = if varied { rng.random_range(0..4) } else { 4 };
        Some(instance(match kind {
            0 if nodes <= MOST_CLOSED => closed(nodes, rng),
            1 => uphill(distribution, nodes, rng),
            2 => streets(nodes, rng),
            4 => stretched(distribution, nodes, 1.2, rng),
            _ => stretched(distribution, nodes, 1.0 + log_uniform(0.02, 2.0, rng), rng),
        }))
    }
}

/// Most nodes of a matrix of random numbers, which takes time with the cube of its size.
const MOST_CLOSED: usize = 1000;

fn nodes(size: usize) -> usize {
    size.max(Atsp::SMALLEST_SIZE)
}

fn instance(costs: Vec<f64>) -> Instance {
    Instance::tour(costs.len().isqrt(), costs).expect("costs are finite and not negative")
}

/// Every direction of every edge is stretched by a factor of its own between 1 and `most`.
fn stretched(distribution: Distribution, nodes: usize, most: f64, rng: &mut impl Rng) -> Vec<f64> {
    let points = scatter(distribution, nodes, rng);
    let mut costs = Vec::with_capacity(nodes * nodes);
    for a in &points {
        for b in &points {
            costs.push((a[0] - b[0]).hypot(a[1] - b[1]) * rng.random_range(1.0..most));
        }
    }
    costs
}

/// Going up costs more than going down, by a factor that depends on the direction. (A surcharge by height would be the same
/// for all tours.)
fn uphill(distribution: Distribution, nodes: usize, rng: &mut impl Rng) -> Vec<f64> {
    let points = scatter(distribution, nodes, rng);
    let slope = rng.random_range(0.1..1.0);
    let cost = |a: &[f64; 2], b: &[f64; 2]| {
        let distance = (a[0] - b[0]).hypot(a[1] - b[1]);
        if distance > 0.0 { distance * (slope * (b[1] - a[1]) / distance).exp() } else { 0.0 }
    };
    points.iter().flat_map(|a| points.iter().map(move |b| cost(a, b))).collect()
}

/// Independent and uniform numbers, lowered to the cheapest way over other nodes (MatNet: Kwon et al., 2021).
fn closed(nodes: usize, rng: &mut impl Rng) -> Vec<f64> {
    let mut costs: Vec<f64> = (0..nodes * nodes).map(|_| rng.random()).collect();
    costs.iter_mut().step_by(nodes + 1).for_each(|diagonal| *diagonal = 0.0);
    for over in 0..nodes {
        let row = costs[over * nodes..][..nodes].to_vec();
        for from in costs.chunks_mut(nodes) {
            let first = from[over];
            from.iter_mut().zip(&row).for_each(|(cost, second)| *cost = cost.min(first + second));
        }
    }
    costs
}

/// Shortest ways between crossings of a town whose streets are as fast as they happen to be, some of them in one direction
/// only. The streets around the town may be used in both, so that there is always a way.
fn streets(nodes: usize, rng: &mut impl Rng) -> Vec<f64> {
    let side = (1.5 * nodes as f64).sqrt().ceil() as usize + 1;
    let one_way = rng.random_range(0.0..0.8);
    let mut street = || (rng.random_bool(one_way), rng.random::<bool>(), rng.random_range(0.5..1.5));
    let streets: [Vec<(bool, bool, f64)>; 2] =
        [(0..side).map(|_| street()).collect(), (0..side).map(|_| street()).collect()];
    let town = Town { side, streets };
    let stops = rand::seq::index::sample(rng, side * side, nodes).into_vec();
    let costs = stops.iter().flat_map(|&from| {
        let ways = town.ways(from);
        stops.iter().map(move |&to| ways[to]).collect::<Vec<_>>()
    });
    costs.collect()
}

struct Town {
    side: usize,
    streets: [Vec<(bool, bool, f64)>; 2], // across and along: one way only; if so, upwards; time per block
}

impl Town {
    /// Neighbours of a crossing that can be reached from it, and the time.
    fn neighbours(&self, at: usize) -> impl Iterator<Item = (usize, f64)> {
        let place = [at % self.side, at / self.side];
        [(0, true), (0, false), (1, true), (1, false)].into_iter().filter_map(move |(axis, up)| {
            let (one_way, upwards, time) = self.streets[axis][place[1 - axis]];
            let outer = place[1 - axis] == 0 || place[1 - axis] == self.side - 1;
            let end = if up { self.side - 1 } else { 0 };
            if place[axis] == end || (one_way && !outer && up != upwards) {
                return None;
            }
            let stride = if axis == 0 { 1 } else { self.side };
            Some((if up { at + stride } else { at - stride }, time))
        })
    }

    /// Times from a crossing to all others (Dijkstra, 1959).
    fn ways(&self, from: usize) -> Vec<f64> {
        let mut times = vec![f64::INFINITY; self.side * self.side];
        times[from] = 0.0;
        let mut queue = BinaryHeap::from([(Reverse(0), from)]); // times that are not negative are ordered as their bits are
        while let Some((Reverse(bits), at)) = queue.pop() {
            let time = f64::from_bits(bits);
            if time > times[at] {
                continue;
            }
            for (next, way) in self.neighbours(at) {
                if time + way < times[next] {
                    times[next] = time + way;
                    queue.push((Reverse(times[next].to_bits()), next));
                }
            }
        }
        times
    }
}
