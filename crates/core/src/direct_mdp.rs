//! The direct MDP (paper, section 2.2), enumerated: states are partial solutions.

use std::collections::{BTreeMap, BTreeSet};

use crate::SolutionSpace;

/// The direct MDP of a tiny instance, built from [`SolutionSpace::cost`] and [`SolutionSpace::check`] alone: the oracle
/// of the laws. Its size is exponential in the instance's.
pub struct DirectMdp<'a, P: SolutionSpace> {
    instance: &'a P::Instance,
    steps: Vec<P::Step>,
    solutions: BTreeSet<Vec<P::Step>>,            // X
    states: BTreeMap<Vec<P::Step>, Vec<P::Step>>, // the closure of X under prefixes, with the allowed steps
}

impl<'a, P: SolutionSpace> DirectMdp<'a, P> {
    /// Enumerates all partial solutions up to the horizon.
    pub fn enumerate(instance: &'a P::Instance) -> Self {
        let steps = P::steps(instance);
        let mut mdp = DirectMdp { instance, steps, solutions: BTreeSet::new(), states: BTreeMap::new() };
        let mut seen = BTreeMap::new();
        mdp.explore(Vec::new(), P::horizon(instance), &mut seen);
        mdp
    }

    /// Whether a partial solution can be completed; if so, it is stored as a state.
    fn explore(&mut self, x: Vec<P::Step>, horizon: usize, seen: &mut BTreeMap<Vec<P::Step>, bool>) -> bool {
        if let Some(&known) = seen.get(&x) {
            return known;
        }
        let is_solution = P::check(self.instance, &x).is_ok();
        let mut allowed = Vec::new();
        if horizon > 0 {
            for step in self.steps.clone() {
                if !x.contains(&step) && self.explore(P::compose(&x, step), horizon - 1, seen) {
                    allowed.push(step);
                }
            }
        }
        let is_state = is_solution || !allowed.is_empty();
        if is_solution {
            self.solutions.insert(x.clone());
        }
        if is_state {
            self.states.insert(x.clone(), allowed);
        }
        seen.insert(x, is_state);
        is_state
    }

    /// The states: partial solutions that can be completed, each with its allowed steps.
    pub fn states(&self) -> impl Iterator<Item = (&[P::Step], &[P::Step])> {
        self.states.iter().map(|(x, allowed)| (x.as_slice(), allowed.as_slice()))
    }

    /// The steps allowed in a state; empty for partial solutions that cannot be completed.
    pub fn allowed(&self, x: &[P::Step]) -> &[P::Step] {
        self.states.get(x).map_or(&[], Vec::as_slice)
    }

    /// Whether a partial solution is a solution, so that the neutral action is allowed.
    pub fn is_solution(&self, x: &[P::Step]) -> bool {
        self.solutions.contains(x)
    }

    /// X, the set of solutions.
    pub fn solutions(&self) -> impl Iterator<Item = &[P::Step]> {
        self.solutions.iter().map(Vec::as_slice)
    }

    /// Reward of a step: f(x) - f(x ∘ z).
    pub fn reward(&self, x: &[P::Step], step: P::Step) -> f64 {
        P::cost(self.instance, x) - P::cost(self.instance, &P::compose(x, step))
    }

    /// The least cost of a solution, by enumeration.
    pub fn optimum(&self) -> f64 {
        self.solutions().map(|x| P::cost(self.instance, x)).fold(f64::INFINITY, f64::min)
    }

    /// The largest return of any trajectory from a state (Bellman's equation, without discount).
    pub fn optimal_return(&self, x: &[P::Step]) -> f64 {
        let stop = if self.is_solution(x) { 0.0 } else { f64::NEG_INFINITY };
        let steps = self.allowed(x).iter();
        steps.map(|&step| self.reward(x, step) + self.optimal_return(&P::compose(x, step))).fold(stop, f64::max)
    }
}
