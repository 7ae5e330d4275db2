//! Solutions of any problem, without a type parameter.

use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bqnco_core::Infeasible;
use bqnco_io::{Format, Route, write_atomically, write_solution};
use bqnco_plot::Picture;

use crate::solve::{Found, Rebuilt};
use crate::{Builtin, Error, Instance, Result, Search};

/// A solution of an [`Instance`], with the method that found it and its time.
///
/// ```
/// let instance = bqnco::Instance::tsp(&[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])?;
/// let solution = bqnco::Solver::new().solve(&instance)?;
/// assert_eq!((solution.objective(), solution.value()), ("length", 14.0));
///
/// let mine = instance.solution_from(&[0, 2, 1, 3])?; // a solution of your own
/// assert!(mine.check().is_ok());
/// assert!(mine.gap(solution.value()).is_some_and(|percent| percent > 20.0));
/// let svg = mine.draw().to_svg();
/// # assert!(svg.starts_with("<svg"));
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone)]
pub struct Solution {
    instance: Instance,
    steps: Arc<dyn Any + Send + Sync>, // Vec<P::Step> of the problem
    value: f64,
    claimed: Option<f64>, // in its file
    search: String,       // readable description
    found_by: String,     // the search and what it started from, or a construction that was better
    seconds: f64,
    cut_short: bool,
    rebuilt: Option<Rebuilt>,
    passes: Option<f64>,
    optimal: Option<bool>,
}

impl Solution {
    pub(crate) fn from_steps<P: Builtin>(
        instance: &Instance,
        steps: Vec<P::Step>,
        found_by: impl Into<String>,
    ) -> Self {
        let data = instance.data::<P>();
        // Steps from a file may name nodes that do not exist: only solutions have a cost.
        let value = if P::check(data, &steps).is_ok() { P::OBJECTIVE.1 * P::cost(data, &steps) } else { f64::NAN };
        let (instance, steps, found_by) = (instance.clone(), Arc::new(steps), found_by.into());
        let search = found_by.clone();
        Solution {
            instance,
            steps,
            value,
            claimed: None,
            search,
            found_by,
            seconds: 0.0,
            cut_short: false,
            rebuilt: None,
            passes: None,
            optimal: None,
        }
    }

    /// Wraps the result of a search.
    ///
    /// # Panics
    /// If the result is not feasible, which is a bug.
    pub(crate) fn found<P: Builtin>(instance: &Instance, found: Found<P::Step>, search: &Search) -> Self {
        let Found { solution, seconds, cut_short, construction, rebuilt, symmetries, passes, optimal } = found;
        P::check(instance.data::<P>(), &solution.steps).expect("a search ends in a solution");
        let search = search.describe::<P>(symmetries);
        let found_by = match (construction, rebuilt) {
            (Some(construction), _) => construction.to_string(),
            (None, Some(Rebuilt { start, .. })) if start != "policy" => format!("{search} from {start}"),
            (None, _) => search.clone(),
        };
        let plain = Self::from_steps::<P>(instance, solution.steps, found_by);
        Solution { search, seconds, cut_short, rebuilt, passes, optimal, ..plain }
    }

    pub(crate) fn claiming(self, claimed: Option<f64>) -> Self {
        Solution { claimed, ..self }
    }

    /// The instance it solves.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The name of the objective: "length", "prize", "value".
    pub fn objective(&self) -> &'static str {
        dispatch!(self.instance.problem(), P => P::OBJECTIVE.0)
    }

    /// The objective value with its usual sign (prizes are positive), computed by the problem itself;
    /// NaN if it is not a solution ([`Solution::check`]).
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The value stated in its file, if there is one.
    pub fn claimed(&self) -> Option<f64> {
        self.claimed
    }

    /// The method that found it: "expert", "network tsp, reconstructed from given solution", or "greedy edges" where a
    /// simple construction was better than what the search could build in time.
    pub fn found_by(&self) -> &str {
        &self.found_by
    }

    /// A readable description of the search that was run; for auto, of what it chose for the problem. The same as
    /// [`Solution::found_by`] if no search has found the solution.
    pub fn search(&self) -> &str {
        &self.search
    }

    /// Seconds of work; per instance if several were solved together.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Whether the search was stopped before it was complete.
    pub fn cut_short(&self) -> bool {
        self.cut_short
    }

    /// Whether it is proven optimal: `Some(false)` if an exact expert could not complete its proof (no time or memory
    /// left), `None` if the search proves nothing.
    pub fn proven_optimal(&self) -> Option<bool> {
        self.optimal
    }

    /// Statistics of the reconstruction, if the search was one.
    pub fn rebuilt(&self) -> Option<Rebuilt> {
        self.rebuilt
    }

    /// Passes of the network, that is states it has scored, if one was used; per instance if several were solved together.
    pub fn passes(&self) -> Option<f64> {
        self.passes
    }

    /// The gap to a reference: [`gap`](crate::gap).
    pub fn gap(&self, reference: f64) -> Option<f64> {
        crate::gap(self.instance.problem(), self.value, reference)
    }

    /// Checks the solution against the constraints of the instance.
    ///
    /// # Errors
    /// The first violated constraint.
    pub fn check(&self) -> std::result::Result<(), Infeasible> {
        dispatch!(self.instance.problem(), P => P::check(self.instance.data::<P>(), self.typed_steps::<P>()))
    }

    /// As numbers: nodes or items from 0 in visiting order, routes separated by 0, the depot.
    pub fn numbers(&self) -> Vec<usize> {
        dispatch!(self.instance.problem(), P => P::solution_to(self.instance.data::<P>(), self.typed_steps::<P>()))
    }

    /// Its routes with their loads and lengths, for problems whose solutions have several (CVRP); none for others and if
    /// it is not a solution.
    pub fn routes(&self) -> Vec<Route> {
        if self.value.is_nan() {
            return Vec::new();
        }
        dispatch!(self.instance.problem(), P => P::routes(self.instance.data::<P>(), self.typed_steps::<P>()))
    }

    /// The steps of the typed API, if it is a solution of this problem.
    pub fn steps<P: Builtin>(&self) -> Option<&[P::Step]> {
        self.steps.downcast_ref::<Vec<P::Step>>().filter(|_| self.instance.get::<P>().is_some()).map(Vec::as_slice)
    }

    /// A picture of the instance with the solution.
    pub fn draw(&self) -> Picture {
        dispatch!(self.instance.problem(), P => {
            P::draw(self.instance.data::<P>(), Some(self.typed_steps::<P>()))
        })
        .title(self.instance.name())
    }

    /// The solution as file content.
    ///
    /// # Errors
    /// Infeasible solutions, and formats that cannot represent solutions of this problem.
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>> {
        dispatch!(self.instance.problem(), P => {
            let instance = self.instance.data::<P>();
            Ok(write_solution::<P>(self.instance.name(), instance, self.typed_steps::<P>(), format)?)
        })
    }

    /// Writes it atomically: as JSON for `.json`, otherwise in the format of the problem (`.tour`, `.sol`, zeros and
    /// ones).
    ///
    /// # Errors
    /// Infeasible solutions, extensions of other formats, and I/O errors.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let bytes = self.to_bytes(self.instance.solution_format(path)?)?;
        write_atomically(path, &bytes).map_err(Error::file("cannot write", path))
    }

    pub(crate) fn typed_steps<P: Builtin>(&self) -> &[P::Step] {
        self.steps.downcast_ref::<Vec<P::Step>>().expect("the problem's name and the steps' type agree")
    }
}

impl fmt::Debug for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Solution({:?}, {} {}, {})", self.instance, self.objective(), self.value, self.found_by)
    }
}
