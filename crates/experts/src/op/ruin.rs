//! Changes a route at random so that refilling it reaches new solutions.

use bqnco_core::Random;
use rand::RngExt;

use super::field::{FIRST, Field};
use super::fill::cheapest;
use super::route::Route;
use super::shorten::Agenda;

/// Longest chain and largest cluster that is removed.
const MOST_REMOVED: usize = 12;
/// Maximum number of nodes removed at random positions.
const MOST_SCATTERED: usize = 6;
/// Maximum number of nodes inserted by force besides the first, so that the route reaches another cluster. Small
/// numbers are more likely.
const MOST_FORCED: f64 = 25.0;

/// Removes nodes, or inserts nodes by force, and returns those inserted. The route may then exceed the limit.
pub(super) fn ruin(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, rng: &mut Random) -> Vec<u32> {
    match rng.random_range(0..10) {
        _ if route.visited().is_empty() => {}
        0..3 => remove_chain(field, route, agenda, rng),
        3..5 => remove_cluster(field, route, agenda, rng),
        5..7 => remove_scattered(field, route, agenda, rng),
        _ => return force_in(field, route, agenda, rng),
    }
    Vec::new()
}

fn remove(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, node: u32) {
    let (before, after) = (route.previous(node), route.next(node));
    route.remove(field, node);
    agenda.add(before);
    agenda.add(after);
}

/// Removes a chain of consecutive nodes.
fn remove_chain(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, rng: &mut Random) {
    let visited = route.visited().len();
    let count = rng.random_range(1..=MOST_REMOVED.min(visited));
    let start = rng.random_range(1..=visited + 1 - count);
    for _ in 0..count {
        remove(field, route, agenda, route.at(start));
    }
}

/// Removes visited nodes around a random node.
fn remove_cluster(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, rng: &mut Random) {
    let count = rng.random_range(1..=MOST_REMOVED.min(route.visited().len()));
    let centre = rng.random_range(FIRST..field.len() as u32);
    if route.is_visited(centre) {
        remove(field, route, agenda, centre);
    }
    let around: Vec<u32> = field.neighbours(centre).iter().copied().filter(|&node| route.is_visited(node)).collect();
    for &node in around.iter().take(count) {
        // Keeping some of them allows other combinations.
        if rng.random_bool(0.8) {
            remove(field, route, agenda, node);
        }
    }
}

/// Removes nodes at random positions.
fn remove_scattered(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, rng: &mut Random) {
    for _ in 0..rng.random_range(1..=MOST_SCATTERED.min(route.visited().len())) {
        let visited = route.visited();
        let node = visited[rng.random_range(0..visited.len())];
        remove(field, route, agenda, node);
    }
}

/// Inserts an unvisited node and some unvisited neighbours, at any cost.
fn force_in(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, rng: &mut Random) -> Vec<u32> {
    let unvisited: Vec<u32> = route.unvisited().collect();
    if unvisited.is_empty() {
        return Vec::new();
    }
    let centre = unvisited[rng.random_range(0..unvisited.len())];
    let more = (MOST_FORCED * rng.random::<f64>().powi(3)) as usize;
    let around = field.neighbours(centre).iter().copied().filter(|&node| !route.is_visited(node)).take(more);
    let forced: Vec<u32> = std::iter::once(centre).chain(around).collect();
    for &node in &forced {
        let (after, _) = cheapest(field, route, node);
        let before = route.next(after);
        route.insert(field, node, after);
        [after, node, before].into_iter().for_each(|node| agenda.add(node));
    }
    forced
}

/// Drops the nodes with the least prize per saving, except those to be kept, until the route is within the limit. For
/// diversity, every ratio is multiplied by a `distortion`. Returns false if that is impossible.
pub(super) fn repair(
    field: &Field<'_>,
    route: &mut Route,
    agenda: &mut Agenda,
    keep: &[u32],
    mut distortion: impl FnMut() -> f64,
) -> bool {
    while route.length > field.limit {
        let droppable = route.visited().iter().copied().filter(|node| !keep.contains(node));
        let mut price = |node| distortion() * field.prize(node) / route.saving(field, node).max(0.0);
        let priced = droppable.map(|node| (price(node), node));
        let Some((price, node)) = priced.min_by(|a, b| a.0.total_cmp(&b.0)) else { return false };
        if price.is_infinite() {
            return false; // no removal saves length
        }
        remove(field, route, agenda, node);
    }
    true
}
