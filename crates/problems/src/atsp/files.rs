//! Files of path-ATSP.

use bqnco_io::{Array, Field, FieldError, Format, InstanceIo, NativeFormats, RawInstance};

use super::{Atsp, Instance};
use crate::geometry::files as geometry;
use crate::path::from_origin;

impl InstanceIo for Atsp {
    const NATIVE: NativeFormats =
        NativeFormats { instance: (Format::Tsplib, "atsp"), solution: (Format::Tour, "tour") };
    const FIELDS: &'static [Field] = &[Field::MATRIX];

    fn recognises(raw: &RawInstance) -> bool {
        raw.get("matrix").is_some_and(|matrix| !geometry::is_symmetric(matrix))
    }

    fn instance_from(raw: &mut RawInstance) -> Result<Instance, FieldError> {
        let matrix = raw.take("matrix").ok_or(FieldError::missing::<Atsp>("`matrix`"))?;
        raw.take("places"); // an asymmetric instance has no map
        Ok(Instance::tour(geometry::side(&matrix)?, matrix.values)?)
    }

    fn instance_to(instance: &Instance, raw: &mut RawInstance) {
        raw.insert("matrix", Array::table(instance.nodes(), instance.costs().to_vec()));
        if (instance.origin(), instance.destination()) != (0, 0) {
            raw.insert("origin", Array::scalar(instance.origin() as f64));
            raw.insert("destination", Array::scalar(instance.destination() as f64));
        }
    }

    fn solution_from(instance: &Instance, numbers: &[usize]) -> Result<Vec<usize>, FieldError> {
        from_origin(numbers, instance.origin(), "the first node")
    }

    fn solution_to(instance: &Instance, steps: &[usize]) -> Vec<usize> {
        std::iter::once(instance.origin()).chain(steps.iter().copied()).collect()
    }
}
