//! The hybrid genetic search: crossover, split, local search, survival (Vidal 2022, algorithm 1).

use bqnco_core::{Effort, Improved, Random};
use bqnco_problems::cvrp::Step;
use rand::RngExt;

use super::CvrpExpert;
use super::crossover;
use super::data::Data;
use super::individual::Individual;
use super::local_search::LocalSearch;
use super::packing;
use super::population::Population;
use super::routes::Routes;
use super::savings;
use super::split::Split;

/// The state of a search.
pub(super) struct Genetic<'a> {
    settings: &'a CvrpExpert,
    data: &'a Data<'a>,
    effort: &'a Effort<'a>,
    rng: Random,
    search: LocalSearch<'a>,
    savings: savings::Table,
    split: Split,
    taken: Vec<bool>, // scratch memory of the crossover
    population: Population<'a>,
    fresh: usize,                // individuals without parents since the last restart
    idle: u64,                   // rounds since the last improvement or restart
    stale: u64,                  // rounds since the best of all was found
    length: f64,                 // of the best feasible individual since the last restart
    best: Option<(f64, Routes)>, // over all restarts, with its length; none may be known for a small fleet
    first: Vec<Routes>,          // the first individuals
    improved: Improved<'a, Step>,
}

impl<'a> Genetic<'a> {
    /// A search whose first individuals are the savings construction's and `start`, if there is one. Of a start alone
    /// all children would be alike.
    pub fn new(
        settings: &'a CvrpExpert,
        data: &'a Data<'a>,
        start: Option<Routes>,
        effort: &'a Effort<'a>,
        improved: Improved<'a, Step>,
    ) -> Self {
        let savings = savings::Table::new(data);
        let mut first: Vec<Routes> = start.into_iter().collect();
        let built = savings.construct(data, None, effort.stop);
        let packed = if built.ends.len() > data.fleet { packing::best_fit(data) } else { None };
        first.push(built);
        first.extend(packed);
        let best = first.iter().find(|routes| routes.ends.len() <= data.fleet);
        let best = best.map(|routes| (routes.measure(data).0, routes.clone()));
        Genetic {
            settings,
            data,
            effort,
            rng: bqnco_core::random(effort.seed, &[]),
            search: LocalSearch::new(data),
            savings,
            split: Split::default(),
            taken: Vec::new(),
            population: Population::new(settings, data.exchange),
            fresh: 0,
            idle: 0,
            stale: 0,
            length: f64::INFINITY,
            best,
            first,
            improved,
        }
    }

    /// Searches as long as the effort allows. Returns the best routes, never worse than the initial ones, and the number
    /// of rounds. There are no routes if the vehicles are too few for all that was tried.
    pub fn run(mut self) -> (Option<Routes>, u64) {
        let rounds = self.rounds();
        (self.best.map(|(_, routes)| routes), rounds)
    }

    /// Searches and returns the number of rounds.
    fn rounds(&mut self) -> u64 {
        for routes in std::mem::take(&mut self.first) {
            let (routes, penalty) = self.for_fleet(routes);
            let Some(individual) = self.educate(&routes, penalty) else { return 0 };
            self.population.add(individual);
        }
        if self.data.customers() == 1 {
            return 0;
        }
        let mut round = 0;
        // Patience begins with the first solution.
        while !self.effort.is_spent(round, if self.best.is_some() { self.stale } else { 0 }) && self.round().is_some() {
            round += 1;
            self.idle += 1;
            self.stale += 1;
            if self.idle > self.settings.patience {
                self.population = Population::new(self.settings, self.population.penalty());
                (self.fresh, self.idle, self.length) = (0, 0, f64::INFINITY);
            }
        }
        round
    }

    /// Routes that do not exceed the fleet, and the penalty of overload for their local search: those given, which have
    /// none; or, if they are too many, their tour cut anew.
    fn for_fleet(&mut self, routes: Routes) -> (Routes, f64) {
        if routes.ends.len() <= self.data.fleet {
            return (routes, f64::INFINITY);
        }
        let penalty = self.population.penalty();
        (self.split.split(self.data, routes.tour, penalty), penalty)
    }

    /// Adds one individual, and possibly its repaired copy. `None` if stopped.
    fn round(&mut self) -> Option<()> {
        let tour = if self.wants_random() { self.random_tour() } else { self.child() };
        let penalty = self.population.penalty();
        let routes = self.split.split(self.data, tour, penalty);
        let individual = self.educate(&routes, penalty)?;
        let feasible = individual.excess == 0.0;
        let broken = (!feasible && self.rng.random::<bool>()).then(|| individual.routes.clone());
        self.population.add(individual);
        self.population.count(feasible, self.data.exchange);
        if let Some(broken) = broken {
            let mut repaired = self.educate(&broken, 10.0 * penalty)?;
            if repaired.excess > 0.0 && self.data.fleet < usize::MAX {
                repaired = self.educate(&repaired.routes, 1000.0 * penalty)?; // a small fleet needs more pressure
            }
            if repaired.excess == 0.0 {
                self.population.add(repaired);
            }
        }
        Some(())
    }

    /// Most random individuals are interleaved with the children, so that a short search has children, too.
    fn wants_random(&self) -> bool {
        let wanted = self.population.wanted();
        self.fresh < wanted / 4 || (self.fresh < wanted && self.idle.is_multiple_of(2))
    }

    /// Savings with noise: as diverse as random tours after local search, in much less time.
    fn random_tour(&mut self) -> Vec<u32> {
        self.fresh += 1;
        self.savings.construct(self.data, Some((self.settings.noise, &mut self.rng)), self.effort.stop).tour
    }

    fn child(&mut self) -> Vec<u32> {
        let mother = self.population.tournament(&mut self.rng).routes.tour.clone();
        let father = &self.population.tournament(&mut self.rng).routes.tour;
        crossover::ordered(&mother, father, &mut self.taken, &mut self.rng)
    }

    /// The routes after the local search. `None` if stopped before it finished.
    fn educate(&mut self, routes: &Routes, penalty: f64) -> Option<Individual> {
        let finished = self.search.run(routes, penalty, &mut self.rng, self.effort.stop);
        let (length, excess) = self.search.measure();
        if excess == 0.0 && length < self.length - self.data.tolerance {
            (self.length, self.idle) = (length, 0);
            if self.best.as_ref().is_none_or(|(best, _)| length < best - self.data.tolerance) {
                let routes = self.search.routes();
                (self.improved)(&|| routes.to_steps());
                (self.best, self.stale) = (Some((length, routes)), 0);
            }
        }
        finished.then(|| Individual::new(self.search.routes(), (length, excess)))
    }
}
