//! A route from the origin to the destination.

use std::collections::HashMap;

use super::field::{DESTINATION, FIRST, Field, ORIGIN};

/// Position of nodes that are not visited.
const NOWHERE: u32 = u32::MAX;

/// Nodes in order, including the ends, with the position of each.
#[derive(Clone)]
pub(super) struct Route {
    order: Vec<u32>,
    position: Vec<u32>,
    pub(super) length: f64,
    pub(super) prize: f64,
}

impl Route {
    /// The direct route from the origin to the destination.
    pub(super) fn direct(field: &Field<'_>) -> Self {
        let mut position = vec![NOWHERE; field.len()];
        (position[ORIGIN as usize], position[DESTINATION as usize]) = (0, 1);
        let length = field.distance(ORIGIN, DESTINATION);
        Route { order: vec![ORIGIN, DESTINATION], position, length, prize: 0.0 }
    }

    /// The route through these nodes of the instance, without those that are not worth a visit.
    pub(super) fn through(field: &Field<'_>, steps: &[usize]) -> Self {
        let mut route = Self::direct(field);
        let numbers: HashMap<usize, u32> =
            (FIRST..field.len() as u32).map(|node| (field.original(node), node)).collect();
        route.order.splice(1..1, steps.iter().filter_map(|step| numbers.get(step).copied()));
        route.renumber(0, route.last());
        route.recount(field);
        route
    }

    pub(super) fn copy_from(&mut self, other: &Route) {
        self.order.clone_from(&other.order);
        self.position.clone_from(&other.position);
        (self.length, self.prize) = (other.length, other.prize);
    }

    /// The nodes between the ends.
    pub(super) fn visited(&self) -> &[u32] {
        &self.order[1..self.order.len() - 1]
    }

    pub(super) fn is_visited(&self, node: u32) -> bool {
        self.position[node as usize] != NOWHERE
    }

    /// The unvisited nodes that can be chosen.
    pub(super) fn unvisited(&self) -> impl Iterator<Item = u32> {
        (FIRST..self.position.len() as u32).filter(|&node| !self.is_visited(node))
    }

    /// Position of a visited node; the origin's is 0.
    #[inline]
    pub(super) fn position(&self, node: u32) -> usize {
        self.position[node as usize] as usize
    }

    #[inline]
    pub(super) fn at(&self, position: usize) -> u32 {
        self.order[position]
    }

    /// Position of the destination.
    pub(super) fn last(&self) -> usize {
        self.order.len() - 1
    }

    /// The node after a visited one that is not the destination.
    #[inline]
    pub(super) fn next(&self, node: u32) -> u32 {
        self.order[self.position(node) + 1]
    }

    /// The node before a visited one that is not the origin.
    #[inline]
    pub(super) fn previous(&self, node: u32) -> u32 {
        self.order[self.position(node) - 1]
    }

    /// Inserts a node right after another one.
    pub(super) fn insert(&mut self, field: &Field<'_>, node: u32, after: u32) {
        let place = self.position(after) + 1;
        self.length += field.detour(after, node, self.order[place]);
        self.prize += field.prize(node);
        self.order.insert(place, node);
        self.renumber(place, self.last());
    }

    /// The saving of removing a node; negative if the detour is shorter than the direct edge.
    #[inline]
    pub(super) fn saving(&self, field: &Field<'_>, node: u32) -> f64 {
        field.detour(self.previous(node), node, self.next(node))
    }

    /// Removes a node.
    pub(super) fn remove(&mut self, field: &Field<'_>, node: u32) {
        self.length -= self.saving(field, node);
        self.prize -= field.prize(node);
        let place = self.position(node);
        self.order.remove(place);
        self.position[node as usize] = NOWHERE;
        self.renumber(place, self.last());
    }

    /// Reverses the nodes from one position to another, ends excluded; the caller updates the length.
    pub(super) fn reverse(&mut self, from: usize, to: usize) {
        self.order[from..=to].reverse();
        self.renumber(from, to);
    }

    /// Moves the nodes at `from..=to` after position `behind`, which lies outside them; the caller updates the length.
    pub(super) fn shift(&mut self, from: usize, to: usize, behind: usize) {
        let count = to - from + 1;
        if behind > to {
            self.order[from..=behind].rotate_left(count);
            self.renumber(from, behind);
        } else {
            self.order[behind + 1..=to].rotate_right(count);
            self.renumber(behind + 1, to);
        }
    }

    /// Recomputes length and prize from scratch, because incremental updates accumulate rounding errors.
    pub(super) fn recount(&mut self, field: &Field<'_>) {
        self.length = self.order.windows(2).map(|edge| field.distance(edge[0], edge[1])).sum();
        self.prize = self.visited().iter().map(|&node| field.prize(node)).sum();
    }

    fn renumber(&mut self, from: usize, to: usize) {
        for (place, &node) in (from..=to).zip(&self.order[from..=to]) {
            self.position[node as usize] = place as u32;
        }
    }
}
