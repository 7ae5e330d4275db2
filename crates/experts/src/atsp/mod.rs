//! Experts for the ATSP: the iterated search of the TSP with moves that account for the direction of every segment, and
//! an exact solver for small instances.

mod assignment;

use bqnco_core::{Effort, Expert, ExpertError, Improved, Solution, SolutionSpace, Stop, no_worse};
use bqnco_problems::Atsp;
use bqnco_problems::atsp::Instance;

use crate::expertise::{Expertise, feasible, greedy_heuristic};
use crate::tour_search::{Candidate, Candidates, Costs, FEWEST, KOpt, Search, held_karp};

/// Candidates per node and direction.
const PER_NODE: usize = 8;
/// Candidates tried per level of a move of up to five arcs.
const BREADTH: &[usize] = &[8, 5, 3, 2];
/// The largest number of nodes that [`exact`] accepts: 170 MB and a few seconds.
const LARGEST_EXACT: usize = 20;

/// Local search with local kicks: moves of up to five arcs that keep the direction of every segment, and of up to three
/// that reverse segments. One round of effort is one kick.
///
/// Works for tours and paths. Instances of fewer than eight nodes are solved exactly.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtspExpert;

impl Expert<Atsp> for AtspExpert {
    fn search(
        &self,
        instance: &Instance,
        start: Option<Solution<usize>>,
        effort: &Effort<'_>,
        improved: Improved<'_, usize>,
    ) -> Result<Solution<usize>, ExpertError> {
        let Some(start) = start else { return Ok(search(instance, None, effort, improved)) };
        feasible::<Atsp>("the Lin-Kernighan search", instance, &start)?;
        let found = search(instance, Some(&start.steps), effort, improved);
        Ok(no_worse(Some(start), found))
    }
}

/// The classical solvers of the ATSP.
pub static EXPERTISE: Expertise<Atsp> = Expertise {
    expert: &AtspExpert,
    constructions: &[("nearest neighbour", greedy_heuristic::<Atsp>)],
    label_rounds: |size| 6 * size as u64,
    reference_rounds: |size| 60 * size as u64,
    patience: |size| (20 * size as u64).min(200_000),
    is_random: true,
};

/// A solution of minimum cost, for up to 20 nodes.
///
/// # Errors
/// If the instance is larger.
pub fn exact(instance: &Instance) -> Result<Solution<usize>, ExpertError> {
    if instance.nodes() > LARGEST_EXACT {
        let reason = format!("{} nodes, at most {LARGEST_EXACT} are feasible", instance.nodes());
        return Err(ExpertError::Unsupported { expert: "Held and Karp's exact method", reason });
    }
    let cost = |from, to| instance.cost(from, to);
    let between = Atsp::steps(instance);
    let steps = held_karp::cheapest_path(&between, instance.origin(), instance.destination(), cost);
    Ok(Solution::new::<Atsp>(instance, steps))
}

fn search(
    instance: &Instance,
    start: Option<&[usize]>,
    effort: &Effort<'_>,
    improved: Improved<'_, usize>,
) -> Solution<usize> {
    let n = instance.nodes();
    let (origin, destination) = (instance.origin(), instance.destination());
    if n < FEWEST {
        let steps = held_karp::cheapest_path(&Atsp::steps(instance), origin, destination, |a, b| instance.cost(a, b));
        return Solution::new::<Atsp>(instance, steps);
    }
    let steps = start.map_or_else(|| nearest_neighbour(instance, effort.stop), <[usize]>::to_vec);
    if (effort.stop)() {
        return Solution::new::<Atsp>(instance, steps);
    }
    let closing = (origin != destination).then_some(destination);
    let order = [origin].into_iter().chain(steps.iter().copied()).chain(closing).map(|node| node as u32).collect();
    let costs = Reduced::new(instance, effort.stop);
    let (Some(successors), Some(predecessors)) =
        (costs.candidates(|a, b| (a, b), effort.stop), costs.candidates(|a, b| (b, a), effort.stop))
    else {
        return Solution::new::<Atsp>(instance, steps);
    };
    let fixed = closing.map(|_| (destination as u32, origin as u32));
    let moves = KOpt::new(&costs, [&successors, &predecessors], BREADTH, fixed);
    let tell = |order: &[u32]| improved(&|| from_origin(instance, order));
    let tour = Search::new(order, moves, effort, &tell).run();
    Solution::new::<Atsp>(instance, from_origin(instance, &tour))
}

/// A tour as steps from the origin.
fn from_origin(instance: &Instance, tour: &[u32]) -> Vec<usize> {
    let (origin, destination) = (instance.origin(), instance.destination());
    let first = tour.iter().position(|&node| node as usize == origin).expect("the origin is a node of every tour");
    let nodes = tour[first..].iter().chain(&tour[..first]).map(|&node| node as usize);
    nodes.filter(|&node| node != origin && node != destination).collect()
}

/// Visits the cheapest unvisited node next; once stopped, any unvisited node.
fn nearest_neighbour(instance: &Instance, stop: Stop<'_>) -> Vec<usize> {
    let mut steps = Atsp::steps(instance);
    let mut at = instance.origin();
    for place in 0..steps.len() {
        if stop() {
            break;
        }
        let nearest =
            (place..steps.len()).min_by(|&a, &b| instance.cost(at, steps[a]).total_cmp(&instance.cost(at, steps[b])));
        steps.swap(place, nearest.unwrap_or(place));
        at = steps[place];
    }
    steps
}

/// Costs reduced by the prices of the assignment problem. The cost of every tour drops by the same amount; a high
/// reduced cost marks an arc that an optimal tour is unlikely to use.
struct Reduced {
    nodes: usize,
    costs: Vec<f64>,
    constant: f64,
}

impl Reduced {
    fn new(instance: &Instance, stop: Stop<'_>) -> Self {
        let nodes = instance.nodes();
        let mut costs = instance.costs().to_vec();
        let (u, v) = assignment::prices(nodes, &costs, stop);
        for (row, u) in costs.chunks_mut(nodes).zip(&u) {
            row.iter_mut().zip(&v).for_each(|(cost, v)| *cost -= u + v);
        }
        Reduced { nodes, costs, constant: u.iter().sum::<f64>() + v.iter().sum::<f64>() }
    }

    /// The cheapest arcs of every node; `arc` turns a node and a candidate into (from, to). `None` if stopped.
    fn candidates(&self, arc: impl Fn(u32, u32) -> (u32, u32), stop: Stop<'_>) -> Option<Candidates> {
        let per_node = PER_NODE.min(self.nodes - 1);
        let mut flat = Vec::with_capacity(self.nodes * per_node);
        for node in 0..self.nodes as u32 {
            if stop() {
                return None;
            }
            let price = |other: u32| {
                let (from, to) = arc(node, other);
                Candidate { node: other, cost: self.cost(from, to) }
            };
            let mut near: Vec<Candidate> = (0..self.nodes as u32).filter(|&other| other != node).map(price).collect();
            let cheaper = |a: &Candidate, b: &Candidate| a.cost.total_cmp(&b.cost).then(a.node.cmp(&b.node));
            near.select_nth_unstable_by(per_node - 1, cheaper);
            near.truncate(per_node);
            near.sort_unstable_by(cheaper);
            flat.append(&mut near);
        }
        Some(Candidates { per_node, flat })
    }
}

impl Costs for Reduced {
    const SYMMETRIC: bool = false;

    #[inline]
    fn cost(&self, from: u32, to: u32) -> f64 {
        self.costs[from as usize * self.nodes + to as usize]
    }

    fn constant(&self) -> f64 {
        self.constant
    }
}
