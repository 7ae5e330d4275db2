//! The list of problems: the only one in the workspace.

use std::fmt;
use std::str::FromStr;

use bqnco_core::{Generate, Imitate, Observe, Problem, Rebuild};
use bqnco_experts::{Construct, Expertise, greedy_heuristic};
use bqnco_io::{Decoded, InstanceIo, ReadError, Recogniser, Source, problem_hint};
use bqnco_plot::Draw;
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Pctsp, Tsp};

/// A built-in problem: core traits, file formats, pictures, and classical solvers if there are any.
pub trait Builtin: Observe + Imitate + Rebuild + Generate + InstanceIo + Draw {
    /// The classical solvers, if there are any.
    fn expertise() -> Option<&'static Expertise<Self>>;

    /// Constructions without a network, by name. A search starts from the first if there is no time for a network's
    /// construction.
    fn constructions() -> Vec<(&'static str, Construct<Self>)> {
        match Self::expertise() {
            Some(expertise) => expertise.constructions.to_vec(),
            None => vec![(Self::GREEDY_HEURISTIC, greedy_heuristic::<Self>)],
        }
    }
}

/// The traits of a built-in problem, in scope wherever [`dispatch!`](crate::dispatch) calls generic code.
#[doc(hidden)]
pub mod roles {
    pub use bqnco_core::{Generate, Imitate, Observe, Problem, Rebuild, SolutionSpace};
    pub use bqnco_io::InstanceIo;
    pub use bqnco_plot::Draw;

    pub use super::Builtin;
}

/// An unknown problem name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown problem `{0}`{hint}; the problems are {names}", hint = problem_hint(.0, ProblemName::names()),
        names = ProblemName::names().join(", "))]
pub struct UnknownProblem(pub String);

macro_rules! problems {
    (($d:tt) $($(#[$doc:meta])* $problem:ident => $expertise:expr,)*) => {
        /// A problem that is known only at run time. [`dispatch!`](crate::dispatch) calls generic code for it.
        ///
        /// ```
        /// use bqnco::{ProblemName, dispatch};
        ///
        /// let problem: ProblemName = "cvrp".parse()?;
        /// assert_eq!(dispatch!(problem, P => P::UNIT), "customers");
        /// # Ok::<(), bqnco::UnknownProblem>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ProblemName { $(
            $(#[$doc])*
            $problem,
        )* }

        impl ProblemName {
            /// All problems, in the order of the paper.
            pub const ALL: &'static [ProblemName] = &[$(ProblemName::$problem),*];

            const RECOGNISERS: &'static [Recogniser] = &[$(Recogniser::of::<$problem>()),*];

            /// The name on the command line, in files and in checkpoints.
            pub fn as_str(self) -> &'static str {
                match self { $(ProblemName::$problem => <$problem as Problem>::NAME),* }
            }
        }

        $(impl Builtin for $problem {
            fn expertise() -> Option<&'static Expertise<Self>> {
                $expertise
            }
        })*

        /// Runs generic code for a [`ProblemName`]: `dispatch!(name, P => solve::<P>(file))`.
        ///
        /// ```
        /// use bqnco::{Builtin, ProblemName, dispatch};
        ///
        /// fn described<P: Builtin>() -> String {
        ///     format!("{}: {} of {}", P::NAME, P::OBJECTIVE.0, P::UNIT)
        /// }
        ///
        /// let problem: ProblemName = "knapsack".parse()?;
        /// assert_eq!(dispatch!(problem, P => described::<P>()), "knapsack: value of items");
        /// # Ok::<(), bqnco::UnknownProblem>(())
        /// ```
        #[macro_export]
        macro_rules! dispatch {
            ($d name:expr, $d P:ident => $d body:expr) => {
                match $d name { $($crate::ProblemName::$problem => {
                    #[allow(unused_imports)] // used by some bodies only
                    use $crate::roles::*;
                    type $d P = $crate::problems::$problem;
                    $d body
                })* }
            };
        }
    };
}

// Each problem with its classical solvers.
problems! { ($)
    /// The travelling salesman problem: [`Tsp`].
    Tsp => Some(&bqnco_experts::tsp::EXPERTISE),
    /// The asymmetric travelling salesman problem: [`Atsp`].
    Atsp => Some(&bqnco_experts::atsp::EXPERTISE),
    /// The capacitated vehicle routing problem: [`Cvrp`].
    Cvrp => Some(&bqnco_experts::cvrp::EXPERTISE),
    /// The orienteering problem: [`Op`].
    Op => Some(&bqnco_experts::op::EXPERTISE),
    /// The knapsack problem: [`Knapsack`].
    Knapsack => Some(&bqnco_experts::knapsack::EXPERTISE),
    /// The prize-collecting travelling salesman problem: [`Pctsp`].
    Pctsp => None,
}

/// Decodes a file of instances and detects its format and problem.
///
/// ```
/// use bqnco::io::{ReadOptions, Source};
/// use bqnco::problems::Tsp;
///
/// let decoded = bqnco::decode(&Source::new("square.csv", "x,y\n0,0\n1,1\n1,0\n0,1\n"))?;
/// assert_eq!(decoded.detected.problem, "tsp");
/// let records = decoded.records::<Tsp>(&ReadOptions::default())?;
/// assert_eq!(records.len(), 1);
/// # Ok::<(), bqnco::io::ReadError>(())
/// ```
///
/// # Errors
/// Unknown formats and problems, and broken files. Single instances are not checked yet.
pub fn decode(source: &Source) -> Result<Decoded, ReadError> {
    bqnco_io::decode(source, ProblemName::RECOGNISERS)
}

impl ProblemName {
    /// The name of a problem that is known at compile time.
    pub fn of<P: Builtin>() -> Self {
        P::NAME.parse().expect("every problem of the list has a name of its own")
    }

    /// All names.
    pub fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|problem| problem.as_str()).collect()
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
