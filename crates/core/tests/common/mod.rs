//! Two tiny problems: one with ordered steps and symmetries, one whose steps form a set and that may stop at any time.

#![allow(dead_code)] // every test uses a part

use bqnco_core::{Frame, Generate, Imitate, Infeasible, Observe, Problem, Rebuild, Relations, SolutionSpace};
use rand::{Rng, RngExt};

/// A shortest path from the first point through all others, by Manhattan distances of integers: sums are exact.
pub struct Path;

/// What remains of a path; a whole instance is a tail too.
#[derive(Clone, Debug, PartialEq)]
pub struct PathTail {
    at: usize,
    rest: Vec<usize>, // ascending
}

#[derive(Clone)]
pub struct Points(Vec<[i32; 2]>);

impl Points {
    fn distance(&self, a: usize, b: usize) -> f64 {
        let [[ax, ay], [bx, by]] = [self.0[a], self.0[b]];
        f64::from((ax - bx).abs() + (ay - by).abs())
    }
}

impl SolutionSpace for Path {
    type Instance = Points;
    type Step = usize;

    fn steps(points: &Points) -> Vec<usize> {
        (1..points.0.len()).collect()
    }

    fn horizon(points: &Points) -> usize {
        points.0.len() - 1
    }

    fn cost(points: &Points, partial: &[usize]) -> f64 {
        let path: Vec<usize> = std::iter::once(0).chain(partial.iter().copied()).collect();
        path.windows(2).map(|leg| points.distance(leg[0], leg[1])).sum()
    }

    fn check(points: &Points, solution: &[usize]) -> Result<(), Infeasible> {
        let mut sorted = solution.to_vec();
        sorted.sort_unstable();
        if sorted == Self::steps(points) { Ok(()) } else { Err(Infeasible::Broken("not a path".into())) }
    }
}

impl Problem for Path {
    const NAME: &'static str = "path";
    const OBJECTIVE: (&'static str, f64) = ("length", 1.0);

    type Tail = PathTail;

    fn whole(points: &Points) -> PathTail {
        PathTail { at: 0, rest: Self::steps(points) }
    }

    fn allowed(_: &Points, tail: &PathTail) -> impl Iterator<Item = (usize, usize)> {
        tail.rest.iter().enumerate().map(|(k, &node)| (k + 1, node)) // token 0 is the current point
    }

    fn reward(points: &Points, tail: &PathTail, step: usize) -> f64 {
        -points.distance(tail.at, step)
    }

    fn advance(_: &Points, tail: &mut PathTail, step: usize) {
        tail.rest.retain(|&node| node != step);
        tail.at = step;
    }

    fn extract(points: &Points, tail: &PathTail) -> Points {
        Points(std::iter::once(&tail.at).chain(&tail.rest).map(|&node| points.0[node]).collect())
    }

    fn shortlist(points: &Points, tail: &PathTail, k: usize) -> PathTail {
        let mut rest = tail.rest.clone();
        rest.sort_by(|&a, &b| points.distance(tail.at, a).total_cmp(&points.distance(tail.at, b)));
        rest.truncate(k.max(1));
        rest.sort_unstable();
        PathTail { at: tail.at, rest }
    }

    fn symmetries(points: &Points) -> Vec<Points> {
        let image = |sign: [i32; 2]| Points(points.0.iter().map(|&[x, y]| [sign[0] * x, sign[1] * y]).collect());
        [[1, 1], [-1, 1], [1, -1], [-1, -1]].map(image).to_vec()
    }
}

impl Observe for Path {
    const FEATURES: usize = 2;

    fn tokens(_: &Points, tail: &PathTail) -> usize {
        1 + tail.rest.len()
    }

