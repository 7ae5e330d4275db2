//! Where the nodes are and how far apart.

use std::sync::Arc;

use bqnco_core::Frame;

use crate::error::{finite_and_not_negative, finite_points, length};
use crate::{InvalidInstance, Metric};

/// Nodes with symmetric distances.
///
/// Distances from coordinates are computed when asked for, at every size: one square root costs about as much as a read
/// from a matrix that does not fit the cache, and 20,000 nodes need no 3 GB. Every node also has a place on a flat map,
/// which is what policies and pictures see; where only a matrix is given, the map is fitted to it.
#[derive(Clone, Debug)]
pub struct Space {
    distances: Arc<Distances>,
    map: Vec<[f64; 2]>,
    frame: MapFrame, // the whole map into the unit square
}

/// What defines the distances.
#[derive(Clone, Debug, PartialEq)]
pub enum Distances {
    /// Coordinates (the third is zero in the plane) and a metric.
    Points {
        /// One triple per node.
        points: Vec<[f64; 3]>,
        /// From coordinates to distances.
        metric: Metric,
    },
    /// A symmetric matrix, row by row.
    Matrix {
        /// Number of nodes.
        nodes: usize,
        /// `nodes * nodes` numbers.
        values: Vec<f64>,
    },
}

impl Space {
    /// Nodes in the plane.
    ///
    /// # Errors
    /// Coordinates that are not finite, or a metric that needs three of them.
    pub fn planar(points: Vec<[f64; 2]>, metric: Metric) -> Result<Self, InvalidInstance> {
        if metric == Metric::Euc3d {
            return Err(InvalidInstance::Dimension { metric: metric.name(), expected: 3 });
        }
        Self::from_points(points.into_iter().map(|[x, y]| [x, y, 0.0]).collect(), metric)
    }

    /// Nodes in space, under [`Metric::Euc3d`].
    ///
    /// # Errors
    /// Coordinates that are not finite.
    pub fn spatial(points: Vec<[f64; 3]>) -> Result<Self, InvalidInstance> {
        Self::from_points(points, Metric::Euc3d)
    }

    fn from_points(points: Vec<[f64; 3]>, metric: Metric) -> Result<Self, InvalidInstance> {
        finite_points(&points)?;
        let map: Vec<_> = points.iter().map(|&point| metric.on_the_map(point)).collect();
        Ok(Self::with_distances(Arc::new(Distances::Points { points, metric }), map))
    }

    /// Nodes known by their distances only. The diagonal is ignored.
    ///
    /// # Errors
    /// A matrix that is not square, not symmetric, or holds negative or infinite numbers.
    pub fn explicit(nodes: usize, mut values: Vec<f64>) -> Result<Self, InvalidInstance> {
        length("matrix entries", nodes * nodes, values.len())?;
        values.iter_mut().step_by(nodes + 1).for_each(|diagonal| *diagonal = 0.0);
        finite_and_not_negative("distance", &values)?;
        for from in 0..nodes {
            for to in 0..from {
                let (there, back) = (values[from * nodes + to], values[to * nodes + from]);
                if there != back {
                    return Err(InvalidInstance::Asymmetric { from, to, there, back });
                }
            }
        }
        let map = crate::fitted_map::fit(nodes, &values);
        Ok(Self::with_distances(Arc::new(Distances::Matrix { nodes, values }), map))
    }

    fn with_distances(distances: Arc<Distances>, map: Vec<[f64; 2]>) -> Self {
        let frame = MapFrame::of_instance(&map);
        Space { distances, map, frame }
    }

