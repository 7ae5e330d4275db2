//! Files of path-CVRP.

use bqnco_problems::Cvrp;
use bqnco_problems::cvrp::{Instance, Step, from_routes, routes};

use super::{geometry, missing, take_list, take_number};
use crate::{Array, FieldError, Files, Format, NativeFormats, RawInstance};

impl Files for Cvrp {
    const NATIVE: NativeFormats = NativeFormats { instance: (Format::Tsplib, "vrp"), solution: (Format::Sol, "sol") };
    const FIELDS: &'static [&'static str] = &["coordinates", "matrix", "places", "demands", "capacity"];

    fn recognises(fields: &RawInstance) -> bool {
        fields.has("demands")
    }

    fn instance_from(fields: &mut RawInstance) -> Result<Instance, FieldError> {
        let geometry = geometry::take::<Cvrp>(fields)?;
        let demands = take_list(fields, "demands", missing::<Cvrp>("`demands`"))?;
        let capacity = take_number(fields, "capacity")?.ok_or(missing::<Cvrp>("`capacity`"))?;
        Ok(Instance::new(geometry, demands, capacity)?)
    }

    fn instance_to(instance: &Instance, fields: &mut RawInstance) {
        geometry::put(instance.geometry(), fields);
        fields.insert("demands", Array::list(instance.demands().to_vec()));
        fields.insert("capacity", Array::scalar(instance.capacity()));
    }

    /// Customers in the order of the visit, with a 0 wherever the vehicle is at the depot.
    fn solution_from(_: &Instance, numbers: &[usize]) -> Result<Vec<Step>, FieldError> {
        Ok(from_routes(&numbers.split(|&number| number == 0).map(<[usize]>::to_vec).collect::<Vec<_>>()))
    }

    fn solution_to(_: &Instance, steps: &[Step]) -> Vec<usize> {
        routes(steps).join(&0)
    }
}
