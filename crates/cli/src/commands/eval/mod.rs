//! `bqnco eval`.

mod compare;
mod contender;
mod models;
mod plan;
mod published;
mod report;
mod results;
mod run;
mod sets;
mod statistics;
mod suite;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, anyhow};
use bqnco::ProblemName;
use bqnco::train::Communicator;
use clap::Args;

use self::contender::{Baselines, Wanted, goes_on, timed};
use self::models::Model;
use self::plan::Plan;
use self::published::Published;
use self::results::{Machine, Results};
use self::run::{Journals, progress_bar};
use self::suite::Suite;
use super::solve::options::Search;
use crate::device::OnDevice;
use crate::failure::Failure;
use crate::interruption::{self, INTERRUPTED};
use crate::model::ModelSource;
use crate::threads::Threads;
use crate::{output, ranks};

/// Evaluate networks and baselines: the paper's tables and figures, or instances of yours.
///
/// Suites: table1 (random TSP, CVRP, OP and ATSP), tsplib, cvrplib, oplib, atsp, kp (knapsack), knn (shortlists),
/// approximate and order (ablations), search (all searches against time); or a problem. The report's folder gets report.html, report.md, results.csv and
/// results.json. Finished work is kept there: the same command goes on after an interruption, whatever interrupted it.
///
/// Examples:
///   bqnco eval table1 --instances 16
///   bqnco eval tsplib --data tsplib/ --model runs/tsp/best --search greedy,beam16,reconstruct --time-limit 5
///   bqnco eval cvrp --data cvrp200.npz --external "hgs=hgs {instance} {solution} -t {seconds} -seed {seed}"
///   bqnco eval --compare yesterday/results.json today/results.json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Eval {
    /// What to evaluate on: a suite or a problem.
    #[arg(value_name = "SUITE|PROBLEM", required_unless_present = "compare")]
    suite: Option<String>,
    /// Instances: a file, or a folder with its table of optima (tsplib, cvrplib, oplib, atsp, or a problem).
    #[arg(long, value_name = "FILE|FOLDER")]
    data: Option<PathBuf>,
    /// Best known objectives: a CSV file with columns `name` and `optimum` (default: the table in the folder, or what
    /// the files say, else our expert).
    #[arg(long, value_name = "FILE", requires = "data")]
    optimum: Option<String>,
    /// Searches with a network: greedy, greedy8 (the best of eight images), beam16, sample16, reconstruct, hybrid; behind a
    /// colon the candidates per step, as in beam16:100 or greedy:all (default: as the network's config.json says, else 250,
    /// all for perceivers); behind an @ a time limit of its own, as in reconstruct@5 (default: the suite's searches).
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    search: Vec<String>,
    /// Networks of any of the problems: names of `bqnco models`, or folders with model.safetensors and config.json (default:
    /// the networks that have the problems' names); `none` for none.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    model: Vec<String>,
    /// Baselines without a network: myopic (nearest neighbour, best ratio), constructions (insertion, savings), expert;
    /// or none.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["myopic", "constructions", "expert"])]
    baselines: Vec<String>,
    /// A program as baseline, with placeholders as for `bqnco solve --command`; may be given several times.
    #[arg(long, value_name = "NAME=COMMAND", value_parser = external)]
    external: Vec<(String, String)>,
    /// Seconds per instance of reconstruct, hybrid, expert and external programs; constructions take their time.
    #[arg(long, value_name = "SECONDS", value_parser = output::seconds, default_value = "1")]
    time_limit: Duration,
    /// So many random instances of the smallest size and fewer of larger ones; so many files of each set
    /// (default: all that the paper has).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    instances: Option<u32>,
    /// Random instances of these sizes instead of the paper's.
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true, conflicts_with = "data")]
    sizes: Vec<usize>,
    /// Source of all random choices; networks are trained with other seeds.
    #[arg(long, default_value_t = 20_230)]
    seed: u64,
    /// Where the report goes (default: runs/eval-SUITE).
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    /// Compare two results.json, instance by instance.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = COMPARED)]
    compare: Vec<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    device: OnDevice,
    /// Print results.json instead of a table.
    #[arg(long)]
    json: bool,
    /// No progress on standard error.
    #[arg(short, long)]
    quiet: bool,
}

/// Options that mean nothing to a comparison.
const COMPARED: [&str; 9] = ["suite", "data", "report", "model", "search", "external", "instances", "sizes", "optimum"];

/// For clap: `NAME=COMMAND`.
fn external(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => Ok((name.into(), command.into())),
        _ => Err("expected NAME=COMMAND, such as lkh=lkh:/usr/local/bin/LKH".into()),
    }
}

impl Eval {
    pub fn run(self) -> Result<(), Failure> {
        if let [before, after] = self.compare.as_slice() {
            return compare::run(before, after, self.json);
        }
        let suite = self.suite()?;
        self.threads.start()?;
        interruption::catch()?;
        ranks::together(|communicator| self.evaluate(&suite, communicator))
    }

