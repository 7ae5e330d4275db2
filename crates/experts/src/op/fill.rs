//! Spends the length that is left on more nodes, the best prize per detour first.

use bqnco_core::{Random, Stop};
use rand::RngExt;

use super::field::{DESTINATION, Field, ORIGIN};
use super::route::Route;
use super::shorten::Agenda;

/// Visited neighbours beside which a node may be inserted.
const BESIDE: usize = 5;

/// The cheapest known way to visit a node.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    node: u32,
    pub(super) after: u32,
    pub(super) cost: f64,
    taste: f64, // prize, distorted at random
}

/// How much chance is in the choice of nodes.
#[derive(Clone, Copy)]
pub(super) struct Taste {
    /// Prizes are multiplied by up to e to the power of this.
    pub(super) noise: f64,
    /// Power of the prize per detour's denominator.
    pub(super) thrift: f64,
}

/// Inserts nodes while any fits.
pub(super) fn fill(
    field: &Field<'_>,
    route: &mut Route,
    agenda: &mut Agenda,
    offers: &mut Vec<Offer>,
    (taste, rng): (Taste, &mut Random),
    stop: Stop<'_>,
) {
    offers.clear();
    for node in route.unvisited() {
        let distortion = if taste.noise > 0.0 { (taste.noise * rng.random::<f64>()).exp() } else { 1.0 };
        let (after, cost) = cheapest(field, route, node);
        offers.push(Offer { node, after, cost, taste: field.prize(node) * distortion });
    }
    while let Some(chosen) = best(field, route, offers, taste) {
        let Offer { node, after, .. } = offers.swap_remove(chosen);
        route.insert(field, node, after);
        let before = route.next(node);
        [after, node, before].into_iter().for_each(|node| agenda.add(node));
        for offer in offers.iter_mut() {
            if offer.after == after {
                (offer.after, offer.cost) = cheapest(field, route, offer.node);
                continue;
            }
            for (from, to) in [(after, node), (node, before)] {
                let cost = field.detour(from, offer.node, to);
                if cost < offer.cost {
                    (offer.after, offer.cost) = (from, cost);
                }
            }
        }
        if stop() {
            return;
        }
    }
}

/// The most attractive offer within what is left of the length.
fn best(field: &Field<'_>, route: &Route, offers: &[Offer], taste: Taste) -> Option<usize> {
    let left = field.limit - route.length;
    let least = 1e-9 * field.limit;
    let mut best = None;
    let mut highest = f64::NEG_INFINITY;
    for (index, offer) in offers.iter().enumerate() {
        let wanted = offer.taste > 0.0 || offer.cost < 0.0;
        if offer.cost <= left && wanted {
            let cost = offer.cost.max(least);
            let merit = if taste.thrift == 1.0 { offer.taste / cost } else { offer.taste / cost.powf(taste.thrift) };
            if merit > highest {
                (best, highest) = (Some(index), merit);
            }
        }
    }
    best
}

/// After which node a detour is cheapest, among the edges at the route's ends and beside the nearest visited nodes.
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
