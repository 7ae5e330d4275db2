//! Training samples from solutions of path-CVRP.

use bqnco_core::{Imitate, last_steps};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::{Cvrp, Instance, Step, Tail, from_routes, routes};
use crate::nodes;

impl Imitate for Cvrp {
    /// From the outside in.
    fn sample_subproblem(
        instance: &Instance,
        solution: &[Step],
        length: usize,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<Step>) {
        Self::sample_in_order(instance, solution, length, Self::ORDERS[0], rng)
    }

    /// `outside-in`: the route with the farthest customer first, each from its farther end. `fullest`: the route with the
    /// least capacity left first, each in a random direction (paper, appendix E.3). `any`: at random.
    const ORDERS: &'static [&'static str] = &["outside-in", "fullest", "any"];

    /// The last steps of all routes.
    fn sample_in_order(
        instance: &Instance,
        solution: &[Step],
        length: usize,
        order: &str,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<Step>) {
        if !instance.is_whole() {
            return last_steps::<Self>(instance, solution, length);
        }
        let mut routes = routes(solution);
        match order {
            "fullest" => {
                in_any_order(&mut routes, rng);
                fullest_first(instance, &mut routes);
            }
            "any" => in_any_order(&mut routes, rng),
            _ => outside_in(instance, &mut routes),
        }
        last_steps::<Self>(instance, &from_routes(&routes), length)
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

/// The route with the farthest customer first, each starting at its farther end.
///
/// What is learnt depends on the order (paper, appendix E.3). From the outside in, the next route is hardly ever ambiguous,
/// and customers left over by mistakes are near the depot, where they cost least (docs/training.md has figures).
pub(super) fn outside_in(instance: &Instance, routes: &mut [Vec<usize>]) {
    let away = |customer: &usize| instance.geometry.distance(0, *customer);
    for route in routes.iter_mut() {
        if route.first().map(away) < route.last().map(away) {
            route.reverse();
        }
    }
    let farthest = |route: &Vec<usize>| route.iter().map(away).fold(0.0, f64::max);
    routes.sort_by(|a, b| farthest(b).total_cmp(&farthest(a)));
}

/// The route with the least capacity left first; routes with equal loads stay as they are.
fn fullest_first(instance: &Instance, routes: &mut [Vec<usize>]) {
    let load = |route: &[usize]| route.iter().map(|&customer| instance.demands[customer]).sum::<f64>();
    routes.sort_by(|a, b| load(b).total_cmp(&load(a)));
}

/// Any order, and each route in a random direction.
fn in_any_order(routes: &mut [Vec<usize>], rng: &mut impl Rng) {
    routes.shuffle(rng);
    routes.iter_mut().filter(|_| rng.random()).for_each(|route| route.reverse());
}
