//! Path-CVRP (paper, appendix A): routes from a depot that serve all customers within the vehicle's capacity.
//! In a tail the vehicle stands at an origin with part of its capacity left.

use bqnco_core::{Fragment, Frame, Infeasible, Observation, Problem, SolutionSpace, last_steps};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::error::{finite_and_not_negative, length, positive, slack};
use crate::{Geometry, InvalidInstance, Metric, nodes};

/// The capacitated vehicle routing problem.
pub struct Cvrp;

/// A path-CVRP instance. Node 0 is the depot, customers count from 1.
#[derive(Clone, Debug)]
pub struct Instance {
    geometry: Geometry,
    demands: Vec<f64>, // per node; zero at the depot
    capacity: f64,
    start: Start,
    slack: f64, // rounding errors that the capacity forgives
}

/// Where the vehicle is when the construction begins.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    origin: usize,
    left: f64,
}

impl Instance {
    /// Routes from node 0 to serve all others. `demands` has an entry per node; the depot's must be zero.
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
        Ok(Instance { geometry, demands, capacity, start: Start { origin: 0, left: capacity }, slack })
    }

    /// The depot (node 0), the customers and their distances.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Demand of every node; zero for the depot.
    pub fn demands(&self) -> &[f64] {
        &self.demands
    }

    /// What a vehicle can carry.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Rounding errors of sums of demands that the capacity forgives; zero where all numbers are integers.
    pub fn slack(&self) -> f64 {
        self.slack
    }

    /// Whether the vehicle starts at the depot with its full capacity, as in every instance that is no tail.
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

    /// Routes in groups of at most so many customers, by halving them again and again along random directions.
    fn neighbouring(&self, routes: Vec<Vec<usize>>, most: usize, rng: &mut impl Rng) -> Vec<Vec<Vec<usize>>> {
        let customers: usize = routes.iter().map(Vec::len).sum();
        if customers <= most || routes.len() < 2 {
            return vec![routes];
        }
        let (sin, cos) = rng.random_range(0.0..std::f64::consts::TAU).sin_cos();
        let place = |route: &Vec<usize>| {
            let along = route.iter().map(|&customer| self.geometry.map()[customer]).map(|[x, y]| cos * x + sin * y);
            along.sum::<f64>() / route.len() as f64
        };
        let mut placed: Vec<(f64, Vec<usize>)> = routes.into_iter().map(|route| (place(&route), route)).collect();
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut so_far = 0;
        let half = placed.iter().position(|(_, route)| {
            so_far += route.len();
            2 * so_far >= customers
        });
        let second = placed.split_off((half.unwrap_or(0) + 1).min(placed.len() - 1));
        let halves = [placed, second].into_iter();
        halves
            .flat_map(|half| self.neighbouring(half.into_iter().map(|(_, route)| route).collect(), most, rng))
            .collect()
    }

    /// A group of routes as a fragment.
    fn fragment(&self, mut group: Vec<Vec<usize>>, length: usize, rng: &mut impl Rng) -> Fragment<Cvrp> {
        group.shuffle(rng);
        group.iter_mut().filter(|_| rng.random()).for_each(|route| route.reverse());
        let mut before = from_routes(&group);
        let shortest = before.len().min(2);
        let rebuilt = if rng.random() { before.len() } else { rng.random_range(shortest..=before.len()) };
        let steps = before.split_off(before.len() - rebuilt.min(length));
        let mut rest: Vec<u32> = before.iter().chain(&steps).map(|step| step.customer as u32).collect();
        rest.sort_unstable();
        let mut tail = Tail { origin: 0, rest, left: self.capacity };
        before.iter().for_each(|&step| Cvrp::advance(self, &mut tail, step));
        Fragment { before, tail, steps, after: Vec::new() }
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
    /// Through the depot, where the vehicle is filled again, or straight there.
    pub via_depot: bool,
}

/// What remains of the routes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// Where the vehicle stands.
    pub origin: usize,
    /// Customers still to serve, ascending.
    pub rest: Vec<u32>,
    /// What the vehicle can still carry before it must return.
    pub left: f64,
}

