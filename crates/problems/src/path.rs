//! Paths from an origin through all nodes to a destination: what TSP and ATSP have in common. A tour is a path whose
//! origin and destination are the same node.

use std::marker::PhantomData;

use bqnco_core::{Fragment, Imitate, Infeasible, Problem, Rebuild, SolutionSpace};
use bqnco_io::FieldError;
use rand::{Rng, RngExt};

use crate::nodes::{self, Tokens};

/// The problem of finding the cheapest such path. [`Tsp`](crate::Tsp) and [`Atsp`](crate::Atsp) are its two kinds, which
/// differ in their instances.
pub struct PathProblem<I>(PhantomData<I>);

/// An instance of a [`PathProblem`].
pub trait PathInstance: Clone + Send + Sync + 'static {
    /// [`Problem::NAME`].
    const NAME: &'static str;
    /// Whether a path costs the same in both directions.
    const REVERSIBLE: bool;

    /// Number of nodes.
    fn count(&self) -> usize;

    /// Origin and destination.
    fn ends(&self) -> [usize; 2];

    /// Cost of going from one node to another.
    fn leg(&self, from: usize, to: usize) -> f64;

    /// The instance with some of the nodes (one may occur twice): a path from the first of them to the last.
    fn extract(&self, nodes: &[usize]) -> Self;

    /// [`Problem::symmetries`].
    fn symmetries(&self) -> Vec<Self> {
        Vec::new()
    }

    /// Whether a node is neither origin nor destination.
    fn is_between(&self, node: usize) -> bool {
        !self.ends().contains(&node)
    }

    /// The nodes of a partial solution, with the origin; with the destination only if all decisions are made.
    fn visited(&self, partial: &[usize]) -> Vec<usize> {
        let [origin, destination] = self.ends();
        let decisions = (0..self.count()).filter(|&node| self.is_between(node)).count();
        let end = (partial.len() == decisions).then_some(destination);
        std::iter::once(origin).chain(partial.iter().copied()).chain(end).collect()
    }
}

/// What remains of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// The current node.
    pub origin: usize,
    /// Nodes still to visit, ascending.
    pub rest: Vec<u32>,
    /// Where the path must end.
    pub destination: usize,
}

impl Tail {
    /// The tail of a path: from its first node through all others to its last.
    fn along(path: &[usize]) -> Self {
        let last = path.len() - 1;
        let mut rest: Vec<u32> = path[1..last].iter().map(|&node| node as u32).collect();
        rest.sort_unstable();
        Tail { origin: path[0], rest, destination: path[last] }
    }

    /// The nodes in the order of their tokens: origin, rest, destination.
    pub(crate) fn tokens(&self) -> Tokens<'_> {
        Tokens { origin: self.origin, rest: &self.rest, destination: self.destination }
    }
}

impl<I: PathInstance> SolutionSpace for PathProblem<I> {
    type Instance = I;
    /// The next node to visit. The last leg, to the destination, is no decision and belongs to the last step.
    type Step = usize;

    fn steps(instance: &I) -> Vec<usize> {
        (0..instance.count()).filter(|&node| instance.is_between(node)).collect()
    }

    fn horizon(instance: &I) -> usize {
        Self::steps(instance).len()
    }

    fn cost(instance: &I, partial: &[usize]) -> f64 {
        let path = instance.visited(partial);
        path.windows(2).fold(0.0, |cost, leg| cost + instance.leg(leg[0], leg[1]))
    }

    fn check(instance: &I, solution: &[usize]) -> Result<(), Infeasible> {
        let visits = solution.iter().copied();
        let visited = nodes::visit_once("node", instance.count(), 1, visits, |node| instance.is_between(node))?;
        match (0..visited.len()).find(|&node| instance.is_between(node) && !visited[node]) {
            Some(node) => Err(Infeasible::Missing { what: "node", number: node + 1 }),
            None => Ok(()),
        }
    }
}

impl<I: PathInstance> Problem for PathProblem<I> {
    const NAME: &'static str = I::NAME;
    const OBJECTIVE: (&'static str, f64) = ("length", 1.0);
    const UNIT: &'static str = "nodes";
    const GREEDY_HEURISTIC: &'static str = "nearest neighbour";

    type Tail = Tail;

    fn size(instance: &I) -> usize {
        instance.count()
    }

    fn whole(instance: &I) -> Tail {
        let [origin, destination] = instance.ends();
        Tail { origin, rest: nodes::open(instance.count(), |node| instance.is_between(node)), destination }
    }

    fn allowed(_: &I, tail: &Tail) -> impl Iterator<Item = (usize, usize)> {
        tail.rest.iter().enumerate().map(|(k, &node)| (k + 1, node as usize)) // token 0 is the origin
    }

    fn reward(instance: &I, tail: &Tail, step: usize) -> f64 {
        let last_leg = if tail.rest.len() == 1 { instance.leg(step, tail.destination) } else { 0.0 };
        -instance.leg(tail.origin, step) - last_leg
    }

    fn advance(_: &I, tail: &mut Tail, step: usize) {
        nodes::remove(&mut tail.rest, step);
        tail.origin = step;
    }

    fn extract(instance: &I, tail: &Tail) -> I {
        instance.extract(&tail.tokens().nodes())
    }

    /// The nodes nearest to the origin.
    fn shortlist(instance: &I, tail: &Tail, k: usize) -> Tail {
        Tail { rest: nodes::smallest(&tail.rest, k.max(1), |node| instance.leg(tail.origin, node)), ..*tail }
    }

    fn reverse(_: &I, tail: &mut Tail) -> bool {
        if I::REVERSIBLE {
            std::mem::swap(&mut tail.origin, &mut tail.destination);
        }
        I::REVERSIBLE
    }

    fn symmetries(instance: &I) -> Vec<I> {
        instance.symmetries()
    }
}

impl<I: PathInstance> Imitate for PathProblem<I> {
    /// A random part of the path, in either direction if it is reversible; of a tour, any part of the circle.
    fn sample_subproblem(instance: &I, solution: &[usize], length: usize, rng: &mut impl Rng) -> (Tail, Vec<usize>) {
        let mut path = infix(instance.ends(), solution, length, rng);
        if I::REVERSIBLE && rng.random() {
            path.reverse();
        }
        (Tail::along(&path), path[1..path.len() - 1].to_vec())
    }

