//! Files of the knapsack problem.

use bqnco_problems::{Knapsack, knapsack::Instance};

use super::{missing, take_list, take_number};
use crate::{Array, FieldError, Files, Format, NativeFormats, RawInstance};

impl Files for Knapsack {
    const NATIVE: NativeFormats = NativeFormats { instance: (Format::Kp, "kp"), solution: (Format::ZeroOne, "txt") };
    const FIELDS: &'static [&'static str] = &["values", "weights", "capacity"];

    fn recognises(fields: &RawInstance) -> bool {
        fields.has("values") && fields.has("weights")
    }

    fn instance_from(fields: &mut RawInstance) -> Result<Instance, FieldError> {
        let values = take_list(fields, "values", missing::<Knapsack>("`values`"))?;
        let weights = take_list(fields, "weights", missing::<Knapsack>("`weights`"))?;
        let capacity = take_number(fields, "capacity")?.ok_or(missing::<Knapsack>("`capacity`"))?;
        Ok(Instance::new(values, weights, capacity)?)
    }

    fn instance_to(instance: &Instance, fields: &mut RawInstance) {
        fields.insert("values", Array::list(instance.values().to_vec()));
        fields.insert("weights", Array::list(instance.weights().to_vec()));
        fields.insert("capacity", Array::scalar(instance.capacity()));
    }

    fn solution_from(_: &Instance, numbers: &[usize]) -> Result<Vec<usize>, FieldError> {
        Ok(numbers.to_vec())
    }

    fn solution_to(_: &Instance, steps: &[usize]) -> Vec<usize> {
        steps.to_vec()
    }
}
