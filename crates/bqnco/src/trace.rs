//! What a policy said of every state of a construction, for any problem.

use std::collections::HashMap;
use std::sync::Arc;

use bqnco_core::rollout::{self, End, watch};
use bqnco_core::{Policy, PolicyError};
use bqnco_net::Network;

use crate::deadline::Deadline;
use crate::time_limited::TimeLimitedPolicy;
use crate::{Builtin, Instance, Result, Search, Solution};

/// A greedy construction by a policy, look by look: [`Solver::trace`](crate::Solver::trace).
#[derive(Clone, Debug)]
pub struct Trace {
    start: Vec<usize>,
    looks: Vec<Look>,
    solution: Option<Solution>,
    policy: String,
    seconds: f64,
}

/// One look of the policy at the tail subproblem, and what followed from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The likeliest next steps with their probabilities, the likeliest first.
    pub candidates: Vec<Candidate>,
    /// Number of steps that were scored.
    pub scored: usize,
    /// The end of the remaining path at which these steps were scored.
    pub end: End,
    /// The steps that were taken: one, or several if the policy was sure of them.
    pub taken: Vec<Taken>,
    /// Nodes or items that these steps remove from the tail: no later step can choose them.
    pub settled: Vec<usize>,
    /// The objective of the partial solution after these steps.
    pub value: f64,
}

/// A possible next step.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What the step adds to the numbers of the partial solution ([`Solution::numbers`]): a node or an item, a node after
    /// a visit of the depot (`[0, 7]`), or nothing if the step ends the solution.
    pub adds: Vec<usize>,
    /// Its probability among the steps that were scored.
    pub probability: f64,
}

/// A step that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// At the front, after the steps so far; or at the back, before those that were taken there.
    pub end: End,
    /// As in [`Candidate::adds`].
    pub adds: Vec<usize>,
}

impl Trace {
    /// The numbers of the empty partial solution: where the construction starts, if that is given.
    pub fn start(&self) -> &[usize] {
        &self.start
    }

    /// All looks in their order.
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// The solution; none if the construction was cut short.
    pub fn solution(&self) -> Option<&Solution> {
        self.solution.as_ref()
    }

    /// What scored the steps: "network tsp", "nearest neighbour".
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Whether time limit or cancellation came before the end.
    pub fn cut_short(&self) -> bool {
        self.solution.is_none()
    }

    /// Seconds of work.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

/// Records a construction by the policy of a search.
pub(crate) fn record<P: Builtin>(
    instance: &Instance,
    search: &Search,
    network: Option<&Network>,
    deadline: Deadline<'_>,
    most: usize,
) -> Result<Trace> {
    let started = std::time::Instant::now();
    let guide = search.guide().cloned().unwrap_or_default();
    let left = || deadline.left();
    let time_limited = guide.learnt::<P>(network).map(|policy| TimeLimitedPolicy::new(policy, &left));
    let policy: &dyn Policy<P> = match &time_limited {
        Some(time_limited) => time_limited,
        None => guide.rule::<P>(),
    };
    let options = rollout::Options {
        shortlist: guide.shortlist.candidates(network.map(Network::config)),
        stride: search.stride(network.map(Network::config)),
        stop: &|| deadline.has_passed(),
        ..rollout::Options::default()
    };
    let mut recorder = Recorder::<P>::new(instance.data::<P>(), most);
    let data = Arc::clone(&instance.typed::<P>().instance);
    let found = match watch::<P>(policy, data, &options, &mut |look| recorder.add(look)) {
        Ok(steps) => Some(steps),
        Err(PolicyError::Stopped) => None,
        Err(error) => return Err(error.into()),
    };
    let policy = search.describe::<P>(1);
    let solution = found.map(|steps| Solution::from_steps::<P>(instance, steps, &*policy));
    let (start, looks) = recorder.finish(solution.is_some());
    Ok(Trace { start, looks, solution, policy, seconds: started.elapsed().as_secs_f64() })
}

/// Translates steps of a problem into the numbers of solutions.
struct Recorder<'a, P: Builtin> {
    instance: &'a P::Instance,
    most: usize,
    items: HashMap<P::Step, usize>,   // the node or item that a step chooses
    last_seen: HashMap<usize, usize>, // the last look whose tail has a node or item
    front: Vec<P::Step>,
    behind: Vec<P::Step>, // in the order of the solution
    cost: f64,
    looks: Vec<Look>,
}

impl<'a, P: Builtin> Recorder<'a, P> {
    fn new(instance: &'a P::Instance, most: usize) -> Self {
        let empty = P::solution_to(instance, &[]);
        let item = |step: P::Step| Some((step, *added(&empty, &P::solution_to(instance, &[step])).last()?));
        let items = P::steps(instance).into_iter().filter_map(item).collect();
        Recorder {
            instance,
            most,
            items,
            last_seen: HashMap::new(),
            front: Vec::new(),
            behind: Vec::new(),
            cost: P::cost(instance, &[]),
            looks: Vec::new(),
        }
    }

    fn add(&mut self, look: &rollout::Look<'_, P>) {
        let index = self.looks.len();
        for (_, step) in look.state.allowed() {
            if let Some(&item) = self.items.get(&step) {
                self.last_seen.insert(item, index);
            }
        }
        let candidate = |&(step, probability): &(P::Step, f64)| Candidate { adds: self.adds(step), probability };
        let candidates = look.candidates.iter().take(self.most).map(candidate).collect();
        let (mut taken, mut state) = (Vec::with_capacity(look.taken.len()), look.state.clone());
        for &(end, step) in look.taken {
            taken.push(Taken { end, adds: self.adds(step) });
            self.cost -= match end {
                End::Front => {
                    self.front.push(step);
                    state.take(step)
                }
                End::Back => {
                    self.behind.insert(0, step);
                    state.take_behind(step)
                }
            };
        }
        let (scored, value) = (look.candidates.len(), P::OBJECTIVE.1 * self.cost);
        self.looks.push(Look { candidates, scored, end: look.end, taken, settled: Vec::new(), value });
    }

    /// The numbers that a step adds to the partial solution, between its two ends.
    fn adds(&self, step: P::Step) -> Vec<usize> {
        let numbers = |step: Option<P::Step>| {
            let steps: Vec<P::Step> =
                self.front.iter().copied().chain(step).chain(self.behind.iter().copied()).collect();
            P::solution_to(self.instance, &steps)
        };
        added(&numbers(None), &numbers(Some(step)))
    }

    fn finish(mut self, complete: bool) -> (Vec<usize>, Vec<Look>) {
        if let (false, Some(last)) = (complete, self.looks.len().checked_sub(1)) {
            // The tail after the last look was not seen: only what was chosen is settled for sure.
            let chosen: Vec<usize> =
                self.looks[last].taken.iter().filter_map(|step| step.adds.last().copied()).collect();
            self.last_seen.retain(|item, &mut look| look < last || chosen.contains(item));
        }
        let mut settled: Vec<(usize, usize)> = self.last_seen.into_iter().map(|(item, look)| (look, item)).collect();
        settled.sort_unstable();
        settled.into_iter().for_each(|(look, item)| self.looks[look].settled.push(item));
        (P::solution_to(self.instance, &[]), self.looks)
    }
}

/// The numbers of the longer list that are between the beginning and the end that it shares with the shorter one.
fn added(shorter: &[usize], longer: &[usize]) -> Vec<usize> {
    let front = shorter.iter().zip(longer).take_while(|(a, b)| a == b).count();
    let back = shorter[front..].len();
    longer[front..longer.len().saturating_sub(back).max(front)].to_vec()
}
