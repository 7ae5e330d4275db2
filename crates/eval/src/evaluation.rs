//! An evaluation from its settings to its report.

use std::path::PathBuf;
use std::time::Duration;

use bqnco::kernels::best_path;
use bqnco::train::{Communicator, SingleProcess};
use bqnco::{CancelToken, Error, GivenPolicy, ModelSource, Result, Shortlist};
use serde_json::{Value, json};

use crate::journals::Journals;
use crate::model::{Model, load_networks};
use crate::published::Published;
use crate::results::{Machine, Results, today};
use crate::run::Run;
use crate::set::Set;
use crate::{Baseline, Report, Suite, file_error};

/// Who is compared on a [`Suite`], and how.
pub struct Evaluation<'a> {
    /// Where finished work is kept; made if needed. The same evaluation goes on from there.
    pub folder: PathBuf,
    /// Networks of any of the suite's problems.
    pub networks: Vec<ModelSource>,
    /// Whether problems that none of `networks` is of have the networks of the library.
    pub shipped_networks: bool,
    /// Policies of the caller's, for all of the suite's problems.
    pub contenders: Vec<Contender>,
    /// Methods without a network.
    pub baselines: Vec<Baseline>,
    /// Per instance, for searches that go on until a limit ends them; constructions take the time they take. `None`: the
    /// suite's.
    pub time_limit: Option<Duration>,
    /// So many random instances of the smallest size and fewer of larger ones; so many files of each set. `None`: all that
    /// the paper has.
    pub instances: Option<usize>,
    /// Source of all random choices; networks are trained with other seeds.
    pub seed: u64,
    /// Where networks run: `cpu`, or a device of the build's features.
    pub device: String,
    /// Ends the work early; what is finished is kept.
    pub cancel: CancelToken,
    /// The processes that share the work. Each has a report in the end.
    pub communicator: &'a dyn Communicator,
}

impl Evaluation<'_> {
    /// Shipped networks and built-in baselines, with the suite's time limit.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Evaluation {
            folder: folder.into(),
            networks: Vec::new(),
            shipped_networks: true,
            contenders: Vec::new(),
            baselines: Baseline::BUILT_IN.into(),
            time_limit: None,
            instances: None,
            seed: 20_230,
            device: "cpu".into(),
            cancel: CancelToken::new(),
            communicator: &SingleProcess,
        }
    }
}

/// A policy of the caller's that is compared with networks and baselines.
///
/// ```
/// use bqnco::{GivenPolicy, ObservationBatch, Shortlist, core::Frame};
/// use bqnco_eval::{Contender, Evaluation, Suite};
///
/// let folder = tempfile::tempdir()?;
/// let first = |batch: &ObservationBatch| Ok(vec![0.0; batch.len() * batch.slots()]);
/// let policy = GivenPolicy::new("first", Frame::Instance, first)?;
/// let contender = Contender { policy, shortlist: Shortlist::All, version: "1".into() };
/// let evaluation = Evaluation {
///     contenders: vec![contender],
///     shipped_networks: false,
///     baselines: Vec::new(),
///     instances: Some(2),
///     ..Evaluation::new(folder.path())
/// };
/// let mut suite = Suite::of_problem(bqnco::ProblemName::Tsp).with_sizes(&[10]);
/// suite.searches = vec!["greedy".parse()?];
/// let report = suite.run(&evaluation, &mut |_| ())?;
/// assert!(report.results().rows.iter().all(|row| row.method == "greedy (first)" && row.gap > Some(0.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Contender {
    /// The policy.
    pub policy: GivenPolicy,
    /// Candidates per step, for searches that name none.
    pub shortlist: Shortlist,
    /// Another version of the policy does not continue the journals of this one.
    pub version: String,
}

