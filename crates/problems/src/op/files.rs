//! Files of path-OP.

use bqnco_io::{Array, Field, FieldError, Format, InstanceIo, NativeFormats, RawInstance};

use super::{Instance, Op};
use crate::geometry::files as geometry;
use crate::path::from_origin;

impl InstanceIo for Op {
    const NATIVE: NativeFormats =
        NativeFormats { instance: (Format::Tsplib, "oplib"), solution: (Format::Tour, "tour") };
    const FIELDS: &'static [Field] = &[Field::COORDINATES, Field::MATRIX, Field::PLACES, Field::PRIZES, Field::LIMIT];

    fn recognises(raw: &RawInstance) -> bool {
        raw.has("prizes")
    }

    fn instance_from(raw: &mut RawInstance) -> Result<Instance, FieldError> {
        let geometry = geometry::take::<Op>(raw)?;
        let prizes = raw.take_list("prizes")?.ok_or(FieldError::missing::<Op>("`prizes`"))?;
        let limit = raw.take_number("limit")?.ok_or(FieldError::missing::<Op>("`limit`"))?;
        Ok(Instance::new(geometry, prizes, limit)?)
    }

    fn instance_to(instance: &Instance, raw: &mut RawInstance) {
        geometry::put(instance.geometry(), raw);
        raw.insert("prizes", Array::list(instance.prizes().to_vec()));
        raw.insert("limit", Array::scalar(instance.limit()));
    }

    fn solution_from(_: &Instance, numbers: &[usize]) -> Result<Vec<usize>, FieldError> {
        from_origin(numbers, 0, "the depot")
    }

    fn solution_to(_: &Instance, steps: &[usize]) -> Vec<usize> {
        std::iter::once(0).chain(steps.iter().copied()).collect()
    }
}
