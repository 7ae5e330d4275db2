//! SWAP* (Vidal 2022, section 3.2): two customers of different routes are exchanged, each moving to its best position
//! in the other route. The best position is among the three best of the unchanged route, or the one that the other
//! vacates.

use super::LocalSearch;
use super::sector::Sector;

/// Number of routes per customer for which best positions are cached.
const WAYS: usize = 32;

/// The three cheapest positions of customers in routes, cached until the route changes.
pub(super) struct Insertions {
    table: Vec<Best>, // per customer, per route modulo WAYS
}

#[derive(Clone, Copy, Default)]
struct Best {
    route: u32,
    computed: u32, // clock; zero: never
    places: [Place; 3],
}

/// A position after a stop and the cost of inserting there.
#[derive(Clone, Copy)]
struct Place {
    behind: u32,
    cost: f64,
}

impl Default for Place {
    fn default() -> Self {
        Place { behind: u32::MAX, cost: f64::INFINITY }
    }
}

impl Insertions {
    pub fn new(nodes: usize) -> Self {
        Insertions { table: vec![Best::default(); nodes * WAYS] }
    }

    /// Invalidates the whole cache, for a clock that restarts.
    pub fn forget(&mut self) {
        self.table.iter_mut().for_each(|best| best.computed = 0);
    }
}

impl Best {
    #[inline]
    fn offer(&mut self, behind: usize, cost: f64) {
        let [first, second, third] = &mut self.places;
        if cost >= third.cost {
            return;
        }
        let place = Place { behind: behind as u32, cost };
        if cost >= second.cost {
            *third = place;
        } else if cost >= first.cost {
            (*second, *third) = (place, *second);
        } else {
            (*first, *second, *third) = (place, *first, *second);
        }
    }
}

/// The best exchange found between two routes: u goes after `u_behind`, v after `v_behind`.
#[derive(Clone, Copy)]
struct Exchange {
    change: f64,
    u: Option<(usize, usize)>,
    v: Option<(usize, usize)>,
}

