//! Files of path-TSP.

use bqnco_io::{Array, Field, FieldError, Format, InstanceIo, NativeFormats, RawInstance};

use super::{Instance, Tsp};
use crate::geometry::files as geometry;
use crate::path::from_origin;

impl InstanceIo for Tsp {
    const NATIVE: NativeFormats = NativeFormats { instance: (Format::Tsplib, "tsp"), solution: (Format::Tour, "tour") };
    const FIELDS: &'static [Field] =
        &[Field::COORDINATES, Field::MATRIX, Field::PLACES, Field::ORIGIN, Field::DESTINATION, Field::FIXED_EDGE];

    fn recognises(raw: &RawInstance) -> bool {
        raw.has("coordinates") || raw.get("matrix").is_some_and(geometry::is_symmetric)
    }

    fn instance_from(raw: &mut RawInstance) -> Result<Instance, FieldError> {
        let geometry = geometry::take::<Tsp>(raw)?;
        let origin = raw.take_node("origin")?.unwrap_or(0);
        let destination = raw.take_node("destination")?.unwrap_or(origin);
        let fixed = raw.take_number("fixed_edge")?.is_some_and(|flag| flag != 0.0);
        Ok(if fixed {
            Instance::tour_through_edge(geometry, origin, destination)?
        } else {
            Instance::path(geometry, origin, destination)?
        })
    }

    fn instance_to(instance: &Instance, raw: &mut RawInstance) {
        geometry::put(instance.geometry(), raw);
        let (origin, destination) = (instance.origin(), instance.destination());
        if (origin, destination) != (0, 0) {
            raw.insert("origin", Array::scalar(origin as f64));
            raw.insert("destination", Array::scalar(destination as f64));
        }
        // A path between nodes at the same place is a tour through an edge of length zero.
        if origin != destination && instance.fixed() == instance.geometry().distance(origin, destination) {
            raw.insert("fixed_edge", Array::scalar(1.0));
        }
    }

    /// A tour or a path in either direction; ends that the instance fixes are no steps.
    fn solution_from(instance: &Instance, numbers: &[usize]) -> Result<Vec<usize>, FieldError> {
        let (origin, destination) = (instance.origin(), instance.destination());
        let mut steps = from_origin(numbers, origin);
        if origin == destination || !steps.contains(&destination) {
            return Ok(steps);
        }
        if steps.first() == Some(&destination) && steps.len() > 1 {
            steps.reverse();
        }
        if steps.pop() == Some(destination) {
            return Ok(steps);
        }
        let (origin, destination) = (origin + 1, destination + 1);
        Err(FieldError::Solution(format!("does not join nodes {origin} and {destination}, as the instance demands")))
    }

    fn solution_to(instance: &Instance, steps: &[usize]) -> Vec<usize> {
        let end = (instance.destination() != instance.origin()).then_some(instance.destination());
        std::iter::once(instance.origin()).chain(steps.iter().copied()).chain(end).collect()
    }
}
