//! The neutral form between a file and a problem: named numbers.

use std::collections::BTreeMap;

use bqnco_problems::Metric;

use crate::Place;

/// An instance between a file and a problem: what every format decodes to and encodes from.
///
/// Arrays are known by name: `coordinates` `[n, 2 or 3]`, `matrix` `[n, n]`, `places` `[n, 2]` (where nodes are drawn),
/// `demands`, `prizes`, `values`, `weights` `[n]`, `capacity`, `limit`, `origin`, `destination`, `fixed_edge` (numbers).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawInstance {
    /// `Problem::NAME`, when the file says it.
    pub problem: Option<String>,
    /// The instance's name, when the file says it.
    pub name: Option<String>,
    /// From coordinates to distances; not rounded when the file does not say.
    pub metric: Option<Metric>,
    /// A solution: nodes or items from 0 in the order of the visit. Routes are separated by 0, the depot.
    pub solution: Option<Vec<usize>>,
    /// The objective the file claims for the solution or for the best one, with the sign a person expects.
    pub cost: Option<f64>,
    /// Where in the file the instance is.
    pub place: Place,
    pub(crate) arrays: BTreeMap<String, Array>,
}

/// Numbers in a shape; the last axis runs fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Length of every axis; none for a single number.
    pub shape: Vec<usize>,
    /// As many numbers as the shape's product.
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

    /// Takes an array out.
    pub fn take(&mut self, name: &str) -> Option<Array> {
        self.arrays.remove(name)
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
