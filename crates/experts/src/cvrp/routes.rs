//! Sets of routes, one after the other in a giant tour.

use bqnco_problems::cvrp::{Step, from_routes, routes};

use super::data::Data;

/// Routes as a giant tour (all customers, without the depot) and the positions where it is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Routes {
    /// All customers, route by route.
    pub tour: Vec<u32>,
    /// Where each route ends in the tour (exclusive).
    pub ends: Vec<u32>,
}

impl Routes {
    /// The customers of each route.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.tour[start as usize..end as usize])
    }

    /// Adds a route. Empty routes are dropped.
    pub fn push(&mut self, route: impl IntoIterator<Item = u32>) {
        let before = self.tour.len();
        self.tour.extend(route);
        if self.tour.len() > before {
            self.ends.push(self.tour.len() as u32);
        }
    }

    /// The routes of a feasible solution.
    pub fn from_steps(steps: &[Step]) -> Self {
        let mut all = Routes::default();
        for route in routes(steps) {
            all.push(route.iter().map(|&customer| customer as u32));
        }
        all
    }

    /// The solution that consists of these routes.
    pub fn to_steps(&self) -> Vec<Step> {
        let routes: Vec<Vec<usize>> =
            self.iter().map(|route| route.iter().map(|&customer| customer as usize).collect()).collect();
        from_routes(&routes)
    }

    /// Total length, and total load above the limit.
    pub fn measure(&self, data: &Data<'_>) -> (f64, f64) {
        let (mut length, mut excess) = (0.0, 0.0);
        for route in self.iter() {
            let mut at = 0;
            let mut load = 0.0;
            for &customer in route {
                length += data.distance(at, customer as usize);
                load += data.demands[customer as usize];
                at = customer as usize;
            }
            length += data.distance(at, 0);
            excess += (load - data.limit).max(0.0);
        }
        (length, excess)
    }
}
