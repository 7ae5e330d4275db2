//! The BQ-MDP of a problem: what a tail subproblem must offer (paper, sections 3.2 and 3.3).

use crate::SolutionSpace;

/// A tail-recursive problem: after any allowed step, what remains is a smaller instance of the same problem.
///
/// The functions take the instance and the tail, never the history, so two partial solutions with equal tails are
/// indistinguishable by construction. The instance is shared and the tail is small, so a beam clones little.
///
/// This trait is all that rollouts and the laws of the MDP need. The other roles are traits of their own:
/// [`Observe`](crate::Observe) for networks, [`Imitate`](crate::Imitate) for training, [`Rebuild`](crate::Rebuild) for
/// [`search::reconstruct`](crate::search::reconstruct), [`Generate`](crate::Generate) for random instances.
pub trait Problem: SolutionSpace {
    /// The problem's name: value on the command line, key in files, tag of checkpoints.
    const NAME: &'static str;
    /// The reported name of the objective, and the factor from cost to reported value: `("length", 1.0)`,
    /// `("value", -1.0)`.
    const OBJECTIVE: (&'static str, f64);
    /// What [`Problem::size`] counts: "nodes", "customers".
    const UNIT: &'static str = "steps";
    /// The usual name of the heuristic behind [`Problem::greedy_score`]: "nearest neighbour".
    const GREEDY_HEURISTIC: &'static str = "greedy heuristic";
    /// Scores per token (CVRP has two: direct, via depot).
    const KINDS: usize = 1;

    /// The parameters of the tail subproblem: what the rest of the construction depends on, and nothing else.
    type Tail: Clone + PartialEq + std::fmt::Debug + Send + Sync;

    /// The size of an instance, in [`Problem::UNIT`].
    fn size(instance: &Self::Instance) -> usize {
        Self::horizon(instance)
    }

    /// The tail of the empty partial solution: the instance itself.
    fn whole(instance: &Self::Instance) -> Self::Tail;

    /// The allowed steps, each with its score slot (`token * KINDS + kind`), slots ascending. The construction is
    /// finished when there are none.
    ///
    /// Mask, decoder and training target all come from here.
    fn allowed(instance: &Self::Instance, tail: &Self::Tail) -> impl Iterator<Item = (usize, Self::Step)>;

    /// Whether the neutral action ε is allowed, that is, whether the partial solution is already a solution.
    fn may_stop(instance: &Self::Instance, tail: &Self::Tail) -> bool {
        Self::allowed(instance, tail).next().is_none()
    }

    /// f(x) - f(x ∘ z), from the tail alone.
    fn reward(instance: &Self::Instance, tail: &Self::Tail, step: Self::Step) -> f64;

    /// Updates the tail by a step.
    fn advance(instance: &Self::Instance, tail: &mut Self::Tail, step: Self::Step);

    /// The tail as an instance of its own (Φ of the paper), its items in the order of the tail's tokens, so that both
    /// have the same slots.
    fn extract(instance: &Self::Instance, tail: &Self::Tail) -> Self::Instance;

    /// A constraint on whole solutions that tails do not know, so that constructions cannot promise to keep it: "a limit on
    /// the number of vehicles". Default: none.
    fn unseen_constraint(_instance: &Self::Instance) -> Option<&'static str> {
        None
    }

    /// Score of a step under the greedy heuristic, such as nearest neighbour or best ratio. Higher is better.
    fn greedy_score(instance: &Self::Instance, tail: &Self::Tail, step: Self::Step) -> f64 {
        Self::reward(instance, tail, step)
    }

    /// The tail restricted to its `k` most promising candidates, for large instances. A policy scores the restricted
    /// tail; the step it chooses is applied to the full one. If the tail allows a step, so must the restricted one.
    ///
    /// Default: the whole tail.
    fn shortlist(_instance: &Self::Instance, tail: &Self::Tail, _k: usize) -> Self::Tail {
        tail.clone()
    }

    /// The tail restricted to the `k` candidates nearest to the origin, whatever else is known of them (paper, section 5);
    /// a tail with at most `k` candidates stays as it is, with those that are not allowed. If the tail allows a step, so
    /// must the restricted one.
    ///
    /// Default: [`Problem::shortlist`], where that is the same.
    fn nearest(instance: &Self::Instance, tail: &Self::Tail, k: usize) -> Self::Tail {
        Self::shortlist(instance, tail, k)
    }

    /// Turns a tail round, so that its path leads from the destination to the origin: a step of the new tail is a step at
    /// the other end of the old one. The solutions of the new tail are those of the old one in reverse order, with the
    /// same returns, and turning it twice changes nothing. Returns whether this is possible; if not, the tail is
    /// unchanged.
    ///
    /// Default: it is not.
    fn reverse(_instance: &Self::Instance, _tail: &mut Self::Tail) -> bool {
        false
    }

    /// Instances with the same costs and solutions that a policy may score differently: the symmetries of the square
    /// for problems with coordinates (the identity first). Default: none.
    fn symmetries(_instance: &Self::Instance) -> Vec<Self::Instance> {
        Vec::new()
    }
}
