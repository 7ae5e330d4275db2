//! The knapsack problem, solved to proven optimality by dynamic programming over an expanding core
//! (Pisinger, "A minimal algorithm for the 0-1 knapsack problem", 1997).
//!
//! Items are sorted by efficiency (value per weight) and packed in this order up to the first that no longer fits, the
//! *break item*. Optimal packings differ from this packing in few items near the break item, the *core*. The search
//! widens the core by one item at a time, on alternating sides, and keeps every packing that is not dominated and whose
//! upper bound still exceeds the best known value. When none is left, the best one is optimal.
//!
//! Numbers are `f64`, in which integer sums are exact up to 2^53. For integer data the result is exact; for real data
//! it is optimal up to the rounding of sums (1e-12 of the total value), among packings within the capacity or a
//! rounding error above it (half the instance's slack, so that the BQ-MDP can replay them in any order).

use bqnco_core::{Effort, Expert, ExpertError, Improved, Solution, Stop, no_worse};
use bqnco_problems::Knapsack;
use bqnco_problems::knapsack::Instance;

use crate::expertise::{Expertise, greedy_heuristic};

/// Relative differences of value below this are rounding errors.
const ROUNDING: f64 = 1e-12;
/// Integer values up to this total give bounds with rounding errors below one half.
const EXACT_VALUES: f64 = (1u64 << 49) as f64;
/// Integer weights up to this total have exact sums.
const EXACT_WEIGHTS: f64 = (1u64 << 53) as f64;
/// Totals up to this, and weights down to its inverse, can be multiplied and divided without overflow.
const LARGEST_TOTAL: f64 = 1e150;
/// Limit on undominated packings held at a time (32 bytes each, up to three copies).
const MOST_STATES: usize = 1 << 22;
/// Limit on archived changes (16 bytes each).
const MOST_ARCHIVED: usize = 1 << 25;
/// Packings processed between two polls of `stop`: well below a millisecond.
const STOP_INTERVAL: usize = 1 << 14;

/// Exact solver of the knapsack problem. Its results are optimal unless it is stopped or the proof would need too much
/// memory; [`KnapsackExpert::search`] reports which. [`Effort::rounds`] and the seed have no effect.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnapsackExpert;

/// The best packing of a search and its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Packing {
    /// A feasible packing.
    pub solution: Solution<usize>,
    /// Upper bound on the value of any packing.
    pub bound: f64,
    /// How the search ended.
    pub outcome: Outcome,
}

/// How a search for the best packing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The packing is optimal.
    Proven,
    /// `stop` fired first.
    Stopped,
    /// Too many packings would have to be kept in memory.
    OutOfStates,
}

impl KnapsackExpert {
    /// The best packing found before `stop` fires, proven optimal or not.
    ///
    /// # Errors
    /// If numbers are so large that sums are not exact.
    pub fn search(&self, instance: &Instance, stop: Stop<'_>) -> Result<Packing, ExpertError> {
        let choice = Choice::of(instance)?;
        let (mut packed, outcome, bound) = match Core::around_break(&choice) {
            None => (choice.candidates.iter().map(|item| item.index).collect(), Outcome::Proven, f64::NEG_INFINITY),
            Some(mut core) => {
                let outcome = core.run(stop);
                (core.packed(), outcome, core.relaxed)
            }
        };
        packed.extend(&choice.free);
        packed.sort_unstable();
        let solution = Solution::new::<Knapsack>(instance, packed);
        let gift: f64 = choice.free.iter().map(|&item| instance.values()[item]).sum();
        let bound = if outcome == Outcome::Proven { -solution.cost } else { (bound + gift).max(-solution.cost) };
        Ok(Packing { solution, bound, outcome })
    }
}

impl Expert<Knapsack> for KnapsackExpert {
    /// Starts from scratch. If sums would not be exact, the start is returned unchanged.
    fn search(
        &self,
        instance: &Instance,
        start: Option<Solution<usize>>,
        effort: &Effort<'_>,
        improved: Improved<'_, usize>,
    ) -> Result<Solution<usize>, ExpertError> {
        Ok(self.search_and_prove(instance, start, effort, improved)?.0)
    }

