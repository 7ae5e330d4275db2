//! Nodes with distances as fields of a file.

use bqnco_core::Problem;
use bqnco_io::{Array, FieldError, RawInstance};

use crate::{Distances, Geometry, Metric};

/// Takes `coordinates` or `matrix`, the metric and `places`.
pub(crate) fn take<P: Problem>(raw: &mut RawInstance) -> Result<Geometry, FieldError> {
    let geometry = match (raw.take("coordinates"), raw.take("matrix")) {
        (Some(coordinates), None) => points(coordinates, raw.metric.unwrap_or(Metric::Exact))?,
        (None, Some(matrix)) => Geometry::explicit(side(&matrix)?, matrix.values)?,
        (None, None) => return Err(FieldError::missing::<P>("`coordinates` or `matrix`")),
        (Some(_), Some(_)) => {
            let hint = " beside `coordinates`; only one of them can define the distances".to_string();
            return Err(FieldError::Unknown { problem: P::NAME, field: "matrix".to_string(), hint });
        }
    };
    match raw.take("places") {
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
pub(crate) fn side(matrix: &Array) -> Result<usize, FieldError> {
    match matrix.shape[..] {
        [rows, columns] if rows == columns => Ok(rows),
        _ => Err(FieldError::Shape { field: "matrix".into(), expected: "[n, n]", found: matrix.shape.clone() }),
    }
}

/// Adds what [`take`] takes. `places` holds a map that does not follow from the distances.
pub(crate) fn put(geometry: &Geometry, raw: &mut RawInstance) {
    let map = geometry.map().as_flattened();
    let places = || Array::table(2, map.to_vec());
    match geometry.distances() {
        Distances::Points { points, metric } => {
            let width = if *metric == Metric::Euc3d { 3 } else { 2 };
            let values = points.iter().flat_map(|point| point[..width].iter().copied()).collect();
            raw.metric = Some(*metric);
            raw.insert("coordinates", Array::table(width, values));
            let follows = geometry.with_metric(*metric).is_ok_and(|plain| plain.map() == geometry.map());
            if !follows {
                raw.insert("places", places());
            }
        }
        Distances::Matrix { nodes, values } => {
            raw.insert("matrix", Array::table(*nodes, values.clone()));
            if map.iter().all(|coordinate| coordinate.is_finite()) {
                raw.insert("places", places()); // costly to fit again
            }
        }
    }
}

/// Whether a matrix is symmetric, so that its nodes form a [`Geometry`].
pub(crate) fn is_symmetric(matrix: &Array) -> bool {
    let Ok(nodes) = side(matrix) else { return false };
    let value = |row: usize, column: usize| matrix.values.get(row * nodes + column);
    (0..nodes).all(|row| (0..row).all(|column| value(row, column) == value(column, row)))
}
