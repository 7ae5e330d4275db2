//! Iterated local search over cyclic tours, shared by TSP and ATSP: k-opt moves with don't-look bits, and double
//! bridges that are small and local, so that one kick costs about the same at every size (Applegate, Cook, Rohe, 2003).

mod exchange;
pub(crate) mod held_karp;
mod k_opt;
mod queue;
mod tour;
mod turning;

use bqnco_core::{Effort, Random, random};
use rand::RngExt;

use exchange::Segment;
pub(crate) use k_opt::{Candidate, Candidates, Costs, KOpt};
use queue::Queue;
use tour::Tour;

/// The minimum number of nodes the search works with: three segments to exchange and one that stays.
pub(crate) const FEWEST: usize = 8;
/// The maximum length of a segment that a kick moves.
const SEGMENT: usize = 50;
/// How much longer than the best the current tour may become, in mean edges (record-to-record travel, Dueck, 1993).
const SLACK: f64 = 0.5;
/// `stop` is polled once per this many nodes processed, and at every kick.
const PATIENCE: usize = 64;

/// The state of a search.
pub(crate) struct Search<'a, C> {
    tour: Tour,
    moves: KOpt<'a, C>,
    queue: Queue,
    touched: Vec<u32>,
    random: Random,
    effort: &'a Effort<'a>,
    best: Vec<u32>,               // the best order, unless the current one is as good
    behind: f64,                  // how much longer the current tour is than the best
    idle: u64,                    // kicks since the last better tour
    improved: &'a dyn Fn(&[u32]), // called for every better tour
}

struct Descent {
    gain: f64,
    stopped: bool,
}

impl<'a, C: Costs> Search<'a, C> {
    /// A search from the given tour of at least [`FEWEST`] nodes.
    pub(crate) fn new(
        order: Vec<u32>,
        moves: KOpt<'a, C>,
        effort: &'a Effort<'a>,
        improved: &'a dyn Fn(&[u32]),
    ) -> Self {
        Search {
            queue: Queue::new(order.len()),
            tour: Tour::new(order),
            moves,
            touched: Vec::new(),
            random: random(effort.seed, &[]),
            effort,
            best: Vec::new(),
            behind: 0.0,
            idle: 0,
            improved,
        }
    }

    /// Improves the tour as long as the effort allows. The result is never longer.
    pub(crate) fn run(mut self) -> Vec<u32> {
        let start = self.length();
        self.moves.ignore_gains_below(1e-10 * start / self.tour.len() as f64);
        for place in 0..self.tour.len() {
            self.queue.push(self.tour.at(place));
        }
        let mut descent = self.descend();
        self.tour.commit();
        (self.improved)(self.tour.order());
        let mut length = start - descent.gain;
        let slack = SLACK * length / self.tour.len() as f64;
        let mut kicks = 0;
        while !descent.stopped && !self.effort.is_spent(kicks, self.idle) && !(self.effort.stop)() {
            kicks += 1;
            self.idle += 1;
            let loss = self.kick();
            descent = self.descend();
            if self.accept(descent.gain - loss, slack) {
                length -= descent.gain - loss;
            }
        }
        let error = (length - self.length()).abs();
        debug_assert!(
            !error.is_finite() || error <= 1e-6 * start,
            "the gains add up to {length}, not {}",
            self.length()
        );
        if self.behind > 0.0 { self.best } else { self.tour.into_order() }
    }

    /// The length of the current tour, from scratch.
    fn length(&self) -> f64 {
        let order = self.tour.order();
        let edges = order.iter().zip(order.iter().cycle().skip(1));
        edges.map(|(&from, &to)| self.moves.costs().cost(from, to)).sum::<f64>() + self.moves.costs().constant()
    }

    /// Keeps the current tour if it is within `slack` of the best, otherwise restores the previous one. Returns whether
    /// it was kept.
    fn accept(&mut self, gain: f64, slack: f64) -> bool {
        let behind = self.behind - gain;
        let accepted = gain >= 0.0 || behind <= slack;
        if !accepted {
            self.tour.undo();
            return false;
        }
        let worth_noting = self.moves.least_gain();
        if self.behind == 0.0 && behind > worth_noting {
            self.tour.copy_committed(&mut self.best);
        }
        self.behind = if behind > worth_noting { behind } else { 0.0 };
        self.tour.commit();
        if behind < -worth_noting {
            self.idle = 0;
            (self.improved)(self.tour.order());
        }
        true
    }

    /// Local search until no queued node has an improving move.
    fn descend(&mut self) -> Descent {
        let mut gain = 0.0;
        let mut patience = PATIENCE;
        while let Some(node) = self.queue.pop() {
            if let Some(better) = self.moves.improve(&mut self.tour, node, &mut self.touched) {
                gain += better;
                self.touched.drain(..).for_each(|touched| self.queue.push(touched));
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                if (self.effort.stop)() {
                    self.queue.clear();
                    return Descent { gain, stopped: true };
                }
            }
        }
        Descent { gain, stopped: false }
    }

    /// A double bridge of three consecutive segments at a random place: A B C becomes C B A. Returns the loss.
    fn kick(&mut self) -> f64 {
        let cuts = self.draw_cuts();
        let edges = cuts.map(|cut| (self.tour.at(cut as usize), self.tour.at(cut as usize + 1)));
        let costs = self.moves.costs();
        // Segment i is followed by segment i + 3, cyclically: the tail of cut i gets the head of cut i + 2.
        let loss = |i: usize| costs.cost(edges[i].0, edges[(i + 2) % 4].1) - costs.cost(edges[i].0, edges[i].1);
        let loss = (0..4).map(loss).sum();
        self.tour.rearrange(&cuts, &[0, 3, 2, 1].map(|index| Segment { index, reversed: false }));
        for (tail, head) in edges {
            self.queue.push(tail);
            self.queue.push(head);
        }
        loss
    }

    /// Four cuts close together, ascending, none of them at a fixed edge.
    fn draw_cuts(&mut self) -> [u32; 4] {
        let n = self.tour.len();
        let longest = SEGMENT.min((n - 2) / 3);
        loop {
            let mut place = self.random.random_range(0..n);
            let mut cuts = [0; 4];
            for cut in &mut cuts {
                *cut = (place % n) as u32;
                place += self.random.random_range(1..=longest);
            }
            cuts.sort_unstable();
            let fixed = |&cut: &u32| self.moves.is_fixed(self.tour.at(cut as usize), self.tour.at(cut as usize + 1));
            if !cuts.iter().any(fixed) {
                return cuts;
            }
        }
    }
}
