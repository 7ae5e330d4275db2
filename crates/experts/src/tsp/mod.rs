//! Experts for the TSP: an iterated Lin-Kernighan search that comes within a fraction of a percent of the optimum, and
//! insertion heuristics as baselines.

mod candidates;
mod greedy;
mod insertion;
mod lengths;

use std::borrow::Cow;

use bqnco_core::{Effort, Expert, ExpertError, Improved, Solution, SolutionSpace, no_worse};
use bqnco_problems::tsp::Instance;
use bqnco_problems::{Distances, Metric, Tsp};

use crate::expertise::{Expertise, feasible};
use crate::nearest::KdTree;
use crate::tour_search::{Costs, FEWEST, KOpt, Search, held_karp};
use candidates::Places;
pub use insertion::{Insertion, Rule};
use lengths::{Asked, Plane, RoundedPlane, Table};

/// Candidates tried per level of a move of up to four edges.
const BREADTH: &[usize] = &[8, 5, 3];
/// Up to this many nodes the distances are tabulated, so that the table fits in a core's cache.
const TABULATED: usize = 300;
/// The same for geographic distances, which cost much more than a memory access.
const TABULATED_GEO: usize = 1500;

/// Lin-Kernighan-style local search with local kicks. One round of effort is one kick.
///
/// Works for tours and paths, coordinates and matrices. Instances of fewer than eight nodes are solved exactly.
#[derive(Clone, Copy, Debug, Default)]
pub struct TspExpert;

impl Expert<Tsp> for TspExpert {
    fn search(
        &self,
        instance: &Instance,
        start: Option<Solution<usize>>,
        effort: &Effort<'_>,
        improved: Improved<'_, usize>,
    ) -> Result<Solution<usize>, ExpertError> {
        let Some(start) = start else { return Ok(search(instance, Begin::Greedy, effort, improved)) };
        feasible::<Tsp>("the Lin-Kernighan search", instance, &start)?;
        let found = search(instance, Begin::Steps(&start.steps), effort, improved);
        Ok(no_worse(Some(start), found))
    }
}

/// The classical solvers of the TSP.
pub static EXPERTISE: Expertise<Tsp> = Expertise {
    expert: &TspExpert,
    constructions: &[
        ("greedy edges", |instance, effort| GreedyEdges.solve(instance, effort)),
        ("farthest insertion", |instance, effort| Insertion { rule: Rule::Farthest }.solve(instance, effort)),
    ],
    label_rounds: |size| 10 * size as u64,
    reference_rounds: |size| 100 * size as u64,
    patience: |size| (20 * size as u64).min(200_000), // a million kicks in all take about a minute
    is_random: true,
};

/// The greedy edge construction: the shortest edges that still fit, without a subsequent search. Takes about 10 ms per
/// ten thousand nodes and does not count rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct GreedyEdges;

impl GreedyEdges {
    /// The solution.
    ///
    /// # Errors
    /// None: it always has an answer.
    pub fn solve(&self, instance: &Instance, effort: &Effort<'_>) -> Result<Solution<usize>, ExpertError> {
        Ok(search(instance, Begin::GreedyAndEnd, effort, &|_| ()))
    }
}

/// The initial solution of a search.
#[derive(Clone, Copy)]
enum Begin<'a> {
    /// The greedy edge construction.
    Greedy,
    /// The greedy edge construction without a subsequent search.
    GreedyAndEnd,
    /// These steps.
    Steps(&'a [usize]),
}

fn search(
    instance: &Instance,
    begin: Begin<'_>,
    effort: &Effort<'_>,
    improved: Improved<'_, usize>,
) -> Solution<usize> {
    let n = instance.geometry().len();
    let (origin, destination) = (instance.origin(), instance.destination());
    if n < FEWEST {
        let steps = held_karp::cheapest_path(&Tsp::steps(instance), origin, destination, |a, b| {
            instance.geometry().distance(a, b)
        });
        return Solution::new::<Tsp>(instance, steps);
    }
    let labels = labels(instance);
    let plan = Plan { instance, begin, labels: &labels, effort, improved };
    let steps = match (plan.with_suitable_lengths(), begin) {
        (Some(tour), _) => steps(instance, tour),
        (None, Begin::Steps(start)) => start.to_vec(),
        (None, _) => steps(instance, labels),
    };
    Solution::new::<Tsp>(instance, steps)
}

