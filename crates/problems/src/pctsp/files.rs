//! Files of the prize-collecting TSP.

use bqnco_io::{Array, Field, FieldError, Format, InstanceIo, NativeFormats, RawInstance};

use super::{Instance, Pctsp, Step, from_visits, visits};
use crate::geometry::files as geometry;
use crate::path::from_origin;

/// What leaving a node out costs.
const PENALTIES: Field = Field::list("penalties", &["penalty"]);
/// The prize that a tour must collect.
const QUOTA: Field = Field::number("quota");

impl InstanceIo for Pctsp {
    const NATIVE: NativeFormats = NativeFormats { instance: (Format::Json, "json"), solution: (Format::Tour, "tour") };
    const FIELDS: &'static [Field] =
        &[Field::COORDINATES, Field::MATRIX, Field::PLACES, Field::PRIZES, PENALTIES, QUOTA];

    fn dimension(instance: &Instance) -> usize {
        instance.geometry().len()
    }

    fn recognises(raw: &RawInstance) -> bool {
        raw.has("penalties")
    }

    fn instance_from(raw: &mut RawInstance) -> Result<Instance, FieldError> {
        let geometry = geometry::take::<Pctsp>(raw)?;
        let prizes = raw.take_list("prizes")?.ok_or(FieldError::missing::<Pctsp>("`prizes`"))?;
        let penalties = raw.take_list("penalties")?.ok_or(FieldError::missing::<Pctsp>("`penalties`"))?;
        let quota = raw.take_number("quota")?.ok_or(FieldError::missing::<Pctsp>("`quota`"))?;
        Ok(Instance::new(geometry, prizes, penalties, quota)?)
    }

    fn instance_to(instance: &Instance, raw: &mut RawInstance) {
        geometry::put(instance.geometry(), raw);
        raw.insert("prizes", Array::list(instance.prizes().to_vec()));
        raw.insert("penalties", Array::list(instance.penalties().to_vec()));
        raw.insert("quota", Array::scalar(instance.quota()));
    }

    fn solution_from(_: &Instance, numbers: &[usize]) -> Result<Vec<Step>, FieldError> {
        from_origin(numbers, 0, "the depot").map(from_visits)
    }

    fn solution_to(_: &Instance, steps: &[Step]) -> Vec<usize> {
        std::iter::once(0).chain(visits(steps)).collect()
    }
}
