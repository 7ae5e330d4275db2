//! Files of path-CVRP.

use bqnco_io::{Array, Field, FieldError, Format, InstanceIo, NativeFormats, RawInstance, Route};

use super::{Cvrp, Instance, Step, from_routes, routes};
use crate::geometry::files as geometry;

impl InstanceIo for Cvrp {
    const NATIVE: NativeFormats = NativeFormats { instance: (Format::Tsplib, "vrp"), solution: (Format::Sol, "sol") };
    const FIELDS: &'static [Field] =
        &[Field::COORDINATES, Field::MATRIX, Field::PLACES, Field::DEMANDS, Field::CAPACITY, Field::VEHICLES];

    fn dimension(instance: &Instance) -> usize {
        instance.geometry().len()
    }

    fn recognises(raw: &RawInstance) -> bool {
        raw.has("demands")
    }

    fn instance_from(raw: &mut RawInstance) -> Result<Instance, FieldError> {
        let geometry = geometry::take::<Cvrp>(raw)?;
        let demands = raw.take_list("demands")?.ok_or(FieldError::missing::<Cvrp>("`demands`"))?;
        let capacity = raw.take_number("capacity")?.ok_or(FieldError::missing::<Cvrp>("`capacity`"))?;
        let instance = Instance::new(geometry, demands, capacity)?;
        match raw.take_count("vehicles")? {
            Some(vehicles) => Ok(instance.with_vehicles(vehicles)?),
            None => Ok(instance),
        }
    }

    fn instance_to(instance: &Instance, raw: &mut RawInstance) {
        geometry::put(instance.geometry(), raw);
        raw.insert("demands", Array::list(instance.demands().to_vec()));
        raw.insert("capacity", Array::scalar(instance.capacity()));
        if let Some(vehicles) = instance.vehicles() {
            raw.insert("vehicles", Array::scalar(vehicles as f64));
        }
    }

    /// Customers in the order of the visit, with a 0 wherever the vehicle is at the depot.
    fn solution_from(_: &Instance, numbers: &[usize]) -> Result<Vec<Step>, FieldError> {
        Ok(from_routes(&numbers.split(|&number| number == 0).map(<[usize]>::to_vec).collect::<Vec<_>>()))
    }

    fn solution_to(_: &Instance, steps: &[Step]) -> Vec<usize> {
        routes(steps).join(&0)
    }

    fn routes(instance: &Instance, steps: &[Step]) -> Vec<Route> {
        let distance = |from, to| instance.geometry().distance(from, to);
        let route = |customers: Vec<usize>| {
            let stops = || customers.iter().copied();
            let load = stops().map(|customer| instance.demands()[customer]).sum();
            let length = stops().chain([0]).scan(0, |at, next| Some(distance(std::mem::replace(at, next), next))).sum();
            Route { customers, load, length }
        };
        routes(steps).into_iter().map(route).collect()
    }
}
