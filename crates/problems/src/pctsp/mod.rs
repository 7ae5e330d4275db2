//! The prize-collecting TSP as a path problem: a path from an origin to a destination that collects a quota of prizes; every
//! node that it leaves out costs a penalty. A tour from the depot is the case where both ends are the depot (Balas 1989;
//! the variant of Kool et al. 2019).

#[cfg(feature = "draw")]
mod draw;
mod files;
mod generate;
mod imitate;
mod observe;

use bqnco_core::{Infeasible, Problem, SolutionSpace};

use crate::error::{finite_and_not_negative, length, positive, slack};
use crate::{Geometry, InvalidInstance, Tokens, nodes};

/// The prize-collecting travelling salesman problem.
pub struct Pctsp;

/// An instance. Node 0 is the depot of a whole instance; its prize and penalty count for nothing.
#[derive(Clone, Debug)]
pub struct Instance {
    geometry: Geometry,
    prizes: Vec<f64>,    // per node
    penalties: Vec<f64>, // per node, in the unit of distances
    quota: f64,          // prize that a tour must collect, unless it visits everything
    start: Start,
    slack: f64, // tolerance of the quota for rounding errors
}

/// Where the construction begins.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    origin: usize,
    destination: usize,
    owed: f64,
    closed: bool, // nothing is left to decide: a finished tail as an instance
}

impl Instance {
    /// Tours from node 0. `prizes` and `penalties` have an entry per node.
    ///
    /// # Errors
    /// Fewer than two nodes, lists of other lengths, numbers that are negative or not finite, a quota that is not positive.
    pub fn new(geometry: Geometry, prizes: Vec<f64>, penalties: Vec<f64>, quota: f64) -> Result<Self, InvalidInstance> {
        if geometry.len() < 2 {
            return Err(InvalidInstance::TooFew { what: "nodes", needed: 2, found: geometry.len() });
        }
        length("prizes", geometry.len(), prizes.len())?;
        length("penalties", geometry.len(), penalties.len())?;
        finite_and_not_negative("prize", &prizes)?;
        finite_and_not_negative("penalty", &penalties)?;
        positive("quota", quota)?;
        let slack = slack(quota, prizes.iter().all(|prize| prize.fract() == 0.0));
        let start = Start { origin: 0, destination: 0, owed: quota, closed: false };
        Ok(Instance { geometry, prizes, penalties, quota, start, slack })
    }

    /// The nodes and their distances; node 0 is the depot.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Prize of every node.
    pub fn prizes(&self) -> &[f64] {
        &self.prizes
    }

    /// What it costs to leave a node out.
    pub fn penalties(&self) -> &[f64] {
        &self.penalties
    }

    /// The prize that a tour must collect, unless it visits everything.
    pub fn quota(&self) -> f64 {
        self.quota
    }

    /// Where the path starts and ends: twice the depot for a whole instance.
    pub fn ends(&self) -> [usize; 2] {
        [self.start.origin, self.start.destination]
    }

    /// Length of the path that visits these nodes in order and ends at the destination.
    pub fn length(&self, visits: &[usize]) -> f64 {
        let path = std::iter::once(&self.start.origin).chain(visits);
        let next = visits.iter().chain([&self.start.destination]);
        path.zip(next).map(|(&from, &to)| self.geometry.distance(from, to)).sum()
    }

    fn is_customer(&self, node: usize) -> bool {
        !self.ends().contains(&node) && !self.start.closed
    }

    fn customers(&self) -> impl Iterator<Item = usize> {
        (0..self.geometry.len()).filter(|&node| self.is_customer(node))
    }
}

/// The next stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A node.
    Visit(usize),
    /// The destination. When to stop is a decision with a price, hence a step.
    Return,
}

/// The nodes that steps visit.
pub fn visits(steps: &[Step]) -> Vec<usize> {
    let visit = |step: &Step| if let Step::Visit(node) = step { Some(*node) } else { None };
    steps.iter().filter_map(visit).collect()
}

/// The steps that visit these nodes and return.
pub fn from_visits(visits: impl IntoIterator<Item = usize>) -> Vec<Step> {
    visits.into_iter().map(Step::Visit).chain([Step::Return]).collect()
}

/// What remains of a tour.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// The current node.
    pub origin: usize,
    /// Nodes not yet visited, ascending.
    pub rest: Vec<u32>,
    /// Where the path must end.
    pub destination: usize,
    /// Prize still to collect. Once it is zero it stays zero: histories that differ in a surplus are one state.
    pub owed: f64,
    /// Whether the path has reached its destination.
    pub closed: bool,
}

impl Tail {
    /// The nodes in the order of their tokens: origin, rest, destination.
    fn tokens(&self) -> Tokens<'_> {
        Tokens { origin: self.origin, rest: &self.rest, destination: self.destination }
    }

    fn may_return(&self, instance: &Instance) -> bool {
        self.owed <= instance.slack || self.rest.is_empty()
    }
}

impl SolutionSpace for Pctsp {
    type Instance = Instance;
    type Step = Step;

    fn steps(instance: &Instance) -> Vec<Step> {
        instance.customers().map(Step::Visit).chain([Step::Return]).collect()
    }

    fn horizon(instance: &Instance) -> usize {
        if instance.start.closed { 0 } else { instance.customers().count() + 1 }
    }

