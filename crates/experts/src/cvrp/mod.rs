//! Vehicle routes: hybrid genetic search with SWAP* (Vidal 2022), and the savings construction it starts from.
//!
//! A solution is a giant tour (all customers in sequence) that `split` cuts optimally into routes. Tours are recombined
//! by crossover; `local_search` improves the offspring, with an adaptive penalty for overloaded routes; a `population`
//! of feasible and infeasible individuals keeps those that are good or diverse. Of large instances `decompose` first
//! searches parts. A limited fleet is never exceeded: where it is tight, routes are overloaded instead until the penalty
//! has grown enough; `packing` may have a first solution before.

mod crossover;
mod data;
mod decompose;
mod genetic;
mod individual;
mod local_search;
mod packing;
mod population;
mod routes;
mod savings;
mod split;
#[cfg(test)]
mod tests;

use bqnco_core::{Effort, Expert, ExpertError, Improved, Solution, no_worse};
use bqnco_problems::Cvrp;
use bqnco_problems::cvrp::{Instance, Step};

use crate::expertise::{Expertise, feasible};

use self::data::Data;
use self::decompose::{Decomposition, FIRST_PART};
use self::genetic::Genetic;
use self::routes::Routes;
pub use self::savings::Savings;

/// Hybrid genetic search with SWAP* (Vidal 2022). The default settings are the published ones except for the initial
/// population, which is smaller and built by savings: better for short searches and large instances.
///
/// A round makes one individual, by crossover or randomised savings, and improves it by local search.
#[derive(Clone, Debug, PartialEq)]
pub struct CvrpExpert {
    /// Moves of a customer are tried with this many nearest customers.
    pub neighbours: usize,
    /// Members of each subpopulation that survive a selection (μ).
    pub survivors: usize,
    /// Initial number of survivors; it grows by one every 200 rounds. A small population is better for short searches.
    pub first_survivors: usize,
    /// Individuals built without parents, per survivor: randomised savings here, 4 random tours per survivor in the
    /// paper.
    pub random_share: f64,
    /// Savings are multiplied by random factors of 1 plus or minus this.
    pub noise: f64,
    /// Members added before the next selection (λ).
    pub generation: usize,
    /// Number of cheapest members that selection for diversity never removes (the elite).
    pub elite: usize,
    /// Diversity is the mean distance to this many closest members.
    pub close: usize,
    /// Target share of local searches that end without overload; the penalty adapts to it (ξ).
    pub feasible_share: f64,
    /// Rounds without improvement before a restart with a new population.
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
    /// The start, after local search, is one of the first individuals.
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
        let routes = match data.customers() {
            ..=FIRST_PART => Genetic::new(self, &data, routes, effort, improved).run().0,
            _ => self.search_parts_first(instance, &data, routes, effort, improved),
        };
        let Some(routes) = routes else {
            let wanted = match data.fleet {
                1 => "one vehicle".into(),
                fleet => format!("at most {fleet} vehicles"),
            };
            return Err(ExpertError::NoneFound { wanted, advice: "allow more vehicles or more time" });
        };
        let found = Solution::new::<Cvrp>(instance, routes.to_steps());
        Ok(no_worse(start, found))
    }
}

impl CvrpExpert {
    /// Local search of the first individuals, then parts of the better one, then the whole as long as there is effort left.
    fn search_parts_first(
        &self,
        instance: &Instance,
        data: &Data<'_>,
        start: Option<Routes>,
        effort: &Effort<'_>,
        improved: Improved<'_, Step>,
    ) -> Option<Routes> {
        let first = Effort { rounds: Some(0), ..*effort };
        let (routes, _) = Genetic::new(self, data, start, &first, improved).run();
        let Some(routes) = routes else {
            return Genetic::new(self, data, None, effort, improved).run().0; // parts need a solution
        };
        if (effort.stop)() {
            return Some(routes);
        }
        let (routes, rest) = Decomposition::new(self, instance, data, &routes, effort, improved).run();
        match rest {
            Some(rest) => Genetic::new(self, data, Some(routes), &rest, improved).run().0,
            None => Some(routes),
        }
    }
}

/// The classical solvers of the CVRP.
pub static EXPERTISE: Expertise<Cvrp> = Expertise {
    expert: &CvrpExpert::DEFAULT,
    constructions: &[("savings", |instance, effort| Savings::default().solve(instance, effort))],
    label_rounds: |size| 5 * size as u64,
    reference_rounds: |size| (25 * size as u64).min(5000), // minutes at 1,000 customers
    patience: |size| (10 * size as u64).min(400_000 / size.max(1) as u64).max(20), // a round takes 20 ms at 1,000
    is_random: true,
};

/// Rejects tail subproblems.
fn whole(expert: &'static str, instance: &Instance) -> Result<(), ExpertError> {
    if instance.is_whole() {
        return Ok(());
    }
    let reason = "its vehicle is already under way; solve the whole instance".into();
    Err(ExpertError::Unsupported { expert, reason })
}
