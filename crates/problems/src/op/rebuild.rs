//! Routes that are taken apart and rebuilt.

use bqnco_core::{Fragment, Rebuild};
use rand::{Rng, RngExt};

use super::{Instance, Op, Tail};

impl Rebuild for Op {
    /// One part of the route, at a random place and in either direction, with all nodes that the rest does not visit and
    /// all the length that it leaves. Two parts would compete for the same nodes and length, so there is only one.
    fn fragments(instance: &Instance, solution: &[usize], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        let mut route = solution.to_vec();
        if instance.origin == instance.destination && rng.random() {
            route.reverse();
        }
        let length = length.min(route.len());
        let start = rng.random_range(0..=route.len() - length);
        let (before, rest) = route.split_at(start);
        let (steps, after) = rest.split_at(length);
        let lead: Vec<usize> = std::iter::once(instance.origin).chain(before.iter().copied()).collect();
        let trail: Vec<usize> = after.iter().copied().chain([instance.destination]).collect();
        let legs = |path: &[usize]| path.windows(2).map(|leg| instance.geometry.distance(leg[0], leg[1])).sum::<f64>();
        let mut is_free: Vec<bool> = (0..instance.geometry.len()).map(|node| instance.is_open(node)).collect();
        before.iter().chain(after).for_each(|&node| is_free[node] = false);
        let tail = Tail {
            origin: lead[start],
            rest: (0..is_free.len()).filter(|&node| is_free[node]).map(|node| node as u32).collect(),
            destination: trail[0],
            left: instance.limit - legs(&lead) - legs(&trail),
        };
        vec![Fragment { before: before.to_vec(), tail, steps: steps.to_vec(), after: after.to_vec() }]
    }
}