    /// The suite with the options that change it.
    fn suite(&self) -> Result<Suite, Failure> {
        let name = self.suite.as_deref().unwrap_or_default();
        let mut suite = Suite::named(name)?;
        match (&self.data, &suite.library) {
            (Some(_), None) => return Err(anyhow!("--data: the suite {name} makes its own instances").into()),
            (None, Some(_)) if suite.random.is_empty() => {
                return Err(anyhow!("the suite {name} needs --data FOLDER with its files").into());
            }
            (Some(_), Some(_)) => suite.random.clear(),
            (None, _) => suite.library = None,
        }
        if self.sizes.contains(&0) {
            return Err(anyhow!("--sizes: expected sizes above zero").into());
        }
        if !self.search.is_empty() {
            suite.searches.clone_from(&self.search);
        }
        for search in &suite.searches {
            // Refused before any work is done.
            let (text, limit) = timed(search)?;
            let method = Search::spelled(text, None, None, 0)?.method();
            if limit.is_some() && !goes_on(method) {
                return Err(anyhow!("search `{search}`: constructions take their time; leave the @ out").into());
            }
        }
        Ok(if self.sizes.is_empty() { suite } else { suite.of_sizes(&self.sizes) })
    }

    fn evaluate(&self, suite: &Suite, communicator: &dyn Communicator) -> Result<(), Failure> {
        let quiet = self.quiet || !communicator.is_root();
        let (models, mut notes) = self.models(suite)?;
        let wanted = Wanted {
            searches: &suite.searches,
            baselines: Baselines::parse(&self.baselines)?,
            external: &self.external,
            limit: self.time_limit,
            seed: self.seed,
        };
        let folder = self.report.clone().unwrap_or_else(|| PathBuf::from(format!("runs/eval-{}", suite.name)));
        let plan = Plan::new(self, suite, &wanted, &models)?;
        notes.extend(plan.notes.iter().cloned());
        if !quiet {
            notes.iter().for_each(|note| eprintln!("note: {note}"));
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create folder {}", folder.display()))?;
        let mut journals = Journals::open(&folder, plan.settings(self, suite, &models), communicator)?;
        let total: usize = plan.tasks.iter().map(|task| task.total()).sum();
        let progress = progress_bar(total, quiet);
        for task in &plan.tasks {
            task.run(&mut journals, &progress)?;
        }
        progress.finish_and_clear();
        let unsolved = journals.unsolved();
        communicator.barrier(); // all results are written
        for failure in journals.failures() {
            eprintln!("note: {failure}");
        }
        if !communicator.is_root() {
            return Ok(());
        }
        notes.extend(journals.failures().iter().cloned());
        journals.reread()?;
        let machine = Machine::here(communicator.size());
        let results = plan.results(suite, &journals, machine, self.seed);
        self.conclude(Results { notes, ..results }, unsolved, suite, &plan, &journals, &folder)
    }

    /// Writes the report, if there is everything that belongs in it.
    fn conclude(
        &self,
        mut results: Results,
        unsolved: usize,
        suite: &Suite,
        plan: &Plan<'_>,
        journals: &Journals<'_>,
        folder: &Path,
    ) -> Result<(), Failure> {
        let expected: usize = plan.tasks.iter().map(|task| task.results()).sum();
        if results.rows.len() + unsolved < expected || INTERRUPTED.load(Ordering::Relaxed) {
            let done = results.rows.len();
            eprintln!("interrupted with {done} of {expected} results; the same command goes on from there");
            return Err(Failure::No);
        }
        let published = match (&self.data, suite.name.parse::<ProblemName>()) {
            (Some(_), Ok(_)) => Published::default(), // instances of yours, whatever their file is called
            _ => Published::of(&suite.name)?,
        };
        results.quote(&published);
        let pictures = plan.tasks.iter().flat_map(|task| task.pictures(&results, journals)).collect();
        let summary = report::write(folder, &results, &published, suite.methods_down, pictures)?;
        if !self.quiet {
            eprintln!("report: {}", folder.join("report.html").display());
        }
        if self.json { output::print(&results.json()?) } else { output::print(summary.as_bytes()) }
    }

    /// The networks that are asked for, else those that come with the program; and what is missing.
    fn models(&self, suite: &Suite) -> Result<(Vec<Model>, Vec<String>), Failure> {
        let device = self.device.open()?;
        let without = self.model.iter().any(|name| name == "none");
        let mut models = Vec::new();
        for name in self.model.iter().filter(|name| *name != "none") {
            let source = ModelSource::parse(name).map_err(|why| anyhow!("--model {name}: {why}"))?;
            models.push(Model::open(&source, &device)?);
        }
        let problems = suite.problems();
        if let Some(model) = models.iter().find(|model| !problems.contains(&model.problem)) {
            let names: Vec<_> = problems.iter().map(|problem| problem.as_str()).collect();
            let (name, problem) = (&model.name, model.problem);
            return Err(anyhow!(
                "--model {name} is a network of {problem}; this evaluation is of {}",
                names.join(", ")
            )
            .into());
        }
        let mut notes = Vec::new();
        for &problem in &problems {
            if !without && !models.iter().any(|model| model.problem == problem) {
                models.extend(Model::shipped(problem, &suite.architectures(problem), &device)?);
            }
            let ours: Vec<&Model> = models.iter().filter(|model| model.problem == problem).collect();
            if ours.len() < suite.models {
                let (expected, found, name) = (suite.models, ours.len(), &suite.name);
                return Err(
                    anyhow!("{name} compares {expected} networks of {problem}, found {found}: --model A,B").into()
                );
            }
            if ours.is_empty() {
                notes.push(format!("no network of {problem}: rows of networks are left out (--model)"));
                continue;
            }
            for kind in suite.architectures(problem) {
                if !ours.iter().any(|model| published::family(&model.architecture) == kind) {
                    notes.push(format!("no {kind} network of {problem}: its rows are left out"));
                }
            }
        }
        Ok((models, notes))
    }
}
