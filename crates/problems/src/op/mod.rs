//! Path-OP (paper, appendix B): the route of limited length that collects the largest prize.
//! In a tail the route is at an origin with part of the length left.

#[cfg(feature = "draw")]
mod draw;
mod files;
mod generate;
mod observe;
mod rebuild;

use bqnco_core::{Imitate, Infeasible, Problem, SolutionSpace, last_steps};
use rand::{Rng, RngExt};

use crate::error::{finite_and_not_negative, length, positive, slack};
use crate::{Geometry, InvalidInstance, Tokens, nodes, path};

/// The orienteering problem.
pub struct Op;

/// A path-OP instance. Node 0 is the depot where a route starts and ends.
#[derive(Clone, Debug)]
pub struct Instance {
    geometry: Geometry,
    prizes: Vec<f64>, // per node; the depot's counts in every solution
    limit: f64,
    origin: usize,
    destination: usize,
    largest: f64, // largest prize
    slack: f64,   // tolerance of the limit for rounding errors
}

impl Instance {
    /// A closed route from node 0 of at most the given length.
    ///
    /// # Errors
    /// Fewer than two nodes, numbers that are negative or not finite, a limit that is not positive.
    pub fn new(geometry: Geometry, prizes: Vec<f64>, limit: f64) -> Result<Self, InvalidInstance> {
        if geometry.len() < 2 {
            return Err(InvalidInstance::TooFew { what: "nodes", needed: 2, found: geometry.len() });
        }
        length("prizes", geometry.len(), prizes.len())?;
        finite_and_not_negative("prize", &prizes)?;
        positive("length limit", limit)?;
        let largest = prizes.iter().copied().fold(0.0, f64::max);
        let slack = slack(limit, geometry.is_integral());
        Ok(Instance { geometry, prizes, limit, origin: 0, destination: 0, largest, slack })
    }

    /// The nodes and their distances; node 0 is the depot.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Prize of every node.
    pub fn prizes(&self) -> &[f64] {
        &self.prizes
    }

    /// The length limit of a route.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Tolerance of the limit for rounding errors; zero if distances are integers.
    pub fn slack(&self) -> f64 {
        self.slack
    }

    /// Where the route starts.
    pub fn origin(&self) -> usize {
        self.origin
    }

    /// Where the route ends; the origin for a closed route.
    pub fn destination(&self) -> usize {
        self.destination
    }

    /// Length of the route that visits these nodes in order and ends at the destination.
    pub fn length(&self, route: &[usize]) -> f64 {
        let mut at = self.origin;
        let mut total = 0.0;
        for &node in route.iter().chain([&self.destination]) {
            total += self.geometry.distance(at, node);
            at = node;
        }
        total
    }

    fn is_open(&self, node: usize) -> bool {
        node != self.origin && node != self.destination
    }
}

/// What remains of a route.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// The current node.
    pub origin: usize,
    /// Nodes not yet visited, ascending.
    pub rest: Vec<u32>,
    /// Where the route must end.
    pub destination: usize,
    /// Length left.
    pub left: f64,
}

impl Tail {
    /// The nodes in the order of their tokens: origin, rest, destination.
    fn tokens(&self) -> Tokens<'_> {
        Tokens { origin: self.origin, rest: &self.rest, destination: self.destination }
    }

    fn can_visit(&self, instance: &Instance, node: usize) -> bool {
        let geometry = &instance.geometry;
        geometry.distance(self.origin, node) + geometry.distance(node, self.destination) <= self.left + instance.slack
    }
}

impl SolutionSpace for Op {
    type Instance = Instance;
    /// The next node to visit. Every route can end where it is, so ending is no step.
    type Step = usize;

    fn steps(instance: &Instance) -> Vec<usize> {
        (0..instance.geometry.len()).filter(|&node| instance.is_open(node)).collect()
    }

    fn horizon(instance: &Instance) -> usize {
        Self::steps(instance).len()
    }

    fn cost(instance: &Instance, partial: &[usize]) -> f64 {
        let ends = if instance.origin == instance.destination {
            instance.prizes[instance.origin]
        } else {
            instance.prizes[instance.origin] + instance.prizes[instance.destination]
        };
        -ends - partial.iter().map(|&node| instance.prizes[node]).sum::<f64>()
    }

    fn check(instance: &Instance, solution: &[usize]) -> Result<(), Infeasible> {
        let visits = solution.iter().copied();
        nodes::visit_once("node", instance.geometry.len(), 1, visits, |node| instance.is_open(node))?;
        let found = instance.length(solution);
        if !solution.is_empty() && found > instance.limit + 2.0 * instance.slack {
            return Err(Infeasible::Exceeds { quantity: "the route's length".into(), found, limit: instance.limit });
        }
        Ok(())
    }
}

