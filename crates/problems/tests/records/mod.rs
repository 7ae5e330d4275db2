//! Random records of every problem, for the tests of all formats, and the problems as they are recognised.

#![allow(dead_code)] // every test uses a part

use bqnco_core::Problem;
use bqnco_io::{Format, InstanceIo, RawInstance, Recogniser, Record};
use bqnco_problems::{Atsp, Cvrp, Geometry, Knapsack, Metric, Op, Pctsp, Tsp, atsp, cvrp, knapsack, op, pctsp, tsp};
use proptest::collection::vec;
use proptest::prelude::*;

/// The problems to choose from.
pub const PROBLEMS: [Recogniser; 6] = [
    Recogniser::of::<Tsp>(),
    Recogniser::of::<Atsp>(),
    Recogniser::of::<Cvrp>(),
    Recogniser::of::<Op>(),
    Recogniser::of::<Knapsack>(),
    Recogniser::of::<Pctsp>(),
];

/// Formats for instances.
pub fn instance_formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| !format.is_solution_only())
}

/// How much freedom an instance gets: what only the richer formats can hold, or what all of them can.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freedom {
    /// Any metric, matrices, maps, paths, fleets.
    Rich,
    /// Points of the plane with exact distances, an idle depot.
    Plain,
}

/// Any finite number, with all its bits.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![
        -1e6..1e6,
        0.0..1.0,
        (-1000i32..1000).prop_map(f64::from),
        Just(-0.0),
        Just(5e-324),
        Just(1.234e15),
        Just(-9.87e-120)
    ]
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![1e-3..1e6, (1i32..1000).prop_map(f64::from), Just(1e17), Just(1.5e-200)]
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z][a-zA-Z0-9é_ .=-]{0,10}[a-z0-9]"
}

fn geometry(nodes: usize, freedom: Freedom) -> BoxedStrategy<Geometry> {
    let exact = vec([coordinate(), coordinate()], nodes)
        .prop_map(|points| Geometry::planar(points, Metric::Exact).unwrap())
        .boxed();
    if freedom == Freedom::Plain {
        return exact;
    }
    let metrics = Metric::ALL.into_iter().filter(|metric| !matches!(metric, Metric::Euc3d | Metric::GreatCircle));
    let metric = prop::sample::select(metrics.collect::<Vec<_>>());
    let planar = (vec([coordinate(), coordinate()], nodes), metric);
    let planar = planar.prop_map(|(points, metric)| Geometry::planar(points, metric).unwrap());
    let degrees = vec((-180.0..=180.0, -90.0..=90.0).prop_map(|(longitude, latitude)| [longitude, latitude]), nodes);
    let degrees = degrees.prop_map(|points| Geometry::planar(points, Metric::GreatCircle).unwrap());
    let spatial = vec([coordinate(), coordinate(), coordinate()], nodes);
    let spatial = spatial.prop_map(|points| Geometry::spatial(points).unwrap());
    let explicit = vec(positive(), nodes * nodes).prop_map(move |mut values| {
        (0..nodes)
            .for_each(|row| (0..row).for_each(|column| values[row * nodes + column] = values[column * nodes + row]));
        Geometry::explicit(nodes, values).unwrap()
    });
    prop_oneof![exact, planar, degrees, spatial, explicit].boxed()
}

/// A problem with random records.
pub trait Random: InstanceIo {
    /// A random record of a size.
    fn record(size: usize, freedom: Freedom) -> BoxedStrategy<Record<Self>>;
}

fn decorated<P: InstanceIo>(
    instance: impl Strategy<Value = (P::Instance, Option<Vec<P::Step>>)> + 'static,
) -> BoxedStrategy<Record<P>>
where
    P::Instance: std::fmt::Debug,
{
    let reference = prop::option::of(positive());
    let record = (name(), instance, reference).prop_map(|(name, (instance, solution), reference)| Record {
        name,
        instance,
        solution,
        reference,
    });
    record.boxed()
}

fn tour(size: usize) -> impl Strategy<Value = Option<Vec<usize>>> {
    prop::option::of(Just((1..size).collect::<Vec<_>>()).prop_shuffle())
}

impl Random for Tsp {
    fn record(size: usize, freedom: Freedom) -> BoxedStrategy<Record<Tsp>> {
        let tours = (geometry(size, freedom), tour(size))
            .prop_map(|(geometry, tour)| (tsp::Instance::tour(geometry).unwrap(), tour))
            .boxed();
        let paths = (geometry(size, freedom), 1..size);
        let paths = paths.prop_map(|(geometry, end)| (tsp::Instance::path(geometry, 0, end).unwrap(), None));
        decorated::<Tsp>(if freedom == Freedom::Rich { prop_oneof![tours, paths].boxed() } else { tours })
    }
}

