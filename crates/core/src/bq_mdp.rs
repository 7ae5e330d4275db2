//! The BQ-MDP (paper, section 3.2): states are tail subproblems.

use std::sync::Arc;

use crate::{Cut, Frame, Observation, Observe, Problem, Relations};

/// A state of the BQ-MDP.
pub struct Subproblem<P: Problem> {
    instance: Arc<P::Instance>,
    tail: P::Tail,
}

impl<P: Problem> Clone for Subproblem<P> {
    fn clone(&self) -> Self {
        Subproblem { instance: Arc::clone(&self.instance), tail: self.tail.clone() }
    }
}

impl<P: Problem> Subproblem<P> {
    /// The initial state: the whole instance.
    pub fn whole(instance: Arc<P::Instance>) -> Self {
        let tail = P::whole(&instance);
        Subproblem { instance, tail }
    }

    /// A given tail of an instance.
    pub fn new(instance: Arc<P::Instance>, tail: P::Tail) -> Self {
        Subproblem { instance, tail }
    }

    /// The instance whose numbering the steps use.
    pub fn instance(&self) -> &Arc<P::Instance> {
        &self.instance
    }

    /// The parameters of the tail subproblem.
    pub fn tail(&self) -> &P::Tail {
        &self.tail
    }

    /// The allowed steps with their score slots.
    pub fn allowed(&self) -> impl Iterator<Item = (usize, P::Step)> {
        P::allowed(&self.instance, &self.tail)
    }

    /// Whether no step is left to take.
    pub fn is_finished(&self) -> bool {
        self.allowed().next().is_none()
    }

    /// The reward of a step.
    pub fn reward(&self, step: P::Step) -> f64 {
        P::reward(&self.instance, &self.tail, step)
    }

    /// Takes a step and returns its reward.
    pub fn take(&mut self, step: P::Step) -> f64 {
        let reward = self.reward(step);
        P::advance(&self.instance, &mut self.tail, step);
        reward
    }

    /// Score of a step under the greedy heuristic.
    pub fn greedy_score(&self, step: P::Step) -> f64 {
        P::greedy_score(&self.instance, &self.tail, step)
    }

    /// The state seen from its other end ([`Problem::reverse`]); `None` if it cannot be reversed, or looks the same.
    pub fn reversed(&self) -> Option<Self> {
        let mut tail = self.tail.clone();
        (P::reverse(&self.instance, &mut tail) && tail != self.tail)
            .then(|| Subproblem { instance: Arc::clone(&self.instance), tail })
    }

    /// Whether a step at the other end is allowed.
    pub fn allowed_behind(&mut self, step: P::Step) -> bool {
        P::reverse(&self.instance, &mut self.tail) && {
            let allowed = self.allowed().any(|(_, allowed)| allowed == step);
            P::reverse(&self.instance, &mut self.tail);
            allowed
        }
    }

    /// Takes a step at the other end; the state must be reversible.
    pub fn take_behind(&mut self, step: P::Step) -> f64 {
        P::reverse(&self.instance, &mut self.tail);
        let reward = self.take(step);
        P::reverse(&self.instance, &mut self.tail);
        reward
    }

    /// The state restricted to its `k` most promising candidates.
    pub fn shortlist(&self, k: usize) -> Self {
        self.cut_to(k, Cut::Likeliest)
    }

    /// The state restricted to `k` candidates.
    pub fn cut_to(&self, k: usize, cut: Cut) -> Self {
        let restrict = match cut {
            Cut::Likeliest => P::shortlist,
            Cut::Nearest => P::nearest,
        };
        Subproblem { instance: Arc::clone(&self.instance), tail: restrict(&self.instance, &self.tail, k) }
    }
}

impl<P: Observe> Subproblem<P> {
    /// The state as input of a network.
    pub fn observe(&self, frame: Frame) -> Observation {
        P::observe(&self.instance, &self.tail, frame)
    }

    /// Number of tokens of its observation.
    pub fn tokens(&self) -> usize {
        P::tokens(&self.instance, &self.tail)
    }

    /// Writes its features; see [`Observe::observe_into`].
    pub fn observe_into(&self, frame: Frame, features: &mut [f32]) -> Relations {
        P::observe_into(&self.instance, &self.tail, frame, features)
    }
}