    fn search_and_prove(
        &self,
        instance: &Instance,
        start: Option<Solution<usize>>,
        effort: &Effort<'_>,
        _: Improved<'_, usize>,
    ) -> Result<(Solution<usize>, Option<bool>), ExpertError> {
        match (KnapsackExpert::search(self, instance, effort.stop), start) {
            (Ok(found), start) => {
                let proven = found.outcome == Outcome::Proven;
                Ok((no_worse(start, found.solution), Some(proven)))
            }
            (Err(_), Some(start)) => Ok((start, Some(false))),
            (Err(error), None) => Err(error),
        }
    }
}

/// The classical solvers of the knapsack problem.
pub static EXPERTISE: Expertise<Knapsack> = Expertise {
    expert: &KnapsackExpert,
    constructions: &[("best value per weight", greedy_heuristic::<Knapsack>)],
    label_rounds: |_| 1, // exact, regardless of rounds
    reference_rounds: |_| 1,
    patience: |_| 1,
    is_random: false,
};

fn unsupported(reason: String) -> ExpertError {
    ExpertError::Unsupported { expert: "the knapsack expert", reason }
}

#[derive(Clone, Copy, Debug)]
struct Item {
    value: f64,
    weight: f64,
    index: usize, // in the instance
}

impl Item {
    fn efficiency(&self) -> f64 {
        self.value / self.weight
    }

    /// The value of this much weight at the item's efficiency.
    fn worth(&self, weight: f64) -> f64 {
        weight * self.efficiency()
    }
}

/// The decision problem after preprocessing.
struct Choice {
    free: Vec<usize>,      // items without weight: always packed
    candidates: Vec<Item>, // positive values and weights, none above the capacity
    capacity: f64,         // including the tolerance for rounding errors
    better: f64,           // minimum gain: a packing worth less than the best plus this is not better
}

impl Choice {
    fn of(instance: &Instance) -> Result<Self, ExpertError> {
        let mut capacity = instance.capacity() + 0.5 * instance.slack();
        let (mut free, mut candidates) = (Vec::new(), Vec::new());
        for (index, (&value, &weight)) in instance.values().iter().zip(instance.weights()).enumerate() {
            if value > 0.0 && weight == 0.0 {
                free.push(index);
            } else if value > 0.0 && weight <= capacity {
                candidates.push(Item { value, weight, index });
            }
        }
        let total_value: f64 = candidates.iter().map(|item| item.value).sum();
        let total_weight: f64 = candidates.iter().map(|item| item.weight).sum();
        if total_value > LARGEST_TOTAL || total_weight > LARGEST_TOTAL {
            return Err(unsupported(format!("values or weights add up to more than {LARGEST_TOTAL:e}")));
        }
        if let Some(item) = candidates.iter().find(|item| item.weight < 1.0 / LARGEST_TOTAL) {
            return Err(unsupported(format!("item {} weighs {:e}: make it zero", item.index + 1, item.weight)));
        }
        if instance.slack() == 0.0 && total_weight > EXACT_WEIGHTS {
            return Err(unsupported(format!("integer weights add up to {total_weight}, above {EXACT_WEIGHTS} (2^53)")));
        }
        if let Some(grain) = common_divisor(candidates.iter().map(|item| item.weight)) {
            capacity = (capacity / grain).floor() * grain;
        }
        let grain = common_divisor(candidates.iter().map(|item| item.value)).filter(|_| total_value <= EXACT_VALUES);
        let better = match grain {
            Some(grain) => grain - total_value * 4.0 * f64::EPSILON, // bounds may be rounded down by this much
            None => total_value * ROUNDING,
        };
        Ok(Choice { free, candidates, capacity, better })
    }
}

/// The greatest common divisor, if all numbers are integers that `f64` represents exactly.
fn common_divisor(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut divisor = 0u64;
    for number in numbers {
        if number.fract() != 0.0 || number > EXACT_WEIGHTS {
            return None;
        }
        let mut other = number as u64;
        while other > 0 {
            (divisor, other) = (other, divisor % other);
        }
    }
    (divisor > 0).then_some(divisor as f64)
}

