//! Routes that are taken apart and rebuilt.

use bqnco_core::{Fragment, Rebuild};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::imitate::outside_in;
use super::{Cvrp, Instance, Step, from_routes, routes, tail_after};

impl Rebuild for Cvrp {
    /// Groups of neighbouring routes with about `length` customers, each group's routes from the outside in, as a network
    /// has learnt to take them. Of some groups only the end is rebuilt, with the capacity that is left there.
    fn fragments(instance: &Instance, solution: &[Step], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        if !instance.is_whole() {
            return vec![Fragment::last(instance, solution, length)];
        }
        let mut groups = neighbours(instance, routes(solution), length, rng);
        groups.shuffle(rng);
        groups.into_iter().map(|group| fragment(instance, group, length, rng)).collect()
    }

    fn rejoin(_: &Instance, fragments: &[Fragment<Self>]) -> Vec<Step> {
        let mut solution: Vec<Step> = Vec::new();
        for fragment in fragments {
            let first = solution.len();
            solution.extend(fragment.all_steps());
            if first > 0 && first < solution.len() {
                solution[first].via_depot = true; // every group starts at the depot
            }
        }
        solution
    }
}

/// Routes in groups of at most `most` customers, by recursive bisection along random directions.
fn neighbours(instance: &Instance, routes: Vec<Vec<usize>>, most: usize, rng: &mut impl Rng) -> Vec<Vec<Vec<usize>>> {
    let customers: usize = routes.iter().map(Vec::len).sum();
    if customers <= most || routes.len() < 2 {
        return vec![routes];
    }
    let (sin, cos) = rng.random_range(0.0..std::f64::consts::TAU).sin_cos();
    let place = |route: &Vec<usize>| {
        let along = route.iter().map(|&customer| instance.geometry.map()[customer]).map(|[x, y]| cos * x + sin * y);
        along.sum::<f64>() / route.len() as f64
    };
    let mut placed: Vec<(f64, Vec<usize>)> = routes.into_iter().map(|route| (place(&route), route)).collect();
    placed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut so_far = 0;
    let half = placed.iter().position(|(_, route)| {
        so_far += route.len();
        2 * so_far >= customers
    });
    let second = placed.split_off((half.unwrap_or(0) + 1).min(placed.len() - 1));
    let routes = |half: Vec<(f64, Vec<usize>)>| half.into_iter().map(|(_, route)| route).collect();
    [placed, second].into_iter().flat_map(|half| neighbours(instance, routes(half), most, rng)).collect()
}

/// A group of routes as a fragment.
fn fragment(instance: &Instance, mut group: Vec<Vec<usize>>, length: usize, rng: &mut impl Rng) -> Fragment<Cvrp> {
    outside_in(instance, &mut group);
    let mut before = from_routes(&group);
    let shortest = before.len().min(2);
    let rebuilt = if rng.random() { before.len() } else { rng.random_range(shortest..=before.len()) };
    let steps = before.split_off(before.len() - rebuilt.min(length));
    let tail = tail_after(instance, &before, &steps);
    Fragment { before, tail, steps, after: Vec::new() }
}