impl Tail {
    /// The nodes in the order of their tokens: origin, rest, depot.
    fn tokens(&self) -> Vec<usize> {
        let rest = self.rest.iter().map(|&node| node as usize);
        std::iter::once(self.origin).chain(rest).chain([0]).collect()
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

/// The solution that drives these routes one after the other. Empty routes vanish.
pub fn from_routes(routes: &[Vec<usize>]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for route in routes {
        for (position, &customer) in route.iter().enumerate() {
            steps.push(Step { customer, via_depot: position == 0 && !steps.is_empty() });
        }
    }
    steps
}

/// A vehicle that can carry no more than this many average demands will soon return.
const SOON: f64 = 3.0;

/// The solution with the same routes, the one with the farthest customer first, each begun at its farther end.
///
/// What is learnt depends on the order (paper, appendix E.3, which drives the fullest route first and each in a random
/// direction). From the outside in, the next route is hardly ever in doubt, and what mistakes leave over lies near the
/// depot, where it costs least (docs/training.md has figures).
fn outside_in(instance: &Instance, solution: &[Step]) -> Vec<Step> {
    let away = |customer: &usize| instance.geometry.distance(0, *customer);
    let mut routes = routes(solution);
    for route in &mut routes {
        if route.first().map(away) < route.last().map(away) {
            route.reverse();
        }
    }
    let farthest = |route: &Vec<usize>| route.iter().map(away).fold(0.0, f64::max);
    routes.sort_by(|a, b| farthest(b).total_cmp(&farthest(a)));
    from_routes(&routes)
}

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
        Ok(())
    }
}

