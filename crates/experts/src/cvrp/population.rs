//! Feasible and infeasible individuals, ranked by cost and by contribution to diversity (Vidal 2022, section 3.1).

use bqnco_core::Random;
use rand::RngExt;

use super::CvrpExpert;
use super::individual::Individual;

/// Rounds after which the number of survivors grows by one.
const GROWTH: u64 = 200;

/// One of the two subpopulations, sorted by cost.
#[derive(Default)]
struct Subpopulation {
    members: Vec<Individual>,
    fitness: Vec<f64>, // per member, smaller is fitter; empty if out of date
}

/// The population of a genetic search.
pub(super) struct Population<'a> {
    settings: &'a CvrpExpert,
    survivors: usize, // current number
    penalty: f64,     // of a unit of load above the limit
    feasible: Subpopulation,
    infeasible: Subpopulation,
    rounds: u64,
    recent: u32, // feasible outcomes in the current hundred rounds
    next_id: u64,
}

impl<'a> Population<'a> {
    /// An empty population with an initial penalty.
    pub fn new(settings: &'a CvrpExpert, penalty: f64) -> Self {
        let [feasible, infeasible] = [Subpopulation::default(), Subpopulation::default()];
        let survivors = settings.first_survivors.clamp(1, settings.survivors.max(1));
        Population { settings, survivors, penalty, feasible, infeasible, rounds: 0, recent: 0, next_id: 0 }
    }

    /// The penalty per unit of load above the limit.
    pub fn penalty(&self) -> f64 {
        self.penalty
    }

    /// Number of random individuals to build initially for a population of this size.
    pub fn wanted(&self) -> usize {
        (self.settings.random_share * self.survivors as f64) as usize
    }

    /// Adds an individual; if there are then too many, removes the least fit.
    pub fn add(&mut self, mut individual: Individual) {
        individual.id = self.next_id;
        self.next_id += 1;
        let all = if individual.excess > 0.0 { &mut self.infeasible } else { &mut self.feasible };
        all.insert(individual, self.penalty);
        let generation = self.settings.generation * self.survivors / self.settings.survivors.max(1);
        if all.members.len() > self.survivors + generation {
            while all.members.len() > self.survivors {
                all.remove_worst(self.settings);
            }
        }
    }

    /// Binary tournament: the fitter of two random members.
    pub fn tournament(&mut self, rng: &mut Random) -> &Individual {
        self.feasible.update_fitness(self.settings);
        self.infeasible.update_fitness(self.settings);
        let feasible = self.feasible.members.len();
        let total = feasible + self.infeasible.members.len();
        let fitness =
            |k: usize| if k < feasible { self.feasible.fitness[k] } else { self.infeasible.fitness[k - feasible] };
        let (a, b) = (rng.random_range(0..total), rng.random_range(0..total));
        let winner = if fitness(b) < fitness(a) { b } else { a };
        if winner < feasible { &self.feasible.members[winner] } else { &self.infeasible.members[winner - feasible] }
    }

    /// Counts the outcome of a round. Every hundred rounds the penalty is adjusted so that the share of feasible
    /// outcomes approaches the target, and the population may grow.
    pub fn count(&mut self, feasible: bool, exchange: f64) {
        self.rounds += 1;
        self.recent += u32::from(feasible);
        if !self.rounds.is_multiple_of(100) {
            return;
        }
        let grown = self.settings.first_survivors as u64 + self.rounds / GROWTH;
        self.survivors = grown.clamp(1, self.settings.survivors.max(1) as u64) as usize;
        let share = f64::from(std::mem::take(&mut self.recent)) / 100.0;
        if share <= self.settings.feasible_share {
            self.penalty = (self.penalty * 1.2).min(1e5 * exchange);
        } else if share >= self.settings.feasible_share + 0.05 {
            self.penalty = (self.penalty * 0.85).max(1e-2 * exchange);
        }
        let penalty = self.penalty;
        self.infeasible.members.sort_by(|a, b| a.cost(penalty).total_cmp(&b.cost(penalty)));
        self.infeasible.fitness.clear();
    }
}

impl Subpopulation {
    fn insert(&mut self, mut individual: Individual, penalty: f64) {
        for member in &mut self.members {
            let distance = individual.broken_pairs(member);
            member.meet(individual.id, distance);
            individual.meet(member.id, distance);
        }
        let cost = individual.cost(penalty);
        let place = self.members.partition_point(|member| member.cost(penalty) <= cost);
        self.members.insert(place, individual);
        self.fitness.clear();
    }

    fn update_fitness(&mut self, settings: &CvrpExpert) {
        let size = self.members.len();
        if self.fitness.len() == size {
            return;
        }
        let mut isolated: Vec<(f64, usize)> =
            self.members.iter().enumerate().map(|(rank, member)| (-member.isolation(settings.close), rank)).collect();
        isolated.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.fitness.clear();
        self.fitness.resize(size, 0.0);
        // The elite is protected: diversity has less weight, the smaller the rest is.
        let weight = (1.0 - settings.elite as f64 / size as f64).max(0.0);
        for (diversity_rank, (_, cost_rank)) in isolated.into_iter().enumerate() {
            self.fitness[cost_rank] =
                (cost_rank as f64 + weight * diversity_rank as f64) / size.saturating_sub(1).max(1) as f64;
        }
    }

    /// Removes a clone if there is one, otherwise the least fit; never the cheapest.
    fn remove_worst(&mut self, settings: &CvrpExpert) {
        self.update_fitness(settings);
        let key = |k: usize| (self.members[k].is_clone(), self.fitness[k]);
        let worst = (1..self.members.len()).max_by(|&a, &b| {
            let ((clone_a, fitness_a), (clone_b, fitness_b)) = (key(a), key(b));
            clone_a.cmp(&clone_b).then(fitness_a.total_cmp(&fitness_b))
        });
        if let Some(worst) = worst {
            let gone = self.members.remove(worst);
            self.members.iter_mut().for_each(|member| member.part(gone.id));
            self.fitness.clear();
        }
    }
}
