//! What the service answers, as JSON.

use bqnco::io::{Format, Shape};
use bqnco::net::Description;
use bqnco::{End, Instance, MODELS, Model, ProblemName, Solution, Trace, dispatch};
use serde::{Deserialize, Serialize};

use crate::error::Problem;

/// A solved instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The instance's name.
    pub name: String,
    /// Its problem.
    pub problem: String,
    /// Its size, in `unit`.
    pub size: usize,
    /// Nodes, customers or items.
    pub unit: String,
    /// The name of the objective: length, prize or value.
    pub objective: String,
    /// The objective of the solution.
    pub value: f64,
    /// The best value that the instance's file states.
    pub reference: Option<f64>,
    /// The distance to it; positive is worse.
    pub gap_percent: Option<f64>,
    /// Seconds of work.
    pub seconds: f64,
    /// The search that was asked for.
    pub search: String,
    /// What found the solution.
    pub found_by: String,
    /// Whether the search was stopped before it was complete.
    pub cut_short: bool,
    /// The random seed.
    pub seed: u64,
    /// Nodes or items from 0 in the order of the visit; routes are separated by 0, the depot.
    pub solution: Vec<usize>,
    /// Routes, for problems whose solutions have several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Route>,
}

/// What one vehicle does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Route {
    /// In the order of the visit.
    pub customers: Vec<usize>,
    /// The sum of their demands.
    pub load: f64,
    /// From the depot and back to it.
    pub length: f64,
}

impl Answer {
    /// The answer of a solve.
    pub fn new(solution: &Solution, seed: u64) -> Self {
        let instance = solution.instance();
        let reference = instance.reference();
        let route =
            |route: bqnco::io::Route| Route { customers: route.customers, load: route.load, length: route.length };
        Answer {
            name: instance.name().into(),
            problem: instance.problem().to_string(),
            size: instance.size(),
            unit: instance.unit().into(),
            objective: solution.objective().into(),
            value: solution.value(),
            reference,
            gap_percent: reference.and_then(|reference| solution.gap(reference)),
            seconds: solution.seconds(),
            search: solution.search().into(),
            found_by: solution.found_by().into(),
            cut_short: solution.cut_short(),
            seed,
            solution: solution.numbers(),
            routes: solution.routes().into_iter().map(route).collect(),
        }
    }
}

/// A better solution than before.
#[derive(Clone, Debug, Serialize)]
pub struct Improved {
    /// The objective of the solution.
    pub value: f64,
    /// Seconds since the work began.
    pub seconds: f64,
    /// As in [`Answer::solution`].
    pub solution: Vec<usize>,
}

/// An instance as the service understood it.
#[derive(Serialize)]
pub struct Understood<'a> {
    name: &'a str,
    problem: &'static str,
    size: usize,
    unit: &'static str,
    places: Option<&'a [[f64; 2]]>, // on a map, y upwards
    solution: Option<Vec<usize>>,
}

impl<'a> Understood<'a> {
    /// What was understood of an instance, with its solution, as JSON; `instance` is that of a JSON file.
    pub fn json(instance: &'a Instance, solution: Option<&Solution>) -> Result<Vec<u8>, Problem> {
        let head = Understood {
            name: instance.name(),
            problem: instance.problem().as_str(),
            size: instance.size(),
            unit: instance.unit(),
            places: instance.places(),
            solution: solution.map(Solution::numbers),
        };
        let mut json = serde_json::to_vec(&head).map_err(|error| Problem::internal(&error.to_string()))?;
        json.pop(); // the brace at the end
        json.extend(b",\"instance\":");
        json.extend(instance.to_bytes(Format::Json)?.trim_ascii());
        json.push(b'}');
        Ok(json)
    }
}

/// What is true of a solution.
#[derive(Serialize)]
pub struct Verdict {
    name: String,
    problem: &'static str,
    feasible: bool,
    objective: &'static str,
    value: Option<f64>,
    reason: Option<String>,
    claimed: Option<f64>,
    claim_holds: Option<bool>,
}

impl Verdict {
    /// Checks a solution.
    pub fn new(solution: &Solution) -> Self {
        let reason = solution.check().err().map(|reason| reason.to_string());
        let value = reason.is_none().then(|| solution.value());
        let (instance, claimed) = (solution.instance(), solution.claimed());
        let holds = |claimed: f64, value: f64| (claimed - value).abs() <= 1e-6 * value.abs().max(1.0);
        Verdict {
            name: instance.name().into(),
            problem: instance.problem().as_str(),
            feasible: reason.is_none(),
            objective: solution.objective(),
            value,
            reason,
            claimed,
            claim_holds: claimed.zip(value).map(|(claimed, value)| holds(claimed, value)),
        }
    }
}

