//! Many constructions step by step: the BQ-MDP as an environment for reinforcement learning.

use std::fmt;
use std::sync::Arc;

use bqnco_core::{Frame, Relations, Subproblem};
use rayon::prelude::*;

use crate::observations::{self, ObservationBatch, Row, STATES_PER_TASK};
use crate::{Builtin, Error, Instance, ProblemName, Result, Solution, one_problem};

/// Constructions of several instances of one problem, each in its own state. A state is a tail subproblem, an action the
/// slot of a step.
///
/// ```
/// use bqnco::{Environments, Instance, core::Frame};
///
/// let square = Instance::tsp(&[[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])?;
/// let mut environments = Environments::new(&[square.clone(), square], Frame::Instance)?;
/// let mut returns = 0.0;
/// for _ in 0..3 {
///     let seen = environments.observe();
///     let first = |mask: &[bool]| mask.iter().position(|&allowed| allowed).unwrap_or_default();
///     let actions: Vec<usize> = seen.mask.chunks(seen.slots()).map(first).collect();
///     returns += environments.step(&actions)?.iter().map(|made| made.reward).sum::<f64>();
/// }
/// assert_eq!(returns, -8.0); // two tours
/// assert_eq!(environments.costs(), [4.0, 4.0]);
/// assert_eq!(environments.solution(1).map(|tour| tour.value()), Some(4.0));
/// # Ok::<(), bqnco::Error>(())
/// ```
pub struct Environments {
    problem: ProblemName,
    states: Box<dyn States>,
}

impl fmt::Debug for Environments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.states.count();
        f.debug_struct("Environments").field("problem", &self.problem).field("count", &count).finish_non_exhaustive()
    }
}

/// What an action did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// The decrease of the objective that is minimised, f(x) - f(x ∘ z); their sum over a construction is minus the cost of
    /// the solution, up to the cost of the empty one.
    pub reward: f64,
    /// Whether the solution is complete.
    pub finished: bool,
    /// Whether the step was allowed; if not, nothing has changed.
    pub allowed: bool,
}

impl Environments {
    /// The initial states of some instances of one problem.
    ///
    /// # Errors
    /// No instances, instances of several problems, or with only a matrix of distances where policies see coordinates.
    pub fn new(instances: &[Instance], frame: Frame) -> Result<Self> {
        let problem = one_problem(instances)?;
        let states: Box<dyn States> = dispatch!(problem, P => Box::new(Typed::<P>::new(instances, frame)?));
        Ok(Environments { problem, states })
    }

    /// The problem.
    pub fn problem(&self) -> ProblemName {
        self.problem
    }

    /// All states, padded to the tokens of the largest initial one. Nothing is seen of a finished construction.
    pub fn observe(&self) -> &ObservationBatch {
        self.states.observe()
    }

    /// Takes one action per environment; those of finished constructions are ignored.
    ///
    /// # Errors
    /// Another number of actions than of environments.
    pub fn step(&mut self, actions: &[usize]) -> Result<Vec<Transition>> {
        let expected = self.states.count();
        if actions.len() != expected {
            let (found, expected) = (actions.len().to_string(), format!("{expected}, one per environment"));
            return Err(Error::OutOfRange { setting: "actions", found, expected });
        }
        Ok(self.states.step(actions))
    }

    /// Starts an environment anew, with another instance.
    ///
    /// # Errors
    /// Instances of another problem, with only a matrix of distances where policies see coordinates, or with more
    /// tokens than all that were there at first; an index that is not below the number of environments.
    pub fn restart(&mut self, index: usize, instance: &Instance) -> Result<()> {
        if instance.problem() != self.problem {
            return Err(Error::MixedProblems { one: self.problem, other: instance.problem() });
        }
        self.states.restart(index, instance)
    }

    /// The costs of the solutions of finished constructions, as they are minimised; NaN for others.
    pub fn costs(&self) -> Vec<f64> {
        self.states.costs()
    }

    /// The solution of a finished construction.
    pub fn solution(&self, index: usize) -> Option<Solution> {
        self.states.solution(index)
    }
}

