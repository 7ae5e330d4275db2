//! Fills the remaining length with more nodes, the best prize per detour first.

use super::field::{DESTINATION, Field, ORIGIN};
use super::route::Route;
use super::shorten::Agenda;

/// Number of visited neighbours next to which an insertion is tried.
const BESIDE: usize = 5;

/// The cheapest known insertion of a node.
struct Offer {
    node: u32,
    after: u32,
    cost: f64,
    prize: f64, // multiplied by the distortion
}

/// Inserts nodes while any fits and the search is not stopped. For diversity, every prize is multiplied by a
/// `distortion`.
pub(super) fn fill(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, mut distortion: impl FnMut() -> f64) {
    let offer = |node| {
        let (after, cost) = cheapest(field, route, node);
        Offer { node, after, cost, prize: field.prize(node) * distortion() }
    };
    let mut offers: Vec<Offer> = route.unvisited().map(offer).collect();
    while let Some(chosen) = best(field, route, &offers) {
        let Offer { node, after, .. } = offers.swap_remove(chosen);
        route.insert(field, node, after);
        let before = route.next(node);
        [after, node, before].into_iter().for_each(|node| agenda.add(node));
        let edges = [field.distance(after, node), field.distance(node, before)];
        for offer in &mut offers {
            if offer.after == after {
                (offer.after, offer.cost) = cheapest(field, route, offer.node);
                continue;
            }
            let distances = [after, node, before].map(|end| field.distance(end, offer.node));
            for (k, from) in [after, node].into_iter().enumerate() {
                let cost = distances[k] + distances[k + 1] - edges[k];
                if cost < offer.cost {
                    (offer.after, offer.cost) = (from, cost);
                }
            }
        }
        if field.is_stopped() {
            return;
        }
    }
}

/// The best insertion within the remaining length.
fn best(field: &Field<'_>, route: &Route, offers: &[Offer]) -> Option<usize> {
    let left = field.limit - route.length;
    let least = 1e-9 * field.limit;
    let mut best = None;
    let mut highest = f64::NEG_INFINITY;
    for (index, offer) in offers.iter().enumerate() {
        let wanted = offer.prize > 0.0 || offer.cost < 0.0;
        if offer.cost <= left && wanted {
            let merit = offer.prize / offer.cost.max(least);
            if merit > highest {
                (best, highest) = (Some(index), merit);
            }
        }
    }
    best
}

/// The node after which a detour is cheapest, among the edges at the route's ends and next to the nearest visited
/// nodes.
pub(super) fn cheapest(field: &Field<'_>, route: &Route, node: u32) -> (u32, f64) {
    let mut best = (ORIGIN, field.detour(ORIGIN, node, route.next(ORIGIN)));
    let mut consider = |from: u32, to: u32| {
        let cost = field.detour(from, node, to);
        if cost < best.1 {
            best = (from, cost);
        }
    };
    consider(route.previous(DESTINATION), DESTINATION);
    let visited = field.neighbours(node).iter().filter(|&&other| route.is_visited(other));
    for &other in visited.take(BESIDE) {
        consider(route.previous(other), other);
        consider(other, route.next(other));
    }
    best
}
