//! A first solution for a small fleet: bin packing by demand.

use super::data::Data;
use super::routes::Routes;

/// Best fit decreasing: the largest demand first, each into the fullest vehicle that still has room. A route visits its
/// customers in the order of their directions from the depot. `None` if some customer finds no room.
pub(super) fn best_fit(data: &Data<'_>) -> Option<Routes> {
    let mut customers: Vec<u32> = (1..data.nodes() as u32).collect();
    let demand = |customer: u32| data.demands[customer as usize];
    customers.sort_by(|&a, &b| demand(b).total_cmp(&demand(a)));
    let mut vehicles: Vec<(f64, Vec<u32>)> = Vec::new(); // load and customers
    for customer in customers {
        let fits = (0..vehicles.len()).filter(|&k| vehicles[k].0 + demand(customer) <= data.limit);
        match fits.max_by(|&a, &b| vehicles[a].0.total_cmp(&vehicles[b].0)) {
            Some(fullest) => {
                vehicles[fullest].0 += demand(customer);
                vehicles[fullest].1.push(customer);
            }
            None if vehicles.len() < data.fleet => vehicles.push((demand(customer), vec![customer])),
            None => return None,
        }
    }
    let mut all = Routes::default();
    for (_, mut route) in vehicles {
        route.sort_unstable_by_key(|&customer| (data.angles[customer as usize], customer));
        all.push(route);
    }
    Some(all)
}
