//! Path-CVRP (paper, appendix A): routes from a depot that serve all customers within the vehicle's capacity.
//! In a tail the vehicle is at an origin with part of its capacity left.

#[cfg(feature = "draw")]
mod draw;
mod files;
mod generate;
mod imitate;
mod observe;
mod rebuild;

use bqnco_core::{Infeasible, Problem, SolutionSpace};

use crate::error::{finite_and_not_negative, length, positive, slack};
use crate::{Geometry, InvalidInstance, Tokens, nodes};

/// The capacitated vehicle routing problem.
pub struct Cvrp;

/// A path-CVRP instance. Node 0 is the depot, customers count from 1.
#[derive(Clone, Debug)]
pub struct Instance {
    geometry: Geometry,
    demands: Vec<f64>, // per node; zero at the depot
    capacity: f64,
    vehicles: Option<usize>, // most routes of a solution; none in a tail
    start: Start,
    slack: f64, // tolerance of the capacity for rounding errors
}

/// Where the vehicle is when the construction begins.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    origin: usize,
    left: f64,
}

impl Instance {
    /// Routes from node 0 that serve all others. `demands` has an entry per node; the depot's must be zero.
    ///
    /// # Errors
    /// Fewer than two nodes, numbers that are negative or not finite, a demand above the capacity.
    pub fn new(geometry: Geometry, demands: Vec<f64>, capacity: f64) -> Result<Self, InvalidInstance> {
        if geometry.len() < 2 {
            return Err(InvalidInstance::TooFew { what: "nodes", needed: 2, found: geometry.len() });
        }
        length("demands", geometry.len(), demands.len())?;
        positive("capacity", capacity)?;
        finite_and_not_negative("demand", &demands)?;
        if demands[0] != 0.0 {
            return Err(InvalidInstance::DepotDemand { demand: demands[0] });
        }
        if let Some(customer) = demands.iter().position(|&demand| demand > capacity) {
            return Err(InvalidInstance::DemandAboveCapacity { customer, demand: demands[customer], capacity });
        }
        let slack = slack(capacity, demands.iter().all(|demand| demand.fract() == 0.0));
        let start = Start { origin: 0, left: capacity };
        Ok(Instance { geometry, demands, capacity, vehicles: None, start, slack })
    }

    /// The same instance with a limit on the number of routes.
    ///
    /// # Errors
    /// Fewer vehicles than the total demand needs.
    pub fn with_vehicles(self, vehicles: usize) -> Result<Self, InvalidInstance> {
        let demand: f64 = self.demands.iter().sum();
        let needed = (demand / (self.capacity + 2.0 * self.slack)).ceil().max(1.0) as usize;
        if vehicles < needed {
            return Err(InvalidInstance::TooFewVehicles { vehicles, needed, demand, capacity: self.capacity });
        }
        Ok(Instance { vehicles: Some(vehicles), ..self })
    }

    /// The depot (node 0), the customers and their distances.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Demand of every node; zero for the depot.
    pub fn demands(&self) -> &[f64] {
        &self.demands
    }

    /// The capacity of a vehicle.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// The largest number of routes, if it is limited.
    pub fn vehicles(&self) -> Option<usize> {
        self.vehicles
    }

    /// Tolerance of the capacity for rounding errors in sums of demands; zero if all numbers are integers.
    pub fn slack(&self) -> f64 {
        self.slack
    }

    /// Whether the vehicle starts at the depot with its full capacity, as in every instance that is not a tail.
    pub fn is_whole(&self) -> bool {
        self.start == Start { origin: 0, left: self.capacity }
    }

    /// Number of customers.
    pub fn customers(&self) -> usize {
        self.geometry.len() - 1
    }

    /// Where the vehicle is when the construction begins: the depot for a whole instance.
    pub fn origin(&self) -> usize {
        self.start.origin
    }

    fn is_open(&self, node: usize) -> bool {
        node != 0 && node != self.start.origin
    }
}

/// Serve a customer next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// The customer, from 1.
    pub customer: usize,
    /// Whether via the depot, where the vehicle is refilled, or directly.
    pub via_depot: bool,
}

/// What remains of the routes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// The vehicle's position.
    pub origin: usize,
    /// Customers still to serve, ascending.
    pub rest: Vec<u32>,
    /// Capacity left.
    pub left: f64,
}

