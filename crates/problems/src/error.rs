//! Why an instance is invalid.

use bqnco_io::FieldError;

/// Data that do not form an instance. Positions count from 0, in the order of the data.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidInstance {
    /// Not enough nodes or items.
    #[error("{} given, at least {needed} needed", count(*found, what))]
    TooFew {
        /// What was given, in the plural.
        what: &'static str,
        /// The smallest number allowed.
        needed: usize,
        /// The number given.
        found: usize,
    },
    /// Two lists that belong together have different lengths.
    #[error("{found} {what} given, {expected} expected")]
    Length {
        /// What the list holds.
        what: &'static str,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// NaN or infinite.
    #[error("{what} number {} is {value}, a finite number is needed", index + 1)]
    NotFinite {
        /// What the number means.
        what: &'static str,
        /// Its position, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// So large that sums would lose all precision.
    #[error("{what} number {} is {value:e}, its size must not exceed 1e18", index + 1)]
    TooLarge {
        /// What the number means.
        what: &'static str,
        /// Its position, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// Below zero.
    #[error("{what} number {} is {value}, it must not be negative", index + 1)]
    Negative {
        /// What the number means.
        what: &'static str,
        /// Its position, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A capacity or limit that is not above zero.
    #[error("the {what} is {value}, it must be a finite number above zero")]
    NotPositive {
        /// What the number means.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A customer that no vehicle can serve.
    #[error("the demand of customer {customer} is {demand}, above the vehicle's capacity of {capacity}")]
    DemandAboveCapacity {
        /// The customer, from 1.
        customer: usize,
        /// Its demand.
        demand: f64,
        /// The vehicle's capacity.
        capacity: f64,
    },
    /// A fleet that cannot carry the total demand.
    #[error(
        "{} cannot carry the total demand of {demand}: at least {needed} with a capacity of {capacity} are needed",
        count(*vehicles, "vehicles")
    )]
    TooFewVehicles {
        /// The vehicles given.
        vehicles: usize,
        /// The lower bound of the bin packing problem: the demand by the capacity.
        needed: usize,
        /// The total demand.
        demand: f64,
        /// The capacity of a vehicle.
        capacity: f64,
    },
    /// Degrees that are no place on the globe.
    #[error("the {what} of node {} is {value} degrees, expected -{limit} to {limit}", index + 1)]
    Degrees {
        /// "longitude" or "latitude".
        what: &'static str,
        /// The node, from 0.
        index: usize,
        /// The coordinate.
        value: f64,
        /// The largest one.
        limit: f64,
    },
    /// A depot with a demand.
    #[error("the depot has a demand of {demand}, it must be zero")]
    DepotDemand {
        /// The demand given.
        demand: f64,
    },
    /// A distance matrix that must be symmetric and is not.
    #[error(
        "row {row}, column {column} of the matrix is {there}, but row {column}, column {row} is {back}: a symmetric \
         matrix is needed (an asymmetric TSP is problem `atsp`)",
        row = from + 1,
        column = to + 1
    )]
    Asymmetric {
        /// Row, from 0.
        from: usize,
        /// Column, from 0.
        to: usize,
        /// From row to column.
        there: f64,
        /// From column to row.
        back: f64,
    },
    /// An origin or destination that is not a node.
    #[error("{what} {index} is no node, they are numbered from 0 to {}", nodes - 1)]
    NoSuchNode {
        /// The role.
        what: &'static str,
        /// The node given.
        index: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// The metric needs coordinates of another dimension.
    #[error("the metric {metric} needs {expected} coordinates per node")]
    Dimension {
        /// The metric's TSPLIB name.
        metric: &'static str,
        /// 2 or 3.
        expected: usize,
    },
}

impl From<InvalidInstance> for FieldError {
    fn from(error: InvalidInstance) -> Self {
        FieldError::Invalid(Box::new(error))
    }
}

/// A number with its unit, which is given in the plural: "1 node", "3 nodes".
pub(crate) fn count(number: usize, units: &str) -> String {
    let unit = if number == 1 { units.strip_suffix('s').unwrap_or(units) } else { units };
    format!("{number} {unit}")
}

/// Checks that every number is finite and not negative.
pub(crate) fn finite_and_not_negative(what: &'static str, values: &[f64]) -> Result<(), InvalidInstance> {
    finite(what, values)?;
    match values.iter().position(|&value| value < 0.0) {
        Some(index) => Err(InvalidInstance::Negative { what, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Checks that every number is finite and small enough for sums of many to be meaningful.
pub(crate) fn finite(what: &'static str, values: &[f64]) -> Result<(), InvalidInstance> {
    const LARGEST: f64 = 1e18;
    match values.iter().position(|value| value.is_nan() || value.abs() > LARGEST) {
        Some(index) if values[index].is_finite() => {
            Err(InvalidInstance::TooLarge { what, index, value: values[index] })
        }
        Some(index) => Err(InvalidInstance::NotFinite { what, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Checks coordinates; positions in errors are those of nodes.
pub(crate) fn finite_points<const D: usize>(points: &[[f64; D]]) -> Result<(), InvalidInstance> {
    (0..D).try_for_each(|axis| finite("coordinate", &points.iter().map(|point| point[axis]).collect::<Vec<_>>()))
}

/// Checks longitudes and latitudes.
pub(crate) fn on_the_globe(points: &[[f64; 3]]) -> Result<(), InvalidInstance> {
    for (axis, what, limit) in [(1, "latitude", 90.0), (0, "longitude", 180.0)] {
        if let Some(index) = points.iter().position(|point| point[axis].abs() > limit) {
            return Err(InvalidInstance::Degrees { what, index, value: points[index][axis], limit });
        }
    }
    Ok(())
}

/// Checks a capacity or limit.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<(), InvalidInstance> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(InvalidInstance::NotPositive { what, value }) }
}

/// Checks the length of a list.
pub(crate) fn length(what: &'static str, expected: usize, found: usize) -> Result<(), InvalidInstance> {
    if expected == found { Ok(()) } else { Err(InvalidInstance::Length { what, expected, found }) }
}

/// Tolerance for rounding errors of a limit: zero if all arithmetic is exact.
pub(crate) fn slack(limit: f64, integral: bool) -> f64 {
    if integral && limit.fract() == 0.0 { 0.0 } else { 1e-9 * limit }
}
