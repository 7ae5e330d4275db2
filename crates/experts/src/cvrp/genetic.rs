//! The hybrid genetic search: crossover, split, local search, survival (Vidal 2022, algorithm 1).

use bqnco_core::{Effort, Improved, Random};
use bqnco_problems::cvrp::Step;
use rand::RngExt;

use super::CvrpExpert;
use super::crossover;
use super::data::Data;
use super::individual::Individual;
use super::local_search::LocalSearch;
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
    fresh: usize,        // individuals without parents since the last restart
    idle: u64,           // rounds since the last improvement or restart
    stale: u64,          // rounds since the best of all was found
    length: f64,         // of the best feasible individual since the last restart
    best: (f64, Routes), // over all restarts, with its length
    first: Vec<Routes>,  // the first individuals
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
        first.push(savings.construct(data, None, effort.stop));
        let (length, _) = first[0].measure(data);
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
            best: (length, first[0].clone()),
            first,
            improved,
        }
    }

    /// Searches as long as the effort allows. Returns the best routes, never worse than the initial ones, and the number
    /// of rounds.
    pub fn run(mut self) -> (Routes, u64) {
        for routes in std::mem::take(&mut self.first) {
            let Some(individual) = self.educate(&routes, f64::INFINITY) else { return (self.best.1, 0) };
            self.population.add(individual);
        }
        if self.data.customers() == 1 {
            return (self.best.1, 0);
        }
        let mut round = 0;
        while !self.effort.is_spent(round, self.stale) && self.round().is_some() {
            round += 1;
            self.idle += 1;
            self.stale += 1;
            if self.idle > self.settings.patience {
                self.population = Population::new(self.settings, self.population.penalty());
                (self.fresh, self.idle, self.length) = (0, 0, f64::INFINITY);
            }
        }
        (self.best.1, round)
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
            let repaired = self.educate(&broken, 10.0 * penalty)?;
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
            if length < self.best.0 - self.data.tolerance {
                (self.best, self.stale) = ((length, self.search.routes()), 0);
                (self.improved)(&|| self.best.1.to_steps());
            }
        }
        finished.then(|| Individual::new(self.search.routes(), (length, excess)))
    }
}
