//! Insertion heuristics: a partial tour grows node by node, each inserted at its cheapest position.

use bqnco_core::{Effort, ExpertError, Solution, SolutionSpace, random};
use bqnco_problems::Tsp;
use bqnco_problems::tsp::Instance;
use rand::seq::SliceRandom;

/// Which node is inserted next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A random one.
    Random,
    /// The one farthest from the partial tour.
    Farthest,
    /// The one whose insertion costs least.
    Cheapest,
}

/// Builds a tour or path by insertion, in about n^2 steps. The effort's rounds have no effect; once it is stopped, the
/// remaining nodes are appended.
#[derive(Clone, Copy, Debug)]
pub struct Insertion {
    /// Which node is inserted next.
    pub rule: Rule,
}

impl Insertion {
    /// The solution.
    ///
    /// # Errors
    /// None: it always has an answer.
    pub fn solve(&self, instance: &Instance, effort: &Effort<'_>) -> Result<Solution<usize>, ExpertError> {
        let mut left = Tsp::steps(instance);
        left.shuffle(&mut random(effort.seed, &[]));
        let mut partial = Partial::new(instance, left);
        while !partial.left.is_empty() && !(effort.stop)() {
            partial.insert(self.rule);
        }
        Ok(Solution::new::<Tsp>(instance, partial.into_steps()))
    }
}

/// The best position for a node.
#[derive(Clone, Copy)]
struct Place {
    after: usize,
    cost: f64,
}

/// A partial path from the origin to the destination, as a linked list.
struct Partial<'a> {
    instance: &'a Instance,
    next: Vec<usize>,   // successor of each node on the path; the destination has none
    left: Vec<usize>,   // nodes to insert
    distance: Vec<f64>, // of each remaining node, to the path
    best: Vec<Place>,   // of each remaining node
    last: usize,
}

const NONE: usize = usize::MAX;

impl<'a> Partial<'a> {
    fn new(instance: &'a Instance, left: Vec<usize>) -> Self {
        let n = instance.geometry().len();
        let (origin, destination) = (instance.origin(), instance.destination());
        let mut next = vec![NONE; n];
        next[origin] = destination; // itself for a tour
        let reach = |node: usize| {
            instance.geometry().distance(node, origin).min(instance.geometry().distance(node, destination))
        };
        let distance = (0..n).map(reach).collect();
        let best =
            (0..n).map(|node| Place { after: origin, cost: detour(instance, origin, node, destination) }).collect();
        Partial { instance, next, left, distance, best, last: destination }
    }

    fn insert(&mut self, rule: Rule) {
        let index = match rule {
            Rule::Random => self.left.len() - 1, // shuffled
            Rule::Farthest => self.extreme(|partial, node| -partial.distance[node]),
            Rule::Cheapest => self.extreme(|partial, node| partial.best[node].cost),
        };
        let node = self.left.swap_remove(index);
        let before = if rule == Rule::Cheapest { self.best[node].after } else { self.cheapest_place(node).after };
        let after = std::mem::replace(&mut self.next[before], node);
        self.next[node] = after;
        match rule {
            Rule::Random => {}
            Rule::Farthest => self.update_distances(node),
            Rule::Cheapest => self.update_places(before, node, after),
        }
    }

    fn extreme(&self, key: impl Fn(&Self, usize) -> f64) -> usize {
        let keyed = self.left.iter().enumerate().map(|(index, &node)| (key(self, node), index));
        keyed.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, index)| index)
    }

    /// The cheapest position on the whole path.
    fn cheapest_place(&self, node: usize) -> Place {
        let mut best = Place { after: self.instance.origin(), cost: f64::INFINITY };
        let mut at = self.instance.origin();
        loop {
            let to = self.next[at];
            let cost = detour(self.instance, at, node, to);
            if cost < best.cost {
                best = Place { after: at, cost };
            }
            if to == self.last {
                return best;
            }
            at = to;
        }
    }

    fn update_distances(&mut self, inserted: usize) {
        for &node in &self.left {
            self.distance[node] = self.distance[node].min(self.instance.geometry().distance(node, inserted));
        }
    }

    /// Considers the two new positions; nodes whose best position was replaced search again.
    fn update_places(&mut self, before: usize, inserted: usize, after: usize) {
        for &node in &self.left {
            if self.best[node].after == before {
                self.best[node] = self.cheapest_place(node);
                continue;
            }
            for (at, to) in [(before, inserted), (inserted, after)] {
                let cost = detour(self.instance, at, node, to);
                if cost < self.best[node].cost {
                    self.best[node] = Place { after: at, cost };
                }
            }
        }
    }

    fn into_steps(self) -> Vec<usize> {
        let successors = std::iter::successors(Some(self.next[self.instance.origin()]), |&node| Some(self.next[node]));
        let mut steps: Vec<usize> = successors.take_while(|&node| node != self.last).collect();
        steps.extend(self.left);
        steps
    }
}

/// The cost of a visit between two neighbours on the path.
fn detour(instance: &Instance, at: usize, node: usize, to: usize) -> f64 {
    let geometry = instance.geometry();
    geometry.distance(at, node) + geometry.distance(node, to) - geometry.distance(at, to)
}
