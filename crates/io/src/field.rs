//! The fields of instances: names under which numbers pass between formats and problems.

use crate::Recogniser;

/// A field of the instances of a problem: an array of a [`RawInstance`](crate::RawInstance) with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name in JSON and npz files, and in messages.
    pub name: &'static str,
    /// The shape of the array.
    pub shape: Shape,
    /// Headings of the field's column in CSV files, in the singular; the first one is written.
    pub columns: &'static [&'static str],
}

/// The shape of a [`Field`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A single number.
    Number,
    /// One number per node or item: `[n]`.
    List,
    /// Several numbers per node: `[n, k]`.
    Table,
}

impl Field {
    /// A single number.
    pub const fn number(name: &'static str) -> Self {
        Field { name, shape: Shape::Number, columns: &[] }
    }

    /// One number per node or item.
    pub const fn list(name: &'static str, columns: &'static [&'static str]) -> Self {
        Field { name, shape: Shape::List, columns }
    }

    /// Several numbers per node.
    pub const fn table(name: &'static str) -> Self {
        Field { name, shape: Shape::Table, columns: &[] }
    }

    /// Coordinates of the nodes: `[n, 2]`, or `[n, 3]` for [`Metric::Euc3d`](crate::Metric::Euc3d).
    pub const COORDINATES: Field = Field::table("coordinates");
    /// Distances from row to column: `[n, n]`.
    pub const MATRIX: Field = Field::table("matrix");
    /// Where nodes are drawn, if that does not follow from the distances: `[n, 2]`.
    pub const PLACES: Field = Field::table("places");
    /// Demand of every node.
    pub const DEMANDS: Field = Field::list("demands", &["demand"]);
    /// Prize of every node.
    pub const PRIZES: Field = Field::list("prizes", &["prize", "score"]);
    /// Value of every item.
    pub const VALUES: Field = Field::list("values", &["value", "profit"]);
    /// Weight of every item.
    pub const WEIGHTS: Field = Field::list("weights", &["weight"]);
    /// Capacity of a vehicle or knapsack.
    pub const CAPACITY: Field = Field::number("capacity");
    /// Number of vehicles: the largest number of routes.
    pub const VEHICLES: Field = Field::number("vehicles");
    /// Length limit of a route.
    pub const LIMIT: Field = Field::number("limit");
    /// First node of a path.
    pub const ORIGIN: Field = Field::number("origin");
    /// Last node of a path.
    pub const DESTINATION: Field = Field::number("destination");

    /// The fields that formats of this crate have keywords for. A problem may define others; JSON, CSV and npz hold any.
    pub const KNOWN: [Field; 12] = [
        Field::COORDINATES,
        Field::MATRIX,
        Field::PLACES,
        Field::DEMANDS,
        Field::PRIZES,
        Field::VALUES,
        Field::WEIGHTS,
        Field::CAPACITY,
        Field::VEHICLES,
        Field::LIMIT,
        Field::ORIGIN,
        Field::DESTINATION,
    ];
}

/// The known fields and those that the problems define.
pub(crate) fn vocabulary(problems: &[Recogniser]) -> Vec<Field> {
    let mut fields = Field::KNOWN.to_vec();
    for field in problems.iter().flat_map(|problem| problem.fields) {
        if fields.iter().all(|known| known.name != field.name) {
            fields.push(*field);
        }
    }
    fields
}
