//! Files of path-ATSP.

use bqnco_problems::{Atsp, atsp::Instance};

use super::{from_origin, geometry, missing};
use crate::{Array, FieldError, Files, Format, NativeFormats, RawInstance};

impl Files for Atsp {
    const NATIVE: NativeFormats =
        NativeFormats { instance: (Format::Tsplib, "atsp"), solution: (Format::Tour, "tour") };
    const FIELDS: &'static [&'static str] = &["matrix"];

    fn recognises(fields: &RawInstance) -> bool {
        let asymmetric = fields.get("matrix").is_some_and(|matrix| !geometry::is_symmetric(matrix));
        asymmetric && !fields.has("demands") && !fields.has("prizes")
    }

    fn instance_from(fields: &mut RawInstance) -> Result<Instance, FieldError> {
        let matrix = fields.take("matrix").ok_or(missing::<Atsp>("`matrix`"))?;
        fields.take("places"); // an asymmetric instance has no map
        Ok(Instance::tour(geometry::side(&matrix)?, matrix.values)?)
    }

    fn instance_to(instance: &Instance, fields: &mut RawInstance) {
        fields.insert("matrix", Array::table(instance.nodes(), instance.costs().to_vec()));
        if (instance.origin(), instance.destination()) != (0, 0) {
            fields.insert("origin", Array::scalar(instance.origin() as f64));
            fields.insert("destination", Array::scalar(instance.destination() as f64));
        }
    }

    fn solution_from(instance: &Instance, numbers: &[usize]) -> Result<Vec<usize>, FieldError> {
        Ok(from_origin(numbers, instance.origin()))
    }

    fn solution_to(instance: &Instance, steps: &[usize]) -> Vec<usize> {
        std::iter::once(instance.origin()).chain(steps.iter().copied()).collect()
    }
}