/// The nodes in the order in which the search numbers them: neighbours close together, for the cache.
fn labels(instance: &Instance) -> Vec<u32> {
    let all = (0..instance.geometry().len() as u32).collect();
    match instance.geometry().distances() {
        Distances::Points { points, .. } => KdTree::new(points, all).into_order(),
        Distances::Matrix { .. } => all,
    }
}

/// The tour as steps from the origin.
fn steps(instance: &Instance, mut tour: Vec<u32>) -> Vec<usize> {
    let (origin, destination) = (instance.origin() as u32, instance.destination() as u32);
    let start = tour.iter().position(|&node| node == origin).expect("the origin is a node of every tour");
    tour.rotate_left(start);
    if origin != destination && tour[1] == destination {
        tour[1..].reverse();
    }
    tour.into_iter().filter(|&node| node != origin && node != destination).map(|node| node as usize).collect()
}

/// The search problem, before the type of its lengths is known.
struct Plan<'a> {
    instance: &'a Instance,
    begin: Begin<'a>,
    labels: &'a [u32],
    effort: &'a Effort<'a>,
    improved: Improved<'a, usize>,
}

impl Plan<'_> {
    /// The best tour found, in the instance's numbering. `None` if stopped before the search started.
    fn with_suitable_lengths(&self) -> Option<Vec<u32>> {
        let geometry = self.instance.geometry();
        let (points, metric) = match geometry.distances() {
            Distances::Matrix { nodes, values } => {
                let table = Table { nodes: *nodes, values: Cow::Borrowed(values) };
                return self.run(&table, &Places::Unknown);
            }
            Distances::Points { points, metric } => (points, *metric),
        };
        let local = self.labels.iter().map(|&label| points[label as usize]);
        let places = Places::Points(local.clone().map(|point| place(point, metric)).collect());
        let planar = || local.map(|[x, y, _]| [x, y]).collect();
        let asked = Asked { geometry, labels: self.labels };
        match (metric, self.labels.len()) {
            (_, ..=TABULATED) | (Metric::Geo | Metric::GreatCircle, ..=TABULATED_GEO) => {
                self.run(&Table::of(&asked, self.labels.len(), self.effort.stop)?, &places)
            }
            (Metric::Exact, _) => self.run(&Plane(planar()), &places),
            (Metric::Euc2d, _) => self.run(&RoundedPlane(planar()), &places),
            _ => self.run(&asked, &places),
        }
    }

    fn run<C: Costs>(&self, costs: &C, places: &Places) -> Option<Vec<u32>> {
        let nodes: Vec<u32> = (0..self.labels.len() as u32).collect();
        let near = candidates::find(places, costs, &nodes, self.effort.stop)?;
        let mut local = vec![0; nodes.len()]; // the inverse of `labels`
        for (&node, &label) in nodes.iter().zip(self.labels) {
            local[label as usize] = node;
        }
        let (origin, destination) = (self.instance.origin(), self.instance.destination());
        let end = (origin != destination).then_some(destination);
        let fixed = end.map(|end| (local[end], local[origin]));
        let order = match self.begin {
            Begin::Steps(steps) => [origin].iter().chain(steps).chain(&end).map(|&node| local[node]).collect(),
            _ => greedy::tour(places, costs, &near, fixed, self.effort.stop)?,
        };
        let best = match self.begin {
            Begin::GreedyAndEnd => order,
            _ => {
                let moves = KOpt::new(costs, [&near, &near], BREADTH, fixed);
                let improved = |order: &[u32]| (self.improved)(&|| steps(self.instance, self.named(order)));
                Search::new(order, moves, self.effort, &improved).run()
            }
        };
        Some(self.named(&best))
    }

    /// A tour in the instance's numbering.
    fn named(&self, order: &[u32]) -> Vec<u32> {
        order.iter().map(|&node| self.labels[node as usize]).collect()
    }
}

/// Coordinates whose Euclidean distance approximates the metric: on the sphere for geographic coordinates.
fn place([x, y, z]: [f64; 3], metric: Metric) -> [f64; 3] {
    let (latitude, longitude) = match metric {
        Metric::Geo => (x.to_radians(), y.to_radians()),
        Metric::GreatCircle => (y.to_radians(), x.to_radians()),
        _ => return [x, y, z],
    };
    [latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin()]
}
