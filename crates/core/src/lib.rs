//! The mathematics of BQ-NCO as code (Drakulic et al., NeurIPS 2023).
//!
//! A combinatorial problem is a [`SolutionSpace`]: steps that compose into partial solutions, an objective that is
//! defined on every partial solution, and a membership test. From it follows the [`DirectMdp`], whose states are
//! partial solutions. Quotienting by bisimulation leaves the BQ-MDP, whose states are *tail subproblems*: a
//! [`Problem`] defines them, a [`Subproblem`] is one of them, and everything from rollouts to training works on these
//! states without knowing which problem it serves.
//!
//! Whatever is not needed by the MDP itself is a role of its own, to be implemented where it is used: [`Observe`]
//! (networks), [`Imitate`] (training), [`Rebuild`] (search), [`Generate`] (random instances).
//!
//! | the paper says | the code says |
//! |---|---|
//! | instance (f, X) | [`SolutionSpace::Instance`]; f is [`SolutionSpace::cost`], X is [`SolutionSpace::check`] |
//! | step z, partial solution x, x ∘ z | [`SolutionSpace::Step`], `[Step]`, [`SolutionSpace::compose`] |
//! | direct MDP | [`DirectMdp`] (enumerated, for tiny instances) |
//! | tail subproblem, BQ-MDP | [`Problem::Tail`], [`Subproblem`] |
//! | neutral action ε | [`Problem::may_stop`] |
//! | policy, rollout | [`Policy`], [`rollout::solve`] |
//! | expert, trajectory, imitation | [`Expert`], [`Imitate::sample_subproblem`], [`Subproblem::targets`] |
//! | input of the network | [`Observe::observe`], [`Observe::observe_into`] |
//! | tail recursion, as local search | [`Rebuild::fragments`], [`search::reconstruct`] |
//! | Propositions 1 and 2, bisimulation, recursion | [`laws::verify`] |
//!
//! The crate has no tensors, files or clocks, and threads only with the feature `threads`.

mod bq_mdp;
mod direct_mdp;
mod expert;
mod generate;
mod imitate;
pub mod laws;
mod observation;
mod policy;
mod problem;
mod rebuild;
pub mod rollout;
pub mod search;
mod seed;
mod solution_space;

pub use bq_mdp::Subproblem;
pub use direct_mdp::DirectMdp;
pub use expert::{Effort, Expert, ExpertError, Improved, no_worse};
pub use generate::{Distribution, Generate, UnknownDistribution};
pub use imitate::{Imitate, NotReplayable, last_steps, replay};
pub use observation::{Costs, Frame, Observation, Observe, Relations};
pub use policy::{Cut, GreedyHeuristic, Outlook, Policy, PolicyError, Uniform};
pub use problem::Problem;
pub use rebuild::{Fragment, Rebuild};
pub use seed::{Random, random};
pub use solution_space::{Infeasible, Solution, SolutionSpace};

/// Polled often during long work: true means "stop now and return the best so far".
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// The [`Stop`] of work without a deadline.
pub fn never() -> bool {
    false
}
