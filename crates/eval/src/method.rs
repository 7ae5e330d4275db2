//! The methods that are compared: searches with networks, and baselines without.

use std::time::Duration;

use bqnco::core::Cut;
use bqnco::kernels::ProductPrecision;
use bqnco::{Construct, Decoding, Error, Guide, PolicySource, ProblemName, Result, Search, Shortlist, dispatch};
use serde::Serialize;

use crate::model::Model;
use crate::{Contender, Evaluation, Suite, TimedSearch};

/// A method without a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Baseline {
    /// The greedy heuristic of each problem: nearest neighbour, best ratio.
    Heuristic,
    /// Other constructions: greedy edges, insertion, savings.
    Constructions,
    /// The built-in expert.
    Expert,
    /// An external solver.
    External {
        /// What tables call it.
        name: String,
        /// As in [`Search::External`].
        command: String,
    },
}

impl Baseline {
    /// Those that need no external solver.
    pub const BUILT_IN: [Baseline; 3] = [Baseline::Heuristic, Baseline::Constructions, Baseline::Expert];
}

/// A method on one problem.
pub(crate) struct Method<'a> {
    /// What tables call it.
    pub name: String,
    pub problem: ProblemName,
    pub solver: Solver,
    /// The network and the search as it was spelled, where there is a network.
    pub network: Option<(&'a Model, &'a TimedSearch)>,
    /// Per instance.
    pub time_limit: Option<Duration>,
}

/// How a method finds solutions.
pub(crate) enum Solver {
    Search(Search),
    /// The construction of this name.
    Construction(&'static str),
}

impl<'a> Method<'a> {
    /// All methods on a problem, networks first. Notes tell what is left out.
    pub fn all(
        problem: ProblemName,
        suite: &'a Suite,
        evaluation: &Evaluation<'_>,
        models: &'a [Model],
        notes: &mut Vec<String>,
    ) -> Result<Vec<Self>> {
        let mut methods = Vec::new();
        let has_expert = dispatch!(problem, P => P::expertise().is_some());
        let ours: Vec<&Model> = models.iter().filter(|model| model.problem == problem).collect();
        for &model in &ours {
            for search in &suite.searches {
                if matches!(search.search(), Search::Hybrid { .. }) && !has_expert {
                    notes.push(format!("no expert of {problem}: {search} is left out"));
                    continue;
                }
                let name = if ours.len() > 1 { format!("{search} ({})", model.name) } else { search.to_string() };
                let limit = search.time_limit().unwrap_or(suite.time_limit(evaluation));
                let method = Self::search(name, problem, with_model(search.search(), model), limit);
                methods.push(Method { network: Some((model, search)), ..method });
            }
        }
        for contender in &evaluation.contenders {
            let needs_expert = |search: &TimedSearch| matches!(search.search(), Search::Hybrid { .. });
            for search in suite.searches.iter().filter(|search| has_expert || !needs_expert(search)) {
                let name = format!("{search} ({})", contender.policy.name());
                let limit = search.time_limit().unwrap_or(suite.time_limit(evaluation));
                methods.push(Self::search(name, problem, with_contender(search.search(), contender), limit));
            }
        }
        methods.extend(Self::baselines(problem, evaluation, suite.time_limit(evaluation), notes));
        if methods.is_empty() {
            let why = "neither networks nor baselines";
            return Err(Error::Settings(format!("nothing to evaluate for {problem}: {why}")));
        }
        if let Some(twice) = (1..methods.len()).find(|&k| methods[..k].iter().any(|m| m.name == methods[k].name)) {
            let why = "name every search, network and program once, and give networks folders with different names";
            return Err(Error::Settings(format!("two methods are called `{}`; {why}", methods[twice].name)));
        }
        Ok(methods)
    }

    fn baselines(
        problem: ProblemName,
        evaluation: &Evaluation<'_>,
        limit: Duration,
        notes: &mut Vec<String>,
    ) -> Vec<Self> {
        let (heuristic, has_expert) = dispatch!(problem, P => (P::GREEDY_HEURISTIC, P::expertise().is_some()));
        let mut methods = Vec::new();
        if evaluation.baselines.contains(&Baseline::Heuristic) {
            let guide = Guide { policy: PolicySource::Heuristic, ..Guide::default() };
            let search = Search::Construct { guide, decoding: Decoding::Greedy };
            methods.push(Self::search(heuristic.into(), problem, search, limit));
        }
        if evaluation.baselines.contains(&Baseline::Constructions) {
            let others = constructions(problem).into_iter().filter(|&name| name != heuristic);
            methods.extend(others.map(|name| Method {
                name: name.into(),
                problem,
                solver: Solver::Construction(name),
                network: None,
                time_limit: None,
            }));
        }
        if evaluation.baselines.contains(&Baseline::Expert) {
            match has_expert {
                true => {
                    let name = format!("expert, {} s", limit.as_secs_f64());
                    methods.push(Self::search(name, problem, Search::expert(), limit));
                }
                false => notes.push(format!("no expert of {problem}: its rows are left out")),
            }
        }
        for baseline in &evaluation.baselines {
            if let Baseline::External { name, command } = baseline {
                let search = Search::External { command: command.clone() };
                methods.push(Self::search(name.clone(), problem, search, limit));
            }
        }
        methods
    }

