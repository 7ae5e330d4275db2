//! Problems whose instances and solutions can be read and written.

use std::fmt;

use bqnco_core::Problem;

use crate::text::did_you_mean;
use crate::{Field, FieldError, NativeFormats, RawInstance};

/// One instance as read, with what the file says about it.
pub struct Record<P: Problem> {
    /// The name in the file, by default the file's own.
    pub name: String,
    /// The instance.
    pub instance: P::Instance,
    /// The solution in the file, which may be infeasible: `SolutionSpace::check` has not been called.
    pub solution: Option<Vec<P::Step>>,
    /// The objective that the file claims for its solution or for the best one, as reported to users (see
    /// `Problem::OBJECTIVE`).
    pub reference: Option<f64>,
}

impl<P: Problem> Record<P> {
    /// An instance without a solution or reference.
    pub fn new(name: impl Into<String>, instance: P::Instance) -> Self {
        Record { name: name.into(), instance, solution: None, reference: None }
    }
}

impl<P: InstanceIo> Record<P> {
    /// The record that numbers describe; `stem` is its name if they have none.
    ///
    /// # Errors
    /// Missing and unknown fields, wrong shapes, invalid numbers.
    pub fn from_fields(mut fields: RawInstance, stem: String) -> Result<Self, FieldError> {
        let instance = P::instance_from(&mut fields)?;
        if let Some(field) = fields.names().next() {
            let hint = did_you_mean(field, P::FIELDS.iter().map(|field| field.name).chain(COMMON));
            return Err(FieldError::Unknown { problem: P::NAME, field: field.to_string(), hint });
        }
        let solution = fields.solution.map(|numbers| P::solution_from(&instance, &numbers)).transpose()?;
        Ok(Record { name: fields.name.unwrap_or(stem), instance, solution, reference: fields.cost })
    }

    /// The numbers that describe it.
    pub fn to_fields(&self) -> RawInstance {
        let mut fields = RawInstance {
            problem: Some(P::NAME.to_string()),
            name: Some(self.name.clone()),
            solution: self.solution.as_ref().map(|steps| P::solution_to(&self.instance, steps)),
            cost: self.reference,
            ..RawInstance::default()
        };
        P::instance_to(&self.instance, &mut fields);
        fields
    }
}

impl<P: Problem> fmt::Debug for Record<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Record");
        debug.field("name", &self.name).field("solution", &self.solution).field("reference", &self.reference);
        debug.finish_non_exhaustive()
    }
}

/// A solution as read.
#[derive(Clone, Debug, PartialEq)]
pub struct SolutionFile<S> {
    /// The steps, which may be infeasible: `SolutionSpace::check` has not been called.
    pub steps: Vec<S>,
    /// The objective that the file claims, as reported to users (see `Problem::OBJECTIVE`).
    pub claimed: Option<f64>,
}

/// A route of a solution: what one vehicle does.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The customers in the order of the visit, without the depot.
    pub customers: Vec<usize>,
    /// The sum of their demands.
    pub load: f64,
    /// From the depot and back to it.
    pub length: f64,
}

/// A problem whose instances and solutions can be read and written, in every format that can hold its fields.
pub trait InstanceIo: Problem {
    /// The usual formats of the problem.
    const NATIVE: NativeFormats;
    /// The fields that an instance may have. JSON, CSV and npz hold any fields; other formats hold those that they have
    /// keywords for.
    const FIELDS: &'static [Field];

    /// The number of nodes, depots included, or items: what TSPLIB calls `DIMENSION`.
    fn dimension(instance: &Self::Instance) -> usize {
        Self::size(instance)
    }

    /// Whether an instance of a file that does not name its problem may be of this one. If several problems accept it, the
    /// one that has most of its fields is chosen.
    fn recognises(raw: &RawInstance) -> bool;

    /// The instance that the numbers describe; removes the arrays that it uses.
    ///
    /// # Errors
    /// Missing fields, wrong shapes, invalid numbers.
    fn instance_from(raw: &mut RawInstance) -> Result<Self::Instance, FieldError>;

    /// Adds the numbers that describe an instance.
    fn instance_to(instance: &Self::Instance, raw: &mut RawInstance);

    /// The steps of a solution given as numbers (see [`RawInstance::solution`]), for example a tour that may start at any
    /// of its nodes.
    ///
    /// # Errors
    /// When the numbers cannot be read as steps; feasibility is not checked.
    fn solution_from(instance: &Self::Instance, numbers: &[usize]) -> Result<Vec<Self::Step>, FieldError>;

    /// A solution as numbers.
    fn solution_to(instance: &Self::Instance, steps: &[Self::Step]) -> Vec<usize>;

    /// The routes of a feasible solution, for problems whose solutions have several; none for others.
    fn routes(_instance: &Self::Instance, _steps: &[Self::Step]) -> Vec<Route> {
        Vec::new()
    }
}

/// Keys that every instance may have.
const COMMON: [&str; 5] = ["problem", "name", "metric", "solution", "cost"];