/// The states of a problem that is known at run time only.
trait States: Send + Sync {
    fn count(&self) -> usize;
    fn observe(&self) -> &ObservationBatch;
    fn step(&mut self, actions: &[usize]) -> Vec<Transition>;
    fn restart(&mut self, index: usize, instance: &Instance) -> Result<()>;
    fn costs(&self) -> Vec<f64>;
    fn solution(&self, index: usize) -> Option<Solution>;
}

struct Typed<P: Builtin> {
    constructions: Vec<Construction<P>>,
    frame: Frame,
    seen: ObservationBatch, // of all constructions as they are; with the tokens of the largest initial one
}

struct Construction<P: Builtin> {
    instance: Instance,
    state: Subproblem<P>,
    steps: Vec<P::Step>,
    finished: bool,
}

impl<P: Builtin> Typed<P> {
    fn new(instances: &[Instance], frame: Frame) -> Result<Self> {
        let constructions = instances.iter().map(Construction::new).collect::<Result<Vec<_>>>()?;
        let tokens = constructions.iter().map(|one: &Construction<P>| one.state.tokens()).max();
        let mut seen = ObservationBatch::empty::<P>(tokens.unwrap_or(0));
        seen.fill(constructions.par_iter(), |one, features, mask| one.observe(frame, features, mask));
        Ok(Typed { constructions, frame, seen })
    }
}

impl<P: Builtin> States for Typed<P> {
    fn count(&self) -> usize {
        self.constructions.len()
    }

    fn observe(&self) -> &ObservationBatch {
        &self.seen
    }

    /// Every state is observed as soon as it has changed, while it is in the cache.
    fn step(&mut self, actions: &[usize]) -> Vec<Transition> {
        let mut all = vec![Transition { reward: 0.0, finished: false, allowed: false }; actions.len()];
        let taken = self.constructions.par_iter_mut().zip(actions).zip(&mut all);
        self.seen.fill(taken, |((one, &action), made), features, mask| {
            *made = one.take(action);
            one.observe(self.frame, features, mask)
        });
        all
    }

    fn restart(&mut self, index: usize, instance: &Instance) -> Result<()> {
        let new = Construction::<P>::new(instance)?;
        let (found, most) = (new.state.tokens(), self.seen.tokens);
        if found > most {
            let expected = format!("at most {most}, as at first");
            return Err(Error::OutOfRange { setting: "tokens", found: found.to_string(), expected });
        }
        let count = self.count();
        let Some(place) = self.constructions.get_mut(index) else {
            let (found, expected) = (index.to_string(), format!("below {count}, the number of environments"));
            return Err(Error::OutOfRange { setting: "index", found, expected });
        };
        *place = new;
        self.seen.replace(index, |features, mask| place.observe(self.frame, features, mask));
        Ok(())
    }

    fn costs(&self) -> Vec<f64> {
        self.constructions.par_iter().with_min_len(STATES_PER_TASK).map(Construction::cost).collect()
    }

    fn solution(&self, index: usize) -> Option<Solution> {
        let one = self.constructions.get(index).filter(|one| one.finished)?;
        Some(Solution::from_steps::<P>(&one.instance, one.steps.clone(), "steps"))
    }
}

impl<P: Builtin> Construction<P> {
    fn new(instance: &Instance) -> Result<Self> {
        let typed = &instance.typed::<P>().instance;
        if !P::has_features(typed) {
            return Err(Error::NoFeatures { instance: instance.name().into() });
        }
        let state = Subproblem::whole(Arc::clone(typed));
        let finished = state.is_finished();
        let steps = Vec::with_capacity(state.tokens()); // a step takes at least one of them away
        Ok(Construction { instance: instance.clone(), state, steps, finished })
    }

    fn observe(&self, frame: Frame, features: &mut [f32], mask: &mut [bool]) -> Row {
        if self.finished { (0, Relations::NONE) } else { observations::observe(&self.state, frame, features, mask) }
    }

    fn cost(&self) -> f64 {
        if self.finished { P::cost(self.instance.data::<P>(), &self.steps) } else { f64::NAN }
    }

    fn take(&mut self, action: usize) -> Transition {
        let step = self.state.allowed().find(|&(slot, _)| slot == action).map(|(_, step)| step);
        let reward = step.map_or(0.0, |step| {
            self.steps.push(step);
            self.state.take(step)
        });
        self.finished = self.state.is_finished();
        Transition { reward, finished: self.finished, allowed: step.is_some() }
    }
}
