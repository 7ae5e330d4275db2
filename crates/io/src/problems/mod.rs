//! The problems of the paper, each in a file of its own, and what the crate must know to tell them apart.

mod atsp;
mod cvrp;
mod geometry;
mod knapsack;
mod op;
mod tsp;

use bqnco_core::Problem;
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};

use crate::text::did_you_mean;
use crate::{FieldError, Files, RawInstance};

/// A problem as [`crate::detect`] sees it.
struct Kind {
    name: &'static str,
    recognises: fn(&RawInstance) -> bool,
}

impl Kind {
    const fn of<P: Files>() -> Self {
        Kind { name: P::NAME, recognises: P::recognises }
    }
}

/// The problems that [`identify`] chooses among. The registry of the product lies above this crate and cannot be asked
/// here, so a new problem adds itself to this table as well; without it files are read only when the problem is named.
const KINDS: [Kind; 5] =
    [Kind::of::<Tsp>(), Kind::of::<Atsp>(), Kind::of::<Cvrp>(), Kind::of::<Op>(), Kind::of::<Knapsack>()];

/// The problem that the fields name, or the one they look like.
///
/// # Errors
/// What was expected and found, in words.
pub(crate) fn identify(fields: &RawInstance) -> Result<&'static str, (String, String)> {
    let names = || KINDS.iter().map(|kind| kind.name);
    match &fields.problem {
        Some(problem) => names().find(|name| name == problem).ok_or_else(|| {
            let expected = format!("one of the problems {}", names().collect::<Vec<_>>().join(", "));
            (expected, format!("`{problem}`{}", did_you_mean(problem, names())))
        }),
        None => KINDS.iter().find(|kind| (kind.recognises)(fields)).map(|kind| kind.name).ok_or_else(|| {
            let found: Vec<_> = fields.names().map(|name| format!("`{name}`")).collect();
            let found = if found.is_empty() { "nothing".to_string() } else { found.join(", ") };
            ("the numbers of a known problem".to_string(), found)
        }),
    }
}

/// Takes a list of numbers, one per node or item.
fn take_list(fields: &mut RawInstance, name: &'static str, missing: FieldError) -> Result<Vec<f64>, FieldError> {
    let array = fields.take(name).ok_or(missing)?;
    match array.shape.len() {
        1 => Ok(array.values),
        _ => Err(FieldError::Shape { field: name.to_string(), expected: "[n]", found: array.shape }),
    }
}

/// Takes a single number.
fn take_number(fields: &mut RawInstance, name: &'static str) -> Result<Option<f64>, FieldError> {
    let Some(array) = fields.take(name) else { return Ok(None) };
    match array.values[..] {
        [value] => Ok(Some(value)),
        _ => Err(FieldError::Shape { field: name.to_string(), expected: "[]", found: array.shape }),
    }
}

/// Takes a node's number.
fn take_node(fields: &mut RawInstance, field: &'static str) -> Result<Option<usize>, FieldError> {
    let Some(found) = take_number(fields, field)? else { return Ok(None) };
    node(found).map(Some).ok_or(FieldError::Node { field, found })
}

/// A number as an index, if it is one.
pub(crate) fn node(number: f64) -> Option<usize> {
    (number >= 0.0 && number.fract() == 0.0 && number < 1e15).then_some(number as usize)
}

fn missing<P: Problem>(field: &'static str) -> FieldError {
    FieldError::Missing { problem: P::NAME, field }
}

/// A closed tour, from any of its nodes, as the sequence that starts behind `origin`. A repeated first node at the end is
/// dropped. Sequences without the origin stay as they are.
fn from_origin(tour: &[usize], origin: usize) -> Vec<usize> {
    let open = match tour {
        [first, middle @ .., last] if first == last && !middle.is_empty() => &tour[..tour.len() - 1],
        _ => tour,
    };
    match open.iter().position(|&node| node == origin) {
        Some(at) => open[at + 1..].iter().chain(&open[..at]).copied().collect(),
        None => open.to_vec(),
    }
}
