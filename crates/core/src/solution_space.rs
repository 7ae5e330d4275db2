//! Solution spaces (paper, section 2.1): steps, partial solutions, instances (f, X).

use std::fmt::Debug;
use std::hash::Hash;

/// A solution space together with its instances (f, X).
///
/// Partial solutions are slices of steps; the neutral element ε is the empty slice.
pub trait SolutionSpace: Sized + Send + Sync + 'static {
    /// An instance (f, X). Constructors reject invalid data, so X is never empty.
    type Instance: Clone + Send + Sync + 'static;
    /// A construction step z, in the instance's own numbering.
    type Step: Copy + Eq + Ord + Hash + Debug + Send + Sync;

    /// Every step that occurs in some solution.
    fn steps(instance: &Self::Instance) -> Vec<Self::Step>;

    /// An upper bound on the number of steps of a solution.
    fn horizon(instance: &Self::Instance) -> usize;

    /// x ∘ z. Sequences append; if the order is irrelevant (knapsack), the result is sorted, so that equal elements of
    /// the space are equal slices.
    fn compose(partial: &[Self::Step], step: Self::Step) -> Vec<Self::Step> {
        let mut longer = partial.to_vec();
        longer.push(step);
        longer
    }

    /// The objective f, defined on every partial solution and always minimised (a prize counts as a negative cost).
    ///
    /// All other costs and rewards are tested against it, so it should be obvious rather than fast.
    fn cost(instance: &Self::Instance, partial: &[Self::Step]) -> f64;

    /// Membership in X, with the reason if the solution is not in it.
    ///
    /// # Errors
    /// The first violated rule.
    fn check(instance: &Self::Instance, solution: &[Self::Step]) -> Result<(), Infeasible>;
}

/// Why a solution is not in X. Items are numbered as in files of the problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Infeasible {
    /// A required item does not occur.
    #[error("{what} {number} is missing")]
    Missing {
        /// What is missing: "node", "customer".
        what: &'static str,
        /// Its number.
        number: usize,
    },
    /// An item occurs twice.
    #[error("{what} {number} occurs more than once")]
    Repeated {
        /// What is repeated.
        what: &'static str,
        /// Its number.
        number: usize,
    },
    /// An item that the instance does not have or that must not be chosen.
    #[error("{what} {number} is not one to choose from; expected {expected}")]
    Unknown {
        /// Kind of the item.
        what: &'static str,
        /// Its number.
        number: usize,
        /// What would have been acceptable.
        expected: String,
    },
    /// A quantity is above its limit.
    #[error("{quantity} is {found}, above the limit of {limit}")]
    Exceeds {
        /// The quantity: "load of route 3".
        quantity: String,
        /// Its value.
        found: f64,
        /// The instance's limit.
        limit: f64,
    },
    /// More of something than the instance has.
    #[error("uses {used} {what}, above the limit of {limit}")]
    TooMany {
        /// What is used, in the plural: "vehicles".
        what: &'static str,
        /// How many the solution uses.
        used: usize,
        /// How many there are.
        limit: usize,
    },
    /// A rule specific to one problem.
    #[error("{0}")]
    Broken(String),
}

impl Infeasible {
    /// Whether the reason names a node or an item by its number, which counts from 1; customers are numbered after the
    /// depot, 0.
    pub fn counts_from_one(&self) -> bool {
        match self {
            Infeasible::Missing { what, .. } | Infeasible::Repeated { what, .. } | Infeasible::Unknown { what, .. } => {
                *what != "customer"
            }
            Infeasible::Exceeds { .. } | Infeasible::TooMany { .. } | Infeasible::Broken(_) => false,
        }
    }
}

/// A feasible solution with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<S> {
    /// The steps, in the order in which they were taken.
    pub steps: Vec<S>,
    /// f of the steps.
    pub cost: f64,
}

impl<S> Solution<S> {
    /// The solution with its cost by [`SolutionSpace::cost`].
    pub fn new<P: SolutionSpace<Step = S>>(instance: &P::Instance, steps: Vec<S>) -> Self {
        let cost = P::cost(instance, &steps);
        Solution { steps, cost }
    }
}
