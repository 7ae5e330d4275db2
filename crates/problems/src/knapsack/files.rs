//! Files of the knapsack problem.

use bqnco_io::{Array, Field, FieldError, Format, InstanceIo, NativeFormats, RawInstance};

use super::{Instance, Knapsack};

impl InstanceIo for Knapsack {
    const NATIVE: NativeFormats = NativeFormats { instance: (Format::Kp, "kp"), solution: (Format::ZeroOne, "txt") };
    const FIELDS: &'static [Field] = &[Field::VALUES, Field::WEIGHTS, Field::CAPACITY];

    fn recognises(raw: &RawInstance) -> bool {
        raw.has("values") && raw.has("weights")
    }

    fn instance_from(raw: &mut RawInstance) -> Result<Instance, FieldError> {
        let values = raw.take_list("values")?.ok_or(FieldError::missing::<Knapsack>("`values`"))?;
        let weights = raw.take_list("weights")?.ok_or(FieldError::missing::<Knapsack>("`weights`"))?;
        let capacity = raw.take_number("capacity")?.ok_or(FieldError::missing::<Knapsack>("`capacity`"))?;
        Ok(Instance::new(values, weights, capacity)?)
    }

    fn instance_to(instance: &Instance, raw: &mut RawInstance) {
        raw.insert("values", Array::list(instance.values().to_vec()));
        raw.insert("weights", Array::list(instance.weights().to_vec()));
        raw.insert("capacity", Array::scalar(instance.capacity()));
    }

    fn solution_from(_: &Instance, numbers: &[usize]) -> Result<Vec<usize>, FieldError> {
        Ok(numbers.to_vec())
    }

    fn solution_to(_: &Instance, steps: &[usize]) -> Vec<usize> {
        steps.to_vec()
    }
}
