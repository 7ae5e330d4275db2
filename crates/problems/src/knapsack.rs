//! The knapsack problem (paper, appendix C): the most valuable set of items within a capacity.

use bqnco_core::{Costs, Fragment, Frame, Infeasible, Observation, Problem, SolutionSpace, last_steps};
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
    slack: f64,        // rounding errors that the capacity forgives
    units: (f64, f64), // value and weight observed as 1 in the instance's frame
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
        // Numbers in [0, 1] keep their size (paper); others are divided by the largest.
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

    /// What the knapsack can carry.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Rounding errors that the capacity forgives; zero where weights are integers.
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
    const USUAL_SIZE: usize = 200;
    const FEATURES: usize = 3; // value, weight, capacity left
    const ORDERED: bool = false;

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
        tail.left -= instance.weights[step]; // may end below zero, by no more than the slack
    }

    fn observe(instance: &Instance, tail: &Tail, frame: Frame) -> Observation {
        let largest = |numbers: &[f64]| tail.rest.iter().map(|&item| numbers[item as usize]).fold(0.0, f64::max);
        let (value_unit, weight_unit) = match frame {
            Frame::Instance => instance.units,
            Frame::Subproblem | Frame::Origin => (largest(&instance.values), largest(&instance.weights)),
        };
        let scaled = |number: f64, unit: f64| if unit > 0.0 { (number / unit) as f32 } else { number as f32 };
        let left = scaled(tail.left, weight_unit);
        let features = tail.rest.iter().flat_map(|&item| {
            let item = item as usize;
            [scaled(instance.values[item], value_unit), scaled(instance.weights[item], weight_unit), left]
        });
        Observation {
            tokens: tail.rest.len(),
            features: features.collect(),
            origin: None,
            destination: None,
            costs: Costs::None,
        }
    }

    /// The best ratios of value to weight among the items that fit.
    fn shortlist(instance: &Instance, tail: &Tail, k: usize) -> Tail {
        let fitting: Vec<u32> = Self::allowed(instance, tail).map(|(_, item)| item as u32).collect();
        Tail { rest: nodes::smallest(&fitting, k.max(1), |item| -ratio(instance, item)), left: tail.left }
    }

    fn greedy_score(instance: &Instance, _: &Tail, step: usize) -> f64 {
        ratio(instance, step)
    }

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        let pick = |numbers: &[f64]| tail.rest.iter().map(|&item| numbers[item as usize]).collect();
        Instance { values: pick(&instance.values), weights: pick(&instance.weights), capacity: tail.left, ..*instance }
    }

    /// Any of the items still to pack, the others packed.
    fn sample_subproblem(
        instance: &Instance,
        solution: &[usize],
        length: usize,
        rng: &mut impl Rng,
    ) -> (Tail, Vec<usize>) {
        let mut items = solution.to_vec();
        items.shuffle(rng);
        last_steps::<Self>(instance, &items, length)
    }

    /// Some of the packed items, with everything that is not packed. Two such parts would want the same items and the
    /// same capacity, so there is only one.
    fn fragments(instance: &Instance, solution: &[usize], length: usize, rng: &mut impl Rng) -> Vec<Fragment<Self>> {
        let mut items = solution.to_vec();
        items.shuffle(rng);
        vec![Fragment::last(instance, &items, length)]
    }

    /// Values and weights uniform in the unit interval; capacity 25 for 200 items (paper, appendix C).
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        random_instance(size.max(1), capacity(size.max(1)), rng)
    }

    /// A knapsack for a fiftieth of all weight up to all of it: wider than the paper's twelve test sets.
    fn generate_varied(size: usize, rng: &mut impl Rng) -> Option<Instance> {
        let share = rng.random_range(0.02f64.ln()..0f64).exp();
        Some(random_instance(size.max(1), share * size.max(1) as f64 / 2.0, rng))
    }
}

/// Values and weights uniform in the unit interval.
fn random_instance(items: usize, capacity: f64, rng: &mut impl Rng) -> Instance {
    let mut numbers = || (0..items).map(|_| rng.random()).collect();
    Instance::new(numbers(), numbers(), capacity).expect("numbers of the unit interval are valid")
}

/// Value per weight; an item without weight comes first.
fn ratio(instance: &Instance, item: usize) -> f64 {
    instance.values[item] / instance.weights[item].max(1e-12)
}

/// The usual capacity (Kwon et al. 2020; paper): 12.5 for 50 items, 25 from 100 items on.
fn capacity(items: usize) -> f64 {
    (items as f64 / 4.0).min(25.0)
}
