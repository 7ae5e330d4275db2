//! What a tail subproblem must offer (paper, sections 3.2 and 3.3).

use rand::Rng;

use crate::{Fragment, Frame, Observation, SolutionSpace, last_steps};

/// A tail-recursive problem: after any allowed step, what remains is a smaller instance of the same problem.
///
/// The functions take the instance and the tail, never the history: two partial solutions with equal tails are
/// indistinguishable by construction. The instance is shared, the tail is small, so a beam clones little.
pub trait Problem: SolutionSpace {
    /// The problem's name: value on the command line, key in files, tag of checkpoints.
    const NAME: &'static str;
    /// The objective in a person's words, with the sign a person expects: `("length", 1.0)`, `("value", -1.0)`.
    const OBJECTIVE: (&'static str, f64);
    /// What an instance's size counts: "nodes", "customers".
    const UNIT: &'static str = "steps";
    /// What [`Problem::greedy_score`] is known as: "nearest neighbour".
    const GREEDY_HEURISTIC: &'static str = "greedy heuristic";
    /// The size at which speed is compared.
    const USUAL_SIZE: usize = 100;
    /// The largest random instance that fits a computer: a matrix grows with the square of its size.
    const LARGEST_SIZE: usize = 1_000_000;
    /// Numbers per token of an [`Observation`].
    const FEATURES: usize;
    /// Scores per token (CVRP has two: direct, via depot).
    const KINDS: usize = 1;
    /// Whether the order of an expert's steps matters. If not, every remaining expert step is right.
    const ORDERED: bool = true;

    /// The parameters of the tail subproblem: what the rest of the construction depends on, and nothing else.
    type Tail: Clone + PartialEq + std::fmt::Debug + Send + Sync;

    /// How large an instance is, in [`Problem::UNIT`].
    fn size(instance: &Self::Instance) -> usize {
        Self::horizon(instance)
    }

    /// The tail of the empty partial solution: the instance itself.
    fn whole(instance: &Self::Instance) -> Self::Tail;

    /// The allowed steps, each with its score slot (`token * KINDS + kind`), slots ascending. None left: finished.
    ///
    /// Mask, decoder and training target all come from here.
    fn allowed(instance: &Self::Instance, tail: &Self::Tail) -> impl Iterator<Item = (usize, Self::Step)>;

    /// Whether the neutral action ε is allowed, that is, whether the partial solution is already a solution.
    fn may_stop(instance: &Self::Instance, tail: &Self::Tail) -> bool {
        Self::allowed(instance, tail).next().is_none()
    }

    /// f(x) - f(x ∘ z), from the tail alone.
    fn reward(instance: &Self::Instance, tail: &Self::Tail, step: Self::Step) -> f64;

    /// The tail after one more step.
    fn advance(instance: &Self::Instance, tail: &mut Self::Tail, step: Self::Step);

    /// What a policy network sees of the tail.
    fn observe(instance: &Self::Instance, tail: &Self::Tail, frame: Frame) -> Observation;

    /// The tail cut to its `k` likeliest candidates, for large instances. A policy scores the cut tail; the step it
    /// chooses is applied to the full one. Something must stay allowed if anything was.
    fn shortlist(instance: &Self::Instance, tail: &Self::Tail, k: usize) -> Self::Tail;

    /// How attractive a step looks to a short-sighted person: nearest first, best ratio first. Higher is better.
    fn greedy_score(instance: &Self::Instance, tail: &Self::Tail, step: Self::Step) -> f64 {
        Self::reward(instance, tail, step)
    }

    /// The tail as an instance of its own (Φ of the paper), its items in the order of the tail's tokens, so that both
    /// have the same slots.
    fn extract(instance: &Self::Instance, tail: &Self::Tail) -> Self::Instance;

    /// Instances with the same costs and solutions that look different to a policy: the symmetries of the square for
    /// problems with coordinates (the identity first). Empty where there are none.
    fn symmetries(_instance: &Self::Instance) -> Vec<Self::Instance> {
        Vec::new()
    }

    /// A random tail on the way along an expert's solution, with `length` expert steps left (at most all), and these
    /// steps (paper, section 4, "Trajectory generation"). Where one solution can be walked in many ways, a random one is
    /// chosen. Here: the solution's last steps.
    fn sample_subproblem(
        instance: &Self::Instance,
        solution: &[Self::Step],
        length: usize,
        _rng: &mut impl Rng,
    ) -> (Self::Tail, Vec<Self::Step>) {
        last_steps::<Self>(instance, solution, length)
    }

    /// The tokens of a tail in the order in which the remaining steps of a solution pass them, from the origin to the
    /// destination; training may ask a network for neighbours on this path. `None` stands for what a shortlist has cut
    /// from the tail. Empty where solutions are no paths.
    fn path(_instance: &Self::Instance, _tail: &Self::Tail, _steps: &[Self::Step]) -> Vec<Option<usize>> {
        Vec::new()
    }

    /// A solution taken apart at random places into fragments of about `length` steps, for search to rebuild. Each can
    /// be replaced without regard to the others. Here: a single one, the solution's last steps.
    fn fragments(
        instance: &Self::Instance,
        solution: &[Self::Step],
        length: usize,
        _rng: &mut impl Rng,
    ) -> Vec<Fragment<Self>> {
        vec![Fragment::last(instance, solution, length)]
    }

    /// The solution that consists of these fragments: all of those that [`Problem::fragments`] gave, in their order,
    /// with steps that solve their tails. Here: one after the other.
    fn rejoin(_instance: &Self::Instance, fragments: &[Fragment<Self>]) -> Vec<Self::Step> {
        fragments.iter().flat_map(Fragment::all_steps).collect()
    }

    /// A random instance of the distribution the paper trains and tests on.
    fn generate(size: usize, rng: &mut impl Rng) -> Self::Instance;

    /// As [`Problem::generate`], with a parameter that users choose freely drawn from a wide range, so that a network
    /// learns to look at it. None where there is no such parameter.
    fn generate_varied(_size: usize, _rng: &mut impl Rng) -> Option<Self::Instance> {
        None
    }
}
