//! How solutions of the prize-collecting TSP are learned from and rebuilt.

use bqnco_core::{Fragment, Imitate, Rebuild, last_steps};
use rand::{Rng, RngExt};

use super::{Instance, Pctsp, Step, Tail, from_visits, visits};
use crate::path;

/// The visits of a solution; those of a closed tour in either direction.
fn in_some_direction(instance: &Instance, solution: &[Step], rng: &mut impl Rng) -> Vec<usize> {
    let mut visits = visits(solution);
    let [origin, destination] = instance.ends();
    if origin == destination && rng.random() {
        visits.reverse();
    }
    visits
}

impl Imitate for Pctsp {
    /// The last steps of the tour, in either direction.
    fn sample_subproblem(
        instance: &Instance,
        solution: &[Step],
        length: usize,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<Step>) {
        let steps = from_visits(in_some_direction(instance, solution, rng));
        last_steps::<Self>(instance, &steps, length)
    }

    fn path(_: &Instance, tail: &Tail, steps: &[Step]) -> Vec<Option<usize>> {
        path::tokens(&tail.rest, &visits(steps))
    }
}

impl Rebuild for Pctsp {
    /// One part of the tour, at a random place and in either direction, with all nodes that the rest does not visit and the
    /// prize that it leaves to be collected. Two parts would compete for the same nodes, so there is only one.
    fn fragments(instance: &Instance, solution: &[Step], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        let tour = in_some_direction(instance, solution, rng);
        let [origin, destination] = instance.ends();
        let length = length.min(tour.len());
        let start = rng.random_range(0..=tour.len() - length);
        let (before, rest) = tour.split_at(start);
        let (part, after) = rest.split_at(length);
        let stays: Vec<usize> = before.iter().chain(after).copied().collect();
        let collected: f64 = stays.iter().map(|&node| instance.prizes[node]).sum();
        let mut is_free: Vec<bool> = (0..instance.geometry.len()).map(|node| instance.is_customer(node)).collect();
        stays.iter().for_each(|&node| is_free[node] = false);
        let tail = Tail {
            origin: before.last().copied().unwrap_or(origin),
            rest: (0..is_free.len()).filter(|&node| is_free[node]).map(|node| node as u32).collect(),
            destination: after.first().copied().unwrap_or(destination),
            owed: (instance.start.owed - collected).max(0.0),
            closed: instance.start.closed,
        };
        let steps = if instance.start.closed { Vec::new() } else { from_visits(part.iter().copied()) };
        let visit = |visits: &[usize]| visits.iter().copied().map(Step::Visit).collect();
        vec![Fragment { before: visit(before), tail, steps, after: visit(after) }]
    }

    /// The part's return leads on to what comes after it.
    fn rejoin(instance: &Instance, fragments: &[Fragment<Self>]) -> Vec<Step> {
        let steps: Vec<Step> = fragments.iter().flat_map(Fragment::all_steps).collect();
        if instance.start.closed { Vec::new() } else { from_visits(visits(&steps)) }
    }
}