    /// A search, with the time limit if one ends it.
    fn search(name: String, problem: ProblemName, search: Search, limit: Duration) -> Self {
        let time_limit = search.is_anytime().then_some(limit);
        Method { name, problem, solver: Solver::Search(search), network: None, time_limit }
    }

    /// How the machine is used, for the table of methods.
    pub fn describe(&self) -> String {
        let limit = self.time_limit.map_or(String::new(), |limit| format!(", {} s per instance", limit.as_secs_f64()));
        match &self.solver {
            Solver::Construction(_) => "one thread per instance".into(),
            Solver::Search(Search::External { command }) => format!("`{command}`, one thread per instance{limit}"),
            Solver::Search(Search::Expert { .. }) => format!("one thread per instance{limit}"),
            Solver::Search(_) if self.network.is_none() => "no network".into(),
            Solver::Search(_) => {
                let share =
                    if self.time_limit.is_some() { "all threads for each instance" } else { "instances in batches" };
                format!("{}{limit}; {share}", self.use_of_network().join(", "))
            }
        }
    }

    /// Candidates per step of a network; `None`: all.
    pub fn candidates(&self) -> Option<usize> {
        let Solver::Search(search) = &self.solver else { return None };
        if self.network.is_some_and(|(model, _)| model.sees_all()) {
            return None; // also where a number is asked for
        }
        search.guide().and_then(|guide| guide.shortlist.candidates(None))
    }

    /// How a network is asked: candidates, precision and steps per pass.
    fn use_of_network(&self) -> Vec<String> {
        let (Solver::Search(search), Some((model, _))) = (&self.solver, self.network) else { return Vec::new() };
        let config = model.network.config();
        let nearest = if config.cut == Cut::Nearest { ", the nearest" } else { "" };
        let listed = self.candidates().map_or("all candidates".into(), |k| format!("{k} candidates per step{nearest}"));
        let precision = match model.network.precision() {
            ProductPrecision::F32 => "f32",
            ProductPrecision::Bf16 => "bf16",
        };
        let stride = search.stride(Some(config));
        let follow =
            if let Search::Construct { decoding: Decoding::Greedy, .. } = search { stride.follow } else { None };
        let steps = match follow {
            None => "one step per pass".into(),
            Some(least) => format!("several steps per pass down to a joint probability of {least}"),
        };
        let ends = stride.both_ends.then(|| "at both ends".to_string());
        [listed, precision.into(), steps].into_iter().chain(ends).collect()
    }

    /// In what a network and its use differ from the paper's (section 5), apart from the number of candidates.
    pub fn other_settings(&self) -> Vec<String> {
        let (Solver::Search(search), Some((model, _))) = (&self.solver, self.network) else { return Vec::new() };
        let config = model.network.config();
        let stride = search.stride(Some(config));
        let merges = matches!(search, Search::Construct { decoding: Decoding::Beam { merge: true, .. }, .. });
        let differences = [
            (!model.is_the_papers(), "network"),
            (model.network.precision() != ProductPrecision::F32, "precision"),
            (stride.follow.is_some(), "several steps per pass"),
            (stride.both_ends, "both ends"),
            (merges, "equal tails merged"),
        ];
        differences.into_iter().filter(|(differs, _)| *differs).map(|(_, what)| what.to_string()).collect()
    }

    /// Whether instances are solved one by one, and not in batches.
    pub fn is_one_by_one(&self) -> bool {
        self.time_limit.is_some() || matches!(self.solver, Solver::Construction(_))
    }
}

/// The search with a network, and by default with as many candidates per step as fit it.
fn with_model(search: &Search, model: &Model) -> Search {
    let guide = search.guide().cloned().unwrap_or_default();
    let shortlist = match (guide.shortlist, model.shortlist()) {
        (Shortlist::Trained, Some(candidates)) => Shortlist::Likeliest(candidates),
        (Shortlist::Trained, None) => Shortlist::All,
        (given, _) => given,
    };
    search.clone().with_guide(Guide { policy: PolicySource::Network(model.source.clone()), shortlist, ..guide })
}

/// The search with a policy of the caller's.
fn with_contender(search: &Search, contender: &Contender) -> Search {
    let guide = search.guide().cloned().unwrap_or_default();
    let shortlist = if guide.shortlist == Shortlist::Trained { contender.shortlist } else { guide.shortlist };
    let policy = PolicySource::Given(contender.policy.clone());
    search.clone().with_guide(Guide { policy, shortlist, ..guide })
}

/// Names of the constructions of a problem.
fn constructions(problem: ProblemName) -> Vec<&'static str> {
    dispatch!(problem, P => P::constructions().into_iter().map(|(name, _)| name).collect())
}

/// The construction of this name.
pub(crate) fn construction<P: bqnco::Builtin>(name: &str) -> Option<Construct<P>> {
    P::constructions().into_iter().find(|(other, _)| *other == name).map(|(_, construct)| construct)
}
