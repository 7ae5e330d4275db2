//! Optimal splitting of a giant tour into routes, in linear time (Vidal 2016, "Split algorithm in O(n) for the
//! capacitated vehicle routing problem"). Loads above the limit are allowed and cost a penalty per unit.

use std::collections::VecDeque;

use super::data::Data;
use super::routes::Routes;

/// The working memory of the split. Positions count from 1; position 0 is the depot before the tour.
#[derive(Default)]
pub(super) struct Split {
    home: Vec<f64>,       // from the customer at a position to the depot
    along: Vec<f64>,      // length of the tour up to a position
    load: Vec<f64>,       // demand of the tour up to a position
    cost: Vec<f64>,       // of the best routes that serve all customers up to a position
    before: Vec<u32>,     // where the last of these routes starts
    front: VecDeque<u32>, // positions that may still be the best start of a route, the best one first
    next: Vec<f64>,       // `cost` with one route more, if their number is limited
    layers: Vec<u32>,     // `before` for every number of routes, one after the other
}

impl Split {
    /// Cuts the tour optimally, into no more routes than there are vehicles.
    pub fn split(&mut self, data: &Data<'_>, tour: Vec<u32>, penalty: f64) -> Routes {
        self.read(data, &tour);
        let last = tour.len();
        self.front.push_back(0);
        for at in 1..=last {
            let begin = self.front[0] as usize;
            self.cost[at] = self.propagate(begin, at, data.limit, penalty);
            self.before[at] = begin as u32;
            if at < last {
                self.consider(at, penalty);
                while self.front.len() > 1 && self.second_is_better(at + 1, data.limit, penalty) {
                    self.front.pop_front();
                }
            }
        }
        let mut ends = Vec::new();
        let mut at = last as u32;
        while at > 0 {
            ends.push(at);
            at = self.before[at as usize];
        }
        if ends.len() > data.fleet {
            ends = self.limited(last, data, penalty);
        }
        ends.reverse();
        Routes { tour, ends }
    }

    /// The ends of at most as many routes as there are vehicles, the last one first, in linear time per vehicle (Vidal
    /// 2016 for a limited fleet). `read` has been called.
    fn limited(&mut self, last: usize, data: &Data<'_>, penalty: f64) -> Vec<u32> {
        self.cost.fill(f64::INFINITY);
        self.cost[0] = 0.0;
        self.next.clear();
        self.next.resize(last + 1, f64::INFINITY);
        self.layers.clear();
        let (mut least, mut routes) = (f64::INFINITY, 0);
        for count in 1..=data.fleet.min(last) {
            // `cost` is that of `count - 1` routes, so that the last one starts after that many customers at least.
            self.front.clear();
            self.front.push_back(count as u32 - 1);
            self.before.fill(0);
            for at in count..=last {
                let begin = self.front[0] as usize;
                self.next[at] = self.propagate(begin, at, data.limit, penalty);
                self.before[at] = begin as u32;
                if at < last {
                    self.consider(at, penalty);
                    while self.front.len() > 1 && self.second_is_better(at + 1, data.limit, penalty) {
                        self.front.pop_front();
                    }
                }
            }
            self.layers.extend(&self.before[..=last]);
            std::mem::swap(&mut self.cost, &mut self.next);
            self.next.fill(f64::INFINITY);
            if self.cost[last] < least {
                (least, routes) = (self.cost[last], count);
            }
        }
        let mut ends = Vec::with_capacity(routes);
        let mut at = last;
        for count in (0..routes).rev() {
            ends.push(at as u32);
            at = self.layers[count * (last + 1) + at] as usize;
        }
        ends
    }

    fn read(&mut self, data: &Data<'_>, tour: &[u32]) {
        self.front.clear();
        self.before.resize(tour.len() + 1, 0);
        self.cost.resize(tour.len() + 1, 0.0);
        for sums in [&mut self.home, &mut self.along, &mut self.load] {
            sums.clear();
            sums.push(0.0);
        }
        let (mut along, mut load, mut at) = (0.0, 0.0, None);
        for &customer in tour {
            let customer = customer as usize;
            along += at.map_or(0.0, |at| data.distance(at, customer));
            load += data.demands[customer];
            self.home.push(data.distance(0, customer));
            self.along.push(along);
            self.load.push(load);
            at = Some(customer);
        }
    }

    /// Cost of the routes up to `end` if the last one starts after `begin`.
    #[inline]
    fn propagate(&self, begin: usize, end: usize, limit: f64, penalty: f64) -> f64 {
        let excess = (self.load[end] - self.load[begin] - limit).max(0.0);
        let path = self.along[end] - self.along[begin + 1];
        self.cost[begin] + self.home[begin + 1] + path + self.home[end] + penalty * excess
    }

    /// Cost up to and including the first customer of a route that starts after `begin`, measured along the tour.
    #[inline]
    fn entry(&self, begin: usize) -> f64 {
        self.cost[begin] + self.home[begin + 1] - self.along[begin + 1]
    }

    /// Adds a start unless an earlier one is better for every end; drops earlier ones that the new one dominates.
    fn consider(&mut self, begin: usize, penalty: f64) {
        let new = self.entry(begin);
        if let Some(&back) = self.front.back() {
            let relief = penalty * (self.load[begin] - self.load[back as usize]);
            if new > self.entry(back as usize) + relief {
                return;
            }
        }
        while self.front.back().is_some_and(|&back| new <= self.entry(back as usize)) {
            self.front.pop_back();
        }
        self.front.push_back(begin as u32);
    }

    /// Whether the second start is as good as the first one, up to rounding errors: a first one that stayed for the sake of
    /// its last digit would stand before all later ones for ever.
    fn second_is_better(&self, end: usize, limit: f64, penalty: f64) -> bool {
        let [first, second] = [self.front[0], self.front[1]].map(|begin| begin as usize);
        self.propagate(second, end, limit, penalty) <= self.propagate(first, end, limit, penalty) * (1.0 + 1e-12)
    }
}
