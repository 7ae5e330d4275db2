//! The solver: instances in, checked solutions out.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bqnco_net::{Network, device};

use crate::deadline::Deadline;
use crate::parallel::on_threads;
use crate::solve::{Found, Job, OTHER_SEARCH, no_expert, seen};
use crate::{
    Builtin, CancelToken, Decoding, Error, Event, Improvement, Instance, ModelSource, Observer, Preset, ProblemName,
    Result, Search, Solution, Trace, UnfitStart, trace,
};

/// The most threads of a [`Solver`].
pub const MAX_THREADS: usize = 1024;

/// Solves instances of any problem.
///
/// It never prints, never exits the process, installs no signal handler, and has no global state but the threads of
/// rayon's global pool, unless it has its own ([`Solver::threads`]). Several solvers may run at the same time in
/// different threads.
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
    networks: Arc<Mutex<Networks>>, // loaded on first use, shared by clones
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Solver { search, time_limit, seed, start, device, .. } = self;
        let mut debug = f.debug_struct("Solver");
        debug.field("search", search).field("time_limit", time_limit).field("seed", seed);
        debug.field("start", start).field("device", device).finish_non_exhaustive()
    }
}

/// Networks by name or folder, and device.
type Networks = HashMap<(String, String), Arc<Network>>;

impl Solver {
    /// The default search, without a time limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the search.
    #[must_use]
    pub fn search(self, search: Search) -> Self {
        Solver { search, ..self }
    }

    /// Sets the search of a preset.
    #[must_use]
    pub fn preset(self, preset: Preset) -> Self {
        self.search(preset.search())
    }

    /// Sets the time limit per instance; the best solution found by then is the result.
    #[must_use]
    pub fn time_limit(self, limit: Duration) -> Self {
        Solver { time_limit: Some(limit), ..self }
    }