    /// The same nodes with other places on the map, say from a file's display section. Distances do not change.
    ///
    /// # Errors
    /// A wrong number of places, or places that are not finite.
    pub fn drawn_at(self, map: Vec<[f64; 2]>) -> Result<Self, InvalidInstance> {
        length("places", self.len(), map.len())?;
        finite_points(&map)?;
        Ok(Self::with_distances(self.distances, map))
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Distance between two nodes.
    #[inline]
    pub fn distance(&self, a: usize, b: usize) -> f64 {
        match &*self.distances {
            Distances::Points { points, metric } => {
                if a == b { 0.0 } else { metric.distance(points[a], points[b]) } // GEO has no zero of its own
            }
            Distances::Matrix { nodes, values } => values[a * nodes + b],
        }
    }

    /// What defines the distances.
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// Each node's place on the flat map, in about the unit of the distances.
    pub fn map(&self) -> &[[f64; 2]] {
        &self.map
    }

    /// Whether all distances are integers, so that sums are exact.
    pub fn is_integral(&self) -> bool {
        match &*self.distances {
            Distances::Points { metric, .. } => metric.is_integral(),
            Distances::Matrix { values, .. } => values.iter().all(|value| value.fract() == 0.0),
        }
    }

    /// The same points under another metric; a matrix stays as it is.
    ///
    /// # Errors
    /// Planar points under a metric for space.
    pub fn with_metric(&self, metric: Metric) -> Result<Self, InvalidInstance> {
        match &*self.distances {
            Distances::Points { points, metric: old } if (*old == Metric::Euc3d) == (metric == Metric::Euc3d) => {
                Self::from_points(points.clone(), metric)
            }
            Distances::Points { .. } => {
                let expected = if metric == Metric::Euc3d { 3 } else { 2 };
                Err(InvalidInstance::Dimension { metric: metric.name(), expected })
            }
            Distances::Matrix { .. } => Ok(self.clone()),
        }
    }

    /// Some of the nodes, in the given order (a node may occur twice).
    pub fn select(&self, nodes: &[usize]) -> Space {
        let distances = match &*self.distances {
            Distances::Points { points, metric } => {
                Distances::Points { points: nodes.iter().map(|&node| points[node]).collect(), metric: *metric }
            }
            Distances::Matrix { .. } => {
                let pairs = nodes.iter().flat_map(|&a| nodes.iter().map(move |&b| self.distance(a, b)));
                Distances::Matrix { nodes: nodes.len(), values: pairs.collect() }
            }
        };
        let map = nodes.iter().map(|&node| self.map[node]).collect();
        Space { distances: Arc::new(distances), map, frame: self.frame }
    }

    /// The eight symmetries of the square, applied to the map (the identity first). Distances stay the same numbers.
    pub fn symmetries(&self) -> Vec<Space> {
        let ([left, bottom], size) = (self.frame.corner, self.frame.size);
        let images = (0..8).map(|image| {
            let map = self.map.iter().map(|&[x, y]| {
                let (mut u, mut v) = (x - left, y - bottom);
                if image & 1 != 0 {
                    u = size - u;
                }
                if image & 2 != 0 {
                    v = size - v;
                }
                if image & 4 != 0 {
                    (u, v) = (v, u);
                }
                [left + u, bottom + v]
            });
            Space { distances: Arc::clone(&self.distances), map: map.collect(), frame: self.frame }
        });
        images.collect()
    }

    /// How the given nodes are scaled when they are observed.
    pub(crate) fn frame(&self, frame: Frame, tokens: &[usize]) -> MapFrame {
        match frame {
            Frame::Instance => self.frame,
            Frame::Subproblem => MapFrame::around(tokens.iter().map(|&token| self.map[token])),
        }
    }

    /// The same for a path, with the places of its nodes. A destination far from all others is drawn nearer, in the
    /// same direction: of a long way only the direction matters to the next steps, and next to it the candidates of a
    /// large instance would all be one spot (TSP500 by 50 candidates per step and a network for TSP100: 4.6 instead of 6.9 %).
    pub(crate) fn path_frame(&self, frame: Frame, tokens: &[usize]) -> (MapFrame, Vec<[f64; 2]>) {
        let mut places: Vec<[f64; 2]> = tokens.iter().map(|&token| self.map[token]).collect();
        if frame == Frame::Instance {
            return (self.frame, places);
        }
        if let Some((destination, near)) = places.split_last_mut()
            && near.len() > 1
            && self.is_on_the_map()
        {
            *destination = MapFrame::around(near.iter().copied()).nearer(*destination);
        }
        (MapFrame::around(places.iter().copied()), places)
    }

    /// Whether distances are those of the places on the map.
    fn is_on_the_map(&self) -> bool {
        match &*self.distances {
            Distances::Points { metric, .. } => metric.is_euclidean(),
            Distances::Matrix { .. } => false,
        }
    }

    /// What the observed nodes' distances look like to a policy, under the same scale as their places.
    pub(crate) fn observed_costs(&self, frame: &MapFrame, tokens: &[usize]) -> bqnco_core::Costs {
        if self.is_on_the_map() {
            return bqnco_core::Costs::Planar;
        }
        let pairs = tokens.iter().flat_map(|&a| tokens.iter().map(move |&b| self.distance(a, b)));
        bqnco_core::Costs::Matrix(pairs.map(|distance| frame.length(distance)).collect())
    }
}

/// How far outside the other nodes' square a path's destination is drawn at most, by the square's size.
const BEYOND: f64 = 0.25;

/// A square of the map that is observed as the unit square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MapFrame {
    corner: [f64; 2],
    size: f64,
}

impl MapFrame {
    /// The unit square where it holds all points (random instances keep their numbers), else the smallest square.
    fn of_instance(map: &[[f64; 2]]) -> Self {
        if map.as_flattened().iter().all(|coordinate| (0.0..=1.0).contains(coordinate)) {
            return MapFrame { corner: [0.0, 0.0], size: 1.0 };
        }
        Self::around(map.iter().copied())
    }

    fn around(points: impl Iterator<Item = [f64; 2]>) -> Self {
        let mut low = [f64::INFINITY; 2];
        let mut high = [f64::NEG_INFINITY; 2];
        for point in points {
            for axis in 0..2 {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
        let size = (high[0] - low[0]).max(high[1] - low[1]);
        if size > 0.0 { MapFrame { corner: low, size } } else { MapFrame { corner: low, size: 1.0 } }
    }

    /// The point itself, or the last one on the way to it that is no more than [`BEYOND`] outside.
    fn nearer(&self, point: [f64; 2]) -> [f64; 2] {
        let centre = self.corner.map(|x| x + 0.5 * self.size);
        let offset = [point[0] - centre[0], point[1] - centre[1]];
        let reach = (0.5 + BEYOND) * self.size / offset[0].abs().max(offset[1].abs());
        if reach < 1.0 { [0, 1].map(|axis| centre[axis] + reach * offset[axis]) } else { point }
    }

    pub(crate) fn place(&self, [x, y]: [f64; 2]) -> [f32; 2] {
        [((x - self.corner[0]) / self.size) as f32, ((y - self.corner[1]) / self.size) as f32]
    }

    pub(crate) fn length(&self, distance: f64) -> f32 {
        (distance / self.size) as f32
    }
}
