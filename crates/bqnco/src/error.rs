//! The library's error types.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use bqnco_core::{ExpertError, Infeasible, PolicyError};
use bqnco_io::{FieldError, ReadError, WriteError};
use bqnco_net::{CONFIG, NetError, WEIGHTS};
use bqnco_plot::PlotError;
use bqnco_problems::InvalidInstance;
use bqnco_train::TrainError;

use crate::{MAX_THREADS, MODELS, Model, ProblemName, UnknownDistribution, UnknownProblem};

/// Why a call failed: one sentence that says what, where, and how to fix it.
///
/// ```
/// use bqnco::{Error, Instance, Search, Solver};
///
/// let instance = Instance::tsp(&[[0.0, 0.0], [1.0, 0.0]])?;
/// let error = Solver::new().search(Search::beam(0)).solve(&instance).unwrap_err();
/// assert!(matches!(error, Error::OutOfRange { setting: "beam width", .. }));
/// assert_eq!(error.to_string(), "beam width = 0: expected 1 to 10000");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of instances or solutions that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A format that cannot hold the data, or an infeasible solution.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// An I/O error on a file.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// What was attempted: "cannot write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// Numbers that are not a valid instance.
    #[error(transparent)]
    Instance(#[from] InvalidInstance),
    /// Numbers that are not a valid solution.
    #[error(transparent)]
    Numbers(#[from] FieldError),
    /// A solution that violates a constraint of its instance.
    #[error("{instance}: the solution is not feasible: {reason}")]
    Infeasible {
        /// The instance, with its file if it has one.
        instance: String,
        /// The first violated constraint.
        reason: Infeasible,
    },
    /// An unknown problem.
    #[error(transparent)]
    UnknownProblem(#[from] UnknownProblem),
    /// An unknown distribution of places.
    #[error(transparent)]
    UnknownDistribution(#[from] UnknownDistribution),
    /// A network that cannot be loaded.
    #[error(transparent)]
    Network(#[from] NetError),
    /// A policy that failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// An expert or an external solver that found no solution.
    #[error(transparent)]
    Expert(#[from] ExpertError),
    /// A training run that cannot continue.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A picture that cannot be rendered.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A number out of its range.
    #[error("{setting} = {found}: expected {expected}")]
    OutOfRange {
        /// The setting: "size".
        setting: &'static str,
        /// The number.
        found: String,
        /// The range, in words.
        expected: String,
    },
    /// A [`GeneratedSet::distribution`](crate::GeneratedSet::distribution) for a problem without places.
    #[error("{problem} has no places to spread; leave `distribution` out")]
    NoPlaces {
        /// The problem.
        problem: ProblemName,
    },
    /// [`GeneratedSet::varied`](crate::GeneratedSet::varied) for a problem without a parameter to vary.
    #[error("{problem} has no parameter to vary; leave `varied` out")]
    NothingToVary {
        /// The problem.
        problem: ProblemName,
    },
    /// Text that is not the name of a search.
    #[error("search `{text}`: {reason}")]
    UnknownSearch {
        /// The text.
        text: String,
        /// Why it is none, with what is expected.
        reason: String,
    },
    /// Text that is not a [`Shortlist`](crate::Shortlist).
    #[error("shortlist `{text}`: expected a number above zero or `all`")]
    UnknownShortlist {
        /// The text.
        text: String,
    },
    /// Text that names no network.
    #[error("network `{text}`: neither a folder nor one of the networks {}", model_names())]
    UnknownNetwork {
        /// The text.
        text: String,
    },
    /// Several steps at once were asked of a network that cannot plan them.
    #[error("{network} scores single steps only: take one at a time")]
    NoSuccessors {
        /// The network's name or folder.
        network: String,
    },
    /// bf16 products were asked for.
    #[error("this CPU has no bf16 products: use f32")]
    NoBf16,
    /// A folder without a network.
    #[error(
        "{}: no network in this folder: expected {} and {}{}",
        folder.display(), WEIGHTS, CONFIG, did_you_mean(.best.as_deref())
    )]
    NoNetwork {
        /// The folder.
        folder: PathBuf,
        /// The best checkpoint of the run that the folder holds, if it does.
        best: Option<PathBuf>,
    },
    /// A network that was trained for another problem.
    #[error("{network} is a network for {trained_for}, but the problem is {problem}: {}", suitable_network(.problem))]
    OtherNetwork {
        /// The network's name or folder.
        network: String,
        /// The problem it was trained for.
        trained_for: String,
        /// The problem to solve.
        problem: ProblemName,
    },
    /// A network that sees coordinates, and an instance without any.
    #[error(
        "the network {network} needs coordinates, and {instance} has only a matrix of distances: \
         use the search `auto` or `expert`"
    )]
    NoCoordinates {
        /// The network's name or folder.
        network: String,
        /// The instance.
        instance: String,
    },
    /// A constraint that a search with a policy cannot promise to keep.
    #[error("a search with a policy cannot keep {constraint}: use the search `auto` or `expert`")]
    UnseenConstraint {
        /// The constraint: "a limit on the number of vehicles".
        constraint: &'static str,
    },
    /// A limit on vehicles for a problem that has none.
    #[error("{problem} has no vehicles whose number could be limited, only cvrp has")]
    NoVehicles {
        /// The problem.
        problem: ProblemName,
    },
    /// An instance that has only a matrix of distances, for policies that see coordinates.
    #[error("{instance} has only a matrix of distances, and policies for its problem see coordinates")]
    NoFeatures {
        /// The instance.
        instance: String,
    },
    /// An instance without a solution to learn from.
    #[error("{instance} has no solution to learn from")]
    NoSolution {
        /// The instance.
        instance: String,
    },
    /// Instances of two problems where one is expected.
    #[error("instances of one problem are expected, found {one} and {other}")]
    MixedProblems {
        /// The problem of the first instance.
        one: ProblemName,
        /// A different one.
        other: ProblemName,
    },
    /// A [`Job`](crate::solve::Job) with a network that its search does not use, or without the one it uses.
    #[error("the job's network is not the one that its search names")]
    JobNetwork,
    /// A search or a label that needs the problem's expert, which does not exist.
    #[error("{problem} has no built-in expert; {instead}")]
    NoExpert {
        /// The problem.
        problem: ProblemName,
        /// What to do instead.
        instead: &'static str,
    },
    /// A start that the search cannot use.
    #[error(transparent)]
    Start(#[from] UnfitStart),
    /// No threads, or more than any search can use.
    #[error("expected 1 to {MAX_THREADS} threads, found {found}")]
    ThreadCount {
        /// How many.
        found: usize,
    },
    /// Threads that the system does not start.
    #[error("cannot start {count} threads: {source}")]
    Threads {
        /// How many.
        count: usize,
        /// The reason.
        source: rayon::ThreadPoolBuildError,
    },
    /// A file that should hold exactly one instance.
    #[error("{file}: expected one instance, found {found}")]
    NotOneInstance {
        /// The file.
        file: String,
        /// How many it holds.
        found: usize,
    },
    /// A folder without instance files.
    #[error("{}: no instance files in this folder{notes}", folder.display())]
    NoInstanceFiles {
        /// The folder.
        folder: PathBuf,
        /// What was skipped and why, if anything was: "; skipped a.csv, line 1: ...".
        notes: String,
    },
    /// A file or folder without instances of the problem.
    #[error("{}: no instances of {problem}{notes}", path.display())]
    NoInstances {
        /// The file or folder.
        path: PathBuf,
        /// The problem.
        problem: ProblemName,
        /// What was left out and why, if anything was: "; 3 files that are not tsp were left out".
        notes: String,
    },
    /// An empty list of instances, which no file can hold.
    #[error("no instances to write")]
    NothingToWrite,
    /// Instances of two problems for one file.
    #[error("a file cannot hold instances of both {one} and {other}")]
    TwoProblems {
        /// The problem of the first instance.
        one: ProblemName,
        /// A different one.
        other: ProblemName,
    },
    /// A solution of another problem than the instance's.
    #[error("{instance}: a solution of {found} does not fit {expected}")]
    OtherSolution {
        /// The instance.
        instance: String,
        /// The solution's problem.
        found: ProblemName,
        /// The instance's problem.
        expected: ProblemName,
    },
    /// A file extension that solutions of the problem do not have.
    #[error("{}: solutions of {problem} are written as .{extension} or .json", path.display())]
    SolutionExtension {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: ProblemName,
        /// The problem's own extension.
        extension: &'static str,
    },
    /// A table of optima that cannot be read.
    #[error("{path}{}: {reason}", line.map_or(String::new(), |line| format!(", line {line}")))]
    Optima {
        /// The file.
        path: String,
        /// The line, if a single one is wrong.
        line: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// A journal that cannot be continued.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file or folder that another process has locked.
    #[error("another process is using {}", path.display())]
    InUse {
        /// The file or folder.
        path: PathBuf,
    },
    /// A recipe that cannot be trained.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// Settings of a crate above this one that do not fit each other, in words.
    #[error("{0}")]
    Settings(String),
    /// Cancelled before there was a result; finished work is kept if the call's documentation says so.
    #[error("cancelled with {done} of {total} done")]
    Cancelled {
        /// Finished items.
        done: usize,
        /// All items.
        total: usize,
    },
}

impl Error {
    /// For `map_err` on I/O errors.
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { action, path, source }
    }

    /// For `map_err` on solutions that were checked.
    pub(crate) fn infeasible(instance: impl Into<String>) -> impl FnOnce(Infeasible) -> Error {
        let instance = instance.into();
        move |reason| Error::Infeasible { instance, reason }
    }

    /// For text of TOML files and changes to them.
    pub(crate) fn recipe(place: impl fmt::Display) -> impl FnOnce(toml::de::Error) -> Error {
        let place = place.to_string();
        move |error| RecipeError::Syntax { place, reason: error.to_string() }.into()
    }
}

/// Why a search cannot start from a solution ([`Solver::start`](crate::Solver::start)).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitStart {
    /// It is a solution of one instance, and there are none or several.
    #[error("a start is for one instance, {instances} were given")]
    NotOneInstance {
        /// Number of instances.
        instances: usize,
    },
    /// It is a solution of another problem.
    #[error("the start is a solution of {found}, but the problem is {expected}")]
    OtherProblem {
        /// The start's problem.
        found: ProblemName,
        /// The instance's problem.
        expected: ProblemName,
    },
    /// The search builds all its solutions anew.
    #[error("a start needs the search auto, reconstruct, hybrid or expert")]
    Search,
}

/// Why a [journal](crate::journal) cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// It was written with other settings.
    #[error("the journal {} belongs to a run with other settings ({settings}): remove it, or choose another output", path.display())]
    OtherSettings {
        /// The journal.
        path: PathBuf,
        /// The names of the settings that differ.
        settings: String,
    },
    /// A line of it is not an entry.
    #[error("the journal {} is damaged in line {line}; remove the line, or the file to start over: {reason}", path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// Why a [`Recipe`](crate::Recipe) cannot be trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// Text or a table that is not a recipe.
    #[error("{place}: {reason}")]
    Syntax {
        /// The file, or the part of the recipe.
        place: String,
        /// What is wrong, with its line.
        reason: String,
    },
    /// A change that is not `key=value`, or whose key leads nowhere.
    #[error("`{change}`: {reason}")]
    Change {
        /// The change.
        change: String,
        /// What is wrong.
        reason: String,
    },
    /// An unknown preset of networks.
    #[error("the recipe's network has the preset {preset}; the presets are {}", presets.join(", "))]
    UnknownPreset {
        /// The preset.
        preset: String,
        /// All presets.
        presets: Vec<&'static str>,
    },
    /// A training or validation set that cannot be used.
    #[error("{set}: {reason}")]
    Set {
        /// "train" or "validation".
        set: &'static str,
        /// Why not.
        reason: Box<Error>,
    },
    /// An empty list of files or sets.
    #[error("the list of {list} is empty")]
    EmptyList {
        /// "files" or "sets".
        list: &'static str,
    },
    /// A file of examples that does not exist.
    #[error(
        "{file} is missing; make it, for instance with `bqnco generate {problem} --size N --count N --expert -o {file}`",
        file = path.display()
    )]
    MissingFile {
        /// The file.
        path: PathBuf,
        /// The recipe's problem.
        problem: ProblemName,
    },
    /// A set without the expert's solutions, in a recipe that does not make its own.
    #[error("expert = false gives no solutions to learn from; use it only with [self_improvement]")]
    NoExpertLabels,
    /// A set in more parts than it has instances, or in none.
    #[error("shards = {shards}; expected 1 to the set's {count} instances")]
    BadShards {
        /// The parts.
        shards: u64,
        /// The instances.
        count: u64,
    },
    /// Files that are to hold nothing but the expert's solutions, of which there are none.
    #[error("solutions_only = true keeps the expert's solutions, and expert = false makes none")]
    NothingToKeep,
    /// An instance without a solution, in a recipe that does not make its own.
    #[error(
        "{}: {instance} has no solution to learn from; `bqnco generate --expert` makes some, and a recipe with \
         [self_improvement] needs none", file.display()
    )]
    NoSolution {
        /// The file of examples.
        file: PathBuf,
        /// The instance.
        instance: String,
    },
    /// The folder holds a run of another recipe or with other data.
    #[error("{} holds another run, which differs in {differences}; choose another folder, or remove it", folder.display())]
    OtherRun {
        /// The run's folder.
        folder: PathBuf,
        /// Keys or files that differ.
        differences: String,
    },
}

fn model_names() -> String {
    MODELS.iter().map(|model| model.name).collect::<Vec<_>>().join(", ")
}

fn did_you_mean(folder: Option<&Path>) -> String {
    folder.map_or(String::new(), |folder| format!("; did you mean {}?", folder.display()))
}

/// What to use instead of a network for another problem.
fn suitable_network(problem: &ProblemName) -> String {
    match Model::named(problem.as_str()) {
        Some(own) => format!("use the default, {}, or a network for {problem}", own.name),
        None => format!("use a network for {problem}"),
    }
}

/// The library's result type.
pub type Result<T> = std::result::Result<T, Error>;
