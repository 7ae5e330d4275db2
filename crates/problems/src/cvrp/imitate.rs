//! Training samples from solutions of path-CVRP.

use bqnco_core::{Imitate, last_steps};
use rand::Rng;

use super::{Cvrp, Instance, Step, Tail, from_routes, routes};
use crate::nodes;

impl Imitate for Cvrp {
    /// The last steps of the routes, from the outside in (`outside_in`).
    fn sample_subproblem(instance: &Instance, solution: &[Step], length: usize, _: &mut impl Rng) -> (Tail, Vec<Step>) {
        let ordered = if instance.is_whole() { outside_in(instance, solution) } else { solution.to_vec() };
        last_steps::<Self>(instance, &ordered, length)
    }

    /// The routes one after the other, with the depot in between.
    fn path(_: &Instance, tail: &Tail, steps: &[Step]) -> Vec<Option<usize>> {
        let depot = Some(tail.rest.len() + 1);
        let mut path = vec![Some(0)];
        for step in steps {
            path.extend(step.via_depot.then_some(depot));
            path.push(nodes::token(&tail.rest, step.customer));
        }
        path.push(depot);
        path
    }
}

/// The solution with the same routes, the one with the farthest customer first, each starting at its farther end.
///
/// What is learnt depends on the order (paper, appendix E.3, where the fullest route comes first, each in a random
/// direction). From the outside in, the next route is hardly ever ambiguous, and customers left over by mistakes are near
/// the depot, where they cost least (docs/training.md has figures).
fn outside_in(instance: &Instance, solution: &[Step]) -> Vec<Step> {
    let away = |customer: &usize| instance.geometry.distance(0, *customer);
    let mut routes = routes(solution);
    for route in &mut routes {
        if route.first().map(away) < route.last().map(away) {
            route.reverse();
        }
    }
    let farthest = |route: &Vec<usize>| route.iter().map(away).fold(0.0, f64::max);
    routes.sort_by(|a, b| farthest(b).total_cmp(&farthest(a)));
    from_routes(&routes)
}
