//! The knapsack problem (paper, appendix C): the most valuable set of items within a capacity.

#[cfg(feature = "draw")]
mod draw;
mod files;
mod generate;
mod observe;

use bqnco_core::{Fragment, Imitate, Infeasible, Problem, Rebuild, SolutionSpace, last_steps};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::error::{finite_and_not_negative, length, slack};
use crate::{InvalidInstance, nodes};

/// The 0/1 knapsack problem.
pub struct Knapsack;

/// A knapsack instance.
#[derive(Clone, Debug)]
pub struct Instance {
    values: Vec<f64>,
    weights: Vec<f64>,
    capacity: f64,
    slack: f64,        // tolerance of the capacity for rounding errors
    units: (f64, f64), // value and weight that are observed as 1 in the instance's frame
}

impl Instance {
    /// Items to choose from.
    ///
    /// # Errors
    /// No items, lists of different lengths, numbers that are negative or not finite.
    pub fn new(values: Vec<f64>, weights: Vec<f64>, capacity: f64) -> Result<Self, InvalidInstance> {
        if values.is_empty() {
            return Err(InvalidInstance::TooFew { what: "items", needed: 1, found: 0 });
        }
        length("weights", values.len(), weights.len())?;
        finite_and_not_negative("value", &values)?;
        finite_and_not_negative("weight", &weights)?;
        finite_and_not_negative("capacity", &[capacity])?;
        let slack = slack(capacity, weights.iter().all(|weight| weight.fract() == 0.0));
        // Numbers in [0, 1] keep their values (paper); others are divided by the largest.
        let unit = |numbers: &[f64]| numbers.iter().copied().fold(1.0, f64::max);
        let units = (unit(&values), unit(&weights));
        Ok(Instance { values, weights, capacity, slack, units })
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.values.len()
    }

    /// Value of every item.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Weight of every item.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The capacity of the knapsack.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Tolerance of the capacity for rounding errors; zero if weights are integers.
    pub fn slack(&self) -> f64 {
        self.slack
    }
}

/// What remains to be packed.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// Items not yet packed, ascending.
    pub rest: Vec<u32>,
    /// Capacity left.
    pub left: f64,
}

impl SolutionSpace for Knapsack {
    type Instance = Instance;
    /// An item to pack. Every packing that fits is a solution, so ending is no step.
    type Step = usize;

    fn steps(instance: &Instance) -> Vec<usize> {
        (0..instance.items()).collect()
    }

    fn horizon(instance: &Instance) -> usize {
        instance.items()
    }

    /// Set union: packing in another order is the same partial solution.
    fn compose(partial: &[usize], step: usize) -> Vec<usize> {
        let mut union = partial.to_vec();
        union.push(step);
        union.sort_unstable();
        union
    }

    fn cost(instance: &Instance, partial: &[usize]) -> f64 {
        -partial.iter().map(|&item| instance.values[item]).sum::<f64>()
    }

    fn check(instance: &Instance, solution: &[usize]) -> Result<(), Infeasible> {
        nodes::visit_once("item", instance.items(), 1, solution.iter().copied(), |_| true)?;
        let found = solution.iter().map(|&item| instance.weights[item]).sum::<f64>();
        if found > instance.capacity + 2.0 * instance.slack {
            return Err(Infeasible::Exceeds { quantity: "the weight".into(), found, limit: instance.capacity });
        }
        Ok(())
    }
}

impl Problem for Knapsack {
    const NAME: &'static str = "knapsack";
    const OBJECTIVE: (&'static str, f64) = ("value", -1.0);
    const UNIT: &'static str = "items";
    const GREEDY_HEURISTIC: &'static str = "best value per weight";

    type Tail = Tail;

    fn size(instance: &Instance) -> usize {
        instance.items()
    }

    fn whole(instance: &Instance) -> Tail {
        Tail { rest: (0..instance.items() as u32).collect(), left: instance.capacity }
    }

    fn allowed(instance: &Instance, tail: &Tail) -> impl Iterator<Item = (usize, usize)> {
        let items = tail.rest.iter().enumerate().map(|(token, &item)| (token, item as usize));
        items.filter(|&(_, item)| instance.weights[item] <= tail.left + instance.slack)
    }

    fn may_stop(_: &Instance, _: &Tail) -> bool {
        true
    }

    fn reward(instance: &Instance, _: &Tail, step: usize) -> f64 {
        instance.values[step]
    }

    fn advance(instance: &Instance, tail: &mut Tail, step: usize) {
        nodes::remove(&mut tail.rest, step);
        tail.left -= instance.weights[step]; // may become negative, by the slack at most
    }

    /// The best ratios of value to weight among the items that fit.
    fn shortlist(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let fitting: Vec<u32> = Self::allowed(instance, tail).map(|(_, item)| item as u32).collect();
        Tail { rest: nodes::smallest(&fitting, k.max(1), |item| -ratio(instance, item)), left: tail.left }
    }

    /// All items: nothing is near, and the paper's networks see the whole knapsack.
    fn nearest(_: &Instance, tail: &Tail, _: usize) -> Tail {
        tail.clone()
    }

    fn greedy_score(instance: &Instance, _: &Tail, step: usize) -> f64 {
        ratio(instance, step)
    }

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        let pick = |numbers: &[f64]| tail.rest.iter().map(|&item| numbers[item as usize]).collect();
        Instance { values: pick(&instance.values), weights: pick(&instance.weights), capacity: tail.left, ..*instance }
    }
}

/// Value per weight; an item without weight comes first.
fn ratio(instance: &Instance, item: usize) -> f64 {
    instance.values[item] / instance.weights[item].max(1e-12)
}

impl Imitate for Knapsack {
    const ORDERED: bool = false;

    /// The best ratios first, more or less.
    fn sample_subproblem(
        instance: &Instance,
        solution: &[usize],
        length: usize,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<usize>) {
        Self::sample_in_order(instance, solution, length, Self::ORDERS[0], rng)
    }

    /// `best-first`: in half of the samples items of good value per weight tend to be packed first, so that what is left
    /// to choose are the doubtful ones, on which the result depends; all sure steps are equally good to a network, so the
    /// other half is in any order. `any`: at random (paper, appendix C).
    const ORDERS: &'static [&'static str] = &["best-first", "any"];

    /// Some of the solution's items are left to pack; the other ones are packed.
    fn sample_in_order(
        instance: &Instance,
        solution: &[usize],
        length: usize,
        order: &str,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<usize>) {
        let mut items = solution.to_vec();
        match order {
            "best-first" if rng.random() => best_first(instance, &mut items, rng),
            _ => items.shuffle(rng),
        }
        last_steps::<Self>(instance, &items, length)
    }
}

/// Sorts by value per weight, judged with errors: small ones in some samples, up to a factor of e in others.
fn best_first(instance: &Instance, items: &mut [usize], rng: &mut impl Rng) {
    let error: f64 = rng.random();
    let judged: Vec<f64> = (0..instance.items())
        .map(|item| ratio(instance, item).max(1e-12).ln() + error * rng.random_range(-1.0..=1.0))
        .collect();
    items.sort_by(|&a, &b| judged[b].total_cmp(&judged[a]));
}

impl Rebuild for Knapsack {
    /// Some of the packed items, together with all unpacked ones. Two such parts would compete for the same items and
    /// capacity, so there is only one.
    fn fragments(instance: &Instance, solution: &[usize], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        let mut items = solution.to_vec();
        items.shuffle(rng);
        vec![Fragment::last(instance, &items, length)]
    }
}
