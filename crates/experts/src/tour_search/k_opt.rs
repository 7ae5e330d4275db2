//! The local search of Lin and Kernighan (1973) as a depth-first search over sequential k-opt moves, for symmetric and
//! asymmetric costs alike. Intermediate stages need not be tours (as in Helsgaun, 2000); with asymmetric costs segments
//! keep their direction, so every removed arc's tail gets the head of another.

use super::exchange::{Exchange, LARGEST, Segment, Side};
use super::tour::{Tour, span};

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
    /// What turning round the edges before a position would cost; for asymmetric costs only.
    turned: Vec<f64>,
    turning: usize,
    first: u32, // the end to which the last open end is joined
}

impl<'a, C: Costs> KOpt<'a, C> {
    /// A search over moves of up to `breadth.len() + 1` edges.
    pub(crate) fn new(costs: &'a C, candidates: [&'a Candidates; 2], fixed: Option<(u32, u32)>) -> Self {
        let breadth = breadth();
        let nodes = if C::SYMMETRIC { 0 } else { candidates[0].flat.len() / candidates[0].per_node };
        debug_assert!(breadth.len() < LARGEST);
        KOpt {
            costs,
            candidates,
            fixed,
            breadth,
            least_gain: 1e-9,
            exchange: Exchange::default(),
            turned: vec![0.0; nodes + 1],
            turning: std::env::var("TURNING").map_or(2, |x| x.parse().unwrap()),
            first: 0,
        }
    }

    /// Applies the first improving move found that removes an edge at the node. Returns the gain (zero: none found) and
    /// lists the nodes whose edges changed.
    pub(crate) fn improve(&mut self, tour: &mut Tour, node: u32, touched: &mut Vec<u32>) -> f64 {
        if !C::SYMMETRIC {
            self.refresh(tour);
        }
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
            let open = Open { node, side, directed: true };
            if let Some(gain) = self.deepen(tour, open, self.costs.cost(tail, head)) {
                let cuts = self.exchange.cuts().iter().map(|&cut| cut as usize);
                touched.extend(cuts.flat_map(|cut| [tour.at(cut), tour.at(cut + 1)]));
                if C::SYMMETRIC {
                    self.spare_the_longest(tour.len());
                }
                let (cuts, arrangement) = self.exchange.result();
                tour.rearrange(cuts, arrangement);
                return gain;
            }
        }
        0.0
    }

    /// Lets the longest segment keep its direction.
    fn spare_the_longest(&mut self, nodes: usize) {
        let (cuts, arrangement) = self.exchange.result();
        let longest = arrangement.iter().max_by_key(|segment| span(cuts, segment.index, nodes).1);
        if longest.is_some_and(|segment| segment.reversed) {
            self.exchange.turn();
        }
    }

    #[inline]
    pub(crate) fn is_fixed(&self, tail: u32, head: u32) -> bool {
        self.fixed.is_some_and(|(a, b)| (a, b) == (tail, head) || C::SYMMETRIC && (b, a) == (tail, head))
    }

    /// Joins the open end to each candidate, removes an edge there, and closes or goes deeper. `gain` is what was removed
    /// minus what was added so far; it stays positive (the gain criterion).
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
                continue; // in the tour already
            }
            for side in [Side::Head, Side::Tail] {
                let directed = open.directed && side == open.side;
                if !C::SYMMETRIC && !directed && level + 1 > self.turning {
                    continue;
                }
                let far = if side == Side::Head { tour.next(node) } else { tour.prev(node) };
                let (tail, head, first) = match side {
                    Side::Head => (node, far, Side::Tail),
                    Side::Tail => (far, node, Side::Head),
                };
                let cut = tour.position(tail);
                if self.exchange.removes(cut) || self.is_fixed(tail, head) {
                    continue;
                }
                let gain = left + self.costs.cost(tail, head);
                let far = Open { node: far, side, directed };
                self.exchange.push(cut, first);
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

    /// The whole gain if joining the last open end to the first gives a shorter tour.
    #[inline]
    fn close(&mut self, tour: &Tour, open: Open, gain: f64) -> Option<f64> {
        let closing = match open.side {
            Side::Tail => self.costs.cost(open.node, self.first),
            Side::Head => self.costs.cost(self.first, open.node),
        };
        if gain - closing <= self.least_gain || !self.exchange.closes() {
            return None;
        }
        if C::SYMMETRIC || open.directed {
            return Some(gain - closing);
        }
        self.directed_gain(tour)
    }

    /// The gain of a move that turns segments round, with every edge in its new direction, the better way round.
    fn directed_gain(&mut self, tour: &Tour) -> Option<f64> {
        let (cuts, arrangement) = self.exchange.result();
        let n = tour.len();
        let turning = |index: usize| {
            let (begin, length) = span(cuts, index, n);
            let until =
                |place: usize| if place < n { self.turned[place] } else { self.turned[n] + self.turned[place - n] };
            until(begin + length - 1) - until(begin)
        };
        let ends = |segment: Segment| {
            let (begin, length) = span(cuts, segment.index, n);
            let (first, last) = (tour.at(begin), tour.at(begin + length - 1));
            if segment.reversed { (last, first) } else { (first, last) }
        };
        let mut gains = [0.0; 2]; // as arranged, and the other way round
        for (i, &segment) in arrangement.iter().enumerate() {
            let cut = cuts[i] as usize;
            let removed = self.costs.cost(tour.at(cut), tour.at(cut + 1));
            let (exit, enter) = (ends(segment).1, ends(arrangement[(i + 1) % arrangement.len()]).0);
            gains[0] += removed - self.costs.cost(exit, enter);
            gains[1] += removed - self.costs.cost(enter, exit);
            gains[if segment.reversed { 0 } else { 1 }] -= turning(segment.index);
        }
        if gains[1] > gains[0] {
            self.exchange.turn();
        }
        let gain = gains[0].max(gains[1]);
        (gain > self.least_gain).then_some(gain)
    }

    /// Brings the costs of turning up to date with the tour.
    fn refresh(&mut self, tour: &mut Tour) {
        for position in tour.take_changed_from().saturating_sub(1)..tour.len() {
            let (tail, head) = (tour.at(position), tour.at(position + 1));
            self.turned[position + 1] =
                self.turned[position] + self.costs.cost(head, tail) - self.costs.cost(tail, head);
        }
    }
}

/// The open end of an exchange.
#[derive(Clone, Copy)]
struct Open {
    node: u32,
    side: Side,     // which end of its removed edge
    directed: bool, // no segment needs turning so far
}

// TUNING
pub(crate) fn breadth() -> &'static [usize] {
    static B: std::sync::OnceLock<Vec<usize>> = std::sync::OnceLock::new();
    B.get_or_init(|| {
        std::env::var("BREADTH").unwrap_or("5,5,3,2".into()).split(',').map(|x| x.parse().unwrap()).collect()
    })
}
