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

use bqnco_core::{Effort, Expert, ExpertError, Solution, SolutionSpace};
use bqnco_problems::Cvrp;
use bqnco_problems::cvrp::{Instance, Step};

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

impl Default for CvrpExpert {
    fn default() -> Self {
        CvrpExpert {
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
        }
    }
}

impl Expert<Cvrp> for CvrpExpert {
    fn solve(&self, instance: &Instance, effort: &Effort<'_>) -> Result<Solution<Step>, ExpertError> {
        whole("the hybrid genetic search", instance)?;
        let data = Data::new(instance, self.neighbours, effort.stop);
        Ok(self.search(instance, &data, None, effort))
    }
}

impl CvrpExpert {
    /// Improves a solution: a local search, then `effort.rounds` rounds of the genetic search in which it is the first
    /// individual. The result is never worse.
    ///
    /// # Errors
    /// An instance that is a tail, or a solution that breaks the instance's rules.
    pub fn improve(
        &self,
        instance: &Instance,
        solution: &[Step],
        effort: &Effort<'_>,
    ) -> Result<Solution<Step>, ExpertError> {
        whole("the hybrid genetic search", instance)?;
        Cvrp::check(instance, solution).map_err(|infeasible| ExpertError::Unsupported {
            expert: "the hybrid genetic search",
            reason: format!("the solution to improve is not feasible: {infeasible}"),
        })?;
        let data = Data::new(instance, self.neighbours, effort.stop);
        let better = self.search(instance, &data, Some(Routes::from_steps(solution)), effort);
        let given = Solution::new::<Cvrp>(instance, solution.to_vec());
        Ok(if better.cost < given.cost { better } else { given })
    }

    fn search(
        &self,
        instance: &Instance,
        data: &Data<'_>,
        start: Option<Routes>,
        effort: &Effort<'_>,
    ) -> Solution<Step> {
        let routes = Genetic::new(self, data, start, effort).run();
        Solution::new::<Cvrp>(instance, routes.to_steps())
    }
}

/// Refuses tails.
fn whole(expert: &'static str, instance: &Instance) -> Result<(), ExpertError> {
    if instance.is_whole() {
        return Ok(());
    }
    let reason = "its vehicle is already under way; solve the whole instance".into();
    Err(ExpertError::Unsupported { expert, reason })
}
