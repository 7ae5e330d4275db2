//! The orienteering problem by iterated ruin and refill under simulated annealing.
//!
//! A round takes part of the best-looking route out, or forces unvisited nodes in, shortens what remains (2-opt,
//! Or-opt), drops nodes if it is too long, and spends the length left on the best prizes per detour. The ideas are
//! those of Kobeaga, Merino and Lozano (EA4OP, 2018) and Santini (ALNS, 2019).

mod field;
mod fill;
mod route;
mod ruin;
mod shorten;

use bqnco_core::{Effort, Expert, ExpertError, Random, Solution, Stop, random};
use bqnco_problems::Op;
use bqnco_problems::op::Instance;
use rand::RngExt;

use field::Field;
use fill::{Offer, Taste, fill};
use route::Route;
use ruin::{repair, ruin};
use shorten::{Agenda, shorten};

/// Heuristic for the orienteering problem, also for tails whose ends differ. A round is one change of the route.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpExpert;

impl Expert<Op> for OpExpert {
    fn solve(&self, instance: &Instance, effort: &Effort<'_>) -> Result<Solution<usize>, ExpertError> {
        let steps = Field::new(instance, effort.stop).map(|field| {
            let best = Search::new(&field, effort).run();
            best.visited().iter().map(|&node| field.original(node)).collect()
        });
        Ok(Solution::new::<Op>(instance, steps.unwrap_or_default()))
    }
}

/// Rounds of the first cooling; every further one takes half as long again.
const FIRST_CYCLE: f64 = 1000.0;
/// Temperatures at the start and at the end of a cooling, in mean prizes.
const TEMPERATURES: (f64, f64) = (0.5, 0.02);
/// Worth of length left, as a share of what the best route collects per length.
const WORTH_OF_LENGTH: f64 = 0.5;

struct Search<'a> {
    field: &'a Field<'a>,
    rounds: u64,
    stop: Stop<'a>,
    rng: Random,
    agenda: Agenda,
    offers: Vec<Offer>,
    best: Route,
}

impl<'a> Search<'a> {
    fn new(field: &'a Field<'a>, effort: &Effort<'a>) -> Self {
        Search {
            field,
            rounds: effort.rounds.unwrap_or(u64::MAX),
            stop: effort.stop,
            rng: random(effort.seed, &[]),
            agenda: Agenda::new(field.len()),
            offers: Vec::new(),
            best: Route::direct(field),
        }
    }

    fn run(mut self) -> Route {
        let mut current = Route::direct(self.field);
        self.refill(&mut current, Taste { noise: 0.0, thrift: 1.0 });
        self.keep_if_best(&mut current);
        let mut next = current.clone();
        let (mut cycle, mut round_in_cycle) = (FIRST_CYCLE, 0.0);
        let mean_prize = self.field.total_prize() / (self.field.len() as f64 - 2.0).max(1.0);
        for _ in 0..self.rounds {
            let everything = self.best.prize >= self.field.total_prize() * (1.0 - 1e-12);
            if everything || (self.stop)() {
                break;
            }
            next.copy_from(&current);
            if self.change(&mut next) && !(self.stop)() {
                self.keep_if_best(&mut next);
                let cooled = f64::powf(TEMPERATURES.1 / TEMPERATURES.0, round_in_cycle / cycle);
                let tolerance = -mean_prize * TEMPERATURES.0 * cooled * (1.0 - self.rng.random::<f64>()).ln();
                if self.fitness(&next) >= self.fitness(&current) - tolerance {
                    std::mem::swap(&mut current, &mut next);
                }
            }
            round_in_cycle += 1.0;
            if round_in_cycle >= cycle {
                (cycle, round_in_cycle) = (1.5 * cycle, 0.0);
                current.copy_from(&self.best);
            }
        }
        self.best
    }

    /// Prize, and what the length left promises.
    fn fitness(&self, route: &Route) -> f64 {
        let left = self.field.limit - route.length;
        route.prize + WORTH_OF_LENGTH * self.best.prize * left / self.field.limit
    }

    /// One round. False if the route got worthless.
    fn change(&mut self, route: &mut Route) -> bool {
        self.agenda.clear();
        let forced = ruin(self.field, route, &mut self.agenda, &mut self.rng);
        shorten(self.field, route, &mut self.agenda, self.stop);
        if !repair(self.field, route, &mut self.agenda, &forced) {
            return false;
        }
        let taste = Taste { noise: 0.5, thrift: 1.0 };
        self.refill(route, taste);
        route.recount(self.field);
        route.length <= self.field.limit
    }

    /// Fills and shortens in turn until nothing more fits.
    fn refill(&mut self, route: &mut Route, taste: Taste) {
        loop {
            let before = route.visited().len();
            fill(self.field, route, &mut self.agenda, &mut self.offers, (taste, &mut self.rng), self.stop);
            shorten(self.field, route, &mut self.agenda, self.stop);
            if route.visited().len() == before || (self.stop)() {
                return;
            }
        }
    }

    fn keep_if_best(&mut self, route: &mut Route) {
        let better =
            route.prize > self.best.prize || (route.prize == self.best.prize && route.length < self.best.length);
        if better && !route.visited().is_empty() {
            self.best.copy_from(route);
        }
    }
}
