//! Constructors of instances from plain numbers.

use bqnco_problems::{Atsp, Cvrp, Geometry, Knapsack, Metric, Op, Pctsp, Tsp, atsp, cvrp, knapsack, op, pctsp, tsp};

use crate::{Error, Instance, Result};

/// Nodes of a map: points in the plane, or distances between all pairs.
///
/// ```
/// use bqnco::{Instance, Nodes, Solver};
///
/// let by_places = Instance::tsp(&[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])?;
/// let matrix = [0.0, 3.0, 5.0, 3.0, 0.0, 4.0, 5.0, 4.0, 0.0];
/// let by_distances = Instance::tsp(Nodes::Distances { nodes: 3, matrix: &matrix })?;
/// assert_eq!(Solver::new().solve(&by_places)?.value(), Solver::new().solve(&by_distances)?.value());
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Nodes<'a> {
    /// Coordinates; distances are Euclidean and not rounded.
    Places(&'a [[f64; 2]]),
    /// A symmetric matrix, row by row.
    Distances {
        /// Number of nodes.
        nodes: usize,
        /// `nodes * nodes` distances.
        matrix: &'a [f64],
    },
}

impl<'a, const N: usize> From<&'a [[f64; 2]; N]> for Nodes<'a> {
    fn from(places: &'a [[f64; 2]; N]) -> Self {
        Nodes::Places(places)
    }
}

impl<'a> From<&'a [[f64; 2]]> for Nodes<'a> {
    fn from(places: &'a [[f64; 2]]) -> Self {
        Nodes::Places(places)
    }
}

impl<'a> From<&'a Vec<[f64; 2]>> for Nodes<'a> {
    fn from(places: &'a Vec<[f64; 2]>) -> Self {
        Nodes::Places(places)
    }
}

impl Nodes<'_> {
    fn geometry(&self) -> Result<Geometry> {
        Ok(match self {
            Nodes::Places(places) => Geometry::planar(places.to_vec(), Metric::Exact)?,
            Nodes::Distances { nodes, matrix } => Geometry::explicit(*nodes, matrix.to_vec())?,
        })
    }
}

