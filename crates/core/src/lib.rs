//! The mathematics of BQ-NCO as code (Drakulic et al., NeurIPS 2023).
//!
//! A combinatorial problem is a [`SolutionSpace`]: steps that compose into partial solutions, an objective that is
//! defined on every partial solution, and a membership test. From it follows the [`DirectMdp`], whose states are
//! partial solutions. Quotienting by bisimulation leaves the BQ-MDP, whose states are *tail subproblems*: a
//! [`Problem`] says what such a tail is, a [`Subproblem`] is one of them, and everything the product does, from
//! rollouts to training, walks through these states and never asks which problem it serves.
//!
//! | the paper says | the code says |
//! |---|---|
//! | instance (f, X) | [`SolutionSpace::Instance`]; f is [`SolutionSpace::cost`], X is [`SolutionSpace::check`] |
//! | step z, partial solution x, x ∘ z | [`SolutionSpace::Step`], `[Step]`, [`SolutionSpace::compose`] |
//! | direct MDP | [`DirectMdp`] (enumerated, for tiny instances) |
//! | tail subproblem, BQ-MDP | [`Problem::Tail`], [`Subproblem`] |
//! | neutral action ε | [`Problem::may_stop`] |
//! | policy, rollout | [`Policy`], [`rollout::solve`] |
//! | expert, trajectory | [`Expert`], [`Trajectory`] |
//! | tail recursion, as local search | [`Problem::fragments`], [`search::reconstruct`] |
//! | Propositions 1 and 2, bisimulation, recursion | [`laws::verify`] |
//!
//! The crate has no tensor, no file and no clock; threads only with the feature `threads`.

mod bq_mdp;
mod direct_mdp;
mod expert;
mod fragment;
pub mod laws;
mod observation;
mod policy;
mod problem;
pub mod rollout;
pub mod search;
mod seed;
mod solution_space;
mod trajectory;

pub use bq_mdp::Subproblem;
pub use direct_mdp::DirectMdp;
pub use expert::{Effort, Expert, ExpertError, Improved, better};
pub use fragment::Fragment;
pub use observation::{Costs, Frame, Observation};
pub use policy::{GreedyHeuristic, Policy, PolicyError, Uniform};
pub use problem::Problem;
pub use seed::{Random, random};
pub use solution_space::{Infeasible, Solution, SolutionSpace};
pub use trajectory::{NotReplayable, Trajectory, last_steps};

/// Asked often during long work: true means "stop now and give the best so far".
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// The [`Stop`] of work without a deadline.
pub fn never() -> bool {
    false
}
