//! Places of nodes and distances between them.

pub(crate) mod files;
mod fitted_map;
mod observed;
mod scatter;

use std::sync::Arc;

use bqnco_core::{Costs, Frame};
pub use observed::ObservedMap;
use observed::Square;
pub(crate) use scatter::{log_uniform, scatter};

use crate::error::{finite_and_not_negative, finite_points, length, on_the_globe};
use crate::{InvalidInstance, Metric, Tokens};

/// The largest length that networks see as a feature, in the unit of the map: far beyond any way, and far from the end of
/// the range of f32, at which scores would be no numbers.
pub(crate) const FARTHEST: f32 = 1e6;

/// Nodes with symmetric distances.
///
/// Distances between coordinates are computed on demand at every size: a square root costs about as much as a read from a
/// matrix that does not fit in the cache, and 20,000 nodes would need 3 GB. Every node also has a place on a flat map,
/// which is what policies and pictures see; if only a matrix is given, the map is fitted to it.
#[derive(Clone, Debug)]
pub struct Geometry {
    distances: Arc<Distances>,
    map: Vec<[f64; 2]>,
    square: Square, // of the whole map
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

impl Geometry {
    /// Nodes in the plane.
    ///
    /// # Errors
    /// Coordinates that are not finite or no degrees on the globe, or a metric that needs three of them.
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
        if metric == Metric::GreatCircle {
            on_the_globe(&points)?;
        }
        let map: Vec<_> = points.iter().map(|&point| metric.on_the_map(point)).collect();
        Ok(Self::with_distances(Arc::new(Distances::Points { points, metric }), map))
    }

    /// Nodes given by their distances only. The diagonal is ignored.
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
        let map = fitted_map::fit(nodes, &values);
        Ok(Self::with_distances(Arc::new(Distances::Matrix { nodes, values }), map))
    }

    fn with_distances(distances: Arc<Distances>, map: Vec<[f64; 2]>) -> Self {
        let square = Square::of_instance(&map);
        Geometry { distances, map, square }
    }

    /// The same nodes with other places on the map, such as those of a file's display section. Distances do not change.
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
    pub fn select(&self, nodes: &[usize]) -> Geometry {
        let distances = match &*self.distances {
            Distances::Points { points, metric } => {
                Distances::Points { points: nodes.iter().map(|&node| points[node]).collect(), metric: *metric }
            }
            Distances::Matrix { .. } => {
                let pairs = nodes.iter().flat_map(|&a| nodes.iter().map(move |&b| self.distance(a, b)));
                Distances::Matrix { nodes: nodes.len(), values: pairs.collect() }
            }
        };
        let map = self.places(nodes);
        Geometry { distances: Arc::new(distances), map, square: self.square }
    }

    /// The eight symmetries of the square, applied to the map (the identity first). Distances stay the same numbers.
    pub fn symmetries(&self) -> Vec<Geometry> {
        let Square { corner: [left, bottom], side } = self.square;
        let images = (0..8).map(|image| {
            let map = self.map.iter().map(|&[x, y]| {
                let (mut u, mut v) = (x - left, y - bottom);
                if image & 1 != 0 {
                    u = side - u;
                }
                if image & 2 != 0 {
                    v = side - v;
                }
                if image & 4 != 0 {
                    (u, v) = (v, u);
                }
                [left + u, bottom + v]
            });
            Geometry { distances: Arc::clone(&self.distances), map: map.collect(), square: self.square }
        });
        images.collect()
    }

    /// The places of a tail's tokens as a network sees them.
    pub fn observe<'g>(&'g self, frame: Frame, tokens: Tokens<'g>) -> ObservedMap<'g> {
        match frame {
            Frame::Instance => ObservedMap::of_instance(self, tokens),
            _ => ObservedMap::of_tail(self, tokens, frame, self.places(&tokens.nodes())),
        }
    }

    /// As [`Geometry::observe`] for a path. A destination far from all other nodes is drawn nearer, in the same direction:
    /// only the direction of a long way matters to the next steps, and at true scale the candidates of a large instance
    /// would shrink to a single spot (TSP500 by 50 candidates per step and a network for TSP100: 4.6 instead of 6.9 %).
    pub(crate) fn observe_path<'g>(&'g self, frame: Frame, tokens: Tokens<'g>) -> ObservedMap<'g> {
        if frame == Frame::Instance {
            return self.observe(frame, tokens);
        }
        let mut places = self.places(&tokens.nodes());
        if let Some((destination, near)) = places.split_last_mut()
            && near.len() > 1
            && self.is_on_the_map()
        {
            *destination = Square::around(near).nearer(*destination);
        }
        ObservedMap::of_tail(self, tokens, frame, places)
    }

    fn places(&self, nodes: &[usize]) -> Vec<[f64; 2]> {
        nodes.iter().map(|&node| self.map[node]).collect()
    }

    /// Whether distances are, up to rounding, those between the places on the map.
    fn is_on_the_map(&self) -> bool {
        match &*self.distances {
            Distances::Points { metric, .. } => metric.is_euclidean(),
            Distances::Matrix { .. } => false,
        }
    }

    /// Whether the map was given, not fitted to the distances.
    pub(crate) fn has_map(&self) -> bool {
        matches!(&*self.distances, Distances::Points { .. })
    }

    /// The distances between a tail's tokens as a network sees them, in the same unit as their places.
    fn observe_costs(&self, map: &ObservedMap<'_>) -> Costs {
        if self.is_on_the_map() {
            return Costs::Planar;
        }
        let nodes = map.tokens.nodes();
        let pairs = nodes.iter().flat_map(|&a| nodes.iter().map(move |&b| self.distance(a, b)));
        Costs::Matrix(pairs.map(|distance| map.length(distance)).collect())
    }
}