impl Random for Atsp {
    fn record(size: usize, _: Freedom) -> BoxedStrategy<Record<Atsp>> {
        let instance = vec(positive(), size * size).prop_map(move |costs| atsp::Instance::tour(size, costs).unwrap());
        decorated::<Atsp>((instance, tour(size)))
    }
}

impl Random for Cvrp {
    fn record(size: usize, freedom: Freedom) -> BoxedStrategy<Record<Cvrp>> {
        let demands = prop_oneof![vec((0i32..10).prop_map(f64::from), size - 1), vec(0.0..1.0, size - 1)];
        let fleet = if freedom == Freedom::Rich { prop::option::of(0..3usize).boxed() } else { Just(None).boxed() };
        let instance = (geometry(size, freedom), demands, 10.0..50.0, fleet).prop_map(
            move |(geometry, demands, capacity, more): (_, Vec<f64>, f64, _)| {
                let demands = [0.0].into_iter().chain(demands).collect();
                let instance = cvrp::Instance::new(geometry, demands, capacity.round()).unwrap();
                match more {
                    Some(more) => instance.with_vehicles(size + more).unwrap(), // enough for any routes
                    None => instance,
                }
            },
        );
        let routes = (tour(size), vec(any::<bool>(), size)).prop_map(|(tour, cuts)| {
            let step = |(position, customer)| cvrp::Step { customer, via_depot: position > 0 && cuts[position] };
            tour.map(|tour| tour.into_iter().enumerate().map(step).collect())
        });
        decorated::<Cvrp>((instance, routes))
    }
}

impl Random for Op {
    fn record(size: usize, freedom: Freedom) -> BoxedStrategy<Record<Op>> {
        let depot = if freedom == Freedom::Rich { (0.0..1.0).boxed() } else { Just(0.0).boxed() };
        let instance = (geometry(size, freedom), depot, vec(0.0..1.0, size - 1), positive());
        let instance = instance.prop_map(|(geometry, depot, prizes, limit)| {
            let prizes = [depot].into_iter().chain(prizes).collect();
            op::Instance::new(geometry, prizes, limit).unwrap()
        });
        let route = (tour(size), 0..size).prop_map(|(tour, length)| {
            tour.map(|mut tour| {
                tour.truncate(length);
                tour
            })
        });
        decorated::<Op>((instance, route))
    }
}

impl Random for Pctsp {
    fn record(size: usize, freedom: Freedom) -> BoxedStrategy<Record<Pctsp>> {
        let (least, quota) = match freedom {
            Freedom::Rich => (0.0, positive().boxed()),
            Freedom::Plain => (2.0, Just(1.0).boxed()), // every tour collects the quota that RL4CO means
        };
        let lists = (vec(least..3.0, size - 1), vec(0.0..1.0, size - 1), quota);
        let instance = (geometry(size, freedom), lists).prop_map(|(geometry, (prizes, penalties, quota))| {
            let with_depot = |list: Vec<f64>| [0.0].into_iter().chain(list).collect();
            pctsp::Instance::new(geometry, with_depot(prizes), with_depot(penalties), quota).unwrap()
        });
        decorated::<Pctsp>((instance, tour(size).prop_map(|tour| tour.map(pctsp::from_visits))))
    }
}

impl Random for Knapsack {
    fn record(size: usize, _: Freedom) -> BoxedStrategy<Record<Knapsack>> {
        let numbers = || prop_oneof![vec(positive(), size), vec((0i32..2).prop_map(f64::from), size)];
        let instance = (numbers(), numbers(), positive())
            .prop_map(|(values, weights, capacity)| knapsack::Instance::new(values, weights, capacity).unwrap());
        let packing = prop::option::of(prop::sample::subsequence((0..size).collect::<Vec<_>>(), 0..=size));
        decorated::<Knapsack>((instance, packing))
    }
}

/// Everything about a record, with all bits of all numbers.
pub fn portrait<P: InstanceIo>(record: &Record<P>) -> String {
    let mut raw = RawInstance::default();
    P::instance_to(&record.instance, &mut raw);
    let solution = record.solution.as_ref().map(|steps| P::solution_to(&record.instance, steps));
    format!("{} {raw:?} {solution:?} {:?}", record.name, record.reference)
}

/// The objective of a record's solution, as reported to users.
pub fn objective<P: Problem>(record: &Record<P>) -> Option<f64> {
    record.solution.as_ref().map(|steps| P::OBJECTIVE.1 * P::cost(&record.instance, steps))
}