/// A construction, look by look.
#[derive(Serialize)]
pub struct Steps<'a> {
    name: &'a str,
    problem: &'static str,
    policy: String,
    objective: &'static str,
    start: &'a [usize], // the numbers of the empty solution
    looks: Vec<Look<'a>>,
    solution: Option<Vec<usize>>,
    value: Option<f64>,
    cut_short: bool,
    seconds: f64,
}

#[derive(Serialize)]
struct Look<'a> {
    candidates: Vec<Candidate<'a>>,
    scored: usize,
    end: &'static str, // at which they were scored
    taken: Vec<Taken<'a>>,
    settled: &'a [usize],
    value: f64,
}

#[derive(Serialize)]
struct Candidate<'a> {
    adds: &'a [usize],
    probability: f64,
}

#[derive(Serialize)]
struct Taken<'a> {
    end: &'static str,
    adds: &'a [usize],
}

/// The name of an end of the remaining path.
fn end(end: End) -> &'static str {
    match end {
        End::Front => "front",
        End::Back => "back",
    }
}

impl<'a> Steps<'a> {
    /// The answer of a trace.
    pub fn new(instance: &'a Instance, trace: &'a Trace) -> Self {
        let candidate =
            |candidate: &'a bqnco::Candidate| Candidate { adds: &candidate.adds, probability: candidate.probability };
        let taken = |step: &'a bqnco::Taken| Taken { end: end(step.end), adds: &step.adds };
        let look = |look: &'a bqnco::Look| Look {
            candidates: look.candidates.iter().map(candidate).collect(),
            scored: look.scored,
            end: end(look.end),
            taken: look.taken.iter().map(taken).collect(),
            settled: &look.settled,
            value: look.value,
        };
        Steps {
            name: instance.name(),
            problem: instance.problem().as_str(),
            policy: trace.policy().into(),
            objective: dispatch!(instance.problem(), P => P::OBJECTIVE.0),
            start: trace.start(),
            looks: trace.looks().iter().map(look).collect(),
            solution: trace.solution().map(Solution::numbers),
            value: trace.solution().map(Solution::value),
            cut_short: trace.cut_short(),
            seconds: trace.seconds(),
        }
    }
}

/// A problem and the fields of its instances.
#[derive(Serialize)]
pub struct About {
    name: &'static str,
    unit: &'static str,
    objective: &'static str,
    larger_is_better: bool,
    expert: bool,
    network: bool,
    heuristic: &'static str,
    fields: Vec<FieldInfo>,
    instance_file: &'static str,
    solution_file: &'static str,
}

#[derive(Serialize)]
struct FieldInfo {
    name: &'static str,
    shape: &'static str,
}

/// All problems.
pub fn problems() -> Vec<About> {
    ProblemName::ALL.iter().map(|&problem| dispatch!(problem, P => about::<P>())).collect()
}

fn about<P: bqnco::Builtin>() -> About {
    let field = |field: &bqnco::io::Field| FieldInfo {
        name: field.name,
        shape: match field.shape {
            Shape::Number => "number",
            Shape::List => "list",
            Shape::Table => "table",
        },
    };
    About {
        name: P::NAME,
        unit: P::UNIT,
        objective: P::OBJECTIVE.0,
        larger_is_better: P::OBJECTIVE.1 < 0.0,
        expert: P::expertise().is_some(),
        network: Model::named(P::NAME).is_some(),
        heuristic: P::GREEDY_HEURISTIC,
        fields: P::FIELDS.iter().map(field).collect(),
        instance_file: P::NATIVE.instance.1,
        solution_file: P::NATIVE.solution.1,
    }
}

/// A built-in network.
#[derive(Serialize)]
pub struct ModelInfo {
    name: &'static str,
    problem: String,
    layers: usize,
    width: usize,
    bytes: usize,
    shortlist: Option<usize>,
    follow: Option<f64>,
    card: &'static str, // Markdown
}

/// All built-in networks.
pub fn models() -> Result<Vec<ModelInfo>, Problem> {
    let info = |model: &Model| {
        let Description { config, .. } = model.describe().map_err(bqnco::Error::from)?;
        Ok(ModelInfo {
            name: model.name,
            problem: config.problem,
            layers: config.n_layers,
            width: config.dim,
            bytes: model.weights().len(),
            shortlist: config.shortlist,
            follow: config.follow,
            card: model.card,
        })
    };
    MODELS.iter().map(info).collect()
}