impl LocalSearch<'_> {
    /// Tries SWAP* with all routes of higher index that overlap and have changed.
    pub(super) fn try_route(&mut self, route: usize) {
        let tested = std::mem::replace(&mut self.routes[route].tested, self.clock);
        for k in 0..self.pairing.len() {
            let other = self.pairing[k] as usize;
            let (a, b) = (&self.routes[route], &self.routes[other]);
            let worth = route < other && a.size > 0 && b.size > 0 && a.modified.max(b.modified) > tested;
            if worth && self.sector(route).overlaps(self.sector(other)) {
                self.swap_star(route, other);
            }
        }
    }

    fn sector(&mut self, route: usize) -> Sector {
        if self.routes[route].sector_drawn < self.routes[route].modified {
            let mut angles = self.stops(self.routes[route].depot as usize).map(|stop| self.data.angles[stop as usize]);
            let first = angles.next().map(Sector::of).unwrap_or_default();
            let sector = angles.fold(first, Sector::with);
            self.routes[route].sector = sector;
            self.routes[route].sector_drawn = self.routes[route].modified;
        }
        self.routes[route].sector
    }

    fn swap_star(&mut self, a: usize, b: usize) {
        self.find_places(a, b);
        self.find_places(b, a);
        let mut best = Exchange { change: -self.data.tolerance, u: None, v: None };
        self.best_swap(a, b, &mut best);
        self.best_relocation(a, b, &mut best);
        self.best_relocation(b, a, &mut best);
        if best.u.is_none() && best.v.is_none() {
            return;
        }
        for (customer, behind) in best.u.into_iter().chain(best.v) {
            let (before, after) = (self.nodes[customer].prev as usize, self.nodes[customer].next as usize);
            self.link(before, after);
            let next = self.nodes[behind].next as usize;
            self.link(behind, customer);
            self.link(customer, next);
        }
        self.clock += 1;
        let before = self.cost_of([a, b]);
        self.refresh(a);
        self.refresh(b);
        debug_assert!((self.cost_of([a, b]) - before - best.change).abs() < self.data.tolerance.max(1e-9 * before));
    }

    /// Best positions in `route` for the customers of another route.
    fn find_places(&mut self, from: usize, route: usize) {
        let (start, depot) = (self.routes[from].depot as usize, self.routes[route].depot as usize);
        let modified = self.routes[route].modified;
        let mut u = self.nodes[start].next as usize;
        while u != start {
            let best = &mut self.insertions.table[u * WAYS + route % WAYS];
            if best.route as usize != route || best.computed < modified {
                *best = Best { route: route as u32, computed: self.clock, places: Default::default() };
                let mut at = depot;
                let mut to_u = self.data.distance(0, u);
                loop {
                    let next = self.nodes[at].next as usize;
                    let from_u = self.data.distance(u, self.nodes[next].place as usize);
                    best.offer(at, to_u + from_u - self.nodes[at].to_next);
                    (at, to_u) = (next, from_u);
                    if at == depot {
                        break;
                    }
                }
            }
            u = self.nodes[u].next as usize;
        }
    }

    /// Change of length when a customer is removed.
    #[inline]
    fn removal(&self, customer: usize) -> f64 {
        let node = &self.nodes[customer];
        let before = node.prev as usize;
        self.distance(before, node.next as usize) - self.nodes[before].to_next - node.to_next
    }

    fn best_swap(&self, a: usize, b: usize, best: &mut Exchange) {
        let (route_a, route_b) = (&self.routes[a], &self.routes[b]);
        let paid = route_a.penalty + route_b.penalty;
        for u in self.stops(route_a.depot as usize).map(|u| u as usize) {
            let without_u = self.removal(u);
            for v in self.stops(route_b.depot as usize).map(|v| v as usize) {
                let shift = self.nodes[u].demand - self.nodes[v].demand;
                let prices = self.price(route_a.load - shift) + self.price(route_b.load + shift) - paid;
                let least = prices + without_u + self.removal(v);
                if least >= best.change {
                    continue;
                }
                let (u_cost, u_behind) = self.place_without(u, v, b);
                if least + u_cost >= best.change {
                    continue;
                }
                let (v_cost, v_behind) = self.place_without(v, u, a);
                if least + u_cost + v_cost < best.change {
                    *best =
                        Exchange { change: least + u_cost + v_cost, u: Some((u, u_behind)), v: Some((v, v_behind)) };
                }
            }
        }
    }

    /// Cheapest position for a customer in another route after `leaver` has been removed from it.
    #[inline]
    fn place_without(&self, customer: usize, leaver: usize, route: usize) -> (f64, usize) {
        let node = &self.nodes[leaver];
        let (before, after) = (node.prev as usize, node.next as usize);
        let gap = self.distance(before, customer) + self.distance(customer, after) - self.distance(before, after);
        let places = self.insertions.table[customer * WAYS + route % WAYS].places;
        let other = places.iter().find(|place| {
            let behind = place.behind as usize;
            behind != leaver && behind != before
        });
        match other {
            Some(place) if place.cost < gap => (place.cost, place.behind as usize),
            _ => (gap, before),
        }
    }

    fn best_relocation(&self, from: usize, to: usize, best: &mut Exchange) {
        let (source, target) = (&self.routes[from], &self.routes[to]);
        for u in self.stops(source.depot as usize).map(|u| u as usize) {
            let demand = self.nodes[u].demand;
            let prices = self.price(source.load - demand) + self.price(target.load + demand);
            let place = self.insertions.table[u * WAYS + to % WAYS].places[0];
            let change = prices - source.penalty - target.penalty + self.removal(u) + place.cost;
            if change < best.change {
                *best = Exchange { change, u: Some((u, place.behind as usize)), v: None };
            }
        }
    }
}
