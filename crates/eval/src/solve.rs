//! Batches of instances through the library's engine: the only place that knows a problem's types.

use std::sync::Arc;

use bqnco::core::{Effort, Expert, ExpertError, Improved, Solution};
use bqnco::experts::Expertise;
use bqnco::solve::{Found, Job};
use bqnco::{Builtin, ProblemName, Result, Search, dispatch};

use crate::Evaluation;
use crate::method::{Method, Solver, construction};
use crate::set::Set;

/// Consecutive instances of a set.
pub(crate) struct Batch<'a> {
    pub set: &'a Set,
    pub indices: &'a [usize],
    pub evaluation: &'a Evaluation<'a>,
}

/// A feasible solution.
pub(crate) struct Solved {
    /// With the sign a person expects.
    pub cost: f64,
    pub seconds: f64,
    pub cut_short: bool,
    /// As files have it.
    pub numbers: Vec<usize>,
}

/// Takes the solution of an instance, known by its index in the set, or why there is none.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(usize, Result<Solved>) -> Result<()>;

impl Batch<'_> {
    /// Solves the instances by a method of their problem.
    pub fn solve(&self, method: &Method<'_>, emit: Emit<'_>) -> Result<()> {
        dispatch!(self.set.problem, P => self.solve_typed::<P>(method, emit))
    }

    /// Solves the instances by the expert with the rounds of a reference; none where there is no expert.
    pub fn find_references(&self, emit: Emit<'_>) -> Result<()> {
        dispatch!(self.set.problem, P => match P::expertise() {
            Some(expertise) => self.references_typed::<P>(expertise, emit),
            None => Ok(()),
        })
    }

    fn solve_typed<P: Builtin>(&self, method: &Method<'_>, emit: Emit<'_>) -> Result<()> {
        let greedy = Search::greedy();
        let (search, construct) = match &method.solver {
            Solver::Search(search) => (search, None),
            Solver::Construction(name) => (&greedy, construction::<P>(name)),
        };
        let instances = self.instances::<P>()?;
        let network = method.network.map(|(model, _)| &model.network);
        let job = Job { network, time_limit: method.time_limit, ..self.job::<P>(&instances, search) };
        let mut emit = |at: usize, answer: Result<Found<P::Step>>| {
            emit(self.indices[at], answer.map(referee::<P>(&instances[at])))
        };
        match construct {
            Some(construct) => job.construct(construct, &mut emit),
            None => job.run(&mut emit),
        }
    }

    fn references_typed<P: Builtin>(&self, expertise: &'static Expertise<P>, emit: Emit<'_>) -> Result<()> {
        let search = Search::expert();
        let instances = self.instances::<P>()?;
        self.job::<P>(&instances, &search).ask(&Thorough(expertise), &mut |at, answer| {
            emit(self.indices[at], answer.map(referee::<P>(&instances[at])))
        })
    }

    fn job<'b, P: Builtin>(&'b self, instances: &'b [Arc<P::Instance>], search: &'b Search) -> Job<'b, P> {
        Job {
            search,
            network: None,
            instances,
            first: self.indices[0],
            start: None,
            seed: self.evaluation.seed,
            time_limit: None,
            cancel: &self.evaluation.cancel,
            pool: None,
            improved: &|_, _| (),
        }
    }

    fn instances<P: Builtin>(&self) -> Result<Vec<Arc<P::Instance>>> {
        let typed = |&index: &usize| {
            let instance = self.set.instance(index)?;
            Ok(Arc::clone(instance.get::<P>().expect("the set is of this problem")))
        };
        self.indices.iter().map(typed).collect()
    }
}

/// The objective by the problem's own rules.
///
/// # Panics
/// When the search gave something that is not a solution, which must never be reported.
fn referee<P: Builtin>(instance: &P::Instance) -> impl FnOnce(Found<P::Step>) -> Solved {
    move |Found { solution, seconds, cut_short, .. }| {
        P::check(instance, &solution.steps).expect("a search ends in a solution");
        let cost = P::OBJECTIVE.1 * P::cost(instance, &solution.steps);
        Solved { cost, seconds, cut_short, numbers: P::solution_to(instance, &solution.steps) }
    }
}

/// The expert's rounds that make a reference for an instance of this size; none where there is no expert.
pub(crate) fn reference_rounds(problem: ProblemName, size: usize) -> Option<u64> {
    dispatch!(problem, P => P::expertise().map(|expertise| (expertise.reference_rounds)(size)))
}

/// The expert with the rounds of a reference.
struct Thorough<P: Builtin>(&'static Expertise<P>);

impl<P: Builtin> Expert<P> for Thorough<P> {
    fn search(
        &self,
        instance: &P::Instance,
        start: Option<Solution<P::Step>>,
        effort: &Effort<'_>,
        improved: Improved<'_, P::Step>,
    ) -> std::result::Result<Solution<P::Step>, ExpertError> {
        let rounds = Some((self.0.reference_rounds)(P::size(instance)));
        self.0.expert.search(instance, start, &Effort { rounds, ..*effort }, improved)
    }
}
