//! Files of path-OP.

use bqnco_problems::{Op, op::Instance};

use super::{from_origin, geometry, missing, take_list, take_number};
use crate::{Array, FieldError, Files, Format, NativeFormats, RawInstance};

impl Files for Op {
    const NATIVE: NativeFormats =
        NativeFormats { instance: (Format::Tsplib, "oplib"), solution: (Format::Tour, "tour") };
    const FIELDS: &'static [&'static str] = &["coordinates", "matrix", "places", "prizes", "limit"];

    fn recognises(fields: &RawInstance) -> bool {
        fields.has("prizes")
    }

    fn instance_from(fields: &mut RawInstance) -> Result<Instance, FieldError> {
        let geometry = geometry::take::<Op>(fields)?;
        let prizes = take_list(fields, "prizes", missing::<Op>("`prizes`"))?;
        let limit = take_number(fields, "limit")?.ok_or(missing::<Op>("`limit`"))?;
        Ok(Instance::new(geometry, prizes, limit)?)
    }

    fn instance_to(instance: &Instance, fields: &mut RawInstance) {
        geometry::put(instance.geometry(), fields);
        fields.insert("prizes", Array::list(instance.prizes().to_vec()));
        fields.insert("limit", Array::scalar(instance.limit()));
    }

    fn solution_from(_: &Instance, numbers: &[usize]) -> Result<Vec<usize>, FieldError> {
        Ok(from_origin(numbers, 0))
    }

    fn solution_to(_: &Instance, steps: &[usize]) -> Vec<usize> {
        std::iter::once(0).chain(steps.iter().copied()).collect()
    }
}