    fn observe_into(points: &Points, tail: &PathTail, _: Frame, features: &mut [f32]) -> Relations {
        let nodes = std::iter::once(&tail.at).chain(&tail.rest);
        let places = nodes.map(|&node| points.0[node].map(|x| x as f32));
        features.as_chunks_mut().0.iter_mut().zip(places).for_each(|(token, place)| *token = place);
        Relations { origin: Some(0), ..Relations::NONE }
    }
}

impl Imitate for Path {}

impl Rebuild for Path {}

impl Generate for Path {
    fn generate(size: usize, rng: &mut impl Rng) -> Points {
        Points((0..=size).map(|_| [0, 1].map(|_| rng.random_range(-9999..=9999))).collect())
    }
}

/// The most valuable set of items within a capacity, with integer weights. Shortlist and symmetries are the defaults.
pub struct Sack;

#[derive(Clone)]
pub struct Items {
    values: Vec<f64>,
    weights: Vec<u32>,
    capacity: u32,
}

/// What remains to be packed.
#[derive(Clone, Debug, PartialEq)]
pub struct SackTail {
    rest: Vec<usize>, // ascending
    left: u32,
}

impl SolutionSpace for Sack {
    type Instance = Items;
    type Step = usize;

    fn steps(items: &Items) -> Vec<usize> {
        (0..items.values.len()).collect()
    }

    fn horizon(items: &Items) -> usize {
        items.values.len()
    }

    fn compose(partial: &[usize], step: usize) -> Vec<usize> {
        let mut union = [partial, &[step]].concat();
        union.sort_unstable();
        union
    }

    fn cost(items: &Items, partial: &[usize]) -> f64 {
        -partial.iter().map(|&item| items.values[item]).sum::<f64>()
    }

    fn check(items: &Items, solution: &[usize]) -> Result<(), Infeasible> {
        let weight: u32 = solution.iter().map(|&item| items.weights[item]).sum();
        let repeated = (1..solution.len()).any(|k| solution[..k].contains(&solution[k]));
        if weight <= items.capacity && !repeated { Ok(()) } else { Err(Infeasible::Broken("not a packing".into())) }
    }
}

impl Problem for Sack {
    const NAME: &'static str = "sack";
    const OBJECTIVE: (&'static str, f64) = ("value", -1.0);

    type Tail = SackTail;

    fn whole(items: &Items) -> SackTail {
        SackTail { rest: Self::steps(items), left: items.capacity }
    }

    fn allowed(items: &Items, tail: &SackTail) -> impl Iterator<Item = (usize, usize)> {
        let tokens = tail.rest.iter().copied().enumerate();
        tokens.filter(|&(_, item)| items.weights[item] <= tail.left)
    }

    fn may_stop(_: &Items, _: &SackTail) -> bool {
        true
    }

    fn reward(items: &Items, _: &SackTail, step: usize) -> f64 {
        items.values[step]
    }

    fn advance(items: &Items, tail: &mut SackTail, step: usize) {
        tail.rest.retain(|&item| item != step);
        tail.left -= items.weights[step];
    }

    fn extract(items: &Items, tail: &SackTail) -> Items {
        Items {
            values: tail.rest.iter().map(|&item| items.values[item]).collect(),
            weights: tail.rest.iter().map(|&item| items.weights[item]).collect(),
            capacity: tail.left,
        }
    }

    fn greedy_score(items: &Items, _: &SackTail, step: usize) -> f64 {
        items.values[step] / f64::from(items.weights[step])
    }
}

impl Observe for Sack {
    const FEATURES: usize = 3;

    fn tokens(_: &Items, tail: &SackTail) -> usize {
        tail.rest.len()
    }

    fn observe_into(items: &Items, tail: &SackTail, _: Frame, features: &mut [f32]) -> Relations {
        for (token, &item) in features.as_chunks_mut().0.iter_mut().zip(&tail.rest) {
            *token = [items.values[item] as f32, items.weights[item] as f32, tail.left as f32];
        }
        Relations::NONE
    }
}

impl Imitate for Sack {
    const ORDERED: bool = false;
}

impl Rebuild for Sack {}

impl Generate for Sack {
    fn generate(size: usize, rng: &mut impl Rng) -> Items {
        let (values, weights) = (0..size).map(|_| (rng.random::<f64>(), rng.random_range(1..100u32))).unzip();
        Items { values, weights, capacity: 15 * size as u32 }
    }
}