impl Problem for Cvrp {
    const NAME: &'static str = "cvrp";
    const OBJECTIVE: (&'static str, f64) = ("length", 1.0);
    const UNIT: &'static str = "customers";
    const GREEDY_HEURISTIC: &'static str = "nearest neighbour";
    const FEATURES: usize = 4; // x, y, demand / capacity, left / capacity
    const KINDS: usize = 2; // direct, via depot

    type Tail = Tail;

    fn size(instance: &Instance) -> usize {
        instance.customers()
    }

    fn whole(instance: &Instance) -> Tail {
        let rest = (1..instance.geometry.len()).filter(|&customer| instance.is_open(customer));
        Tail { origin: instance.start.origin, rest: rest.map(|node| node as u32).collect(), left: instance.start.left }
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
        let home = if tail.rest.len() == 1 { geometry.distance(step.customer, 0) } else { 0.0 };
        -there - home
    }

    fn advance(instance: &Instance, tail: &mut Tail, step: Step) {
        nodes::remove(&mut tail.rest, step.customer);
        tail.origin = step.customer;
        if step.via_depot {
            tail.left = instance.capacity;
        }
        tail.left -= instance.demands[step.customer]; // may end below zero, by no more than the slack
    }

    fn observe(instance: &Instance, tail: &Tail, frame: Frame) -> Observation {
        let tokens = tail.tokens();
        let last = tokens.len() - 1;
        let view = instance.geometry.path_view(frame, &tokens);
        let left = (tail.left / instance.capacity) as f32;
        let features = tokens.iter().enumerate().flat_map(|(token, &node)| {
            let [x, y] = view.places[token];
            let served = token == 0 || token == last; // demand zero for origin and depot (paper)
            let demand = if served { 0.0 } else { (instance.demands[node] / instance.capacity) as f32 };
            [x, y, demand, left]
        });
        Observation {
            tokens: tokens.len(),
            features: features.collect(),
            origin: Some(0),
            destination: Some(last),
            costs: instance.geometry.observed_costs(&view, &tokens),
        }
    }

    /// The nearest to the vehicle; when it will soon return, half of them, and half where the next route will begin
    /// (`outside_in`): on the way from the depot to the farthest customer, where short routes begin near that customer,
    /// long ones anywhere.
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

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        // The depot must be node 0, hence it comes first here and last among the tokens.
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
            ..*instance
        }
    }

    fn symmetries(instance: &Instance) -> Vec<Instance> {
        let images = instance.geometry.symmetries().into_iter();
        images.map(|geometry| Instance { geometry, demands: instance.demands.clone(), ..*instance }).collect()
    }

    /// The last steps of the routes, from the outside in (`outside_in`).
    fn sample_subproblem(instance: &Instance, solution: &[Step], length: usize, _: &mut impl Rng) -> (Tail, Vec<Step>) {
        let ordered = if instance.is_whole() { outside_in(instance, solution) } else { solution.to_vec() };
        last_steps::<Self>(instance, &ordered, length)
    }

    /// Routes one after the other, the depot between them.
    fn path(_: &Instance, tail: &Tail, steps: &[Step]) -> Vec<Option<usize>> {
        let depot = Some(tail.rest.len() + 1);
        let mut path = vec![Some(0)];
        for step in steps {
            path.extend(step.via_depot.then_some(depot));
            path.push(nodes::token(&tail.rest, step.customer));
        }
        path.push(depot);
        path
    }

    /// Groups of neighbouring routes with about `length` customers, each group's routes in a random order and in random
    /// directions; of some groups only the end is to be rebuilt, with the capacity that is left there.
    fn fragments(instance: &Instance, solution: &[Step], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        if !instance.is_whole() {
            return vec![Fragment::last(instance, solution, length)];
        }
        let mut groups = instance.neighbouring(routes(solution), length, rng);
        groups.shuffle(rng);
        groups.into_iter().map(|group| instance.fragment(group, length, rng)).collect()
    }

    fn rejoin(_: &Instance, fragments: &[Fragment<Self>]) -> Vec<Step> {
        let mut solution: Vec<Step> = Vec::new();
        for fragment in fragments {
            let first = solution.len();
            solution.extend(fragment.all_steps());
            if first > 0 && first < solution.len() {
                solution[first].via_depot = true; // every group leaves from the depot
            }
        }
        solution
    }

    /// Uniform in the unit square, demands 1 to 9, capacity by size (Kool et al. 2019; paper, section 5).
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        random_instance(size, rng, |customers, _, _| capacity(customers))
    }

    /// As above with a capacity for 3 to 60 average customers per route: CVRPLIB's X set has 3 to 25 (Uchoa et al. 2017),
    /// the paper's instances of 1000 customers have 50. Short and long routes are equally likely (log-uniform).
    fn generate_varied(size: usize, rng: &mut impl Rng) -> Option<Instance> {
        Some(random_instance(size, rng, |customers, demands, rng| {
            let mean = demands.iter().sum::<f64>() / customers as f64;
            let per_route = (rng.random_range(3f64.ln()..60f64.ln())).exp();
            (per_route * mean).ceil().max(9.0)
        }))
    }
}

/// An instance whose capacity depends on the number of customers and their demands.
fn random_instance<R: Rng>(size: usize, rng: &mut R, capacity: impl Fn(usize, &[f64], &mut R) -> f64) -> Instance {
    let customers = size.max(1);
    let points = (0..=customers).map(|_| rng.random()).collect();
    let demands = (0..=customers).map(|node| if node == 0 { 0.0 } else { f64::from(rng.random_range(1..=9u8)) });
    let demands: Vec<f64> = demands.collect();
    let capacity = capacity(customers, &demands, rng);
    let geometry = Geometry::planar(points, Metric::Exact).expect("points of the unit square are valid");
    Instance::new(geometry, demands, capacity).expect("demands up to 9 fit every capacity")
}

/// The usual capacity for a number of customers: 50, 80, 100, 250 for 100, 200, 500, 1000 in the paper; 30 and 40 for 20
/// and 50 in Kool et al.
fn capacity(customers: usize) -> f64 {
    match customers {
        0..=10 => 20.0,
        11..=20 => 30.0,
        21..=50 => 40.0,
        51..=100 => 50.0,
        101..=200 => 80.0,
        201..=500 => 100.0,
        _ => 250.0,
    }
}