/// Something that has happened in an evaluation.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// What is left out, and why; also part of the report.
    Note(&'a str),
    /// An instance without a solution or a reference, and why; also part of the report.
    Failure(&'a str),
    /// Work goes on.
    Progress {
        /// Solved instances, by this process or in an earlier run.
        done: usize,
        /// Instances to solve by all methods and processes, references included.
        total: usize,
        /// The set and the method under way.
        task: &'a str,
    },
}

impl Suite {
    /// Evaluates networks and baselines, and goes on where an interrupted evaluation with the same settings has left off.
    ///
    /// ```
    /// # use bqnco_eval::{Evaluation, Suite};
    /// let suite = Suite::named("tsplib")?; // its files are not part of the library
    /// assert!(suite.needs_files());
    /// assert!(suite.run(&Evaluation::new("unused"), &mut |_| ()).is_err());
    /// # Ok::<(), bqnco::Error>(())
    /// ```
    ///
    /// # Errors
    /// Settings that do not fit each other, files and networks that cannot be read, journals of other settings,
    /// [`Error::Cancelled`].
    pub fn run(&self, evaluation: &Evaluation<'_>, notify: &mut dyn FnMut(Event<'_>)) -> Result<Report> {
        let Evaluation { folder, communicator, .. } = evaluation;
        let mut notes = Vec::new();
        let models = load_networks(self, evaluation, &mut notes)?;
        let run = Run::new(self, evaluation, &models, &mut notes)?;
        notes.iter().for_each(|note| notify(Event::Note(note)));
        bqnco::io::create_folder(folder).map_err(file_error("cannot create", folder))?;
        let mut journals = Journals::open(folder, settings(self, evaluation, &models, &run), *communicator)?;
        let mut progress = Progress::new(notify, run.total());
        run.work(&mut journals, &mut progress)?;
        notes.append(&mut progress.failures);
        let mut unsolved = [progress.unsolved as f32];
        communicator.sum(&mut unsolved); // and all results are written
        journals.reread()?;
        let mut results = Results {
            format: Results::FORMAT.into(),
            version: Results::VERSION,
            suite: self.name.clone(),
            title: self.title.clone(),
            date: today(),
            machine: Machine::here(communicator.size()),
            seed: evaluation.seed,
            sets: run.sets.iter().map(Set::info).collect(),
            methods: run.method_infos(),
            notes,
            rows: run.rows(&journals),
        };
        let (done, total) = (results.rows.len(), run.results());
        if done + (unsolved[0] as usize) < total || evaluation.cancel.is_cancelled() {
            return Err(Error::Cancelled { done, total });
        }
        let published = self.published.as_deref().map(Published::named).unwrap_or_default();
        results.quote(&published);
        let solutions = run.pictures(&results.rows, &journals);
        Ok(Report::new(results, published, self.methods_down, solutions))
    }
}

impl Suite {
    /// The time limit per instance: the evaluation's, else the suite's.
    pub(crate) fn time_limit(&self, evaluation: &Evaluation<'_>) -> Duration {
        evaluation.time_limit.unwrap_or(Duration::from_secs(self.time_limit))
    }
}

/// All that the results depend on: a journal with other settings is not continued.
fn settings(suite: &Suite, evaluation: &Evaluation<'_>, models: &[Model], run: &Run<'_>) -> Value {
    let model = |model: &Model| json!([model.name, model.checksum, model.network.config()]);
    let contender = |one: &Contender| json!([one.policy.name(), one.shortlist.to_string(), one.version]);
    let set = |set: &Set| json!([set.problem.as_str(), set.name, set.len(), set.fingerprint()]);
    json!({
        "suite": suite.name,
        "searches": suite.searches.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "models": models.iter().map(model).collect::<Vec<_>>(),
        "contenders": evaluation.contenders.iter().map(contender).collect::<Vec<_>>(),
        "baselines": evaluation.baselines,
        "time_limit": suite.time_limit(evaluation).as_secs_f64(),
        "seed": evaluation.seed,
        "threads": rayon::current_num_threads(),
        "device": evaluation.device,
        "instances": run.sets.iter().map(set).collect::<Vec<_>>(),
        "cpu": [Machine::here(1).cpu, best_path().to_string()],
        "program": program(),
    })
}

/// The checksum of this program: another one may find other solutions, in other times.
fn program() -> Option<String> {
    let bytes = std::fs::read(std::env::current_exe().ok()?).ok()?;
    Some(format!("crc32:{:08x}", crc32fast::hash(&bytes)))
}

/// What this process has done so far, told to the caller.
pub(crate) struct Progress<'a> {
    notify: &'a mut dyn FnMut(Event<'_>),
    done: usize,
    total: usize,
    task: String,
    /// Instances without a solution or a reference, and why.
    pub failures: Vec<String>,
    /// How many of them are results and not references.
    pub unsolved: usize,
}

impl<'a> Progress<'a> {
    fn new(notify: &'a mut dyn FnMut(Event<'_>), total: usize) -> Self {
        Progress { notify, done: 0, total, task: String::new(), failures: Vec::new(), unsolved: 0 }
    }

    /// So many instances more are solved.
    pub fn add(&mut self, count: usize) {
        self.done += count;
        self.tell();
    }

    /// Other work begins.
    pub fn begin(&mut self, task: String) {
        self.task = task;
        self.tell();
    }

    /// Something has no solution or no reference.
    pub fn fail(&mut self, why: String) {
        (self.notify)(Event::Failure(&why));
        self.failures.push(why);
    }

    fn tell(&mut self) {
        (self.notify)(Event::Progress { done: self.done, total: self.total, task: &self.task });
    }
}
