//! Instances of any problem, without a type parameter.

use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bqnco_io::{Format, Record, Source, read_solution};
use bqnco_plot::Picture;

use crate::{Builtin, Error, ProblemName, Reader, Result, Solution};

/// An instance of any problem: from a file ([`Instance::read`]), from numbers ([`Instance::tsp`] and the like), or random
/// ([`GeneratedSet`](crate::GeneratedSet)). Clones are cheap and share their data.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/examples/depot40.vrp");
/// let instance = bqnco::Instance::read(path)?;
/// assert_eq!((instance.name(), instance.problem().as_str(), instance.sized().as_str()), ("depot40", "cvrp", "40 customers"));
/// let typed = instance.get::<bqnco::problems::Cvrp>().expect("a CVRP"); // for the typed API
/// assert_eq!(typed.capacity(), 100.0);
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone)]
pub struct Instance {
    name: Arc<str>,
    label: Arc<str>, // its key in tables of optima
    problem: ProblemName,
    typed: Arc<dyn Any + Send + Sync>, // Typed<P> of the problem
}

/// The typed instance, with the metadata of its file.
pub(crate) struct Typed<P: Builtin> {
    pub name: String, // in the file, which may differ from that of the file
    pub instance: Arc<P::Instance>,
    pub solution: Option<Vec<P::Step>>,
    pub reference: Option<f64>,
}

impl Instance {
    /// Reads a file that holds one instance; problem and format are detected from its content. `-` is standard input.
    /// [`Reader`] has options, and reads files with several instances.
    ///
    /// # Errors
    /// Files that cannot be read, or do not hold exactly one instance.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Reader::default().read_one(path)
    }

    /// Like [`Instance::read`], from bytes; `name` identifies them in messages.
    ///
    /// # Errors
    /// Bytes that do not hold exactly one instance.
    pub fn parse(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Self> {
        Reader::default().parse_one(name, bytes)
    }

    /// Wraps an instance of the typed API.
    pub fn from_typed<P: Builtin>(name: impl Into<String>, instance: P::Instance) -> Self {
        Self::from_record::<P>(Record::new(name, instance))
    }

    pub(crate) fn from_record<P: Builtin>(record: Record<P>) -> Self {
        let Record { name, instance, solution, reference } = record;
        let label: Arc<str> = name.as_str().into();
        let typed = Typed::<P> { name, instance: Arc::new(instance), solution, reference };
        Instance { name: Arc::clone(&label), label, problem: ProblemName::of::<P>(), typed: Arc::new(typed) }
    }

    pub(crate) fn named(self, name: impl Into<String>, label: impl Into<String>) -> Self {
        // A file's name must not control the terminal.
        Instance { name: name.into().replace(char::is_control, "?").into(), label: label.into().into(), ..self }
    }

    /// Its name: the file's name without its extension; or the instance's own name in JSON, from standard input, and if a
    /// file holds several.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its first key in tables of optima: the file's path, or the instance's name if a file holds several or there is no
    /// file.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The problem.
    pub fn problem(&self) -> ProblemName {
        self.problem
    }

    /// Its size, in [`Instance::unit`]. The nodes of an OP include the depot, customers do not.
    pub fn size(&self) -> usize {
        dispatch!(self.problem, P => P::size(self.data::<P>()))
    }

    /// Its size with the unit: "48 nodes", "1 customer".
    pub fn sized(&self) -> String {
        let (size, unit) = (self.size(), self.unit());
        let unit = if size == 1 { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
        format!("{size} {unit}")
    }

    /// The unit of its size: "nodes", "customers", "items".
    pub fn unit(&self) -> &'static str {
        dispatch!(self.problem, P => P::UNIT)
    }

    /// The objective that its file states for its solution or for the best one, with its usual sign (prizes are
    /// positive).
    pub fn reference(&self) -> Option<f64> {
        dispatch!(self.problem, P => self.typed::<P>().reference)
    }

    /// The solution in its file, which need not be feasible ([`Solution::check`]).
    pub fn solution(&self) -> Option<Solution> {
        dispatch!(self.problem, P => {
            self.typed::<P>().solution.clone().map(|steps| Solution::from_steps::<P>(self, steps, "file"))
        })
    }

    /// The same instance with a solution, for files of labelled instances. The solution's value becomes the reference.
    ///
    /// ```
    /// use bqnco::{Instance, Solver, io::Format};
    ///
    /// let instance = Instance::tsp(&[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])?;
    /// let labelled = instance.with_solution(&Solver::new().solve(&instance)?)?;
    /// assert_eq!(labelled.reference(), Some(12.0));
    /// let file = labelled.to_bytes(Format::Json)?; // with the solution
    /// assert!(Instance::parse("labelled.json", file)?.solution().is_some());
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// Solutions of other problems, and infeasible ones.
    pub fn with_solution(&self, solution: &Solution) -> Result<Self> {
        let (name, problem, other) = (self.name(), self.problem, solution.instance().problem());
        if problem != other {
            return Err(Error::OtherSolution { instance: name.into(), found: other, expected: problem });
        }
        dispatch!(problem, P => {
            let (instance, steps) = (Arc::clone(&self.typed::<P>().instance), solution.typed_steps::<P>().to_vec());
            P::check(&instance, &steps).map_err(Error::infeasible(name))?;
            let reference = Some(P::OBJECTIVE.1 * P::cost(&instance, &steps));
            let name = self.typed::<P>().name.clone();
            let typed = Arc::new(Typed::<P> { name, instance, solution: Some(steps), reference });
            Ok(Instance { typed, ..self.clone() })
        })
    }

    /// The instance of the typed API, if it belongs to this problem.
    pub fn get<P: Builtin>(&self) -> Option<&Arc<P::Instance>> {
        self.typed.downcast_ref::<Typed<P>>().map(|typed| &typed.instance)
    }

    /// Reads a solution of this instance from a file: a tour, routes, zeros and ones, or JSON. It need not be feasible
    /// ([`Solution::check`]).
    ///
    /// # Errors
    /// Files that hold no solution of this problem.
    pub fn read_solution(&self, path: impl AsRef<Path>) -> Result<Solution> {
        self.solution_in(&Source::open(path)?)
    }

    /// Like [`Instance::read_solution`], from bytes; `name` identifies them in messages.
    ///
    /// # Errors
    /// Bytes that hold no solution of this problem.
    pub fn parse_solution(&self, name: &str, bytes: impl Into<Vec<u8>>) -> Result<Solution> {
        self.solution_in(&Source::new(name, bytes))
    }

    fn solution_in(&self, source: &Source) -> Result<Solution> {
        dispatch!(self.problem, P => {
            let file = read_solution::<P>(source, self.data::<P>())?;
            Ok(Solution::from_steps::<P>(self, file.steps, "file").claiming(file.claimed))
        })
    }

    /// A solution given as numbers: nodes or items from 0 in visiting order, routes separated by 0, the depot. It need
    /// not be feasible ([`Solution::check`]).
    ///
    /// # Errors
    /// Numbers that cannot be read as steps.
    pub fn solution_from(&self, numbers: &[usize]) -> Result<Solution> {
        dispatch!(self.problem, P => {
            let steps = P::solution_from(self.data::<P>(), numbers)?;
            Ok(Solution::from_steps::<P>(self, steps, "numbers"))
        })
    }

    /// A picture of the instance, with the solution of its file if there is one.
    pub fn draw(&self) -> Picture {
        dispatch!(self.problem, P => P::draw(self.data::<P>(), self.typed::<P>().solution.as_deref()))
            .title(&*self.name)
    }

    /// Where its nodes are on the map, y upwards; `None` if there is no map (ATSP, knapsack).
    pub fn places(&self) -> Option<&[[f64; 2]]> {
        dispatch!(self.problem, P => P::places(self.data::<P>()))
    }

    /// The instance as file content.
    ///
    /// # Errors
    /// Formats that cannot represent it.
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>> {
        write_all(std::slice::from_ref(self), format)
    }

    /// The same instance with other data; its name, solution and reference stay.
    pub(crate) fn with_data<P: Builtin>(&self, instance: P::Instance) -> Self {
        let Typed { name, solution, reference, .. } = self.typed::<P>();
        let (name, solution, instance) = (name.clone(), solution.clone(), Arc::new(instance));
        Instance { typed: Arc::new(Typed::<P> { name, instance, solution, reference: *reference }), ..self.clone() }
    }

    pub(crate) fn data<P: Builtin>(&self) -> &P::Instance {
        &self.typed::<P>().instance
    }

    pub(crate) fn typed<P: Builtin>(&self) -> &Typed<P> {
        self.typed.downcast_ref().expect("the problem's name and the instance's type agree")
    }

    pub(crate) fn record<P: Builtin>(&self) -> Record<P> {
        let Typed { name, instance, solution, reference } = self.typed::<P>();
        let (instance, solution) = (P::Instance::clone(instance), solution.clone());
        Record { name: name.clone(), instance, solution, reference: *reference }
    }
}

