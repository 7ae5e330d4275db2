//! Files of path-TSP.

use bqnco_io::{Array, Field, FieldError, Format, InstanceIo, NativeFormats, RawInstance};

use super::{Instance, Tsp};
use crate::geometry::files as geometry;
use crate::path::from_origin;

impl InstanceIo for Tsp {
    const NATIVE: NativeFormats = NativeFormats { instance: (Format::Tsplib, "tsp"), solution: (Format::Tour, "tour") };
    const FIELDS: &'static [Field] =
        &[Field::COORDINATES, Field::MATRIX, Field::PLACES, Field::ORIGIN, Field::DESTINATION];

    fn recognises(raw: &RawInstance) -> bool {
        raw.has("coordinates") || raw.get("matrix").is_some_and(geometry::is_symmetric)
    }

    fn instance_from(raw: &mut RawInstance) -> Result<Instance, FieldError> {
        let geometry = geometry::take::<Tsp>(raw)?;
        let origin = raw.take_node("origin")?.unwrap_or(0);
        let destination = raw.take_node("destination")?.unwrap_or(origin);
        Ok(Instance::path(geometry, origin, destination)?)
    }

    fn instance_to(instance: &Instance, raw: &mut RawInstance) {
        geometry::put(instance.geometry(), raw);
        let (origin, destination) = (instance.origin(), instance.destination());
        if (origin, destination) != (0, 0) {
            raw.insert("origin", Array::scalar(origin as f64));
            raw.insert("destination", Array::scalar(destination as f64));
        }
    }

    /// A tour or a path in either direction; its ends are no steps. A path may be given as a tour that contains the edge
    /// between them.
    fn solution_from(instance: &Instance, numbers: &[usize]) -> Result<Vec<usize>, FieldError> {
        let (origin, destination) = (instance.origin(), instance.destination());
        if origin == destination {
            return from_origin(numbers, origin, "the first node");
        }
        let mut steps = from_origin(numbers, origin, "both ends of the path")?;
        if steps.first() == Some(&destination) && steps.len() > 1 {
            steps.reverse();
        }
        if steps.pop() == Some(destination) {
            return Ok(steps);
        }
        Err(FieldError::Solution("does not lead from one end of the path to the other".into()))
    }

    fn solution_to(instance: &Instance, steps: &[usize]) -> Vec<usize> {
        let end = (instance.destination() != instance.origin()).then_some(instance.destination());
        std::iter::once(instance.origin()).chain(steps.iter().copied()).chain(end).collect()
    }
}
