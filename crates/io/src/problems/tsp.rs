//! Files of path-TSP.

use bqnco_problems::{Tsp, tsp::Instance};

use super::{from_origin, geometry, take_node, take_number};
use crate::{Array, FieldError, Files, Format, NativeFormats, RawInstance};

impl Files for Tsp {
    const NATIVE: NativeFormats = NativeFormats { instance: (Format::Tsplib, "tsp"), solution: (Format::Tour, "tour") };
    const FIELDS: &'static [&'static str] = &["coordinates", "matrix", "places", "origin", "destination", "fixed_edge"];

    fn recognises(fields: &RawInstance) -> bool {
        let distances = fields.has("coordinates") || fields.get("matrix").is_some_and(geometry::is_symmetric);
        distances && !fields.has("demands") && !fields.has("prizes")
    }

    fn instance_from(fields: &mut RawInstance) -> Result<Instance, FieldError> {
        let geometry = geometry::take::<Tsp>(fields)?;
        let origin = take_node(fields, "origin")?.unwrap_or(0);
        let destination = take_node(fields, "destination")?.unwrap_or(origin);
        let fixed = take_number(fields, "fixed_edge")?.is_some_and(|flag| flag != 0.0);
        Ok(if fixed {
            Instance::tour_through_edge(geometry, origin, destination)?
        } else {
            Instance::path(geometry, origin, destination)?
        })
    }

    fn instance_to(instance: &Instance, fields: &mut RawInstance) {
        geometry::put(instance.geometry(), fields);
        let (origin, destination) = (instance.origin(), instance.destination());
        if (origin, destination) != (0, 0) {
            fields.insert("origin", Array::scalar(origin as f64));
            fields.insert("destination", Array::scalar(destination as f64));
        }
        // A path between nodes at the same place is a tour through the edge of length zero.
        if origin != destination && instance.fixed() == instance.geometry().distance(origin, destination) {
            fields.insert("fixed_edge", Array::scalar(1.0));
        }
    }

    /// Reads a tour or a path in either direction; ends that the instance fixes become no steps.
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