/// A packing of the core; outside the core it equals the break solution. It may be too heavy as long as lighter ones
/// can follow from it.
#[derive(Clone, Copy)]
struct State {
    weight: f64,
    value: f64,
    changes: u64, // one bit per core item since the last archive, latest lowest: differs from the break solution
    archived: u32, // earlier changes, in `Core::archive`
}

/// Where to find the changes that lead to a state.
#[derive(Clone, Copy)]
struct Trace {
    steps: usize, // core items decided
    changes: u64,
    archived: u32,
}

/// Stands for "nothing archived yet".
const NO_ARCHIVE: u32 = u32::MAX;

struct Core<'a> {
    choice: &'a Choice,
    items: Vec<Item>,         // by falling efficiency
    split: usize,             // the break item
    below: usize,             // the next item to take out is items[below - 1]
    above: usize,             // the next item to put in is items[above]
    relaxed: f64,             // value of the linear relaxation
    decided: Vec<usize>,      // core items in the order in which they were decided
    archive: Vec<(u32, u64)>, // each archived state's predecessor and its 64 changes
    states: Vec<State>,       // by rising weight, hence by rising value
    spare: Vec<State>,        // memory for the next states
    best: f64,
    best_by: Result<Trace, Vec<usize>>, // from the search, or by greedy packing
}

impl<'a> Core<'a> {
    /// The core before its first item; `None` if all candidates fit.
    fn around_break(choice: &'a Choice) -> Option<Self> {
        let mut items = choice.candidates.clone();
        items.sort_by(|a, b| b.efficiency().total_cmp(&a.efficiency()).then(a.weight.total_cmp(&b.weight)));
        let (mut weight, mut value) = (0.0, 0.0);
        let split = items.iter().position(|item| {
            let breaks = weight + item.weight > choice.capacity;
            if !breaks {
                weight += item.weight;
                value += item.value;
            }
            breaks
        })?;
        let relaxed = value + items[split].worth(choice.capacity - weight);
        let (best, greedy) = greedy(&items, choice.capacity);
        let state = State { weight, value, changes: 0, archived: NO_ARCHIVE };
        Some(Core {
            choice,
            items,
            split,
            below: split,
            above: split,
            relaxed,
            decided: Vec::new(),
            archive: Vec::new(),
            states: vec![state],
            spare: Vec::new(),
            best,
            best_by: Err(greedy),
        })
    }

    fn run(&mut self, stop: Stop<'_>) -> Outcome {
        let mut put_in = false;
        loop {
            self.skip_settled();
            let (can_put_in, can_take_out) = (self.above < self.items.len(), self.below > 0);
            if self.states.is_empty() || !(can_put_in || can_take_out) {
                return Outcome::Proven;
            }
            put_in = if can_put_in && can_take_out { !put_in } else { can_put_in };
            if put_in {
                self.above += 1;
            } else {
                self.below -= 1;
            }
            let item = if put_in { self.above - 1 } else { self.below };
            self.skip_settled();
            if !self.decide(item, stop) {
                return Outcome::Stopped;
            }
            if self.states.len() > MOST_STATES || self.archive.len() > MOST_ARCHIVED {
                return Outcome::OutOfStates;
            }
        }
    }

    /// Excludes from the core the items that no better packing changes (Dembo and Hammer 1980): changing an item
    /// against the break solution costs at least its distance from the break item's efficiency.
    fn skip_settled(&mut self) {
        let split = self.items[self.split];
        let target = self.best + self.choice.better;
        let settled = |item: &Item| self.relaxed - (item.value - split.worth(item.weight)).abs() < target;
        self.above += self.items[self.above..].iter().take_while(|item| settled(item)).count();
        self.below -= self.items[..self.below].iter().rev().take_while(|item| settled(item)).count();
    }

