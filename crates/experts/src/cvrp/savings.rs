//! The savings construction (Clarke and Wright 1964).

use bqnco_core::{Effort, ExpertError, Random, Solution, Stop};
use bqnco_problems::Cvrp;
use bqnco_problems::cvrp::{Instance, Step};
use rand::RngExt;

use super::data::Data;
use super::routes::Routes;
use super::whole;

/// Maximum number of routes, emptiest first, whose ends are all tried against each other in the final step.
const LAST_ROUTES: usize = 400;

/// The savings construction: starts with one route per customer and repeatedly merges the two routes that save most.
///
/// Takes about 20 ms per thousand customers, does not count rounds and uses no random numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Savings {
    /// Only savings between this many nearest customers are considered before the final step on the route ends.
    pub neighbours: usize,
}

impl Default for Savings {
    fn default() -> Self {
        Savings { neighbours: 60 }
    }
}

impl Savings {
    /// The solution.
    ///
    /// # Errors
    /// An instance that is a tail, or whose vehicles are too few for these routes.
    pub fn solve(&self, instance: &Instance, effort: &Effort<'_>) -> Result<Solution<Step>, ExpertError> {
        whole("the savings construction", instance)?;
        let data = Data::new(instance, self.neighbours, effort.stop);
        let routes = Table::new(&data).construct(&data, None, effort.stop);
        if routes.ends.len() > data.fleet {
            let reason = format!("its routes need {} vehicles, there are {}", routes.ends.len(), data.fleet);
            return Err(ExpertError::Unsupported { expert: "the savings construction", reason });
        }
        Ok(Solution::new::<Cvrp>(instance, routes.to_steps()))
    }
}

/// The savings between near customers.
pub(super) struct Table {
    pairs: Vec<Saving>, // largest first
}

#[derive(Clone, Copy)]
struct Saving {
    saved: f64,
    pair: [u32; 2],
}

impl Table {
    /// All positive savings between near customers.
    pub fn new(data: &Data<'_>) -> Self {
        let pairs = (1..data.nodes() as u32).flat_map(|i| {
            let later = data.near.of(i as usize).iter().filter(move |&&j| i < j);
            later.filter_map(move |&j| saving(data, [i, j]))
        });
        Table { pairs: sorted(pairs.collect()) }
    }

    /// Routes built from these savings, each multiplied by a random factor of 1 ± `noise` if there is a random source.
    pub fn construct(&self, data: &Data<'_>, noise: Option<(f64, &mut Random)>, stop: Stop<'_>) -> Routes {
        let mut joining = Joining::new(data);
        match noise {
            None => joining.join(data, &self.pairs),
            Some((noise, rng)) => {
                let noisy = self.pairs.iter().map(|&Saving { saved, pair }| {
                    let factor = 1.0 + noise * (2.0 * rng.random::<f64>() - 1.0);
                    Saving { saved: saved * factor, pair }
                });
                joining.join(data, &sorted(noisy.collect()));
            }
        }
        if stop() {
            // If there are few savings, filling vehicles clockwise is better.
            let (routes, clockwise) = (joining.routes(), clockwise(data));
            return if routes.measure(data) < clockwise.measure(data) { routes } else { clockwise };
        }
        let ends = joining.between_ends(data);
        joining.join(data, &sorted(ends));
        joining.routes()
    }
}

/// Fills vehicles with the customers in the order of their directions from the depot.
fn clockwise(data: &Data<'_>) -> Routes {
    let mut order: Vec<u32> = (1..data.nodes() as u32).collect();
    order.sort_unstable_by_key(|&customer| (data.angles[customer as usize], customer));
    let (mut ends, mut load) = (Vec::new(), 0.0);
    for (position, &customer) in order.iter().enumerate() {
        let demand = data.demands[customer as usize];
        if position > 0 && load + demand > data.limit {
            ends.push(position as u32);
            load = 0.0;
        }
        load += demand;
    }
    ends.push(order.len() as u32);
    Routes { tour: order, ends }
}

/// The saving of joining two routes at these customers, if positive.
fn saving(data: &Data<'_>, pair: [u32; 2]) -> Option<Saving> {
    let [i, j] = pair.map(|customer| customer as usize);
    let saved = data.distance(i, 0) + data.distance(0, j) - data.distance(i, j);
    (saved > 0.0 && data.demands[i] + data.demands[j] <= data.limit).then_some(Saving { saved, pair })
}

fn sorted(mut pairs: Vec<Saving>) -> Vec<Saving> {
    pairs.sort_unstable_by(|a, b| b.saved.total_cmp(&a.saved).then(a.pair.cmp(&b.pair)));
    pairs
}

/// Routes being joined at their ends.
struct Joining {
    links: Vec<[u32; 2]>, // neighbours of every customer; the depot is 0
    leader: Vec<u32>,     // towards the representative of the route (union-find)
    loads: Vec<f64>,      // of the route that a leader represents
}

impl Joining {
    fn new(data: &Data<'_>) -> Self {
        let links = vec![[0, 0]; data.nodes()];
        Joining { links, leader: (0..data.nodes() as u32).collect(), loads: data.demands.to_vec() }
    }

    fn leader(&mut self, mut customer: u32) -> u32 {
        while self.leader[customer as usize] != customer {
            let next = self.leader[customer as usize];
            self.leader[customer as usize] = self.leader[next as usize]; // path halving
            customer = next;
        }
        customer
    }

    fn is_end(&self, customer: u32) -> bool {
        self.links[customer as usize].contains(&0)
    }

    fn join(&mut self, data: &Data<'_>, savings: &[Saving]) {
        for &Saving { pair: [i, j], .. } in savings {
            if !self.is_end(i) || !self.is_end(j) {
                continue;
            }
            let (a, b) = (self.leader(i), self.leader(j));
            let load = self.loads[a as usize] + self.loads[b as usize];
            if a != b && load <= data.limit {
                self.attach(i, j);
                self.attach(j, i);
                self.leader[b as usize] = a;
                self.loads[a as usize] = load;
            }
        }
    }

    fn attach(&mut self, customer: u32, neighbour: u32) {
        let [before, after] = &mut self.links[customer as usize];
        *(if *before == 0 { before } else { after }) = neighbour;
    }

    /// Savings between the ends of the emptiest routes, near or not.
    fn between_ends(&mut self, data: &Data<'_>) -> Vec<Saving> {
        let mut ends: Vec<(f64, u32)> = Vec::new();
        for customer in 1..self.links.len() as u32 {
            if self.is_end(customer) {
                let leader = self.leader(customer);
                ends.push((self.loads[leader as usize], customer));
            }
        }
        ends.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ends.truncate(2 * LAST_ROUTES);
        let mut savings = Vec::new();
        for (k, &(load, i)) in ends.iter().enumerate() {
            let fitting = ends[..k].iter().take_while(|&&(other, _)| load + other <= data.limit);
            savings.extend(fitting.filter_map(|&(_, j)| saving(data, [i.min(j), i.max(j)])));
        }
        savings
    }

    fn routes(&self) -> Routes {
        let mut routes = Routes::default();
        let mut visited = vec![false; self.links.len()];
        for end in 1..self.links.len() as u32 {
            if visited[end as usize] || !self.is_end(end) {
                continue;
            }
            let (mut before, mut at) = (0, end);
            let mut route = Vec::new();
            while at != 0 {
                visited[at as usize] = true;
                route.push(at);
                let [a, b] = self.links[at as usize];
                (before, at) = (at, if a == before { b } else { a });
            }
            routes.push(route);
        }
        routes
    }
}
