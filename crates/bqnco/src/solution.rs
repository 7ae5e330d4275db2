//! Solutions of any problem, without a type parameter.

use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bqnco_core::Infeasible;
use bqnco_io::{Format, write_atomically, write_solution};
use bqnco_plot::Picture;

use crate::solve::{Found, Rebuilt};
use crate::{Builtin, Error, Instance, Result, Search};

/// A solution of an [`Instance`], with who found it and how long that took.
#[derive(Clone)]
pub struct Solution {
    instance: Instance,
    steps: Arc<dyn Any + Send + Sync>, // Vec<P::Step> of the problem
    value: f64,
    claimed: Option<f64>, // by its file
    search: String,       // in a person's words
    found_by: String,     // the search and what it started from
    seconds: f64,
    cut_short: bool,
    rebuilt: Option<Rebuilt>,
}

impl Solution {
    pub(crate) fn from_steps<P: Builtin>(
        instance: &Instance,
        steps: Vec<P::Step>,
        found_by: impl Into<String>,
    ) -> Self {
        let value = P::OBJECTIVE.1 * P::cost(instance.data::<P>(), &steps);
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
        }
    }

    /// What a search has found.
    ///
    /// # Panics
    /// When that is not a solution, which nobody must ever see.
    pub(crate) fn found<P: Builtin>(instance: &Instance, found: Found<P::Step>, search: &Search) -> Self {
        let Found { solution, seconds, cut_short, rebuilt, symmetries } = found;
        P::check(instance.data::<P>(), &solution.steps).expect("a search ends in a solution");
        let search = search.describe::<P>(symmetries);
        let mut found_by = search.clone();
        if let Some(rebuilt) = rebuilt.filter(|rebuilt| rebuilt.start != "policy") {
            found_by += &format!(" from {}", rebuilt.start);
        }
        Solution { search, seconds, cut_short, rebuilt, ..Self::from_steps::<P>(instance, solution.steps, found_by) }
    }

    pub(crate) fn claiming(self, claimed: Option<f64>) -> Self {
        Solution { claimed, ..self }
    }

    /// The instance it solves.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// What is counted: "length", "prize", "value".
    pub fn objective(&self) -> &'static str {
        dispatch!(self.instance.problem(), P => P::OBJECTIVE.0)
    }

    /// The objective's value, with the sign a person expects, as the problem's own rules compute it.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The value that its file claims, if it comes from a file that does.
    pub fn claimed(&self) -> Option<f64> {
        self.claimed
    }

    /// Who found it: "expert", "network tsp, reconstructed", ...
    pub fn found_by(&self) -> &str {
        &self.found_by
    }

    /// The search that was asked for, in a person's words.
    pub fn search(&self) -> &str {
        &self.search
    }

    /// Seconds of work; per instance where several were solved together.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Whether the search was stopped before it had done what was asked for.
    pub fn cut_short(&self) -> bool {
        self.cut_short
    }

    /// What a reconstruction did, if there was one.
    pub fn rebuilt(&self) -> Option<Rebuilt> {
        self.rebuilt
    }

    /// How far the value is behind a reference: [`gap`](crate::gap).
    pub fn gap(&self, reference: f64) -> Option<f64> {
        crate::gap(self.instance.problem(), self.value, reference)
    }

    /// The first rule of the instance that it breaks, if any.
    ///
    /// # Errors
    /// When it is not a solution, with the reason.
    pub fn check(&self) -> std::result::Result<(), Infeasible> {
        dispatch!(self.instance.problem(), P => P::check(self.instance.data::<P>(), self.typed_steps::<P>()))
    }

    /// As numbers: nodes or items from 0 in the order of the visit, routes separated by 0, the depot.
    pub fn numbers(&self) -> Vec<usize> {
        dispatch!(self.instance.problem(), P => P::solution_to(self.instance.data::<P>(), self.typed_steps::<P>()))
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

    /// The solution as a file's content.
    ///
    /// # Errors
    /// Infeasible solutions, and formats that cannot hold solutions of this problem.
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>> {
        dispatch!(self.instance.problem(), P => {
            let instance = self.instance.data::<P>();
            Ok(write_solution::<P>(self.instance.name(), instance, self.typed_steps::<P>(), format)?)
        })
    }

    /// Writes it whole or not at all: as JSON for `.json`, else in the format of the problem (`.tour`, `.sol`, zeros and
    /// ones).
    ///
    /// # Errors
    /// Infeasible solutions, endings of other formats, and what the system says.
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