    /// Branches every state on one item. Returns false if `stop` fired.
    fn decide(&mut self, item: usize, stop: Stop<'_>) -> bool {
        self.decided.push(item);
        let sign = if item < self.split { -1.0 } else { 1.0 };
        let (more_weight, more_value) = (sign * self.items[item].weight, sign * self.items[item].value);
        let changed = |state: &State| State {
            weight: state.weight + more_weight,
            value: state.value + more_value,
            changes: state.changes << 1 | 1,
            archived: state.archived,
        };
        let states = std::mem::take(&mut self.states);
        let mut merged = std::mem::take(&mut self.spare);
        merged.clear();
        let (mut same, mut other) = (0, 0);
        let mut highest = f64::NEG_INFINITY; // value so far: a state that is heavier and worth no more is dominated
        while same < states.len() || other < states.len() {
            if (same + other) % STOP_INTERVAL == STOP_INTERVAL - 1 && stop() {
                return false;
            }
            let kept = states.get(same).map(|state| State { changes: state.changes << 1, ..*state });
            let state = match (kept, states.get(other).map(changed)) {
                (Some(kept), Some(changed)) if comes_first(&changed, &kept) => changed,
                (None, Some(changed)) => changed,
                (Some(kept), _) => kept,
                (None, None) => break,
            };
            if state.changes & 1 == 1 {
                other += 1;
            } else {
                same += 1;
            }
            if state.value > highest {
                highest = state.value;
                self.keep_if_promising(state, &mut merged);
            }
        }
        (self.states, self.spare) = (merged, states);
        if self.decided.len().is_multiple_of(64) {
            self.archive_changes();
        }
        !stop()
    }

    fn keep_if_promising(&mut self, state: State, kept: &mut Vec<State>) {
        let left = self.choice.capacity - state.weight;
        let next = if left >= 0.0 {
            if state.value > self.best {
                self.best = state.value;
                let (steps, changes, archived) = (self.decided.len(), state.changes, state.archived);
                self.best_by = Ok(Trace { steps, changes, archived });
            }
            self.items.get(self.above)
        } else {
            self.items[..self.below].last()
        };
        // Without a next item, a light state cannot grow and an overweight one cannot be repaired.
        let promises = next.is_some_and(|next| state.value + next.worth(left) >= self.best + self.choice.better);
        if promises {
            kept.push(state);
        }
    }

    /// Moves 64 changes of every state to the archive.
    fn archive_changes(&mut self) {
        for state in &mut self.states {
            self.archive.push((state.archived, state.changes));
            state.archived = (self.archive.len() - 1) as u32;
            state.changes = 0;
        }
    }

    /// The best packing, in the instance's numbering.
    fn packed(&self) -> Vec<usize> {
        let mut trace = match &self.best_by {
            Err(greedy) => return greedy.clone(),
            Ok(trace) => *trace,
        };
        let mut inside: Vec<bool> = (0..self.items.len()).map(|item| item < self.split).collect();
        loop {
            // Archived changes come in blocks of 64; a full block that is not yet archived counts as one, too.
            let start = (trace.steps - 1) / 64 * 64;
            for &item in self.decided[start..trace.steps].iter().rev() {
                inside[item] ^= trace.changes & 1 == 1;
                trace.changes >>= 1;
            }
            if trace.archived == NO_ARCHIVE {
                break;
            }
            let (archived, changes) = self.archive[trace.archived as usize];
            trace = Trace { steps: start, changes, archived };
        }
        let packed = self.items.iter().zip(inside).filter(|(_, inside)| *inside);
        packed.map(|(item, _)| item.index).collect()
    }
}

/// Lighter states first; of two equally heavy ones the more valuable, which dominates the other.
fn comes_first(a: &State, b: &State) -> bool {
    a.weight < b.weight || (a.weight == b.weight && a.value > b.value)
}

/// Packs every item that fits, in the given order. Returns the value and the items' indices in the instance.
fn greedy(items: &[Item], capacity: f64) -> (f64, Vec<usize>) {
    let (mut weight, mut value) = (0.0, 0.0);
    let mut packed = Vec::new();
    for item in items {
        if weight + item.weight <= capacity {
            weight += item.weight;
            value += item.value;
            packed.push(item.index);
        }
    }
    (value, packed)
}
