//! The only list of problems in the workspace.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bqnco_core::rollout::{self, Options};
use bqnco_core::{Effort, Expert, ExpertError, GreedyHeuristic, Infeasible, Problem, Solution, SolutionSpace};
use bqnco_experts::tsp::{Insertion, Rule};
use bqnco_experts::{AtspExpert, CvrpExpert, GreedyEdges, KnapsackExpert, OpExpert, Savings, TspExpert, atsp, tsp};
use bqnco_io::Files;
use bqnco_plot::Draw;
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};

/// Everything that the product needs of a problem.
pub trait Builtin: Files + Draw {
    /// What the short-sighted policy is called for this problem.
    const GREEDY_HEURISTIC: &'static str;
    /// What an instance's size counts.
    const SIZE: &'static str;

    /// The largest random instance that fits a computer: a matrix grows with the square of its size.
    const LARGEST: usize;
    /// The size at which speed is compared.
    const USUAL: usize;

    /// How many of these an instance has.
    fn size(instance: &Self::Instance) -> usize;

    /// The built-in expert.
    fn expert() -> Box<dyn Expert<Self>>;

    /// Constructions without a network, by name. From the first a search starts when there is no time for a network's.
    const CONSTRUCTIONS: &'static [(&'static str, Construct<Self>)];

    /// A solution improved by the expert's local search; never worse. Where the expert takes no start (orienteering,
    /// knapsack), the better of its solution and the given one.
    ///
    /// # Errors
    /// When the expert cannot answer for this instance.
    fn improve(
        instance: &Self::Instance,
        start: Solution<Self::Step>,
        effort: &Effort<'_>,
    ) -> Result<Solution<Self::Step>, ExpertError>;

    /// The expert's rounds that make a good label of an instance of this size, where nobody says otherwise.
    fn label_rounds(size: usize) -> u64;

    /// The expert's rounds that make a reference for gaps where no optimum is known.
    fn reference_rounds(size: usize) -> u64;
}

/// No problem has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown problem `{0}`; the problems are {names}", names = ProblemName::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", "))]
pub struct UnknownProblem(pub String);

/// Builds a solution of an instance.
pub type Construct<P> =
    fn(&<P as SolutionSpace>::Instance, &Effort<'_>) -> Result<Solution<<P as SolutionSpace>::Step>, ExpertError>;
type Improve<P> = fn(
    &<P as SolutionSpace>::Instance,
    &[<P as SolutionSpace>::Step],
    &Effort<'_>,
) -> Result<Solution<<P as SolutionSpace>::Step>, ExpertError>;

/// The construction of the short-sighted policy.
fn myopic<P: Problem>(instance: &P::Instance, effort: &Effort<'_>) -> Result<Solution<P::Step>, ExpertError> {
    let options = Options { stop: effort.stop, ..Options::default() };
    let found = rollout::solve::<P>(&GreedyHeuristic, &[Arc::new(instance.clone())], &options);
    Ok(found.expect("a policy without weights does not fail").remove(0))
}

/// What [`Builtin::improve`] says of a start that is no solution.
fn unfit(expert: &'static str, why: Infeasible) -> ExpertError {
    ExpertError::Unsupported { expert, reason: format!("the solution to improve is not feasible: {why}") }
}

macro_rules! problems {
    (($d:tt) $($problem:ident {
        myopic: $myopic:literal,
        size: $size:literal = $count:expr,
        sizes: ($usual:literal, $largest:literal),
        expert: $expert:expr,
        constructions: [$($construction:literal = $construct:expr),+ $(,)?],
        improve: $improve:expr,
        label_rounds: $rounds:expr,
        reference_rounds: $reference:expr $(,)?
    })*) => {
        /// A problem, when it is known at run time only. [`dispatch!`](crate::dispatch) enters generic code from it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ProblemName { $(
            #[doc = concat!("[`", stringify!($problem), "`]")]
            $problem,
        )* }

        impl ProblemName {
            /// All problems, in the order of the paper.
            pub const ALL: &'static [ProblemName] = &[$(ProblemName::$problem),*];

            /// The name on the command line, in files and in checkpoints.
            pub fn as_str(self) -> &'static str {
                match self { $(ProblemName::$problem => <$problem as Problem>::NAME),* }
            }
        }

        $(impl Builtin for $problem {
            const GREEDY_HEURISTIC: &'static str = $myopic;
            const SIZE: &'static str = $size;
            const LARGEST: usize = $largest;
            const USUAL: usize = $usual;

            fn size(instance: &Self::Instance) -> usize {
                let count: fn(&Self::Instance) -> usize = $count;
                count(instance)
            }

            fn expert() -> Box<dyn Expert<Self>> {
                Box::new($expert)
            }

            const CONSTRUCTIONS: &'static [(&'static str, Construct<Self>)] = &[$(($construction, $construct)),+];

            fn improve(
                instance: &Self::Instance,
                start: Solution<Self::Step>,
                effort: &Effort<'_>,
            ) -> Result<Solution<Self::Step>, ExpertError> {
                let improve: Improve<Self> = $improve;
                let better = improve(instance, &start.steps, effort)?;
                Ok(if better.cost < start.cost { better } else { start })
            }

            fn label_rounds(size: usize) -> u64 {
                let rounds: fn(usize) -> usize = $rounds;
                rounds(size) as u64
            }

            fn reference_rounds(size: usize) -> u64 {
                let rounds: fn(usize) -> usize = $reference;
                rounds(size) as u64
            }
        })*

        /// Runs generic code for a [`ProblemName`]: `dispatch!(name, P => solve::<P>(file))`.
        #[macro_export]
        macro_rules! dispatch {
            ($d name:expr, $d P:ident => $d body:expr) => {
                match $d name { $($crate::ProblemName::$problem => {
                    type $d P = $crate::problems::$problem;
                    $d body
                })* }
            };
        }
    };
}

