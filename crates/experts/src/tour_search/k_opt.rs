//! The local search of Lin and Kernighan (1973) as a depth-first search over sequential k-opt moves, for both symmetric
//! and asymmetric costs. Intermediate stages need not be tours (Helsgaun, 2000).
//!
//! With asymmetric costs a move either keeps the direction of every segment, or is a small one that reverses segments
//! and accounts for their changed cost.

use super::exchange::{Exchange, LARGEST, Segment, Side};
use super::tour::{Tour, span};
use super::turning::Turning;

/// Costs between the nodes of a tour.
pub(crate) trait Costs {
    /// Whether costs are symmetric.
    const SYMMETRIC: bool;

    /// The cost of an edge.
    fn cost(&self, from: u32, to: u32) -> f64;

    /// Constant cost added to every tour.
    fn constant(&self) -> f64 {
        0.0
    }
}

/// The other node of a candidate edge, with its cost.
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

    /// Number of nodes that have candidates.
    pub(crate) fn nodes(&self) -> usize {
        self.flat.len() / self.per_node
    }
}

/// Maximum number of edges of a move that reverses segments with asymmetric costs.
const TURNING: usize = 3;

/// Finds and applies improving moves.
pub(crate) struct KOpt<'a, C> {
    costs: &'a C,
    candidates: [&'a Candidates; 2], // as a successor, as a predecessor; the same list twice for symmetric costs
    breadth: &'static [usize],       // candidates tried per level; one level less than the largest k
    fixed: Option<(u32, u32)>,       // an edge (from, to) that must not be removed
    least_gain: f64,                 // gains below this are rounding errors
    exchange: Exchange,              // the move under construction
    first: u32,                      // its first end, which is joined to the last open one
    turning: Turning,                // for asymmetric costs only
}

/// The open end of an exchange.
#[derive(Clone, Copy)]
struct Open {
    node: u32,
    side: Side,     // which end of its removed edge
    directed: bool, // no segment has to be reversed so far
}

impl<'a, C: Costs> KOpt<'a, C> {
    /// A search over moves of up to `breadth.len() + 1` edges, trying this many candidates per edge.
    pub(crate) fn new(
        costs: &'a C,
        candidates: [&'a Candidates; 2],
        breadth: &'static [usize],
        fixed: Option<(u32, u32)>,
    ) -> Self {
        debug_assert!(breadth.len() < LARGEST);
        let turning = Turning::new(if C::SYMMETRIC { 0 } else { candidates[0].nodes() }, fixed.map(|(from, _)| from));
        KOpt { costs, candidates, breadth, fixed, least_gain: 0.0, exchange: Exchange::default(), first: 0, turning }
    }

    /// The costs of edges.
    pub(crate) fn costs(&self) -> &'a C {
        self.costs
    }

    /// The minimum gain of a move.
    pub(crate) fn least_gain(&self) -> f64 {
        self.least_gain
    }

    /// Sets the minimum gain of a move.
    pub(crate) fn ignore_gains_below(&mut self, least_gain: f64) {
        self.least_gain = least_gain;
    }

    /// Whether an edge of the tour must not be removed.
    #[inline]
    pub(crate) fn is_fixed(&self, tail: u32, head: u32) -> bool {
        self.fixed.is_some_and(|(a, b)| (a, b) == (tail, head) || C::SYMMETRIC && (b, a) == (tail, head))
    }

    /// Applies the first improving move found that removes an edge at the node. Returns the gain and collects the nodes
    /// whose edges changed.
    pub(crate) fn improve(&mut self, tour: &mut Tour, node: u32, touched: &mut Vec<u32>) -> Option<f64> {
        if !C::SYMMETRIC {
            self.turning.refresh(tour, self.costs);
        }
        for side in [Side::Tail, Side::Head] {
            let other = if side == Side::Tail { tour.next(node) } else { tour.prev(node) };
            let (tail, head) = if side == Side::Tail { (node, other) } else { (other, node) };
            if self.is_fixed(tail, head) {
                continue;
            }
            self.first = other;
            self.exchange.clear();
            self.exchange.push(tour.position(tail), side.opposite());
            let open = Open { node, side, directed: true };
            if let Some(gain) = self.deepen(tour, open, self.costs.cost(tail, head)) {
                let cuts = self.exchange.cuts().iter().map(|&cut| cut as usize);
                touched.extend(cuts.flat_map(|cut| [tour.at(cut), tour.at(cut + 1)]));
                self.apply(tour);
                return Some(gain);
            }
        }
        None
    }

