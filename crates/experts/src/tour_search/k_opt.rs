//! The local search of Lin and Kernighan (1973) as a depth-first search over sequential k-opt moves, for symmetric and
//! asymmetric costs alike. Intermediate stages need not be tours (as in Helsgaun, 2000); with asymmetric costs segments
//! keep their direction, so every removed arc's tail gets the head of another.

use super::Tour;
use super::exchange::{Exchange, LARGEST, Side};

/// Costs between the nodes of a tour.
pub(crate) trait Costs {
    /// Whether the direction does not matter.
    const SYMMETRIC: bool;

    /// The cost of an edge.
    fn cost(&self, from: u32, to: u32) -> f64;

    /// What every tour costs in addition.
    fn constant(&self) -> f64 {
        0.0
    }
}

/// A candidate edge's other node, with the cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) node: u32,
    pub(crate) cost: f64,
}

/// The same number of candidates for every node, cheapest first.
pub(crate) struct Candidates {
    pub(crate) per_node: usize,
    pub(crate) flat: Vec<Candidate>, // [nodes, per_node]
}

impl Candidates {
    /// The candidates of a node.
    #[inline]
    pub(crate) fn of(&self, node: u32) -> &[Candidate] {
        &self.flat[node as usize * self.per_node..][..self.per_node]
    }
}

/// Finds and applies improving moves.
pub(crate) struct KOpt<'a, C> {
    pub(crate) costs: &'a C,
    /// Where an edge may lead: as a successor, as a predecessor (the same list for symmetric costs).
    pub(crate) candidates: [&'a Candidates; 2],
    /// An edge (from, to) of the tour that must stay.
    pub(crate) fixed: Option<(u32, u32)>,
    /// Candidates tried per level; its length is the largest k minus one.
    pub(crate) breadth: &'a [usize],
    /// Gains below are rounding errors.
    pub(crate) least_gain: f64,
    exchange: Exchange,
    first: u32, // the end to which the last open end is joined
}

impl<'a, C: Costs> KOpt<'a, C> {
    /// A search over moves of up to `breadth.len() + 1` edges.
    pub(crate) fn new(costs: &'a C, candidates: [&'a Candidates; 2], fixed: Option<(u32, u32)>) -> Self {
        let breadth = breadth();
        debug_assert!(breadth.len() < LARGEST);
        KOpt { costs, candidates, fixed, breadth, least_gain: 1e-9, exchange: Exchange::default(), first: 0 }
    }

    /// Applies the first improving move found that removes an edge at the node. Returns the gain (zero: none found) and
    /// lists the nodes whose edges changed.
    pub(crate) fn improve(&mut self, tour: &mut Tour, node: u32, touched: &mut Vec<u32>) -> f64 {
        // The open end is the node; what it was joined to waits at the other end of the removed edge.
        for side in [Side::Tail, Side::Head] {
            let other = if side == Side::Tail { tour.next(node) } else { tour.prev(node) };
            let (tail, head) = if side == Side::Tail { (node, other) } else { (other, node) };
            if self.is_fixed(tail, head) {
                continue;
            }
            let first = if side == Side::Tail { Side::Head } else { Side::Tail };
            self.first = other;
            self.exchange.clear();
            self.exchange.push(tour.position(tail), first);
            if let Some(gain) = self.deepen(tour, node, side, self.costs.cost(tail, head)) {
                touched.extend(self.exchange.cuts().iter().flat_map(|&cut| [tour.at(cut as usize), tour.at(cut as usize + 1)]));
                let (cuts, arrangement) = self.exchange.result();
                tour.rearrange(cuts, arrangement);
                return gain;
            }
        }
        0.0
    }

    #[inline]
    pub(crate) fn is_fixed(&self, tail: u32, head: u32) -> bool {
        self.fixed.is_some_and(|(a, b)| (a, b) == (tail, head) || C::SYMMETRIC && (b, a) == (tail, head))
    }

    /// Joins the open end to each candidate, removes an edge there, and closes or goes deeper. `gain` is what was removed
    /// minus what was added so far; it stays positive (the gain criterion).
    fn deepen(&mut self, tour: &Tour, open: u32, side: Side, gain: f64) -> Option<f64> {
        let level = self.exchange.cuts().len() - 1;
        let lists = self.candidates[if C::SYMMETRIC || side == Side::Tail { 0 } else { 1 }];
        let (next, prev) = (tour.next(open), tour.prev(open));
        for &Candidate { node, cost } in lists.of(open).iter().take(self.breadth[level]) {
            let left = gain - cost;
            if left <= self.least_gain {
                break;
            }
            // In the tour already.
            if (C::SYMMETRIC || side == Side::Tail) && node == next || (C::SYMMETRIC || side == Side::Head) && node == prev {
                continue;
            }
            for far_side in [Side::Head, Side::Tail] {
                if !C::SYMMETRIC && far_side != side {
                    continue;
                }
                let far = if far_side == Side::Head { tour.next(node) } else { tour.prev(node) };
                let (tail, head, first) = match far_side {
                    Side::Head => (node, far, Side::Tail),
                    Side::Tail => (far, node, Side::Head),
                };
                let cut = tour.position(tail);
                if self.exchange.removes(cut) || self.is_fixed(tail, head) {
                    continue;
                }
                let gain = left + self.costs.cost(tail, head);
                self.exchange.push(cut, first);
                let closing = match far_side {
                    Side::Tail => self.costs.cost(far, self.first),
                    Side::Head => self.costs.cost(self.first, far),
                };
                if gain - closing > self.least_gain && self.exchange.closes() {
                    return Some(gain - closing);
                }
                if level + 1 < self.breadth.len()
                    && let Some(gain) = self.deepen(tour, far, far_side, gain)
                {
                    return Some(gain);
                }
                self.exchange.pop();
            }
        }
        None
    }
}

// TUNING
pub(crate) fn breadth() -> &'static [usize] {
    static B: std::sync::OnceLock<Vec<usize>> = std::sync::OnceLock::new();
    B.get_or_init(|| std::env::var("BREADTH").unwrap_or("5,5,3,2".into()).split(',').map(|x| x.parse().unwrap()).collect())
}