impl Tail {
    /// The nodes in the order of their tokens: origin, rest, depot.
    fn tokens(&self) -> Tokens<'_> {
        Tokens { origin: self.origin, rest: &self.rest, destination: 0 }
    }
}

/// The customers of each route, from a solution of a whole instance.
pub fn routes(solution: &[Step]) -> Vec<Vec<usize>> {
    let mut routes: Vec<Vec<usize>> = Vec::new();
    for step in solution {
        match routes.last_mut() {
            Some(route) if !step.via_depot => route.push(step.customer),
            _ => routes.push(vec![step.customer]),
        }
    }
    routes
}

/// The solution with these routes in this order. Empty routes are dropped.
pub fn from_routes(routes: &[Vec<usize>]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for route in routes {
        for (position, &customer) in route.iter().enumerate() {
            steps.push(Step { customer, via_depot: position == 0 && !steps.is_empty() });
        }
    }
    steps
}

/// The tail `steps` of some routes, of which `before` is done: the customers of all other routes are not part of it.
fn tail_after(instance: &Instance, before: &[Step], steps: &[Step]) -> Tail {
    let mut rest: Vec<u32> = before.iter().chain(steps).map(|step| step.customer as u32).collect();
    rest.sort_unstable();
    let mut tail = Tail { origin: 0, rest, left: instance.capacity };
    before.iter().for_each(|&step| Cvrp::advance(instance, &mut tail, step));
    tail
}

/// A vehicle with capacity for at most this many average demands will return soon.
const SOON: f64 = 3.0;

impl SolutionSpace for Cvrp {
    type Instance = Instance;
    /// The last leg, to the depot, is no decision and belongs to the last step.
    type Step = Step;

    fn steps(instance: &Instance) -> Vec<Step> {
        let customers = (1..instance.geometry.len()).filter(|&customer| instance.is_open(customer));
        customers.flat_map(|customer| [false, true].map(|via_depot| Step { customer, via_depot })).collect()
    }

    fn horizon(instance: &Instance) -> usize {
        (1..instance.geometry.len()).filter(|&customer| instance.is_open(customer)).count()
    }

    fn cost(instance: &Instance, partial: &[Step]) -> f64 {
        let mut at = instance.start.origin;
        let mut length = 0.0;
        for step in partial {
            if step.via_depot {
                length += instance.geometry.distance(at, 0);
                at = 0;
            }
            length += instance.geometry.distance(at, step.customer);
            at = step.customer;
        }
        if partial.len() == Self::horizon(instance) {
            length += instance.geometry.distance(at, 0);
        }
        length
    }

    fn check(instance: &Instance, solution: &[Step]) -> Result<(), Infeasible> {
        let visits = solution.iter().map(|step| step.customer);
        let open = |customer| instance.is_open(customer);
        let visited = nodes::visit_once("customer", instance.geometry.len(), 0, visits, open)?;
        if let Some(customer) = (1..visited.len()).find(|&customer| open(customer) && !visited[customer]) {
            return Err(Infeasible::Missing { what: "customer", number: customer });
        }
        if instance.start.origin == 0 && solution.first().is_some_and(|step| step.via_depot) {
            return Err(Infeasible::Broken(
                "the first step goes through the depot, where the vehicle already is".into(),
            ));
        }
        let mut limit = instance.start.left;
        let (mut load, mut route) = (0.0, 1);
        for step in solution {
            if step.via_depot {
                (limit, load, route) = (instance.capacity, 0.0, route + 1);
            }
            load += instance.demands[step.customer];
            if load > limit + 2.0 * instance.slack {
                return Err(Infeasible::Exceeds { quantity: format!("the load of route {route}"), found: load, limit });
            }
        }
        match instance.vehicles {
            Some(limit) if route > limit => Err(Infeasible::TooMany { what: "vehicles", used: route, limit }),
            _ => Ok(()),
        }
    }
}

