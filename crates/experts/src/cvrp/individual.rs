//! One member of a population.

use super::routes::Routes;

/// Routes with the data that the population needs about them.
pub(super) struct Individual {
    pub routes: Routes,
    pub length: f64,
    pub excess: f64,       // load above the limit, over all routes
    links: Vec<[u32; 2]>,  // per customer its neighbours in the route, before and after; the depot is 0
    pub id: u64,           // unique in its population
    near: Vec<(u32, u64)>, // broken pairs with every other member and its id, ascending
}

impl Individual {
    /// An individual that is not yet in a population.
    pub fn new(routes: Routes, (length, excess): (f64, f64)) -> Self {
        let mut links = vec![[0, 0]; routes.tour.len() + 1];
        for route in routes.iter() {
            for pair in route.windows(2) {
                links[pair[0] as usize][1] = pair[1];
                links[pair[1] as usize][0] = pair[0];
            }
        }
        Individual { routes, length, excess, links, id: 0, near: Vec::new() }
    }

    /// Length plus the price of the excess.
    pub fn cost(&self, penalty: f64) -> f64 {
        self.length + penalty * self.excess
    }

    /// Number of adjacent pairs of this individual that the other does not have (broken-pairs distance).
    pub fn broken_pairs(&self, other: &Individual) -> u32 {
        let pairs = self.links.iter().zip(&other.links).skip(1);
        let broken = pairs.map(|(&[before, after], theirs)| {
            let next = !theirs.contains(&after);
            let first = before == 0 && !theirs.contains(&0);
            u32::from(next) + u32::from(first)
        });
        broken.sum()
    }

    /// Records the distance to another member.
    pub fn meet(&mut self, id: u64, distance: u32) {
        let place = self.near.partition_point(|&known| known < (distance, id));
        self.near.insert(place, (distance, id));
    }

    /// Removes a member from the recorded distances.
    pub fn part(&mut self, id: u64) {
        self.near.retain(|&(_, known)| known != id);
    }

    /// Sum of the distances to the closest members.
    pub fn isolation(&self, members: usize) -> f64 {
        let closest = &self.near[..members.min(self.near.len())];
        closest.iter().map(|&(distance, _)| f64::from(distance)).sum::<f64>() / closest.len().max(1) as f64
    }

    /// Whether another member has the same routes.
    pub fn is_clone(&self) -> bool {
        self.near.first().is_some_and(|&(distance, _)| distance == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn individual(routes: &[&[u32]]) -> Individual {
        let mut all = Routes::default();
        routes.iter().for_each(|route| all.push(route.iter().copied()));
        Individual::new(all, (0.0, 0.0))
    }

    #[test]
    fn broken_pairs_ignore_direction_and_order_of_routes() {
        let [a, b] = [individual(&[&[1, 2, 3], &[4, 5]]), individual(&[&[5, 4], &[3, 2, 1]])];
        assert_eq!(a.broken_pairs(&b), 0);
        // 3-0, 0-4, 0-1: the last two are found at the first customers.
        let c = individual(&[&[1, 2, 3, 4, 5]]);
        assert_eq!(a.broken_pairs(&c), 2);
        assert_eq!(c.broken_pairs(&a), 1);
    }
}