problems! { ($)
    Tsp {
        myopic: "nearest neighbour",
        size: "nodes" = |instance| instance.geometry().len(),
        sizes: (100, 1_000_000),
        expert: TspExpert,
        constructions: [
            "greedy edges" = |instance, effort| GreedyEdges.solve(instance, effort),
            "farthest insertion" = |instance, effort| Insertion { rule: Rule::Farthest }.solve(instance, effort),
        ],
        improve: |instance, steps, effort| {
            tsp::improve(instance, steps, effort).map_err(|why| unfit("the Lin-Kernighan search", why))
        },
        label_rounds: |size| 10 * size,
        reference_rounds: |size| 100 * size,
    }
    Atsp {
        myopic: "nearest neighbour",
        size: "nodes" = |instance| instance.nodes(),
        sizes: (100, 10_000),
        expert: AtspExpert,
        constructions: ["nearest neighbour" = myopic::<Atsp>],
        improve: |instance, steps, effort| {
            atsp::improve(instance, steps, effort).map_err(|why| unfit("the Lin-Kernighan search", why))
        },
        label_rounds: |size| 6 * size,
        reference_rounds: |size| 60 * size,
    }
    Cvrp {
        myopic: "nearest neighbour",
        size: "customers" = |instance| instance.customers(),
        sizes: (100, 1_000_000),
        expert: CvrpExpert::default(),
        constructions: ["savings" = |instance, effort| Savings::default().solve(instance, effort)],
        improve: |instance, steps, effort| CvrpExpert::default().improve(instance, steps, effort),
        label_rounds: |size| 5 * size,
        reference_rounds: |size| (25 * size).min(5000), // minutes at 1,000 customers
    }
    Op {
        myopic: "best prize per length",
        size: "nodes" = |instance| instance.geometry().len(),
        sizes: (100, 1_000_000),
        expert: OpExpert,
        constructions: ["best prize per length" = myopic::<Op>],
        improve: |instance, _, effort| OpExpert.solve(instance, effort),
        label_rounds: |size| 40 * size,
        reference_rounds: |size| 100 * size,
    }
    Knapsack {
        myopic: "best value per weight",
        size: "items" = |instance| instance.items(),
        sizes: (200, 1_000_000),
        expert: KnapsackExpert,
        constructions: ["best value per weight" = myopic::<Knapsack>],
        improve: |instance, steps, effort| {
            // What the expert cannot add up exactly stays as it is.
            KnapsackExpert.solve(instance, effort).or_else(|_| Ok(Solution::new::<Knapsack>(instance, steps.to_vec())))
        },
        label_rounds: |_| 1, // exact, whatever the rounds
        reference_rounds: |_| 1,
    }
}

impl fmt::Display for ProblemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ProblemName {
    type Err = UnknownProblem;

    fn from_str(name: &str) -> Result<Self, UnknownProblem> {
        let found = ProblemName::ALL.iter().find(|problem| problem.as_str() == name);
        found.copied().ok_or_else(|| UnknownProblem(name.into()))
    }
}
