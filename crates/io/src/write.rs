//! From instances and solutions to bytes.

use crate::files::fields;
use crate::formats;
use crate::{Array, Files, Format, RawInstance, Record, WriteError};

/// Writes instances. Reading gives them back bit by bit; solutions and references are left out where the format has no
/// place for them.
///
/// # Errors
/// Formats that cannot hold these instances.
pub fn write<P: Files>(records: &[Record<P>], format: Format) -> Result<Vec<u8>, WriteError> {
    if records.len() != 1 && !format.holds_many() {
        return Err(WriteError::OneOnly { format, found: records.len() });
    }
    formats::encode(records.iter().map(fields::<P>).collect(), format)
}

/// Writes a solution with its objective, which is computed here and nowhere else.
///
/// # Errors
/// Infeasible solutions, and formats that cannot hold solutions of this problem.
pub fn write_solution<P: Files>(
    name: &str,
    instance: &P::Instance,
    steps: &[P::Step],
    format: Format,
) -> Result<Vec<u8>, WriteError> {
    P::check(instance, steps)?;
    let (objective, sign) = P::OBJECTIVE;
    let value = sign * P::cost(instance, steps);
    let numbers = P::solution_to(instance, steps);
    let own = P::NATIVE.solution.0;
    if format != own && format != Format::Json {
        let what = format!("a solution of problem {}", P::NAME);
        return Err(WriteError::Unsupported { format, what, instead: own });
    }
    let solution = RawInstance {
        problem: Some(P::NAME.to_string()),
        name: Some(name.to_string()),
        solution: Some(numbers),
        cost: Some(value),
        ..RawInstance::default()
    };
    Ok(formats::encode_solution(solution, format, (objective, value), P::steps(instance).len()))
}

/// Refuses fields that an encoder did not take.
pub(crate) fn all_written(format: Format, rest: &RawInstance, instead: Format) -> Result<(), WriteError> {
    match rest.names().next() {
        Some(name) => Err(WriteError::Unsupported { format, what: format!("`{name}`"), instead }),
        None => Ok(()),
    }
}

/// Takes an array that an encoder cannot do without.
pub(crate) fn take(fields: &mut RawInstance, name: &str, format: Format, instead: Format) -> Result<Array, WriteError> {
    let what = || format!("an instance of problem {} without `{name}`", fields.problem.as_deref().unwrap_or("?"));
    let unsupported = WriteError::Unsupported { format, what: what(), instead };
    fields.take(name).ok_or(unsupported)
}
