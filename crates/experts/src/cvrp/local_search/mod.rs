//! Descent by exchanges of customers within and between routes (Vidal 2022, section 3.3): relocations, swaps, 2-opt and
//! 2-opt* among near customers, and SWAP* between routes that overlap. Overloaded routes are allowed at a penalty.

mod moves;
mod sector;
mod swap_star;

use bqnco_core::{Random, Stop};
use rand::RngExt;
use rand::seq::SliceRandom;

use self::sector::Sector;
use self::swap_star::Insertions;
use super::data::{Data, Neighbours, angle};
use super::routes::Routes;

/// The routes being improved and the working memory of the search.
pub(super) struct LocalSearch<'a> {
    data: &'a Data<'a>,
    nodes: Vec<Node>, // customers at their own numbers (0 is unused), then one depot per route
    routes: Vec<Route>,
    spare: Vec<u32>, // empty routes; there is always one unless the whole fleet is in use
    penalty: f64,    // of a unit of load above the limit
    clock: u32,      // moves so far
    near: Neighbours,
    customers: Vec<u32>, // in the order in which they are tried
    pairing: Vec<u32>,   // routes in the order in which they are paired
    insertions: Insertions,
}

/// A stop of a route. Routes are cycles through their own depot.
#[derive(Clone, Copy, Default)]
struct Node {
    next: u32,
    prev: u32,
    route: u32,
    position: u32, // from the depot, which is at 0
    place: u32,    // node of the instance: depots are all at 0
    tested: u32,   // clock when its moves were last tried
    demand: f64,
    load: f64,    // of the route up to here, this stop included
    to_next: f64, // distance
}

#[derive(Clone, Copy, Default)]
struct Route {
    depot: u32, // index of its stop at the depot
    size: u32,  // customers
    length: f64,
    load: f64,
    penalty: f64,
    modified: u32, // clock when it last changed
    tested: u32,   // clock when SWAP* was last tried
    sector: Sector,
    sector_drawn: u32, // clock when the sector was computed
}

impl<'a> LocalSearch<'a> {
    /// Allocates the working memory for this instance.
    pub fn new(data: &'a Data<'a>) -> Self {
        let nodes =
            (0..data.nodes()).map(|place| Node { place: place as u32, demand: data.demands[place], ..Node::default() });
        LocalSearch {
            data,
            nodes: nodes.collect(),
            routes: Vec::new(),
            spare: Vec::new(),
            penalty: 0.0,
            clock: 0,
            near: data.near.clone(),
            customers: (1..data.nodes() as u32).collect(),
            pairing: Vec::new(),
            insertions: Insertions::new(data.nodes()),
        }
    }

    /// Improves routes until no move does, or `stop` fires. Returns whether a local optimum was reached.
    pub fn run(&mut self, routes: &Routes, penalty: f64, rng: &mut Random, stop: Stop<'_>) -> bool {
        self.load(routes, penalty);
        self.shuffle(rng);
        loop {
            let before = self.clock;
            for k in 0..self.customers.len() {
                if k % 16 == 0 && stop() {
                    return false;
                }
                self.try_customer(self.customers[k] as usize);
            }
            for k in 0..self.pairing.len() {
                if stop() {
                    return false;
                }
                self.try_route(self.pairing[k] as usize);
            }
            if self.clock == before {
                return true;
            }
        }
    }

    /// Random orders, so that equal routes do not always lead to equal results.
    fn shuffle(&mut self, rng: &mut Random) {
        self.customers.shuffle(rng);
        for customer in 1..self.data.nodes() {
            let list = self.near.of_mut(customer);
            if !list.is_empty() && rng.random_range(0..list.len()) == 0 {
                list.shuffle(rng);
            }
        }
        self.pairing.clear();
        self.pairing.extend(0..self.routes.len() as u32);
        self.pairing.shuffle(rng);
    }

    fn load(&mut self, routes: &Routes, penalty: f64) {
        debug_assert!(routes.ends.len() <= self.data.fleet);
        self.penalty = penalty;
        if self.clock > u32::MAX / 2 {
            self.insertions.forget();
            self.clock = 0;
        }
        self.clock += 1; // later than all recorded clocks
        self.nodes.truncate(self.data.nodes());
        self.nodes.iter_mut().for_each(|node| node.tested = 0);
        self.routes.clear();
        self.spare.clear();
        for customers in routes.iter() {
            let route = self.add_route();
            let mut at = self.routes[route].depot as usize;
            for &customer in customers {
                self.link(at, customer as usize);
                at = customer as usize;
            }
            self.link(at, self.routes[route].depot as usize);
            self.refresh(route);
        }
        if routes.ends.len() >= self.data.fleet {
            self.spare.clear(); // the empty route that the first one called for
        }
    }