impl Instance {
    /// A travelling salesman tour through all nodes.
    ///
    /// ```
    /// let square = bqnco::Instance::tsp(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])?;
    /// assert_eq!(bqnco::Solver::new().solve(&square)?.value(), 4.0);
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fewer than two nodes, numbers that are not finite, or a matrix that is not symmetric.
    pub fn tsp<'a>(nodes: impl Into<Nodes<'a>>) -> Result<Self> {
        Ok(Self::from_typed::<Tsp>("tsp", tsp::Instance::tour(nodes.into().geometry()?)?))
    }

    /// A tour whose costs depend on the direction: `nodes * nodes` numbers, from row to column.
    ///
    /// ```
    /// let instance = bqnco::Instance::atsp(3, &[0.0, 1.0, 9.0, 9.0, 0.0, 1.0, 1.0, 9.0, 0.0])?;
    /// assert_eq!(bqnco::Solver::new().solve(&instance)?.value(), 3.0);
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// A matrix that is not square, fewer than two nodes, or numbers that are negative or not finite.
    pub fn atsp(nodes: usize, costs: &[f64]) -> Result<Self> {
        Ok(Self::from_typed::<Atsp>("atsp", atsp::Instance::tour(nodes, costs.to_vec())?))
    }

    /// Routes from a depot, the first node, that serve all customers within a vehicle's capacity. One demand per
    /// customer.
    ///
    /// ```
    /// let places = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0]];
    /// let instance = bqnco::Instance::cvrp(&places, &[1.0, 1.0, 2.0], 2.0)?;
    /// assert_eq!(bqnco::Solver::new().solve(&instance)?.value(), 6.0);
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// Too few nodes, the wrong number of demands, numbers that are negative or not finite, or a demand above the
    /// capacity.
    pub fn cvrp<'a>(nodes: impl Into<Nodes<'a>>, demands: &[f64], capacity: f64) -> Result<Self> {
        let demands = std::iter::once(0.0).chain(demands.iter().copied()).collect();
        let instance = cvrp::Instance::new(nodes.into().geometry()?, demands, capacity)?;
        Ok(Self::from_typed::<Cvrp>("cvrp", instance))
    }

    /// The same routing problem with at most so many vehicles, whose routes [`Solution::check`](crate::Solution::check)
    /// counts. A limit from a file is replaced.
    ///
    /// ```
    /// use bqnco::{Instance, Solver};
    ///
    /// let places = [[0.0, 0.0], [0.0, 1.0], [-1.0, -2.0], [1.0, -2.0]];
    /// let free = Instance::cvrp(&places, &[2.0, 1.0, 1.0], 3.0)?;
    /// assert_eq!(Solver::new().solve(&free)?.routes().len(), 2);
    /// assert!(free.with_vehicles(1).is_err()); // the total demand is 4
    /// let limited = free.with_vehicles(2)?;
    /// assert!(Solver::new().solve(&limited)?.routes().len() <= 2);
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// Other problems than the CVRP, or fewer vehicles than the total demand needs.
    pub fn with_vehicles(&self, vehicles: usize) -> Result<Self> {
        let Some(instance) = self.get::<Cvrp>() else {
            return Err(Error::NoVehicles { problem: self.problem() });
        };
        let limited = cvrp::Instance::clone(instance).with_vehicles(vehicles)?;
        Ok(self.with_data::<Cvrp>(limited))
    }

    /// A closed route from the first node of at most the given length that collects as much prize as possible. One
    /// prize per node.
    ///
    /// ```
    /// let places = [[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]];
    /// let instance = bqnco::Instance::op(&places, &[0.0, 3.0, 9.0], 4.0)?;
    /// assert_eq!(bqnco::Solver::new().solve(&instance)?.value(), 3.0);
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// The wrong number of prizes, or numbers that are negative or not finite.
    pub fn op<'a>(nodes: impl Into<Nodes<'a>>, prizes: &[f64], limit: f64) -> Result<Self> {
        let instance = op::Instance::new(nodes.into().geometry()?, prizes.to_vec(), limit)?;
        Ok(Self::from_typed::<Op>("op", instance))
    }

    /// The items of greatest total value whose weights fit a capacity.
    ///
    /// ```
    /// let instance = bqnco::Instance::knapsack(&[3.0, 4.0, 5.0], &[2.0, 3.0, 4.0], 5.0)?;
    /// assert_eq!(bqnco::Solver::new().search(bqnco::Search::expert()).solve(&instance)?.value(), 7.0);
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// Lists of different lengths, or numbers that are negative or not finite.
    pub fn knapsack(values: &[f64], weights: &[f64], capacity: f64) -> Result<Self> {
        let instance = knapsack::Instance::new(values.to_vec(), weights.to_vec(), capacity)?;
        Ok(Self::from_typed::<Knapsack>("knapsack", instance))
    }

    /// A tour from the first node that collects a quota of prizes; every unvisited node costs a penalty. One prize and
    /// one penalty per node; those of the first node are ignored.
    ///
    /// ```
    /// let places = [[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]];
    /// let instance = bqnco::Instance::pctsp(&places, &[0.0, 1.0, 1.0], &[0.0, 5.0, 0.5], 1.0)?;
    /// assert_eq!(bqnco::Solver::new().solve(&instance)?.value(), 2.5); // there and back, and the penalty of the third
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// Lists of different lengths, numbers that are negative or not finite, or a quota that is not positive.
    pub fn pctsp<'a>(nodes: impl Into<Nodes<'a>>, prizes: &[f64], penalties: &[f64], quota: f64) -> Result<Self> {
        let geometry = nodes.into().geometry()?;
        let instance = pctsp::Instance::new(geometry, prizes.to_vec(), penalties.to_vec(), quota)?;
        Ok(Self::from_typed::<Pctsp>("pctsp", instance))
    }
}
