//! Nodes with distances, as named numbers.

use bqnco_core::Problem;
use bqnco_problems::{Distances, Geometry, Metric};

use super::missing;
use crate::{Array, FieldError, RawInstance};

/// Takes `coordinates` or `matrix`, the metric and `places`.
pub(super) fn take<P: Problem>(fields: &mut RawInstance) -> Result<Geometry, FieldError> {
    let geometry = match (fields.take("coordinates"), fields.take("matrix")) {
        (Some(coordinates), None) => points(coordinates, fields.metric.unwrap_or(Metric::Exact))?,
        (None, Some(matrix)) => Geometry::explicit(side(&matrix)?, matrix.values)?,
        (None, None) => return Err(missing::<P>("`coordinates` or `matrix`")),
        (Some(_), Some(_)) => {
            let hint = " beside `coordinates`; only one of them can define the distances".to_string();
            return Err(FieldError::Unknown { problem: P::NAME, field: "matrix".to_string(), hint });
        }
    };
    match fields.take("places") {
        Some(Array { shape, values }) if shape.len() == 2 && shape[1] == 2 => Ok(geometry.drawn_at(rows(&values))?),
        Some(places) => Err(FieldError::Shape { field: "places".into(), expected: "[n, 2]", found: places.shape }),
        None => Ok(geometry),
    }
}

fn points(Array { shape, values }: Array, metric: Metric) -> Result<Geometry, FieldError> {
    match shape[..] {
        [_, 2] => Ok(Geometry::planar(rows(&values), metric)?),
        [_, 3] if metric == Metric::Euc3d => Ok(Geometry::spatial(rows(&values))?),
        _ => {
            let expected = if metric == Metric::Euc3d { "[n, 3]" } else { "[n, 2]" };
            Err(FieldError::Shape { field: "coordinates".into(), expected, found: shape })
        }
    }
}

fn rows<const WIDTH: usize>(values: &[f64]) -> Vec<[f64; WIDTH]> {
    values.as_chunks().0.to_vec()
}

/// The number of rows and columns of a matrix.
pub(super) fn side(matrix: &Array) -> Result<usize, FieldError> {
    match matrix.shape[..] {
        [rows, columns] if rows == columns => Ok(rows),
        _ => Err(FieldError::Shape { field: "matrix".into(), expected: "[n, n]", found: matrix.shape.clone() }),
    }
}

/// Adds what [`take`] takes. A map that does not follow from the distances goes into `places`.
pub(super) fn put(geometry: &Geometry, fields: &mut RawInstance) {
    let map = geometry.map().as_flattened();
    let places = || Array::table(2, map.to_vec());
    match geometry.distances() {
        Distances::Points { points, metric } => {
            let width = if *metric == Metric::Euc3d { 3 } else { 2 };
            let values = points.iter().flat_map(|point| point[..width].iter().copied()).collect();
            fields.metric = Some(*metric);
            fields.insert("coordinates", Array::table(width, values));
            let follows = geometry.with_metric(*metric).is_ok_and(|plain| plain.map() == geometry.map());
            if !follows {
                fields.insert("places", places());
            }
        }
        Distances::Matrix { nodes, values } => {
            fields.insert("matrix", Array::table(*nodes, values.clone()));
            if map.iter().all(|coordinate| coordinate.is_finite()) {
                fields.insert("places", places()); // costly to fit again
            }
        }
    }
}

/// Whether going back costs the same everywhere, so that the nodes form a [`Geometry`].
pub(super) fn is_symmetric(matrix: &Array) -> bool {
    let Ok(nodes) = side(matrix) else { return false };
    let value = |row: usize, column: usize| matrix.values.get(row * nodes + column);
    (0..nodes).all(|row| (0..row).all(|column| value(row, column) == value(column, row)))
}