/// Instances of one problem as file content; solutions and references are left out if the format cannot represent them.
/// A single instance keeps the name in its file; several have those of [`Instance::name`], which tell files apart.
///
/// # Errors
/// Formats that cannot represent them, or instances of different problems.
pub fn write_all(instances: &[Instance], format: Format) -> Result<Vec<u8>> {
    let Some(first) = instances.first() else { return Err(Error::NothingToWrite) };
    if let Some(other) = instances.iter().find(|instance| instance.problem != first.problem) {
        return Err(Error::TwoProblems { one: first.problem, other: other.problem });
    }
    dispatch!(first.problem, P => {
        let mut records: Vec<Record<P>> = instances.iter().map(Instance::record).collect();
        if let [_, _, ..] = records[..] {
            records.iter_mut().zip(instances).for_each(|(record, instance)| record.name = instance.name().into());
        }
        Ok(bqnco_io::write::<P>(&records, format)?)
    })
}

/// The problem of some instances, which must be the same.
pub(crate) fn one_problem(instances: &[Instance]) -> Result<ProblemName> {
    let Some(first) = instances.first() else {
        return Err(Error::OutOfRange { setting: "instances", found: "0".into(), expected: "at least 1".into() });
    };
    match instances.iter().find(|instance| instance.problem != first.problem) {
        Some(other) => Err(Error::MixedProblems { one: first.problem, other: other.problem }),
        None => Ok(first.problem),
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Instance({}, {}, {})", self.name, self.problem, self.sized())
    }
}

impl Instance {
    /// Format and file extension of solutions of its problem.
    pub fn native_solution_format(&self) -> (Format, &'static str) {
        dispatch!(self.problem, P => P::NATIVE.solution)
    }

    /// The format in which a solution is written to a path.
    ///
    /// # Errors
    /// Extensions other than the problem's and `.json`.
    pub fn solution_format(&self, path: &Path) -> Result<Format> {
        let (native, extension) = self.native_solution_format();
        if path.extension().is_none_or(|given| given == extension) {
            return Ok(native);
        }
        if Format::of_name(path) == Some(Format::Json) {
            return Ok(Format::Json);
        }
        Err(Error::SolutionExtension { path: path.to_path_buf(), problem: self.problem, extension })
    }
}
