//! Instance data that the search reads millions of times, laid out for speed.

use bqnco_core::{Stop, never};
use bqnco_problems::cvrp::Instance;
use bqnco_problems::{Distances, Geometry};

use crate::nearest::{KdTree, in_space, keep_smallest, table};

/// Up to this many nodes the distances are kept in a matrix: 2,000 nodes need 32 MB and about 20 ms.
const MATRIX_NODES: usize = 2000;
/// Improvements below this fraction of the largest distance are rounding errors.
const TOLERANCE: f64 = 1e-8;

/// An instance as the search sees it. Node 0 is the depot.
pub(super) struct Data<'a> {
    geometry: &'a Geometry,
    matrix: Vec<f64>, // nodes * nodes distances; empty for large instances
    stride: usize,    // row length of the matrix; zero without a matrix
    pub demands: &'a [f64],
    pub limit: f64,   // largest load of a vehicle, with a tolerance for rounding errors
    pub fleet: usize, // largest number of routes; usize::MAX: no limit
    pub near: Neighbours,
    pub angles: Vec<u16>, // direction of every node from the depot; the full circle is 2^16
    pub tolerance: f64,   // smallest improvement
    pub exchange: f64,    // a distance worth one unit of demand: the scale of the capacity penalty
}

/// For every customer, the customers worth trying as its neighbours in a route. The relation is symmetric.
#[derive(Clone)]
pub(super) struct Neighbours {
    starts: Vec<u32>,
    lists: Vec<u32>,
}

impl Neighbours {
    /// The neighbours of a customer.
    #[inline]
    pub fn of(&self, customer: usize) -> &[u32] {
        &self.lists[self.range(customer)]
    }

    /// The neighbours of a customer, mutable so that they can be reordered.
    pub fn of_mut(&mut self, customer: usize) -> &mut [u32] {
        let range = self.range(customer);
        &mut self.lists[range]
    }

    #[inline]
    fn range(&self, customer: usize) -> std::ops::Range<usize> {
        self.starts[customer] as usize..self.starts[customer + 1] as usize
    }

    /// Makes the relation symmetric.
    fn symmetric(nearest: &[Vec<u32>]) -> Self {
        let mut lists = nearest.to_vec();
        for (customer, list) in nearest.iter().enumerate() {
            for &other in list {
                lists[other as usize].push(customer as u32);
            }
        }
        let mut starts = vec![0];
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
            starts.push(starts[starts.len() - 1] + list.len() as u32);
        }
        Neighbours { starts, lists: lists.concat() }
    }
}

impl<'a> Data<'a> {
    /// Reads an instance. Neighbours not found by the time `stop` fires are left out.
    pub fn new(instance: &'a Instance, neighbours: usize, stop: Stop<'_>) -> Self {
        let geometry = instance.geometry();
        let (matrix, stride) =
            if geometry.len() <= MATRIX_NODES { (matrix(geometry), geometry.len()) } else { (Vec::new(), 0) };
        let mut data = Data {
            geometry,
            matrix,
            stride,
            demands: instance.demands(),
            limit: instance.capacity() + 0.5 * instance.slack(),
            fleet: instance.vehicles().filter(|&fleet| fleet < instance.customers()).unwrap_or(usize::MAX),
            near: Neighbours { starts: Vec::new(), lists: Vec::new() },
            angles: angles(geometry.map()),
            tolerance: 0.0,
            exchange: 1.0,
        };
        data.near = Neighbours::symmetric(&data.nearest(neighbours, stop));
        // Twice the distance to the farthest customer bounds all distances (if the triangle inequality holds).
        let reach = 2.0 * (1..data.nodes()).map(|customer| data.distance(0, customer)).fold(0.0, f64::max);
        let demand = data.demands.iter().copied().fold(0.0, f64::max);
        data.tolerance = if reach > 0.0 { TOLERANCE * reach } else { TOLERANCE };
        if reach > 0.0 && demand > 0.0 {
            data.exchange = 0.7 * reach / demand;
        }
        data
    }

    /// Number of nodes, the depot included.
    pub fn nodes(&self) -> usize {
        self.demands.len()
    }

    /// Number of customers.
    pub fn customers(&self) -> usize {
        self.demands.len() - 1
    }

    /// Distance between two nodes.
    #[inline]
    pub fn distance(&self, a: usize, b: usize) -> f64 {
        if self.stride > 0 { self.matrix[a * self.stride + b] } else { self.geometry.distance(a, b) }
    }

    /// Coordinates of the nodes.
    pub fn map(&self) -> &[[f64; 2]] {
        self.geometry.map()
    }

    /// The `k` nearest customers of every customer, unordered; the depot's list is empty.
    pub fn nearest(&self, k: usize, stop: Stop<'_>) -> Vec<Vec<u32>> {
        let flat = matches!(self.geometry.distances(), Distances::Points { metric, .. } if !metric.is_spherical());
        let customers = 1..self.nodes() as u32;
        let points = in_space(self.geometry.map().iter().copied());
        let tree = (flat && self.stride == 0).then(|| KdTree::new(&points, customers.clone().collect()));
        let mut lists = vec![Vec::new(); self.nodes()];
        let mut found = Vec::new();
        for customer in customers.clone() {
            if customer % 64 == 1 && stop() {
                break;
            }
            match &tree {
                Some(tree) => tree.nearest(customer, [0.0; 3], k, &mut found),
                None => {
                    let others = customers.clone().filter(|&other| other != customer);
                    found.clear();
                    found.extend(others.map(|other| (self.distance(customer as usize, other as usize), other)));
                    keep_smallest(&mut found, k);
                }
            }
            lists[customer as usize] = found.iter().map(|&(_, other)| other).collect();
        }
        lists
    }
}

fn matrix(geometry: &Geometry) -> Vec<f64> {
    if let Distances::Matrix { values, .. } = geometry.distances() {
        return values.clone();
    }
    table(geometry.len(), &never, |a, b| geometry.distance(a, b)).expect("nothing stops it")
}

fn angles(map: &[[f64; 2]]) -> Vec<u16> {
    let [x, y] = map[0];
    map.iter().map(|point| angle(point[0] - x, point[1] - y)).collect()
}

/// A direction as a fraction of the circle, in units of 2^-16.
pub(super) fn angle(dx: f64, dy: f64) -> u16 {
    let turn = dy.atan2(dx) / std::f64::consts::TAU; // -0.5..=0.5
    ((turn + 1.0) * 65536.0) as u32 as u16
}
