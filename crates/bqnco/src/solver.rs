//! The one engine: instances in, checked solutions out.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bqnco_net::{Network, device};

use crate::solve::{Found, Job};
use crate::{
    Builtin, CancelToken, Error, Event, Improvement, Instance, Model, Observer, Preset, ProblemName, Result, Search,
    Solution,
};

/// Solves instances of any problem.
///
/// It never prints, never ends the process, installs no signal handler and has no global state; several may work at the
/// same time in different threads.
///
/// ```
/// use std::time::Duration;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/examples/depot40.vrp");
/// let instance = bqnco::Instance::read(path)?;
/// let solver = bqnco::Solver::new().search(bqnco::Search::expert()).time_limit(Duration::from_millis(200));
/// let solution = solver.solve(&instance)?;
/// assert!(solution.check().is_ok());
/// # Ok::<(), bqnco::Error>(())
/// ```
///
/// Events and cancellation:
///
/// ```
/// use bqnco::{CancelToken, Event, Instance, Search, Solver};
///
/// let token = CancelToken::new();
/// let observer = |event: &Event<'_>| {
///     if let Event::Improved { improvement, .. } = event {
///         println!("{} {}", improvement.objective, improvement.value);
///         token.cancel(); // the first solution is good enough here
///     }
/// };
/// let points = [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0], [1.0, 1.0]];
/// let instance = Instance::tsp(&points)?;
/// let solver = Solver::new().search(Search::reconstruct()).cancel_token(&token);
/// let solution = solver.solve_observed(&instance, &observer)?;
/// assert!(solution.cut_short());
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Solver {
    search: Search,
    time_limit: Option<Duration>,
    seed: u64,
    start: Option<Solution>,
    device: Option<String>,
    threads: Option<Arc<rayon::ThreadPool>>,
    cancel: CancelToken,
    networks: Arc<Mutex<HashMap<ProblemName, Arc<Network>>>>, // loaded at the first use
}

impl Solver {
    /// The default search, without a time limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// How solutions are searched for.
    #[must_use]
    pub fn search(self, search: Search) -> Self {
        Solver { search, networks: Arc::default(), ..self }
    }

    /// The search of a preset.
    #[must_use]
    pub fn preset(self, preset: Preset) -> Self {
        self.search(preset.search())
    }

    /// Seconds per instance; the best solution found by then counts.
    #[must_use]
    pub fn time_limit(self, limit: Duration) -> Self {
        Solver { time_limit: Some(limit), ..self }
    }

