//! Distances for the inner loop, one type per way of computing them so that each compiles without branches.

use bqnco_core::Stop;
use bqnco_problems::Geometry;

use crate::nearest::table;
use crate::tour_search::Costs;

/// A full matrix.
pub(super) struct Table<'a> {
    pub(super) nodes: usize,
    pub(super) values: std::borrow::Cow<'a, [f64]>,
}

impl Table<'_> {
    /// All lengths between the nodes. `None` if stopped.
    pub(super) fn of(lengths: &impl Costs, nodes: usize, stop: Stop<'_>) -> Option<Self> {
        let values = table(nodes, stop, |from, to| lengths.cost(from as u32, to as u32))?;
        Some(Table { nodes, values: values.into() })
    }
}

impl Costs for Table<'_> {
    const SYMMETRIC: bool = true;

    #[inline]
    fn cost(&self, from: u32, to: u32) -> f64 {
        self.values[from as usize * self.nodes + to as usize]
    }
}

/// Euclidean distances in the plane.
pub(super) struct Plane(pub(super) Vec<[f64; 2]>);

impl Costs for Plane {
    const SYMMETRIC: bool = true;

    #[inline]
    fn cost(&self, from: u32, to: u32) -> f64 {
        euclidean(self.0[from as usize], self.0[to as usize])
    }
}

/// Euclidean distances in the plane, rounded to the nearest integer.
pub(super) struct RoundedPlane(pub(super) Vec<[f64; 2]>);

impl Costs for RoundedPlane {
    const SYMMETRIC: bool = true;

    #[inline]
    fn cost(&self, from: u32, to: u32) -> f64 {
        // Faster than `floor` without SSE 4.1, and equal up to 2^63.
        (euclidean(self.0[from as usize], self.0[to as usize]) + 0.5) as i64 as f64
    }
}

#[inline]
fn euclidean(a: [f64; 2], b: [f64; 2]) -> f64 {
    let [dx, dy] = [a[0] - b[0], a[1] - b[1]];
    (dx * dx + dy * dy).sqrt()
}

/// Any other metric, evaluated on every call.
pub(super) struct Asked<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) labels: &'a [u32], // the instance's number of each node
}

impl Costs for Asked<'_> {
    const SYMMETRIC: bool = true;

    #[inline]
    fn cost(&self, from: u32, to: u32) -> f64 {
        self.geometry.distance(self.labels[from as usize] as usize, self.labels[to as usize] as usize)
    }
}
