//! Large instances: neighbouring routes of the best solution are improved as an instance of their own, again and again
//! (POPMUSIC, Taillard and Voss, 2002). A round on a part costs as much less as the part is smaller, and an improved part
//! improves the whole.

use bqnco_core::{Effort, Improved, Random};
use bqnco_problems::cvrp::{Instance, Step};
use rand::RngExt;

use super::CvrpExpert;
use super::data::Data;
use super::genetic::Genetic;
use super::routes::Routes;

/// Customers of the first parts; smaller instances are never divided.
pub(super) const FIRST_PART: usize = 150;
/// Growth of the parts when none of the current size can be improved.
const GROWTH: f64 = 1.5;
/// Rounds on a part without an improvement before the next part.
const PART_PATIENCE: u64 = 40;

/// The search of a large instance.
pub(super) struct Decomposition<'a> {
    settings: &'a CvrpExpert,
    instance: &'a Instance,
    data: &'a Data<'a>,
    effort: &'a Effort<'a>,
    improved: Improved<'a, Step>,
    rng: Random,
    routes: Vec<Vec<u32>>, // the best solution
    route_of: Vec<u32>,    // of every customer
    settled: Vec<bool>,    // per customer: its part was not improved since it last changed
    spent: u64,            // rounds times customers of the parts
    stale: u64,            // the same since the last improvement
}

impl<'a> Decomposition<'a> {
    /// A search that starts from a feasible solution.
    pub fn new(
        settings: &'a CvrpExpert,
        instance: &'a Instance,
        data: &'a Data<'a>,
        start: &Routes,
        effort: &'a Effort<'a>,
        improved: Improved<'a, Step>,
    ) -> Self {
        let mut search = Decomposition {
            settings,
            instance,
            data,
            effort,
            improved,
            rng: bqnco_core::random(effort.seed, &[1]),
            routes: start.iter().map(<[u32]>::to_vec).collect(),
            route_of: vec![0; data.nodes()],
            settled: vec![false; data.nodes()],
            spent: 0,
            stale: 0,
        };
        (0..search.routes.len()).for_each(|route| search.note(route));
        search
    }

    /// Improves parts of growing size until they are the whole, or the effort is spent. Returns the best routes and the
    /// effort that is left, if there is any.
    pub fn run(mut self) -> (Routes, Option<Effort<'a>>) {
        let customers = self.data.customers();
        let mut size = FIRST_PART;
        while size < customers && !self.is_spent() {
            match self.seed() {
                Some(seed) => self.improve_around(seed, size),
                None => {
                    size = (size as f64 * GROWTH) as usize;
                    self.settled.fill(false);
                }
            }
        }
        let rounds = self.effort.rounds.map(|rounds| rounds.saturating_sub(self.spent / customers as u64));
        let rest = (!self.is_spent()).then_some(Effort { rounds, ..*self.effort });
        (self.all(), rest)
    }

    fn is_spent(&self) -> bool {
        let customers = self.data.customers() as u64;
        (self.effort.stop)() || self.effort.is_spent(self.spent / customers, self.stale / customers)
    }

    /// A random customer whose part may still be improved.
    fn seed(&mut self) -> Option<u32> {
        let open: Vec<u32> =
            (1..self.data.nodes() as u32).filter(|&customer| !self.settled[customer as usize]).collect();
        (!open.is_empty()).then(|| open[self.rng.random_range(0..open.len())])
    }

    /// Searches for better routes of the customers around a seed.
    fn improve_around(&mut self, seed: u32, size: usize) {
        let part = self.part(seed, size);
        let nodes = self.nodes(&part);
        let demands = nodes.iter().map(|&node| self.data.demands[node]).collect();
        let geometry = self.instance.geometry().select(&nodes);
        let smaller = Instance::new(geometry, demands, self.instance.capacity());
        let smaller = match self.vehicles(part.len()) {
            Some(vehicles) => smaller.and_then(|smaller| smaller.with_vehicles(vehicles)),
            None => smaller,
        };
        let smaller = smaller.expect("a part of a valid instance");
        let data = Data::new(&smaller, self.settings.neighbours, self.effort.stop);
        let start = self.renumbered(&part);
        let before = start.measure(&data).0;
        let seed = self.rng.random();
        let effort = Effort { seed, rounds: None, patience: Some(PART_PATIENCE), stop: self.effort.stop };
        let (found, rounds) = Genetic::new(self.settings, &data, Some(start), &effort, &|_| ()).run();
        let found = found.expect("a search is never worse than its start");
        let work = rounds * data.customers() as u64;
        (self.spent, self.stale) = (self.spent + work, self.stale + work);
        let better = found.measure(&data).0 < before - self.data.tolerance;
        nodes.iter().for_each(|&node| self.settled[node] = !better);
        if better {
            self.replace(part, &found, &nodes);
        }
    }

    /// The vehicles that a part of so many routes may use: its own and those that nobody uses. `None`: no limit.
    fn vehicles(&self, routes: usize) -> Option<usize> {
        let used = self.routes.iter().filter(|route| !route.is_empty()).count();
        self.instance.vehicles().map(|vehicles| vehicles - used + routes)
    }

    /// The depot and the customers of some routes, in order.
    fn nodes(&self, part: &[usize]) -> Vec<usize> {
        let customers = part.iter().flat_map(|&route| &self.routes[route]).map(|&customer| customer as usize);
        std::iter::once(0).chain(customers).collect()
    }

    /// Some routes in the numbering of their own instance.
    fn renumbered(&self, part: &[usize]) -> Routes {
        let mut all = Routes::default();
        for &route in part {
            let first = all.tour.len() as u32 + 1;
            all.push(first..first + self.routes[route].len() as u32);
        }
        all
    }

    /// The routes of the customers nearest to a seed, with about `size` customers and at least two routes.
    fn part(&self, seed: u32, size: usize) -> Vec<usize> {
        let distance = |customer: u32| self.data.distance(seed as usize, customer as usize);
        let mut near: Vec<(f64, u32)> = (1..self.data.nodes() as u32).map(|other| (distance(other), other)).collect();
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut part, mut customers) = (Vec::new(), 0);
        for (_, customer) in near {
            let route = self.route_of[customer as usize] as usize;
            if part.contains(&route) {
                continue;
            }
            let more = self.routes[route].len();
            if part.len() >= 2 && customers + more > size {
                break;
            }
            part.push(route);
            customers += more;
        }
        part
    }

    /// Replaces the routes of a part. `nodes` are the numbers of its nodes in the whole.
    fn replace(&mut self, part: Vec<usize>, found: &Routes, nodes: &[usize]) {
        let mut free = part.into_iter();
        for route in found.iter() {
            let route = route.iter().map(|&node| nodes[node as usize] as u32).collect();
            let index = free.next().unwrap_or_else(|| {
                self.routes.push(Vec::new());
                self.routes.len() - 1
            });
            self.routes[index] = route;
            self.note(index);
        }
        free.for_each(|index| self.routes[index].clear());
        self.stale = 0;
        (self.improved)(&|| self.all().to_steps());
    }

    fn note(&mut self, route: usize) {
        for &customer in &self.routes[route] {
            self.route_of[customer as usize] = route as u32;
        }
    }

    fn all(&self) -> Routes {
        let mut all = Routes::default();
        self.routes.iter().for_each(|route| all.push(route.iter().copied()));
        all
    }
}