    /// Sets the random seed. Equal seeds give equal solutions if rounds end the search, not time.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Solver { seed, ..self }
    }

    /// Starts from this solution instead of a new one: auto, reconstruct, hybrid, expert. For a single instance.
    ///
    /// ```
    /// use bqnco::{Instance, Search, Solver};
    ///
    /// let instance = Instance::tsp(&[[0.0, 0.0], [3.0, 4.0], [3.0, 0.0], [0.0, 4.0]])?;
    /// let start = instance.solution_from(&[0, 1, 2, 3])?;
    /// let solution = Solver::new().search(Search::reconstruct()).start(start.clone()).solve(&instance)?;
    /// assert!(solution.value() <= start.value());
    /// assert_eq!(solution.found_by(), "network tsp, reconstructed from given solution");
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    #[must_use]
    pub fn start(self, start: Solution) -> Self {
        Solver { start: Some(start), ..self }
    }

    /// Sets where networks run: `cpu`, or a device of the build's features.
    #[must_use]
    pub fn device(self, name: &str) -> Self {
        Solver { device: Some(name.into()), ..self }
    }

    /// Uses a pool of so many threads of its own (1 to [`MAX_THREADS`]) instead of rayon's global pool.
    ///
    /// # Errors
    /// If the count is out of range, or the system cannot start the threads.
    pub fn threads(self, count: usize) -> Result<Self> {
        if !(1..=MAX_THREADS).contains(&count) {
            return Err(Error::ThreadCount { found: count });
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        let pool = pool.map_err(|source| Error::Threads { count, source })?;
        Ok(Solver { threads: Some(Arc::new(pool)), ..self })
    }

    /// Sets the token that ends the work early.
    #[must_use]
    pub fn cancel_token(self, token: &CancelToken) -> Self {
        Solver { cancel: token.clone(), ..self }
    }

    /// Solves one instance.
    ///
    /// # Errors
    /// Settings that do not fit the problem, networks that cannot be loaded, and experts that find no solution.
    pub fn solve(&self, instance: &Instance) -> Result<Solution> {
        self.solve_observed(instance, &|_: &Event<'_>| ())
    }

    /// Like [`Solver::solve`], reporting events to an observer.
    ///
    /// # Errors
    /// See [`Solver::solve`].
    pub fn solve_observed(&self, instance: &Instance, observer: &dyn Observer) -> Result<Solution> {
        let mut answer = None;
        self.solve_each(std::slice::from_ref(instance), observer, &mut |_, result| {
            answer = Some(result);
            Ok(())
        })?;
        answer.unwrap_or(Err(Error::Cancelled { done: 0, total: 1 }))
    }

    /// Solves many instances, also of different problems; solutions are in the order of the instances. Without a time
    /// limit instances of one problem share a policy's batches; experts use one thread per instance.
    ///
    /// ```
    /// use bqnco::{Event, Instance, Solver};
    ///
    /// let tour = Instance::tsp(&[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])?;
    /// let sack = Instance::knapsack(&[3.0, 4.0, 5.0], &[2.0, 3.0, 4.0], 5.0)?;
    /// let solutions = Solver::new().solve_all(&[tour, sack], &|_: &Event<'_>| ())?;
    /// for (solution, value) in solutions.into_iter().zip([12.0, 7.0]) {
    ///     assert_eq!(solution?.value(), value);
    /// }
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the search cannot be run at all. An error of a single instance, or a cancellation before it was started, is
    /// returned in its place.
    pub fn solve_all(&self, instances: &[Instance], observer: &dyn Observer) -> Result<Vec<Result<Solution>>> {
        let mut answers: Vec<Option<Result<Solution>>> = instances.iter().map(|_| None).collect();
        self.solve_each(instances, observer, &mut |index, result| {
            answers[index] = Some(result);
            Ok(())
        })?;
        let (done, total) = (answers.iter().flatten().count(), answers.len());
        let cancelled = || Err(Error::Cancelled { done, total });
        Ok(answers.into_iter().map(|answer| answer.unwrap_or_else(cancelled)).collect())
    }

    /// Like [`Solver::solve_all`], passing on every result as soon as it and all before it are there. An error of
    /// `each` ends the work. Instances that were not started before a cancellation have no result.
    ///
    /// ```
    /// use bqnco::{Event, GeneratedSet, ProblemName, Search, Solver};
    ///
    /// let instances = GeneratedSet::new(ProblemName::Tsp, 10, 3).instances(0..3)?;
    /// let mut lengths = Vec::new();
    /// Solver::new().search(Search::greedy()).solve_each(&instances, &|_: &Event<'_>| (), &mut |index, solution| {
    ///     assert_eq!(index, lengths.len()); // in the order of the instances
    ///     lengths.push(solution?.value());
    ///     Ok(())
    /// })?;
    /// assert_eq!(lengths.len(), 3);
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Solver::solve_all`]; also the errors of `each`.
    pub fn solve_each(
        &self,
        instances: &[Instance],
        observer: &dyn Observer,
        each: &mut dyn FnMut(usize, Result<Solution>) -> Result<()>,
    ) -> Result<()> {
        self.check(instances)?;
        let run = Run { solver: self, observer, started: Instant::now() };
        observer.notify(&Event::Started { instances: instances.len(), time_limit: self.time_limit });
        let (mut waiting, mut next, mut solved) = (BTreeMap::new(), 0, 0);
        let mut tell = |index: usize, result: Result<Solution>| {
            solved += usize::from(result.is_ok());
            observer.notify(&Event::Finished { index, result: &result });
            each(index, result)
        };
        let mut end = Ok(());
        for group in Group::all(instances) {
            // Results may arrive in any order; they are reported in the order of the instances.
            end = dispatch!(group.problem, P => run.group::<P>(&group, &mut |index, result| {
                waiting.insert(index, result);
                while let Some(result) = waiting.remove(&next) {
                    tell(next, result)?;
                    next += 1;
                }
                Ok(())
            }));
            if end.is_err() {
                break;
            }
        }
        waiting.into_iter().try_for_each(|(index, result)| tell(index, result))?; // also after an error
        end?;
        observer.notify(&Event::Ended { solved, instances: instances.len(), elapsed: run.started.elapsed() });
        Ok(())
    }

    /// Checks that the search fits the instances, before any work is done.
    ///
    /// # Errors
    /// Settings out of range; networks that cannot be loaded, are for another problem, need coordinates or cannot take
    /// several steps at once; bf16 on a CPU without it; a caller's policy for an instance with only a matrix of
    /// distances; a start that does not belong to the instance, or that the search cannot use; a problem without an
    /// expert.
    pub fn check(&self, instances: &[Instance]) -> Result<()> {
        self.search.check()?;
        let groups = Group::all(instances);
        for group in &groups {
            match dispatch!(group.problem, P => self.check_problem::<P>(group)) {
                // Others can still be solved: it becomes the result of these instances.
                Err(Error::NoCoordinates { .. }) if groups.len() > 1 => {}
                result => result?,
            }
        }
        let Some(start) = &self.start else { return Ok(()) };
        let [instance] = instances else {
            return Err(UnfitStart::NotOneInstance { instances: instances.len() }.into());
        };
        let (found, expected) = (start.instance().problem(), instance.problem());
        if found != expected {
            return Err(UnfitStart::OtherProblem { found, expected }.into());
        }
        if let Search::Construct { .. } | Search::External { .. } = self.search {
            return Err(UnfitStart::Search.into());
        }
        let feasible = dispatch!(expected, P => P::check(instance.data::<P>(), start.typed_steps::<P>()));
        feasible.map_err(Error::infeasible(instance.name()))
    }

    fn check_problem<P: Builtin>(&self, group: &Group) -> Result<()> {
        let needs_expert = matches!(self.search, Search::Expert { .. } | Search::Hybrid { .. });
        if needs_expert && P::expertise().is_none() {
            return Err(no_expert::<P>(OTHER_SEARCH));
        }
        let is_given = self.search.guide().is_some_and(|guide| guide.policy.given().is_some());
        if is_given && !group.has_features {
            return Err(Error::NoFeatures { instance: group.instances[0].name().into() });
        }
        self.network::<P>(group).map(drop)
    }

    /// The network of the search's policy, if it has one.
    fn network<P: Builtin>(&self, group: &Group) -> Result<Option<Arc<Network>>> {
        let search = self.search.for_problem::<P>(group.has_features);
        let Some(model) = search.guide().and_then(|guide| guide.policy.network::<P>()) else { return Ok(None) };
        let network = self.load(&model)?;
        let problem = group.problem;
        let found = network.config().problem.as_str();
        if found == P::NAME && !group.has_features {
            let instance = group.instances[0].name().to_string();
            return Err(Error::NoCoordinates { network: model.to_string(), instance });
        }
        if found != P::NAME && Some(found) != P::COST_PROBLEM {
            let (network, trained_for) = (model.to_string(), found.to_string());
            return Err(Error::OtherNetwork { network, trained_for, problem });
        }
        let guide = search.guide().cloned().unwrap_or_default();
        if guide.looks_ahead() && !network.config().successors {
            return Err(Error::NoSuccessors { network: model.to_string() });
        }
        let precision = guide.product_precision(network.config())?;
        // The weights are shared; only the precision belongs to the search.
        let network = Arc::new(Network::clone(&network).with_precision(precision));
        Ok(Some(network))
    }

    /// A network of this solver or of the one it was cloned from, loaded once.
    fn load(&self, model: &ModelSource) -> Result<Arc<Network>> {
        let place = self.device.as_deref().unwrap_or("cpu");
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        match networks.entry((model.to_string(), place.to_string())) {
            Entry::Occupied(loaded) => Ok(Arc::clone(loaded.get())),
            Entry::Vacant(absent) => Ok(Arc::clone(absent.insert(Arc::new(model.load(&device(place)?)?.0)))),
        }
    }

    /// Constructs a solution greedily with the policy of the search (the default policy if it has none), and records
    /// what the policy said of every state: the probabilities of the `most` likeliest next steps, and what remained to
    /// be done. Time limit and cancellation end the recording early ([`Trace::cut_short`]).
    ///
    /// ```
    /// let instance = bqnco::Instance::tsp(&[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])?;
    /// let trace = bqnco::Solver::new().search(bqnco::Search::greedy()).trace(&instance, 2)?;
    /// let first = &trace.looks()[0];
    /// assert_eq!(first.candidates[0].adds, first.taken[0].adds);
    /// assert_eq!(trace.solution().map(|solution| solution.value()), Some(14.0));
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Solver::solve`].
    pub fn trace(&self, instance: &Instance, most: usize) -> Result<Trace> {
        let guide = self.search.guide().cloned().unwrap_or_default();
        let solver = self.clone().search(Search::Construct { guide, decoding: Decoding::Greedy });
        solver.check(std::slice::from_ref(instance))?;
        dispatch!(instance.problem(), P => solver.trace_problem::<P>(instance, most))
    }

    fn trace_problem<P: Builtin>(&self, instance: &Instance, most: usize) -> Result<Trace> {
        seen::<P>(instance.data::<P>())?;
        let group = &Group::all(std::slice::from_ref(instance))[0];
        let search = &*self.search.for_problem::<P>(group.has_features);
        let network = self.network::<P>(group)?;
        let deadline = Deadline::after(self.time_limit, &self.cancel);
        let record = || trace::record::<P>(instance, search, network.as_deref(), deadline, most);
        on_threads(search.pool(self.threads.as_deref()), record)
    }
}

/// The instances of one problem that one network can see, with their indices in the list that the solver was given.
struct Group {
    problem: ProblemName,
    has_features: bool, // see `Observe::has_features`
    instances: Vec<Instance>,
    indices: Vec<usize>,
}

impl Group {
    /// All instances by group, in the order in which the groups first appear.
    fn all(instances: &[Instance]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (index, instance) in instances.iter().enumerate() {
            let problem = instance.problem();
            let has_features = dispatch!(problem, P => P::has_features(instance.data::<P>()));
            let place = groups.iter().position(|group| (group.problem, group.has_features) == (problem, has_features));
            let place = place.unwrap_or_else(|| {
                groups.push(Group { problem, has_features, instances: Vec::new(), indices: Vec::new() });
                groups.len() - 1
            });
            groups[place].instances.push(instance.clone());
            groups[place].indices.push(index);
        }
        groups
    }
}

/// One call of a solver.
struct Run<'a> {
    solver: &'a Solver,
    observer: &'a dyn Observer,
    started: Instant,
}

impl Run<'_> {
    /// Solves the instances of one problem.
    fn group<P: Builtin>(
        &self,
        group: &Group,
        emit: &mut dyn FnMut(usize, Result<Solution>) -> Result<()>,
    ) -> Result<()> {
        let Solver { time_limit, seed, start, cancel, threads, .. } = self.solver;
        let search = &*self.solver.search.for_problem::<P>(group.has_features);
        let instances: Vec<Arc<P::Instance>> =
            group.instances.iter().map(|instance| Arc::clone(&instance.typed::<P>().instance)).collect();
        let network = match self.solver.network::<P>(group) {
            Err(Error::NoCoordinates { network, .. }) => {
                let unseen = |instance: &Instance| {
                    Err(Error::NoCoordinates { network: network.clone(), instance: instance.name().into() })
                };
                let mut each = group.indices.iter().zip(&group.instances);
                return each.try_for_each(|(&index, instance)| emit(index, unseen(instance)));
            }
            network => network?,
        };
        let start = start
            .as_ref()
            .map(|start| bqnco_core::Solution::new::<P>(&instances[0], start.typed_steps::<P>().to_vec()));
        let best: Vec<Mutex<f64>> = instances.iter().map(|_| Mutex::new(f64::INFINITY)).collect(); // costs
        let improved = |index: usize, found: &bqnco_core::Solution<P::Step>| {
            let mut best = best[index].lock().unwrap_or_else(PoisonError::into_inner);
            if found.cost >= *best {
                return;
            }
            *best = found.cost;
            let instance = &group.instances[index];
            let solution = || Solution::from_steps::<P>(instance, found.steps.clone(), search.describe::<P>(1));
            let (objective, sign) = P::OBJECTIVE;
            let (value, elapsed) = (sign * found.cost, self.started.elapsed());
            let improvement = Improvement { objective, value, elapsed, solution: &solution };
            self.observer.notify(&Event::Improved { index: group.indices[index], improvement: &improvement });
        };
        let job = Job::<P> {
            search,
            network: network.as_deref(),
            instances: &instances,
            first: 0,
            start,
            seed: *seed,
            time_limit: *time_limit,
            cancel,
            pool: threads.as_deref(),
            improved: &improved,
        };
        job.run(&mut |index, answer: Result<Found<P::Step>>| {
            let found = answer.map(|found| Solution::found::<P>(&group.instances[index], found, search));
            emit(group.indices[index], found)
        })
    }
}
