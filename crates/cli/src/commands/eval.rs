//! `bqnco eval`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use bqnco::train::Communicator;
use bqnco::{Error, ModelSource};
use bqnco_eval::{Baseline, Comparison, Evaluation, Event, Results, Suite, TimedSearch};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use indicatif::{ProgressBar, ProgressStyle};

use crate::device::OnDevice;
use crate::failure::Failure;
use crate::output::say;
use crate::threads::Threads;
use crate::{interruption, output, ranks};

/// Evaluate networks and baselines: the paper's tables and figures, or your own instances.
///
/// Suites: table1 (random TSP, CVRP, OP and ATSP), tsplib, tsplib-xl (its largest), cvrplib, xl (large CVRP), oplib,
/// atsp, kp (knapsack), knn (shortlists), perceiver, approximate and order (ablations), search (all searches against
/// time); or a problem. The report folder gets report.html, report.md, results.csv and results.json. It also keeps
/// finished work: after an interruption of any kind, run the same command to resume.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Eval {
    /// What to evaluate on: a suite or a problem.
    #[arg(value_name = "SUITE|PROBLEM", required_unless_present = "compare")]
    suite: Option<String>,
    /// Instances: a file, or a folder with its table of optima (tsplib, tsplib-xl, cvrplib, xl, oplib, atsp, kp, or a
    /// problem).
    #[arg(long, value_name = "FILE|FOLDER")]
    data: Option<PathBuf>,
    /// Best known objectives: a CSV file with columns `name` and `optimum` (default: the table in the folder, or the
    /// values in the files, otherwise our expert).
    #[arg(long, value_name = "FILE", requires = "data")]
    optimum: Option<String>,
    /// Searches with a network: greedy, greedy8 (the best of eight symmetries), beam16, plain-beam16 (equal subproblems are
    /// not merged), sample16, reconstruct, hybrid; optionally followed by a colon and the candidates per step, as in beam16:100 or greedy:all (default: as in the
    /// network's config.json, otherwise 250, all for perceivers), and by @ and a time limit in seconds, as in
    /// reconstruct@5 (default: the suite's searches).
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    search: Vec<TimedSearch>,
    /// Networks for any of the problems: names from `bqnco models`, or folders with model.safetensors and config.json
    /// (default: the networks that have the problems' names); `none` for none.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    model: Vec<String>,
    /// Baselines without a network: heuristic (nearest neighbour, best ratio), constructions (insertion, savings),
    /// expert; or none.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["heuristic", "constructions", "expert"])]
    baselines: Vec<String>,
    /// An external solver as a baseline, with placeholders as for `bqnco solve --command`; may be repeated.
    #[arg(long, value_name = "NAME=COMMAND", value_parser = external)]
    external: Vec<Baseline>,
    /// Seconds per instance of reconstruct, hybrid, expert and external solvers; constructions have no limit (default: 1;
    /// 60 for xl and tsplib-xl).
    #[arg(long, value_name = "SECONDS", value_parser = output::seconds)]
    time_limit: Option<Duration>,
    /// Number of random instances of the smallest size, with fewer of larger ones; number of files of each set
    /// (default: as many as in the paper).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    instances: Option<u32>,
    /// Random instances of these sizes instead of the paper's.
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true, conflicts_with = "data")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    sizes: Vec<usize>,
    /// Random seed; networks are trained with other seeds.
    #[arg(long, default_value_t = 20_230)]
    seed: u64,
    /// Report folder (default: runs/eval-SUITE).
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    /// Compare two reports, instance by instance: their folders or their results.json.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = NOT_COMPARED)]
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

const EXAMPLES: &str = r#"Examples:
  bqnco eval table1 --instances 16
  bqnco eval tsplib --data tsplib/ --model runs/tsp/best --search greedy,beam16
  bqnco eval cvrp --data cvrp200.npz \
    --external "hgs=hgs {instance} {solution} -t {seconds} -seed {seed}"
  bqnco eval --compare runs/yesterday runs/today"#;

/// Options that do not apply to a comparison.
const NOT_COMPARED: [&str; 9] =
    ["suite", "data", "report", "model", "search", "external", "instances", "sizes", "optimum"];

/// For clap: `NAME=COMMAND`.
fn external(text: &str) -> Result<Baseline, String> {
    match text.split_once('=') {
        Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
            Ok(Baseline::External { name: name.into(), command: command.into() })
        }
        _ => Err("expected NAME=COMMAND, such as lkh=lkh:/usr/local/bin/LKH".into()),
    }
}

impl Eval {
    pub fn run(self) -> Result<(), Failure> {
        if let [before, after] = self.compare.as_slice() {
            return compare(before, after, self.json);
        }
        let suite = self.suite()?;
        self.threads.start()?;
        interruption::catch()?;
        ranks::together(|communicator| self.evaluate(&suite, communicator))
    }