    /// Source of all random choices. Equal seeds give equal solutions where rounds end the search, not time.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Solver { seed, ..self }
    }

    /// Begin with this solution instead of a new one: reconstruct, hybrid, expert. For a single instance.
    #[must_use]
    pub fn start(self, start: Solution) -> Self {
        Solver { start: Some(start), ..self }
    }

    /// Where networks run: `cpu`, or a device of the build's features.
    #[must_use]
    pub fn device(self, name: &str) -> Self {
        Solver { device: Some(name.into()), networks: Arc::default(), ..self }
    }

    /// Threads of its own instead of rayon's global ones.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn threads(self, count: usize) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        let pool = pool.map_err(|error| Error::settings(format!("cannot start {count} threads: {error}")))?;
        Ok(Solver { threads: Some(Arc::new(pool)), ..self })
    }

    /// What ends the work early.
    #[must_use]
    pub fn cancel_token(self, token: &CancelToken) -> Self {
        Solver { cancel: token.clone(), ..self }
    }

    /// Solves one instance.
    ///
    /// # Errors
    /// Settings that do not fit the problem, networks that cannot be loaded, experts without an answer.
    pub fn solve(&self, instance: &Instance) -> Result<Solution> {
        self.solve_observed(instance, &|_: &Event<'_>| ())
    }

    /// As [`Solver::solve`], telling an observer what happens.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    pub fn solve_observed(&self, instance: &Instance, observer: &dyn Observer) -> Result<Solution> {
        let mut answer = None;
        self.solve_each(std::slice::from_ref(instance), observer, &mut |_, result| {
            answer = Some(result);
            Ok(())
        })?;
        answer.unwrap_or(Err(Error::Cancelled { done: 0, total: 1 }))
    }

    /// Solves many instances, also of different problems; solutions come in the order of the instances. Without a time limit
    /// instances of one problem share a policy's batches; experts work on one thread per instance.
    ///
    /// # Errors
    /// When the search cannot be run at all. What goes wrong with a single instance, or a cancellation before it was begun,
    /// stands in its place.
    pub fn solve_all(&self, instances: &[Instance], observer: &dyn Observer) -> Result<Vec<Result<Solution>>> {
        let total = instances.len();
        let mut answers: Vec<Result<Solution>> = (0..total).map(|done| Err(Error::Cancelled { done, total })).collect();
        self.solve_each(instances, observer, &mut |index, result| {
            answers[index] = result;
            Ok(())
        })?;
        Ok(answers)
    }

    /// As [`Solver::solve_all`], handing every result over as soon as it and all before it are there. An error of `each` ends
    /// the work. Instances that were not begun when the work was cancelled have no result.
    ///
    /// # Errors
    /// As [`Solver::solve_all`], and what `each` returns.
    pub fn solve_each(
        &self,
        instances: &[Instance],
        observer: &dyn Observer,
        each: &mut dyn FnMut(usize, Result<Solution>) -> Result<()>,
    ) -> Result<()> {
        self.check(instances)?;
        let run = Run { solver: self, observer, started: Instant::now() };
        observer.notify(&Event::Started { instances: instances.len(), time_limit: self.time_limit });
        let (mut first, mut solved) = (0, 0);
        // Results may come in any order; they are told in the order of the instances.
        for group in instances.chunk_by(|one, next| one.problem() == next.problem()) {
            let mut waiting = BTreeMap::new();
            let mut next = first;
            let mut tell = |index: usize, result: Result<Solution>| {
                solved += usize::from(result.is_ok());
                observer.notify(&Event::Finished { index, result: &result });
                each(index, result)
            };
            dispatch!(group[0].problem(), P => run.group::<P>(group, first, &mut |index, result| {
                waiting.insert(index, result);
                while let Some(result) = waiting.remove(&next) {
                    tell(next, result)?;
                    next += 1;
                }
                Ok(())
            }))?;
            waiting.into_iter().try_for_each(|(index, result)| tell(index, result))?;
            first += group.len();
        }
        observer.notify(&Event::Ended { solved, instances: instances.len(), elapsed: run.started.elapsed() });
        Ok(())
    }

    /// Finds out whether the search fits the instances, before any work is done.
    ///
    /// # Errors
    /// Networks that cannot be loaded or are of another problem, a start that is not of the instance, a problem without an
    /// expert.
    pub fn check(&self, instances: &[Instance]) -> Result<()> {
        for group in instances.chunk_by(|one, next| one.problem() == next.problem()) {
            dispatch!(group[0].problem(), P => self.check_problem::<P>())?;
        }
        let Some(start) = &self.start else { return Ok(()) };
        let [instance] = instances else {
            return Err(Error::settings(format!("a start is for one instance, {} were given", instances.len())));
        };
        if start.instance().problem() != instance.problem() {
            let (one, two) = (start.instance().problem(), instance.problem());
            return Err(Error::settings(format!("the start is a solution of {one}, and {two} is to be solved")));
        }
        if !matches!(self.search, Search::Reconstruct { .. } | Search::Hybrid { .. } | Search::Expert { .. }) {
            return Err(Error::settings("a start needs the search reconstruct, hybrid or expert"));
        }
        Ok(start.check()?)
    }

    fn check_problem<P: Builtin>(&self) -> Result<()> {
        let needs_expert = matches!(self.search, Search::Expert { .. } | Search::Hybrid { .. });
        if needs_expert && P::expertise().is_none() {
            return Err(crate::solve::no_expert::<P>());
        }
        self.network::<P>().map(drop)
    }

    /// The network of the search's policy, if it has one.
    fn network<P: Builtin>(&self) -> Result<Option<Arc<Network>>> {
        let Some(model) = self.search.guide().and_then(|guide| guide.policy.network::<P>()) else { return Ok(None) };
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        let problem = ProblemName::of::<P>();
        if let Some(network) = networks.get(&problem) {
            return Ok(Some(Arc::clone(network)));
        }
        let (network, _) = model.load(&device(self.device.as_deref().unwrap_or("cpu"))?)?;
        let found = network.config().problem.as_str();
        if found != P::NAME {
            let hint = match Model::named(P::NAME) {
                Some(own) => format!("take the default, {}, or a network of {problem}", own.name),
                None => format!("take a network of {problem}"),
            };
            let model = model.to_string();
            return Err(Error::settings(format!(
                "{model} is a network of {found}, and {problem} is to be solved: {hint}"
            )));
        }
        let network = Arc::new(network);
        networks.insert(problem, Arc::clone(&network));
        Ok(Some(network))
    }
}

/// One call of a solver.
struct Run<'a> {
    solver: &'a Solver,
    observer: &'a dyn Observer,
    started: Instant,
}

impl Run<'_> {
    /// Solves instances of one problem, the first of which has the index `first`.
    fn group<P: Builtin>(
        &self,
        group: &[Instance],
        first: usize,
        emit: &mut dyn FnMut(usize, Result<Solution>) -> Result<()>,
    ) -> Result<()> {
        let Solver { search, time_limit, seed, start, cancel, threads, .. } = self.solver;
        let instances: Vec<Arc<P::Instance>> =
            group.iter().map(|instance| Arc::clone(&instance.typed::<P>().instance)).collect();
        let network = self.solver.network::<P>()?;
        let start = start
            .as_ref()
            .map(|start| bqnco_core::Solution::new::<P>(&instances[0], start.typed_steps::<P>().to_vec()));
        let improved = |index: usize, best: &bqnco_core::Solution<P::Step>| {
            let solution = || Solution::from_steps::<P>(&group[index], best.steps.clone(), search.describe::<P>(1));
            let (objective, sign) = P::OBJECTIVE;
            let (value, elapsed) = (sign * best.cost, self.started.elapsed());
            let improvement = Improvement { objective, value, elapsed, solution: &solution };
            self.observer.notify(&Event::Improved { index: first + index, improvement: &improvement });
        };
        let job = Job::<P> {
            search,
            network: network.as_deref(),
            instances: &instances,
            first,
            start,
            seed: *seed,
            time_limit: *time_limit,
            cancel,
            pool: threads.as_deref(),
            improved: &improved,
        };
        job.run(&mut |index, answer: Result<Found<P::Step>>| {
            emit(first + index, answer.map(|found| Solution::found::<P>(&group[index], found, search)))
        })
    }
}