    /// A new empty route.
    fn add_route(&mut self) -> usize {
        let (route, depot) = (self.routes.len(), self.nodes.len() as u32);
        self.nodes.push(Node { next: depot, prev: depot, route: route as u32, ..Node::default() });
        self.routes.push(Route { depot, modified: self.clock, ..Route::default() });
        self.spare.push(route as u32);
        route
    }

    #[inline]
    fn distance(&self, a: usize, b: usize) -> f64 {
        self.data.distance(self.nodes[a].place as usize, self.nodes[b].place as usize)
    }

    #[inline]
    fn is_depot(&self, node: usize) -> bool {
        node >= self.data.nodes()
    }

    /// Penalty of a load.
    #[inline]
    fn price(&self, load: f64) -> f64 {
        let excess = load - self.data.limit;
        if excess > 0.0 { excess * self.penalty } else { 0.0 } // the penalty may be infinite
    }

    #[inline]
    fn link(&mut self, a: usize, b: usize) {
        let distance = self.distance(a, b);
        self.nodes[a].next = b as u32;
        self.nodes[a].to_next = distance;
        self.nodes[b].prev = a as u32;
    }

    /// Recomputes all cached data of a route after its links changed.
    fn refresh(&mut self, route: usize) {
        let depot = self.routes[route].depot as usize;
        let (mut at, mut position, mut load, mut length) = (depot, 0, 0.0, 0.0);
        loop {
            let node = &mut self.nodes[at];
            load += node.demand;
            (node.route, node.position, node.load) = (route as u32, position, load);
            length += node.to_next;
            at = node.next as usize;
            if at == depot {
                break;
            }
            position += 1;
        }
        let price = self.price(load);
        let known = &mut self.routes[route];
        let was_empty = known.size == 0;
        (known.size, known.load, known.length, known.penalty) = (position, load, length, price);
        known.modified = self.clock;
        if was_empty && position > 0 {
            self.spare.retain(|&spare| spare as usize != route);
            if self.spare.is_empty() && self.routes.len() < self.data.fleet {
                let new = self.add_route();
                self.pairing.push(new as u32);
            }
        } else if !was_empty && position == 0 {
            self.spare.push(route as u32);
        }
    }

    /// Length and penalty of two routes, as last refreshed.
    fn cost_of(&self, routes: [usize; 2]) -> f64 {
        routes.map(|route| self.routes[route].length + self.routes[route].penalty).iter().sum()
    }

    /// Total length, and total load above the limit.
    pub fn measure(&self) -> (f64, f64) {
        let length = self.routes.iter().map(|route| route.length).sum();
        let excess = self.routes.iter().map(|route| (route.load - self.data.limit).max(0.0)).sum();
        (length, excess)
    }

    /// The routes, ordered by the direction of their centre from the depot, so that neighbours in the giant tour are
    /// neighbours on the map.
    pub fn routes(&self) -> Routes {
        let used = self.routes.iter().filter(|route| route.size > 0);
        let mut ordered: Vec<(u16, u32)> = used.map(|route| (self.direction(route), route.depot)).collect();
        ordered.sort_unstable();
        let mut all =
            Routes { tour: Vec::with_capacity(self.data.customers()), ends: Vec::with_capacity(ordered.len()) };
        for (_, depot) in ordered {
            all.push(self.stops(depot as usize));
        }
        all
    }

    /// The customers of a route in order.
    fn stops(&self, depot: usize) -> impl Iterator<Item = u32> {
        let next = move |node: u32| Some(self.nodes[node as usize].next).filter(|&next| next as usize != depot);
        std::iter::successors(next(depot as u32), move |&node| next(node))
    }

    fn direction(&self, route: &Route) -> u16 {
        let map = self.data.map();
        let [mut dx, mut dy] = [0.0; 2];
        for stop in self.stops(route.depot as usize) {
            dx += map[stop as usize][0] - map[0][0];
            dy += map[stop as usize][1] - map[0][1];
        }
        angle(dx, dy)
    }
}
