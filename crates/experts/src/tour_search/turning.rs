//! The cost of reversing segments.

use super::k_opt::Costs;
use super::tour::Tour;

/// Prefix sums over the tour, which give the cost of reversing any segment in O(1).
pub(crate) struct Turning {
    edges: Vec<f64>,    // cost of reversing the edge from each position
    before: Vec<f64>,   // cost of reversing all edges before each position, and the whole tour
    fixed: Option<u32>, // the node whose edge must not be reversed
}

impl Turning {
    /// For a tour of this many nodes, in which the edge from the fixed node must not be reversed.
    pub(crate) fn new(nodes: usize, fixed: Option<u32>) -> Self {
        Turning { edges: vec![0.0; nodes], before: vec![0.0; nodes + 1], fixed }
    }

    /// Updates the sums after changes of the tour.
    pub(crate) fn refresh(&mut self, tour: &mut Tour, costs: &impl Costs) {
        let changed = tour.take_changed();
        if changed.is_empty() {
            return;
        }
        let n = tour.len();
        let first = changed.start.saturating_sub(1);
        let last = if changed.start == 0 { Some(n - 1) } else { None }; // its edge leads to position 0
        for position in (first..changed.end).chain(last) {
            let (tail, head) = (tour.at(position), tour.at(position + 1));
            self.edges[position] = costs.cost(head, tail) - costs.cost(tail, head);
        }
        let mut sum = self.before[first];
        for (before, edge) in self.before[first + 1..].iter_mut().zip(&self.edges[first..]) {
            sum += edge;
            *before = sum;
        }
    }

    /// The additional cost of reversing the segment of `length` nodes that starts at a position.
    pub(crate) fn cost(&self, tour: &Tour, begin: usize, length: usize) -> f64 {
        let n = tour.len();
        if let Some(fixed) = self.fixed {
            let offset = (tour.position(fixed) as usize + n - begin % n) % n;
            if offset + 1 < length {
                return f64::INFINITY;
            }
        }
        let until = |place: usize| if place < n { self.before[place] } else { self.before[n] + self.before[place - n] };
        until(begin + length - 1) - until(begin)
    }
}
