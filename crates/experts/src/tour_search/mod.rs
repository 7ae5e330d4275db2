//! Iterated local search over cyclic tours, shared by TSP and ATSP: k-opt moves with don't-look bits, and double bridges
//! that are small and local, so that one kick costs the same at every size (Applegate, Cook, Rohe, 2003).

mod exchange;
pub(crate) mod held_karp;
mod k_opt;
mod tour;

use bqnco_core::{Effort, Random, random};
use rand::RngExt;

use exchange::Segment;
pub(crate) use k_opt::{Candidate, Candidates, Costs, KOpt};
pub(crate) use tour::Tour;

/// The fewest nodes the search works with: three segments to exchange and one that stays.
pub(crate) const FEWEST: usize = 8;

/// The longest segment a kick moves.
fn segment() -> usize {
    static B: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *B.get_or_init(|| std::env::var("SEGMENT").unwrap_or("50".into()).parse().unwrap())
}
/// `stop` is asked once per this many nodes looked at, and at every kick.
const PATIENCE: usize = 64;

/// The state of a search.
pub(crate) struct Search<'a, C> {
    tour: Tour,
    moves: KOpt<'a, C>,
    queue: Queue,
    touched: Vec<u32>,
    random: Random,
    effort: &'a Effort<'a>,
}

impl<'a, C: Costs> Search<'a, C> {
    /// A search from the given tour of at least [`FEWEST`] nodes.
    pub(crate) fn new(order: Vec<u32>, moves: KOpt<'a, C>, effort: &'a Effort<'a>) -> Self {
        let queue = Queue::new(order.len());
        Search { tour: Tour::new(order), moves, queue, touched: Vec::new(), random: random(effort.seed, &[]), effort }
    }

    /// Improves the tour as long as the effort allows. Never returns a longer one.
    pub(crate) fn run(mut self) -> Vec<u32> {
        let before = self.length();
        for place in 0..self.tour.len() {
            self.queue.push(self.tour.at(place));
        }
        let mut gained = self.descend().gain;
        self.tour.commit();
        let mut kicks = 0u64;
        let slack: f64 =
            std::env::var("SLACK").map_or(0.0, |x| x.parse().unwrap()) * (before - gained) / self.tour.len() as f64;
        let mode: u32 = std::env::var("MODE").map_or(0, |x| x.parse().unwrap());
        let mut behind = 0.0; // how much longer than the best
        let mut best = self.tour.order().to_vec();
        let mut last = 0u64;
        while self.effort.rounds.is_none_or(|rounds| kicks < rounds) && !(self.effort.stop)() {
            kicks += 1;
            let loss = self.kick();
            let descent = self.descend();
            let gain = descent.gain - loss;
            let accept = gain >= 0.0
                || match mode {
                    0 => behind - gain <= slack,
                    1 => behind - gain <= slack * self.random.random::<f64>(),
                    _ => -gain < slack * -(self.random.random::<f64>().ln()),
                };
            if accept {
                if behind - gain > 1e-9 && behind <= 1e-9 && slack > 0.0 {
                    self.tour.undo_copy(&mut best);
                }
                behind -= gain;
                if behind < -1e-9 {
                    last = kicks;
                }
                if behind < 1e-9 {
                    behind = 0.0;
                }
                gained += gain;
                self.tour.commit();
            } else {
                self.tour.undo();
            }
            if descent.stopped {
                break;
            }
        }
        if std::env::var("VERBOSE").is_ok() {
            eprintln!("kicks {kicks} last {last}");
        }
        debug_assert!((before - gained - self.length()).abs() <= 1e-6 * before.abs().max(1.0), "gains do not add up");
        if slack == 0.0 || behind == 0.0 {
            best = self.tour.order().to_vec();
        }
        best
    }

    fn length(&self) -> f64 {
        let order = self.tour.order();
        let edges = order.iter().zip(order.iter().cycle().skip(1));
        edges.map(|(&from, &to)| self.moves.costs.cost(from, to)).sum::<f64>() + self.moves.costs.constant()
    }

    /// Local search until no queued node has an improving move.
    fn descend(&mut self) -> Descent {
        let mut gain = 0.0;
        let mut patience = PATIENCE;
        while let Some(node) = self.queue.pop() {
            loop {
                let better = self.moves.improve(&mut self.tour, node, &mut self.touched);
                if better == 0.0 {
                    break;
                }
                gain += better;
                for touched in self.touched.drain(..) {
                    self.queue.push(touched);
                }
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
        let n = self.tour.len();
        let longest = segment().min((n - 2) / 3);
        let walk: usize = std::env::var("WALK").map_or(0, |x| x.parse().unwrap());
        let places = loop {
            if walk > 0 {
                let v = self.random.random_range(0..n) as u32;
                let mut places = [v; 4].map(|v| {
                    let mut v = v;
                    for _ in 0..self.random.random_range(1..=walk) {
                        let list = self.moves.candidates[0].of(v);
                        v = list[self.random.random_range(0..list.len().min(5))].node;
                    }
                    self.tour.position(v) as usize
                });
                places.sort_unstable();
                if places[0] == places[1] || places[1] == places[2] || places[2] == places[3] {
                    continue;
                }
                let edges = places.map(|place| (self.tour.at(place % n), self.tour.at(place % n + 1)));
                if !edges.iter().any(|&(tail, head)| self.moves.is_fixed(tail, head)) {
                    break places;
                }
                continue;
            }
            let start = self.random.random_range(0..n);
            let mut places = [start; 4];
            for i in 1..4 {
                places[i] = places[i - 1] + self.random.random_range(1..=longest);
            }
            let edges = places.map(|place| (self.tour.at(place % n), self.tour.at(place % n + 1)));
            if !edges.iter().any(|&(tail, head)| self.moves.is_fixed(tail, head)) {
                break places;
            }
        };
        let mut cuts = places.map(|place| (place % n) as u32);
        let [a, b, c, d] = cuts.map(|cut| (self.tour.at(cut as usize), self.tour.at(cut as usize + 1)));
        let cost = |from, to| self.moves.costs.cost(from, to);
        let removed = cost(a.0, a.1) + cost(b.0, b.1) + cost(c.0, c.1) + cost(d.0, d.1);
        let added = cost(a.0, c.1) + cost(d.0, b.1) + cost(c.0, a.1) + cost(b.0, d.1);
        cuts.sort_unstable();
        // Any rotation of three consecutive segments and the rest is again the cyclic order 0 3 2 1.
        self.tour.rearrange(&cuts, &[0, 3, 2, 1].map(|index| Segment { index, reversed: false }));
        for (tail, head) in [a, b, c, d] {
            self.queue.push(tail);
            self.queue.push(head);
        }
        added - removed
    }
}

struct Descent {
    gain: f64,
    stopped: bool,
}

/// First in, first out, each node at most once: the don't-look bits.
struct Queue {
    nodes: std::collections::VecDeque<u32>,
    queued: Vec<bool>,
}

impl Queue {
    fn new(nodes: usize) -> Self {
        Queue { nodes: std::collections::VecDeque::new(), queued: vec![false; nodes] }
    }

    fn push(&mut self, node: u32) {
        if !std::mem::replace(&mut self.queued[node as usize], true) {
            self.nodes.push_back(node);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let node = self.nodes.pop_front()?;
        self.queued[node as usize] = false;
        Some(node)
    }

    fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}