impl Problem for Cvrp {
    const NAME: &'static str = "cvrp";
    const OBJECTIVE: (&'static str, f64) = ("length", 1.0);
    const UNIT: &'static str = "customers";
    const GREEDY_HEURISTIC: &'static str = "nearest neighbour";
    const KINDS: usize = 2; // direct, via depot

    type Tail = Tail;

    fn size(instance: &Instance) -> usize {
        instance.customers()
    }

    fn whole(instance: &Instance) -> Tail {
        let rest = nodes::open(instance.geometry.len(), |node| instance.is_open(node));
        Tail { origin: instance.start.origin, rest, left: instance.start.left }
    }

    fn allowed(instance: &Instance, tail: &Tail) -> impl Iterator<Item = (usize, Step)> {
        tail.rest.iter().enumerate().flat_map(move |(k, &node)| {
            let customer = node as usize;
            let direct = instance.demands[customer] <= tail.left + instance.slack;
            let via_depot = tail.origin != 0; // at the depot, "via depot" would be the same step twice
            let slot = (k + 1) * Self::KINDS; // token 0 is the origin
            let steps = [
                direct.then_some((slot, Step { customer, via_depot: false })),
                via_depot.then_some((slot + 1, Step { customer, via_depot: true })),
            ];
            steps.into_iter().flatten()
        })
    }

    fn reward(instance: &Instance, tail: &Tail, step: Step) -> f64 {
        let geometry = &instance.geometry;
        let there = if step.via_depot {
            geometry.distance(tail.origin, 0) + geometry.distance(0, step.customer)
        } else {
            geometry.distance(tail.origin, step.customer)
        };
        let last_leg = if tail.rest.len() == 1 { geometry.distance(step.customer, 0) } else { 0.0 };
        -there - last_leg
    }

    fn advance(instance: &Instance, tail: &mut Tail, step: Step) {
        nodes::remove(&mut tail.rest, step.customer);
        tail.origin = step.customer;
        if step.via_depot {
            tail.left = instance.capacity;
        }
        tail.left -= instance.demands[step.customer]; // may become negative, by the slack at most
    }

    /// The customers nearest to the vehicle. If it will return soon, half of the places go to customers where the next
    /// route may begin (see `imitate::outside_in`): those on the way from the depot to the farthest customer, since short
    /// routes begin near that customer and long ones anywhere on the way.
    fn shortlist(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let (geometry, k) = (&instance.geometry, k.max(1));
        if tail.rest.len() <= k {
            return tail.clone();
        }
        let near = |node| geometry.distance(tail.origin, node);
        let away = |node: &&u32| geometry.distance(0, **node as usize);
        let demand: f64 = tail.rest.iter().map(|&node| instance.demands[node as usize]).sum();
        let here = match tail.origin {
            0 => 0,
            _ if tail.left * tail.rest.len() as f64 <= SOON * demand => k.div_ceil(2),
            _ => k,
        };
        let mut rest = nodes::smallest(&tail.rest, here, near);
        if here < k
            && let Some(&farthest) = tail.rest.iter().max_by(|a, b| away(a).total_cmp(&away(b)))
        {
            let others: Vec<u32> = tail.rest.iter().copied().filter(|node| rest.binary_search(node).is_err()).collect();
            let detour = |node| geometry.distance(0, node) + geometry.distance(node, farthest as usize);
            rest.extend(nodes::smallest(&others, k - here, detour));
            rest.sort_unstable();
        }
        Tail { rest, ..*tail }
    }

    /// The customers nearest to the vehicle.
    fn nearest(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let near = |node| instance.geometry.distance(tail.origin, node);
        Tail { rest: nodes::smallest(&tail.rest, k.max(1), near), ..*tail }
    }

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        // The depot must be node 0, so it comes first here and last among the tokens.
        let nodes: Vec<usize> = match tail.origin {
            0 => std::iter::once(0).chain(tail.rest.iter().map(|&node| node as usize)).collect(),
            origin => [0, origin].into_iter().chain(tail.rest.iter().map(|&node| node as usize)).collect(),
        };
        let origin = usize::from(tail.origin != 0);
        let demands = nodes.iter().enumerate().map(|(k, &node)| if k <= origin { 0.0 } else { instance.demands[node] });
        Instance {
            demands: demands.collect(),
            geometry: instance.geometry.select(&nodes),
            start: Start { origin, left: tail.left },
            vehicles: None, // the tail does not know how many are left
            ..*instance
        }
    }

    fn unseen_constraint(instance: &Instance) -> Option<&'static str> {
        instance.vehicles.map(|_| "a limit on the number of vehicles")
    }

    fn symmetries(instance: &Instance) -> Vec<Instance> {
        let images = instance.geometry.symmetries().into_iter();
        images.map(|geometry| Instance { geometry, demands: instance.demands.clone(), ..*instance }).collect()
    }
}
