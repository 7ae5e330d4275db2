//! From instances and solutions to bytes.

use crate::formats;
use crate::{Array, Format, InstanceIo, RawInstance, Recogniser, Record, WriteError};

/// Writes instances. Reading restores them bit by bit; solutions and references are left out if the format has no place
/// for them.
///
/// # Errors
/// Formats that cannot hold these instances.
pub fn write<P: InstanceIo>(records: &[Record<P>], format: Format) -> Result<Vec<u8>, WriteError> {
    if records.len() != 1 && !format.holds_many() {
        return Err(WriteError::OneOnly { format, found: records.len() });
    }
    formats::encode(records.iter().map(Record::to_fields).collect(), format, Recogniser::of::<P>())
}

/// Writes a solution with its objective.
///
/// # Errors
/// Infeasible solutions, and formats that cannot hold solutions of this problem.
pub fn write_solution<P: InstanceIo>(
    name: &str,
    instance: &P::Instance,
    steps: &[P::Step],
    format: Format,
) -> Result<Vec<u8>, WriteError> {
    P::check(instance, steps)?;
    let (objective, sign) = P::OBJECTIVE;
    let value = sign * P::cost(instance, steps);
    let numbers = P::solution_to(instance, steps);
    let native = P::NATIVE.solution.0;
    if format != native && format != Format::Json {
        let what = format!("a solution of problem {}", P::NAME);
        return Err(WriteError::Unsupported { format, what, instead: native });
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

/// Refuses an instance with fields that an encoder did not take.
pub(crate) fn all_written(format: Format, rest: &RawInstance, instead: Format) -> Result<(), WriteError> {
    match rest.names().next() {
        Some(name) => Err(WriteError::Unsupported { format, what: format!("`{name}`"), instead }),
        None => Ok(()),
    }
}

/// Takes an array that an encoder needs.
pub(crate) fn take(raw: &mut RawInstance, name: &str, format: Format, instead: Format) -> Result<Array, WriteError> {
    let what = || format!("an instance of problem {} without `{name}`", raw.problem.as_deref().unwrap_or("?"));
    let unsupported = WriteError::Unsupported { format, what: what(), instead };
    raw.take(name).ok_or(unsupported)
}
