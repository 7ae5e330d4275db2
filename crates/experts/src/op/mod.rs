//! The orienteering problem by iterated ruin and refill under simulated annealing.
//!
//! A round removes part of a good route, or inserts unvisited nodes by force, shortens the result (2-opt, Or-opt),
//! drops nodes if it is too long, and fills the remaining length with the best prizes per detour. The ideas are
//! those of Kobeaga, Merino and Lozano (EA4OP, 2018) and Santini (ALNS, 2019).

mod field;
mod fill;
mod route;
mod ruin;
mod shorten;

use bqnco_core::{Effort, Expert, ExpertError, Improved, Random, Solution, no_worse, random};
use bqnco_problems::Op;
use bqnco_problems::op::Instance;

use crate::expertise::{Expertise, feasible, greedy_heuristic};
use rand::RngExt;

use field::Field;
use fill::fill;
use route::Route;
use ruin::{repair, ruin};
use shorten::{Agenda, shorten};

/// Heuristic for the orienteering problem, including tails with different ends. A round is one change of the route.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpExpert;

impl Expert<Op> for OpExpert {
    fn search(
        &self,
        instance: &Instance,
        start: Option<Solution<usize>>,
        effort: &Effort<'_>,
        improved: Improved<'_, usize>,
    ) -> Result<Solution<usize>, ExpertError> {
        start.iter().try_for_each(|start| feasible::<Op>("ruin and refill", instance, start))?;
        let steps = Field::new(instance, effort.stop).map(|field| {
            let steps = |route: &Route| route.visited().iter().map(|&node| field.original(node)).collect::<Vec<_>>();
            let tell = |route: &Route| improved(&|| steps(route));
            let start = start.as_ref().map_or(Route::direct(&field), |start| Route::through(&field, &start.steps));
            steps(&Search::new(&field, effort, &tell).run(start))
        });
        let found = Solution::new::<Op>(instance, steps.unwrap_or_default());
        Ok(no_worse(start, found))
    }
}

/// The classical solvers of the orienteering problem.
pub static EXPERTISE: Expertise<Op> = Expertise {
    expert: &OpExpert,
    constructions: &[("best prize per length", greedy_heuristic::<Op>)],
    label_rounds: |size| 40 * size as u64,
    reference_rounds: |size| 100 * size as u64,
    patience: |size| (40 * size as u64).min(100_000),
    is_random: true,
};

/// Rounds of the first cooling cycle; each further cycle is 1.5 times as long.
const FIRST_CYCLE: f64 = 1000.0;
/// Temperatures at the start and at the end of a cooling cycle, in units of the mean prize.
const TEMPERATURES: (f64, f64) = (2.0, 0.02);
/// Value of remaining length, as a fraction of the best route's prize per length.
const WORTH_OF_LENGTH: f64 = 0.5;
/// Largest distortion of prizes; in most rounds it is far smaller.
const DISTORTION: f64 = 4.0;

struct Search<'a> {
    field: &'a Field<'a>,
    effort: &'a Effort<'a>,
    rng: Random,
    agenda: Agenda,
    best: Route,
    idle: u64, // rounds since the last larger prize
    improved: &'a dyn Fn(&Route),
}

impl<'a> Search<'a> {
    fn new(field: &'a Field<'a>, effort: &'a Effort<'a>, improved: &'a dyn Fn(&Route)) -> Self {
        let (rng, agenda) = (random(effort.seed, &[]), Agenda::new(field.len()));
        Search { field, effort, rng, agenda, best: Route::direct(field), idle: 0, improved }
    }

    /// Simulated annealing in cycles of increasing length, each from the best route so far, the first from `current`. A
    /// round depends only on the rounds before it, so more rounds never give a worse result.
    fn run(mut self, mut current: Route) -> Route {
        self.refill(&mut current, 0.0);
        current.recount(self.field);
        self.keep_if_best(&current);
        let mut next = current.clone();
        let (mut cycle, mut round) = (FIRST_CYCLE, 0.0);
        let unit = self.field.total_prize() / self.field.len() as f64;
        let mut rounds = 0;
        while !self.effort.is_spent(rounds, self.idle) {
            rounds += 1;
            self.idle += 1;
            let everything = self.best.prize >= self.field.total_prize() * (1.0 - 1e-12);
            if everything || self.field.is_stopped() {
                break;
            }
            next.copy_from(&current);
            if self.change(&mut next) {
                self.keep_if_best(&next);
                let temperature = unit * TEMPERATURES.0 * (TEMPERATURES.1 / TEMPERATURES.0).powf(round / cycle);
                let tolerance = -temperature * (1.0 - self.rng.random::<f64>()).ln();
                if self.fitness(&next) >= self.fitness(&current) - tolerance {
                    std::mem::swap(&mut current, &mut next);
                }
            }
            round += 1.0;
            if round >= cycle {
                (cycle, round) = (1.5 * cycle, 0.0);
                current.copy_from(&self.best);
            }
        }
        self.best
    }

    /// Prize plus the estimated value of the remaining length.
    fn fitness(&self, route: &Route) -> f64 {
        let left = self.field.limit - route.length;
        route.prize + WORTH_OF_LENGTH * self.best.prize * left / self.field.limit
    }

    /// One round. Returns false if it produced no feasible route.
    fn change(&mut self, route: &mut Route) -> bool {
        self.agenda.clear();
        let forced = ruin(self.field, route, &mut self.agenda, &mut self.rng);
        shorten(self.field, route, &mut self.agenda);
        let strength = DISTORTION * self.rng.random::<f64>().powi(3);
        let distortion = || 1.0 + strength * self.rng.random::<f64>();
        if !repair(self.field, route, &mut self.agenda, &forced, distortion) {
            return false;
        }
        self.refill(route, strength);
        route.recount(self.field);
        route.length <= self.field.limit
    }

    /// Fills and shortens alternately until nothing more fits.
    fn refill(&mut self, route: &mut Route, distortion: f64) {
        loop {
            fill(self.field, route, &mut self.agenda, || 1.0 + distortion * self.rng.random::<f64>());
            let length = route.length;
            shorten(self.field, route, &mut self.agenda);
            if route.length == length || self.field.is_stopped() {
                return;
            }
        }
    }

    /// Stores a route with a larger prize, or with the same prize and a smaller length.
    fn keep_if_best(&mut self, route: &Route) {
        let shorter = route.prize == self.best.prize && route.length < self.best.length;
        if (route.prize > self.best.prize || shorter) && route.length <= self.field.limit {
            let more = route.prize > self.best.prize;
            self.best.copy_from(route);
            if more {
                self.idle = 0;
                (self.improved)(&self.best);
            }
        }
    }
}
