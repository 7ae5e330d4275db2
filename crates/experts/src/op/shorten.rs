//! Shortens a route without changing the set of visited nodes: 2-opt and Or-opt over neighbour lists.

use super::field::{DESTINATION, FIRST, Field, ORIGIN};
use super::route::Route;

/// Neighbours tried per node.
const TRIED: usize = 10;
/// Longest chain that Or-opt moves.
const CHAIN: usize = 3;
/// Relative improvements below this are rounding errors.
const LEAST_GAIN: f64 = 1e-10;

/// A work list of nodes around which improving moves may exist.
pub(super) struct Agenda {
    waiting: Vec<u32>,
    is_waiting: Vec<bool>,
}

impl Agenda {
    pub(super) fn new(nodes: usize) -> Self {
        Agenda { waiting: Vec::new(), is_waiting: vec![false; nodes] }
    }

    pub(super) fn add(&mut self, node: u32) {
        if !std::mem::replace(&mut self.is_waiting[node as usize], true) {
            self.waiting.push(node);
        }
    }

    fn take(&mut self) -> Option<u32> {
        let node = self.waiting.pop()?;
        self.is_waiting[node as usize] = false;
        Some(node)
    }

    /// Empties the list.
    pub(super) fn clear(&mut self) {
        while self.take().is_some() {}
    }
}

/// Improves the route around the listed nodes until no move helps or the search is stopped.
pub(super) fn shorten(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda) {
    // The ends are in no neighbour list: moves that join a node to them are only found starting from the ends.
    agenda.add(ORIGIN);
    agenda.add(DESTINATION);
    let mut steps = 0u32;
    while let Some(node) = agenda.take() {
        steps += 1;
        if steps.is_multiple_of(64) && field.is_stopped() {
            return;
        }
        while route.is_visited(node) && (two_opt(field, route, agenda, node) || or_opt(field, route, agenda, node)) {}
    }
}

fn is_gain(field: &Field<'_>, gain: f64) -> bool {
    gain > LEAST_GAIN * field.limit
}

/// Exchanges the edge after (or before) a node for one to a near node, reversing the nodes between.
fn two_opt(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, a: u32) -> bool {
    let forward = a != DESTINATION && improve_side(field, route, agenda, a, 1);
    forward || (a != ORIGIN && improve_side(field, route, agenda, a, -1))
}

fn improve_side(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, a: u32, side: isize) -> bool {
    let i = route.position(a);
    let beside = route.at(i.wrapping_add_signed(side));
    let edge = field.distance(a, beside);
    for &c in field.neighbours(a).iter().take(TRIED) {
        let near = field.distance(a, c);
        if near >= edge {
            break;
        }
        if !route.is_visited(c) {
            continue;
        }
        let j = route.position(c);
        let beside_c = route.at(j.wrapping_add_signed(side));
        let gain = edge + field.distance(c, beside_c) - near - field.distance(beside, beside_c);
        if !is_gain(field, gain) {
            continue;
        }
        let (low, high) = (i.min(j), i.max(j));
        if side == 1 {
            route.reverse(low + 1, high);
        } else {
            route.reverse(low, high - 1);
        }
        route.length -= gain;
        [a, beside, c, beside_c].into_iter().for_each(|node| agenda.add(node));
        return true;
    }
    false
}

/// Moves a chain that starts or ends with a node next to one of its neighbours.
fn or_opt(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, a: u32) -> bool {
    if a < FIRST {
        return false;
    }
    let i = route.position(a);
    (1..=CHAIN).any(|count| {
        // The chain extends from a to the right, or to the left.
        (i + count <= route.last() && move_chain(field, route, agenda, (i, i + count - 1), a))
            || (count > 1 && i >= count && move_chain(field, route, agenda, (i + 1 - count, i), a))
    })
}

fn move_chain(field: &Field<'_>, route: &mut Route, agenda: &mut Agenda, (from, to): (usize, usize), a: u32) -> bool {
    let (before, after) = (route.at(from - 1), route.at(to + 1));
    let (first, last) = (route.at(from), route.at(to));
    let other = if a == first { last } else { first };
    let saved = field.distance(before, first) + field.distance(last, after) - field.distance(before, after);
    if !is_gain(field, saved) {
        return false;
    }
    for &c in field.neighbours(a).iter().take(TRIED) {
        let near = field.distance(a, c);
        if near >= saved {
            break;
        }
        if !route.is_visited(c) || (from..=to).contains(&route.position(c)) {
            continue;
        }
        for side in [1, -1] {
            let j = route.position(c);
            let beyond = j.wrapping_add_signed(side);
            if (from..=to).contains(&beyond) {
                continue; // the chain's current position
            }
            let beyond = route.at(beyond);
            let gain = saved - near - field.distance(other, beyond) + field.distance(c, beyond);
            if !is_gain(field, gain) {
                continue;
            }
            // a is adjacent to c: after c the chain must start with a, before c it must end with a.
            if (side == 1) != (a == first) {
                route.reverse(from, to);
            }
            route.shift(from, to, if side == 1 { j } else { j - 1 });
            route.length -= gain;
            [before, after, first, last, c, beyond].into_iter().for_each(|node| agenda.add(node));
            return true;
        }
    }
    false
}
