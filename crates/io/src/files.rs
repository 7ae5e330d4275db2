//! Problems that have files.

use std::fmt;

use bqnco_core::Problem;

use crate::text::did_you_mean;
use crate::{FieldError, NativeFormats, RawInstance};

/// One instance as read, with what the file said about it.
pub struct Record<P: Problem> {
    /// The name in the file, else the file's own.
    pub name: String,
    /// The instance.
    pub instance: P::Instance,
    /// The solution in the file, as it stands there: `SolutionSpace::check` has not been asked.
    pub solution: Option<Vec<P::Step>>,
    /// The objective the file claims for its solution or for the best one, with the sign a person expects.
    pub reference: Option<f64>,
}

impl<P: Problem> Record<P> {
    /// An instance about which nothing else is known.
    pub fn new(name: impl Into<String>, instance: P::Instance) -> Self {
        Record { name: name.into(), instance, solution: None, reference: None }
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
    /// The steps, as they stand in the file: `SolutionSpace::check` has not been asked.
    pub steps: Vec<S>,
    /// The objective the file claims, with the sign a person expects.
    pub claimed: Option<f64>,
}

/// A problem that has files: everything a format must know about a problem, and nothing about formats.
pub trait Files: Problem {
    /// The formats of the problem's own world.
    const NATIVE: NativeFormats;
    /// The names of the arrays an instance may have.
    const FIELDS: &'static [&'static str];

    /// Whether named numbers look like this problem and no other, for files that do not say.
    fn recognises(fields: &RawInstance) -> bool;

    /// The instance that the numbers describe; takes what it uses.
    ///
    /// # Errors
    /// Missing numbers, wrong shapes, numbers that form no instance.
    fn instance_from(fields: &mut RawInstance) -> Result<Self::Instance, FieldError>;

    /// The numbers that describe an instance.
    fn instance_to(instance: &Self::Instance, fields: &mut RawInstance);

    /// The steps of a solution given as numbers (see [`RawInstance::solution`]), which may start and end anywhere that
    /// means the same solution.
    ///
    /// # Errors
    /// When the numbers cannot be read as steps; feasibility is not checked.
    fn solution_from(instance: &Self::Instance, numbers: &[usize]) -> Result<Vec<Self::Step>, FieldError>;

    /// A solution as numbers.
    fn solution_to(instance: &Self::Instance, steps: &[Self::Step]) -> Vec<usize>;
}

/// What every instance may have.
const COMMON: [&str; 5] = ["problem", "name", "metric", "solution", "cost"];

/// From numbers to a record.
pub(crate) fn record<P: Files>(mut fields: RawInstance, stem: String) -> Result<Record<P>, FieldError> {
    let instance = P::instance_from(&mut fields)?;
    if let Some(field) = fields.names().next() {
        let hint = did_you_mean(field, P::FIELDS.iter().copied().chain(COMMON));
        return Err(FieldError::Unknown { problem: P::NAME, field: field.to_string(), hint });
    }
    let solution = fields.solution.map(|numbers| P::solution_from(&instance, &numbers)).transpose()?;
    Ok(Record { name: fields.name.unwrap_or(stem), instance, solution, reference: fields.cost })
}

/// From a record to numbers.
pub(crate) fn fields<P: Files>(record: &Record<P>) -> RawInstance {
    let mut fields = RawInstance {
        problem: Some(P::NAME.to_string()),
        name: Some(record.name.clone()),
        solution: record.solution.as_ref().map(|steps| P::solution_to(&record.instance, steps)),
        cost: record.reference,
        ..RawInstance::default()
    };
    P::instance_to(&record.instance, &mut fields);
    fields
}