impl Problem for Op {
    const NAME: &'static str = "op";
    const OBJECTIVE: (&'static str, f64) = ("prize", -1.0);
    const UNIT: &'static str = "nodes";
    const GREEDY_HEURISTIC: &'static str = "best prize per length";

    type Tail = Tail;

    fn size(instance: &Instance) -> usize {
        instance.geometry.len()
    }

    fn whole(instance: &Instance) -> Tail {
        let rest = nodes::open(instance.geometry.len(), |node| instance.is_open(node));
        Tail { origin: instance.origin, rest, destination: instance.destination, left: instance.limit }
    }

    fn allowed(instance: &Instance, tail: &Tail) -> impl Iterator<Item = (usize, usize)> {
        let visits = tail.rest.iter().enumerate().map(|(k, &node)| (k + 1, node as usize)); // token 0 is the origin
        visits.filter(|&(_, node)| tail.can_visit(instance, node))
    }

    fn may_stop(_: &Instance, _: &Tail) -> bool {
        true
    }

    fn reward(instance: &Instance, _: &Tail, step: usize) -> f64 {
        instance.prizes[step]
    }

    fn advance(instance: &Instance, tail: &mut Tail, step: usize) {
        nodes::remove(&mut tail.rest, step);
        tail.left -= instance.geometry.distance(tail.origin, step);
        tail.origin = step;
    }

    /// Of the nodes within reach, half the nearest and half those with the highest prizes.
    fn shortlist(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let reachable: Vec<u32> =
            tail.rest.iter().copied().filter(|&node| tail.can_visit(instance, node as usize)).collect();
        let k = k.max(1);
        let mut rest = nodes::smallest(&reachable, k.div_ceil(2), |node| instance.geometry.distance(tail.origin, node));
        let others: Vec<u32> = reachable.into_iter().filter(|node| rest.binary_search(node).is_err()).collect();
        rest.extend(nodes::smallest(&others, k / 2, |node| -instance.prizes[node]));
        rest.sort_unstable();
        Tail { rest, ..*tail }
    }

    /// The nodes nearest to the origin, within reach or not. If none of them is, the last place goes to the nearest one
    /// that is.
    fn nearest(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let near = |node| instance.geometry.distance(tail.origin, node);
        let can_visit = |&node: &u32| tail.can_visit(instance, node as usize);
        let mut rest = nodes::smallest(&tail.rest, k.max(1), near);
        if !rest.iter().any(can_visit) {
            let reachable: Vec<u32> = tail.rest.iter().copied().filter(can_visit).collect();
            let first = nodes::smallest(&reachable, 1, near);
            rest = nodes::smallest(&rest, k.max(1) - first.len(), near);
            rest.extend(first);
            rest.sort_unstable();
        }
        Tail { rest, ..*tail }
    }

    /// Prize per distance.
    fn greedy_score(instance: &Instance, tail: &Tail, step: usize) -> f64 {
        instance.prizes[step] / instance.geometry.distance(tail.origin, step).max(1e-12)
    }

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        let tokens = tail.tokens().nodes();
        let last = tokens.len() - 1;
        let prizes = tokens.iter().enumerate();
        let prizes = prizes.map(|(token, &node)| if token == 0 || token == last { 0.0 } else { instance.prizes[node] });
        Instance {
            prizes: prizes.collect(),
            geometry: instance.geometry.select(&tokens),
            limit: tail.left,
            origin: 0,
            destination: last,
            ..*instance
        }
    }

    fn reverse(_: &Instance, tail: &mut Tail) -> bool {
        std::mem::swap(&mut tail.origin, &mut tail.destination);
        true
    }

    fn symmetries(instance: &Instance) -> Vec<Instance> {
        let images = instance.geometry.symmetries().into_iter();
        images.map(|geometry| Instance { geometry, prizes: instance.prizes.clone(), ..*instance }).collect()
    }
}

impl Imitate for Op {
    /// The last steps of the route; a closed route in either direction.
    fn sample_subproblem(
        instance: &Instance,
        solution: &[usize],
        length: usize,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<usize>) {
        let mut route = solution.to_vec();
        if instance.origin == instance.destination && rng.random() {
            route.reverse();
        }
        last_steps::<Self>(instance, &route, length)
    }

    fn path(_: &Instance, tail: &Tail, steps: &[usize]) -> Vec<Option<usize>> {
        path::tokens(&tail.rest, steps)
    }
}