    fn cost(instance: &Instance, partial: &[Step]) -> f64 {
        let mut at = instance.start.origin;
        let mut cost: f64 = instance.customers().map(|node| instance.penalties[node]).sum();
        for &step in partial {
            let (node, saved) = match step {
                Step::Visit(node) => (node, instance.penalties[node]),
                Step::Return => (instance.start.destination, 0.0),
            };
            cost += instance.geometry.distance(at, node) - saved;
            at = node;
        }
        cost
    }

    fn check(instance: &Instance, solution: &[Step]) -> Result<(), Infeasible> {
        if instance.start.closed {
            let broken = || Infeasible::Broken("the tour goes on after its end".into());
            return if solution.is_empty() { Ok(()) } else { Err(broken()) };
        }
        let Some((Step::Return, before)) = solution.split_last() else {
            return Err(Infeasible::Broken("the tour does not return to the depot".into()));
        };
        if before.contains(&Step::Return) {
            return Err(Infeasible::Broken("the tour returns to the depot before its end".into()));
        }
        let visits = visits(before);
        let nodes = instance.geometry.len();
        nodes::visit_once("node", nodes, 1, visits.iter().copied(), |node| instance.is_customer(node))?;
        let collected = visits.iter().map(|&node| instance.prizes[node]).sum::<f64>() + 0.0; // an empty sum is -0
        let everything = visits.len() == instance.customers().count();
        if collected < instance.start.owed - 2.0 * instance.slack && !everything {
            let owed = instance.start.owed;
            return Err(Infeasible::Broken(format!("the collected prize is {collected}, below the quota of {owed}")));
        }
        Ok(())
    }
}

impl Problem for Pctsp {
    const NAME: &'static str = "pctsp";
    const OBJECTIVE: (&'static str, f64) = ("cost", 1.0);
    const UNIT: &'static str = "customers";
    const GREEDY_HEURISTIC: &'static str = "best saving";

    type Tail = Tail;

    fn size(instance: &Instance) -> usize {
        instance.geometry.len() - 1
    }

    fn whole(instance: &Instance) -> Tail {
        let Start { origin, destination, owed, closed } = instance.start;
        Tail { origin, rest: instance.customers().map(|node| node as u32).collect(), destination, owed, closed }
    }

    fn allowed(instance: &Instance, tail: &Tail) -> impl Iterator<Item = (usize, Step)> {
        let visits = tail.rest.iter().enumerate().map(|(k, &node)| (k + 1, Step::Visit(node as usize)));
        let home = tail.may_return(instance).then_some((tail.rest.len() + 1, Step::Return));
        visits.chain(home).filter(|_| !tail.closed) // token 0 is the origin, the last one the destination
    }

    fn reward(instance: &Instance, tail: &Tail, step: Step) -> f64 {
        let leg = |node| instance.geometry.distance(tail.origin, node);
        match step {
            Step::Visit(node) => instance.penalties[node] - leg(node),
            Step::Return => -leg(tail.destination),
        }
    }

    fn advance(instance: &Instance, tail: &mut Tail, step: Step) {
        match step {
            Step::Visit(node) => {
                nodes::remove(&mut tail.rest, node);
                tail.origin = node;
                tail.owed = (tail.owed - instance.prizes[node]).max(0.0);
            }
            Step::Return => {
                let end = tail.destination;
                *tail = Tail { origin: end, rest: Vec::new(), destination: end, owed: 0.0, closed: true };
            }
        }
    }

    /// Half the nearest nodes and half those that save most.
    fn shortlist(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let k = k.max(1);
        let near = |node| instance.geometry.distance(tail.origin, node);
        let mut rest = nodes::smallest(&tail.rest, k.div_ceil(2), near);
        let others: Vec<u32> = tail.rest.iter().copied().filter(|node| rest.binary_search(node).is_err()).collect();
        rest.extend(nodes::smallest(&others, k / 2, |node| -saving(instance, tail, node)));
        rest.sort_unstable();
        Tail { rest, ..*tail }
    }

    /// The nearest nodes.
    fn nearest(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let near = |node| instance.geometry.distance(tail.origin, node);
        Tail { rest: nodes::smallest(&tail.rest, k.max(1), near), ..*tail }
    }

    /// What a visit saves; returning saves nothing.
    fn greedy_score(instance: &Instance, tail: &Tail, step: Step) -> f64 {
        match step {
            Step::Visit(node) => saving(instance, tail, node),
            Step::Return => 0.0,
        }
    }

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        let tokens = tail.tokens().nodes();
        let last = tokens.len() - 1;
        let pick = |numbers: &[f64]| {
            let inner = |(token, &node): (usize, &usize)| if (1..last).contains(&token) { numbers[node] } else { 0.0 };
            tokens.iter().enumerate().map(inner).collect()
        };
        Instance {
            geometry: instance.geometry.select(&tokens),
            prizes: pick(&instance.prizes),
            penalties: pick(&instance.penalties),
            start: Start { origin: 0, destination: last, owed: tail.owed, closed: tail.closed },
            ..*instance
        }
    }

    fn symmetries(instance: &Instance) -> Vec<Instance> {
        let images = instance.geometry.symmetries().into_iter();
        images.map(|geometry| Instance { geometry, ..instance.clone() }).collect()
    }
}

/// The penalty that a visit on the way to the destination avoids, less its detour.
fn saving(instance: &Instance, tail: &Tail, node: usize) -> f64 {
    let geometry = &instance.geometry;
    let detour = geometry.distance(tail.origin, node) + geometry.distance(node, tail.destination)
        - geometry.distance(tail.origin, tail.destination);
    instance.penalties[node] - detour
}