    fn apply(&mut self, tour: &mut Tour) {
        let (cuts, arrangement) = self.exchange.result();
        let longest = arrangement.iter().max_by_key(|segment| span(cuts, segment.index, tour.len()).1);
        if C::SYMMETRIC && longest.is_some_and(|segment| segment.reversed) {
            self.exchange.turn(); // so that the longest segment can stay in place
        }
        let (cuts, arrangement) = self.exchange.result();
        tour.rearrange(cuts, arrangement);
    }

    /// Joins the open end to each candidate, removes an edge there, and closes or goes deeper. `gain` is what was
    /// removed minus what was added so far; it stays positive (the gain criterion).
    fn deepen(&mut self, tour: &Tour, open: Open, gain: f64) -> Option<f64> {
        let level = self.exchange.cuts().len() - 1;
        let from_tail = open.side == Side::Tail;
        let lists = self.candidates[if C::SYMMETRIC || from_tail { 0 } else { 1 }];
        let (next, prev) = (tour.next(open.node), tour.prev(open.node));
        for &Candidate { node, cost } in lists.of(open.node).iter().take(self.breadth[level]) {
            let left = gain - cost;
            if left <= self.least_gain {
                break;
            }
            if (C::SYMMETRIC || from_tail) && node == next || (C::SYMMETRIC || !from_tail) && node == prev {
                continue; // already in the tour
            }
            for side in [Side::Head, Side::Tail] {
                let directed = open.directed && side == open.side;
                if !C::SYMMETRIC && !directed && level + 2 > TURNING {
                    continue;
                }
                let (far, tail, head) = match side {
                    Side::Head => (tour.next(node), node, tour.next(node)),
                    Side::Tail => (tour.prev(node), tour.prev(node), node),
                };
                let cut = tour.position(tail);
                if self.exchange.removes(cut) || self.is_fixed(tail, head) {
                    continue;
                }
                let gain = left + self.costs.cost(tail, head);
                let far = Open { node: far, side, directed };
                self.exchange.push(cut, side.opposite());
                if let Some(gain) = self.close(tour, far, gain) {
                    return Some(gain);
                }
                if level + 1 < self.breadth.len()
                    && let Some(gain) = self.deepen(tour, far, gain)
                {
                    return Some(gain);
                }
                self.exchange.pop();
            }
        }
        None
    }

    /// The total gain if joining the last open end to the first gives a shorter tour.
    #[inline]
    fn close(&mut self, tour: &Tour, open: Open, gain: f64) -> Option<f64> {
        let closing = match open.side {
            Side::Tail => self.costs.cost(open.node, self.first),
            Side::Head => self.costs.cost(self.first, open.node),
        };
        let whole = gain - closing;
        let closes = whole > self.least_gain && self.exchange.closes();
        match C::SYMMETRIC || open.directed {
            true => closes.then_some(whole),
            false if closes => self.directed_gain(tour),
            false => None,
        }
    }

    /// The gain of a move that reverses segments, with every edge in its new direction, for the better orientation.
    fn directed_gain(&mut self, tour: &Tour) -> Option<f64> {
        let (cuts, arrangement) = self.exchange.result();
        let n = tour.len();
        let ends = |segment: Segment| {
            let (begin, length) = span(cuts, segment.index, n);
            let (first, last) = (tour.at(begin), tour.at(begin + length - 1));
            if segment.reversed { (last, first) } else { (first, last) }
        };
        let mut gains = [0.0; 2]; // as arranged, and in the opposite orientation
        for (i, &segment) in arrangement.iter().enumerate() {
            let cut = cuts[i] as usize;
            let removed = self.costs.cost(tour.at(cut), tour.at(cut + 1));
            let (exit, enter) = (ends(segment).1, ends(arrangement[(i + 1) % arrangement.len()]).0);
            gains[0] += removed - self.costs.cost(exit, enter);
            gains[1] += removed - self.costs.cost(enter, exit);
            let (begin, length) = span(cuts, segment.index, n);
            gains[if segment.reversed { 0 } else { 1 }] -= self.turning.cost(tour, begin, length);
        }
        let other_way = gains[1] > gains[0];
        if other_way {
            self.exchange.turn();
        }
        let gain = gains[other_way as usize];
        (gain > self.least_gain).then_some(gain)
    }
}
