//! Vehicle routes: hybrid genetic search with SWAP* (Vidal 2022), and the savings construction it starts from.
//!
//! A solution is a giant tour (all customers in a row) that `split` cuts into routes at the best places. Tours are
//! crossed; `local_search` improves the children, at a price for overloaded routes that adapts; a `population` of
//! feasible and infeasible individuals keeps what is good or different.

mod crossover;
mod data;
mod genetic;
mod individual;
mod local_search;
mod population;
mod routes;
mod savings;
mod split;
#[cfg(test)]
mod tests;

use bqnco_core::{Effort, Expert, ExpertError, Improved, Solution, better};
use bqnco_problems::Cvrp;
use bqnco_problems::cvrp::{Instance, Step};

use crate::expertise::{Expertise, feasible};

use self::data::Data;
use self::genetic::Genetic;
use self::routes::Routes;
pub use self::savings::Savings;

/// Hybrid genetic search with SWAP* (Vidal 2022). The default settings are the published ones, but for the beginning:
/// the population is smaller at first and comes from savings, which suits short searches and large instances.
///
/// A round makes one individual, by crossover or randomised savings, and improves it by local search.
#[derive(Clone, Debug, PartialEq)]
pub struct CvrpExpert {
    /// Moves of a customer are tried with so many nearest others.
    pub neighbours: usize,
    /// Members of each subpopulation that survive a selection (μ).
    pub survivors: usize,
    /// Survivors at the beginning; every 200 rounds allow one more. A small population is better for short searches.
    pub first_survivors: usize,
    /// Individuals without parents per survivor, by randomised savings; random tours, 4 per survivor, in the paper.
    pub random_share: f64,
    /// Savings are randomised by factors of 1 plus or minus this.
    pub noise: f64,
    /// Members that may come on top before there is a selection (λ).
    pub generation: usize,
    /// The cheapest members, which no selection for diversity touches.
    pub elite: usize,
    /// Diversity is the mean distance to so many closest members.
    pub close: usize,
    /// The share of local searches that shall end without overload; the penalty adapts to it (ξ).
    pub feasible_share: f64,
    /// Rounds without improvement after which a new population is made.
    pub patience: u64,
}

impl CvrpExpert {
    /// The default settings.
    pub const DEFAULT: CvrpExpert = CvrpExpert {
        neighbours: 20,
        survivors: 25,
        first_survivors: 8,
        random_share: 2.0,
        noise: 0.5,
        generation: 40,
        elite: 4,
        close: 5,
        feasible_share: 0.2,
        patience: 20_000,
    };
}

impl Default for CvrpExpert {
    fn default() -> Self {
        CvrpExpert::DEFAULT
    }
}

impl Expert<Cvrp> for CvrpExpert {
    fn solve(&self, instance: &Instance, effort: &Effort<'_>) -> Result<Solution<Step>, ExpertError> {
        self.search(instance, None, effort, &|_| ())
    }

    fn improve(
        &self,
        instance: &Instance,
        start: Solution<Step>,
        effort: &Effort<'_>,
    ) -> Result<Solution<Step>, ExpertError> {
        self.search(instance, Some(start), effort, &|_| ())
    }

    /// From a start: a local search, then the genetic search in which its result is the first individual.
    fn search(
        &self,
        instance: &Instance,
        start: Option<Solution<Step>>,
        effort: &Effort<'_>,
        improved: Improved<'_, Step>,
    ) -> Result<Solution<Step>, ExpertError> {
        whole("the hybrid genetic search", instance)?;
        start.iter().try_for_each(|start| feasible::<Cvrp>("the hybrid genetic search", instance, start))?;
        let data = Data::new(instance, self.neighbours, effort.stop);
        let routes = start.as_ref().map(|start| Routes::from_steps(&start.steps));
        let routes = Genetic::new(self, &data, routes, effort, improved).run();
        let found = Solution::new::<Cvrp>(instance, routes.to_steps());
        Ok(match start {
            Some(start) => better(start, found),
            None => found,
        })
    }
}

/// The classical solvers of the CVRP.
pub static EXPERTISE: Expertise<Cvrp> = Expertise {
    expert: &CvrpExpert::DEFAULT,
    constructions: &[("savings", |instance, effort| Savings::default().solve(instance, effort))],
    label_rounds: |size| 5 * size as u64,
    reference_rounds: |size| (25 * size as u64).min(5000), // minutes at 1,000 customers
};

/// Refuses tails.
fn whole(expert: &'static str, instance: &Instance) -> Result<(), ExpertError> {
    if instance.is_whole() {
        return Ok(());
    }
    let reason = "its vehicle is already under way; solve the whole instance".into();
    Err(ExpertError::Unsupported { expert, reason })
}