    fn path(_: &I, tail: &Tail, steps: &[usize]) -> Vec<Option<usize>> {
        tokens(&tail.rest, steps)
    }
}

impl<I: PathInstance> Rebuild for PathProblem<I> {
    /// The path, or the circle from a random node on, cut into pieces; in either direction if it is reversible.
    fn fragments(instance: &I, solution: &[usize], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        let mut walk = walk(instance.ends(), solution, rng);
        if I::REVERSIBLE && rng.random() {
            walk.reverse();
        }
        // The first node of a piece is fixed; those between its ends are to be put in order.
        let fragment = |piece: &[usize]| Fragment {
            before: vec![piece[0]],
            tail: Tail::along(piece),
            steps: piece[1..piece.len() - 1].to_vec(),
            after: Vec::new(),
        };
        pieces(&walk, length, rng).map(fragment).collect()
    }

    fn rejoin(instance: &I, fragments: &[Fragment<Self>]) -> Vec<usize> {
        between(fragments.iter().flat_map(Fragment::all_steps).collect(), instance.ends())
    }
}

/// A random part of a path with `length` nodes between its ends. A tour is a circle whose parts may start anywhere.
fn infix([origin, destination]: [usize; 2], between: &[usize], length: usize, rng: &mut impl Rng) -> Vec<usize> {
    let length = length.min(between.len());
    let nodes: Vec<usize> = std::iter::once(origin).chain(between.iter().copied()).collect();
    if origin == destination {
        let start = rng.random_range(0..nodes.len());
        return (0..length + 2).map(|k| nodes[(start + k) % nodes.len()]).collect();
    }
    let start = rng.random_range(0..=between.len() - length);
    nodes.into_iter().chain([destination]).skip(start).take(length + 2).collect()
}

/// A path as a walk through all its nodes. The walk along a tour starts, and ends, at a random node.
fn walk([origin, destination]: [usize; 2], between: &[usize], rng: &mut impl Rng) -> Vec<usize> {
    let mut nodes: Vec<usize> = std::iter::once(origin).chain(between.iter().copied()).collect();
    if origin == destination {
        let start = rng.random_range(0..nodes.len());
        nodes.rotate_left(start);
    }
    nodes.push(if origin == destination { nodes[0] } else { destination });
    nodes
}

/// A walk cut into pieces with about `length` nodes between their ends; each starts where the previous one ends. The
/// first cut is random, so that every stretch of the walk can be inside a piece.
fn pieces<'w>(walk: &'w [usize], length: usize, rng: &mut impl Rng) -> impl Iterator<Item = &'w [usize]> {
    let last = walk.len() - 1;
    let stride = length.saturating_add(1).min(last);
    let is_circle = walk[0] == walk[last]; // which starts at a random node anyway
    let first = if is_circle { stride } else { rng.random_range(1..=stride) };
    let cuts = std::iter::once(0).chain((first..last).step_by(stride));
    cuts.map(move |start| {
        let end = if start == 0 { first } else { start + stride };
        &walk[start..=end.min(last)]
    })
}

/// The nodes between the ends of a path, from a walk without its last node, in either direction.
fn between(mut walk: Vec<usize>, [origin, destination]: [usize; 2]) -> Vec<usize> {
    if origin == destination {
        let start = walk.iter().position(|&node| node == origin).expect("a walk visits the origin");
        walk.rotate_left(start);
    }
    let first = walk.remove(0);
    if first != origin {
        walk.reverse();
    }
    walk
}

/// The tokens of a path from the origin through nodes of the rest to the destination.
pub(crate) fn tokens(rest: &[u32], nodes: &[usize]) -> Vec<Option<usize>> {
    let between = nodes.iter().map(|&node| nodes::token(rest, node));
    std::iter::once(Some(0)).chain(between).chain([Some(rest.len() + 1)]).collect()
}

/// A closed tour, given from any of its nodes, as the sequence that follows `origin`. A first node that is repeated at
/// the end is dropped.
///
/// # Errors
/// Tours without the origin, which is called `name`.
pub(crate) fn from_origin(tour: &[usize], origin: usize, name: &str) -> Result<Vec<usize>, FieldError> {
    let open = match tour {
        [first, middle @ .., last] if first == last && !middle.is_empty() => &tour[..tour.len() - 1],
        _ => tour,
    };
    match open.iter().position(|&node| node == origin) {
        Some(at) => Ok(open[at + 1..].iter().chain(&open[..at]).copied().collect()),
        None => Err(FieldError::Solution(format!("does not visit {name}"))),
    }
}