    /// The suite with the options applied.
    fn suite(&self) -> Result<Suite, Failure> {
        let mut suite = Suite::named(self.suite.as_deref().unwrap_or_default())?;
        if let Some(data) = &self.data {
            let with_files = suite.with_files(data, self.optimum.as_deref());
            suite = with_files.with_context(|| format!("--data {}", data.display()))?;
        }
        if suite.needs_files() {
            return Err(anyhow!("the suite {} needs --data FOLDER with its files", suite.name).into());
        }
        if !self.search.is_empty() {
            suite.searches.clone_from(&self.search);
        }
        Ok(if self.sizes.is_empty() { suite } else { suite.with_sizes(&self.sizes) })
    }

    fn evaluate(&self, suite: &Suite, communicator: &dyn Communicator) -> Result<(), Failure> {
        let folder = self.report.clone().unwrap_or_else(|| PathBuf::from(format!("runs/eval-{}", suite.name)));
        let evaluation = Evaluation {
            networks: self.networks()?,
            shipped_networks: !self.model.iter().any(|name| name == "none"),
            baselines: self.baselines()?,
            time_limit: self.time_limit,
            instances: self.instances.map(|count| count as usize),
            seed: self.seed,
            device: self.device.name(),
            cancel: interruption::token().clone(),
            communicator,
            ..Evaluation::new(&folder)
        };
        let quiet = self.quiet || !communicator.is_root();
        let bar = progress_bar(quiet);
        let report = suite.run(&evaluation, &mut |event| show(&bar, quiet, event));
        bar.finish_and_clear();
        let report = match report {
            _ if !communicator.is_root() && matches!(report, Ok(_) | Err(Error::Cancelled { .. })) => return Ok(()),
            Err(Error::Cancelled { done, total }) => {
                say!("interrupted with {done} of {total} results; run the same command to resume");
                return Err(Failure::No);
            }
            report => report.map_err(|error| self.at_flag(error))?,
        };
        report.write(&folder)?;
        if !self.quiet {
            say!("report: {}", folder.join("report.html").display());
        }
        if self.json {
            output::print_json(&String::from_utf8_lossy(&report.results().json()))
        } else {
            output::print(output::plain(&report.summary()).as_bytes())
        }
    }

    /// An error with the flag that it is about.
    fn at_flag(&self, error: Error) -> anyhow::Error {
        let flag = match &error {
            Error::OutOfRange { setting: "size", found, expected } => {
                return anyhow!("--sizes {found}: expected {expected}");
            }
            Error::Optima { .. } | Error::OutOfRange { setting: "optimum", .. } if self.optimum.is_some() => {
                "--optimum"
            }
            Error::Optima { .. } | Error::Read(_) | Error::NoInstanceFiles { .. } | Error::NoInstances { .. } => {
                "--data"
            }
            _ => return error.into(),
        };
        anyhow::Error::new(error).context(flag)
    }

    fn networks(&self) -> Result<Vec<ModelSource>, Failure> {
        let parse = |name: &String| name.parse().map_err(|why| anyhow!("--model: {why}"));
        let names = self.model.iter().filter(|name| *name != "none");
        Ok(names.map(parse).collect::<anyhow::Result<_>>()?)
    }

    fn baselines(&self) -> Result<Vec<Baseline>, Failure> {
        let mut baselines = Vec::new();
        for word in &self.baselines {
            match word.as_str() {
                "heuristic" | "myopic" => baselines.push(Baseline::Heuristic),
                "constructions" => baselines.push(Baseline::Constructions),
                "expert" => baselines.push(Baseline::Expert),
                "none" => {}
                _ => {
                    let words = "heuristic, constructions, expert or none";
                    return Err(anyhow!("--baselines {word}: expected {words}").into());
                }
            }
        }
        baselines.extend(self.external.iter().cloned());
        Ok(baselines)
    }
}

/// A progress bar over all instances and methods.
fn progress_bar(quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{elapsed_precise} {bar:24} {pos}/{len} {msg}");
    ProgressBar::no_length().with_style(style.expect("the template is valid"))
}

fn show(bar: &ProgressBar, quiet: bool, event: Event<'_>) {
    match event {
        Event::Note(note) if !quiet => say!("note: {note}"),
        Event::Note(_) => {}
        Event::Failure(why) => bar.suspend(|| say!("note: {why}")),
        Event::Progress { done, total, task } => {
            if bar.length().is_none() {
                bar.set_length(total as u64);
                bar.enable_steady_tick(Duration::from_millis(200));
            }
            bar.set_message(task.to_string());
            bar.set_position(done as u64);
        }
    }
}

/// Prints the changes from the first file to the second.
fn compare(before: &Path, after: &Path, as_json: bool) -> Result<(), Failure> {
    let comparison = Comparison::of(&Results::read(before)?, &Results::read(after)?)?;
    if as_json {
        return output::print_json(&format!("{:#}\n", comparison.json()));
    }
    let text = comparison.text(&before.display().to_string(), &after.display().to_string());
    output::print(output::plain(&text).as_bytes())
}
