//! The neutral form between a file and a problem: named arrays of numbers.

use std::collections::BTreeMap;

use crate::{FieldError, Metric, Place};

/// An instance between a file and a problem: what every format decodes to and encodes from.
///
/// Arrays are identified by name; [`Field`](crate::Field) lists those that formats have keywords for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawInstance {
    /// `Problem::NAME`, if the file states it.
    pub problem: Option<String>,
    /// The instance's name, if the file states it.
    pub name: Option<String>,
    /// From coordinates to distances; unrounded if the file does not state it.
    pub metric: Option<Metric>,
    /// A solution: nodes or items from 0 in the order of the visit. Routes are separated by 0, the depot.
    pub solution: Option<Vec<usize>>,
    /// The objective that the file claims for the solution or for the best one, as reported to users (see
    /// `Problem::OBJECTIVE`).
    pub cost: Option<f64>,
    /// Where in the file the instance is.
    pub place: Place,
    pub(crate) arrays: BTreeMap<String, Array>,
}

/// Numbers in a shape; the last axis runs fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Length of every axis; empty for a single number.
    pub shape: Vec<usize>,
    /// As many numbers as the product of the shape.
    pub values: Vec<f64>,
}

impl Array {
    /// A single number.
    pub fn scalar(value: f64) -> Self {
        Array { shape: Vec::new(), values: vec![value] }
    }

    /// One number per node or item.
    pub fn list(values: Vec<f64>) -> Self {
        Array { shape: vec![values.len()], values }
    }

    /// Rows of equal length; `values` must hold a whole number of them.
    pub fn table(columns: usize, values: Vec<f64>) -> Self {
        Array { shape: vec![values.len() / columns.max(1), columns], values }
    }
}

impl RawInstance {
    /// Adds an array; an earlier one of the same name is replaced.
    pub fn insert(&mut self, name: impl Into<String>, array: Array) {
        self.arrays.insert(name.into(), array);
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// The array of this name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.arrays.get(name)
    }

    /// Removes and returns an array.
    pub fn take(&mut self, name: &str) -> Option<Array> {
        self.arrays.remove(name)
    }

    /// Removes and returns a list of numbers, one per node or item.
    ///
    /// # Errors
    /// An array of another shape.
    pub fn take_list(&mut self, name: &'static str) -> Result<Option<Vec<f64>>, FieldError> {
        let Some(array) = self.take(name) else { return Ok(None) };
        match array.shape.len() {
            1 => Ok(Some(array.values)),
            _ => Err(FieldError::Shape { field: name.to_string(), expected: "[n]", found: array.shape }),
        }
    }

    /// Removes and returns a single number.
    ///
    /// # Errors
    /// An array of another shape.
    pub fn take_number(&mut self, name: &'static str) -> Result<Option<f64>, FieldError> {
        let Some(array) = self.take(name) else { return Ok(None) };
        match array.values[..] {
            [value] => Ok(Some(value)),
            _ => Err(FieldError::Shape { field: name.to_string(), expected: "[]", found: array.shape }),
        }
    }

    /// Removes and returns the index of a node.
    ///
    /// # Errors
    /// An array of another shape, or a number that is not an index.
    pub fn take_node(&mut self, field: &'static str) -> Result<Option<usize>, FieldError> {
        let Some(found) = self.take_number(field)? else { return Ok(None) };
        as_index(found).map(Some).ok_or(FieldError::Node { field, found })
    }

    /// Removes and returns a number of things, at least one.
    ///
    /// # Errors
    /// An array of another shape, or a number that is no such count.
    pub fn take_count(&mut self, field: &'static str) -> Result<Option<usize>, FieldError> {
        let Some(found) = self.take_number(field)? else { return Ok(None) };
        as_index(found).filter(|&count| count > 0).map(Some).ok_or(FieldError::Count { field, found })
    }

    /// The names of all arrays, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// All arrays, in alphabetical order of their names.
    pub fn arrays(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.arrays.iter().map(|(name, array)| (name.as_str(), array))
    }
}

/// A number as an index, if it is one.
pub(crate) fn as_index(number: f64) -> Option<usize> {
    (number >= 0.0 && number.fract() == 0.0 && number < 1e15).then_some(number as usize)
}
