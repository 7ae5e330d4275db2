//! `bqnco solve`.

mod options;
mod results;
mod targets;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use bqnco::{Event, Instance, References, Solver, distinguish_names, instance_files};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use self::options::SearchArgs;
use self::results::{Form, Results, Solved};
use self::targets::Targets;
use crate::failure::Failure;
use crate::interruption;
use crate::output::{self, figure};
use crate::reading::Reading;
use crate::threads::Threads;

/// Solve instances: TSPLIB, CVRPLIB, OPLib, kplib, CSV, JSON files or whole datasets.
///
/// The problem and the format are detected from the content. A policy builds the solution step by step and rebuilds
/// parts of it, or the built-in classical expert searches for it. Ctrl-C stops the search and prints the best solution
/// so far.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Solve {
    /// Instance files, datasets or folders of them; `-` reads standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
    /// Time limit per instance in seconds; reading it, and loading the network, are part of it.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = output::seconds)]
    time_limit: Option<Duration>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    reading: Reading,
    /// Use at most N vehicles, that is, routes (cvrp; default: the limit in the file, or none).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    vehicles: Option<u32>,
    /// Best known objective, for the gap: a number, or a CSV file with a column `name`, `file` or `instance` and one of
    /// `optimum`, `optimal`, `bks`, `best_known`, `best_known_score`, `reference`.
    #[arg(long, value_name = "NUMBER|FILE", allow_hyphen_values = true)]
    optimum: Option<String>,
    /// Output file: .tour, .sol or .txt, depending on the problem, or .json; a folder for several instances; `-` prints
    /// the solution instead of the result.
    #[arg(short, long, value_name = "FILE|FOLDER")]
    output: Option<PathBuf>,
    /// Draw the solution; .svg or .png, for a single instance.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// One JSON object per instance on standard output; nodes and items from 0, CVRP routes separated by 0.
    #[arg(long)]
    json: bool,
    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = r#"Examples:
  bqnco solve data/examples/city48.tsp
  bqnco solve big.tsp --time-limit 20 --start yesterday.tour -o today.tour
  bqnco solve dataset.npz --model runs/tsp/best --preset fast
  bqnco solve data/examples/depot40.vrp --search beam --plot depot40.svg
  bqnco solve *.tsp --search expert --time-limit 5 --optimum optimal.csv
  bqnco solve big.vrp --search external \
    --command "hgs {instance} {solution} -t {seconds} -seed {seed}""#;

impl Solve {
    pub fn run(self) -> Result<(), Failure> {
        let started = Instant::now();
        let mut solver = Solver::new().search(self.search.search()?).seed(self.search.seed);
        solver = solver.device(&self.search.device.name()).cancel_token(interruption::token());
        let references = self.optimum.as_deref().map(References::parse).transpose().context("--optimum")?;
        let references = references.unwrap_or_default();
        self.threads.start()?;
        let found = instance_files(&self.files)?;
        output::tell_skipped(&found);
        let files = found.files;
        let (instances, failed) = self.read_all(&files)?;
        self.check(&instances, &references)?;
        if let (Some(path), [instance]) = (&self.search.start, &instances[..]) {
            let start = instance.read_solution(path)?;
            start.check().with_context(|| format!("--start {}", path.display()))?;
            solver = solver.start(start);
        }
        solver.check(&instances).with_context(|| self.search.blamed())?;
        if let Some(limit) = self.time_limit {
            solver = solver.time_limit(self.search.time_left(limit, started.elapsed() / instances.len().max(1) as u32));
        }
        let targets = Targets::new(self.output.as_deref(), self.plot.as_deref(), &instances, &files)?;
        interruption::catch()?;
        let mut results = Results::new(self.form(), &references, instances.len());
        self.solve(&solver, &instances, &targets, &mut results)?;
        match (failed || results.has_failures(), results.interrupted(), results.is_unread()) {
            (true, _, _) => Err(Failure::Reported),
            (false, true, _) => Err(Failure::No),
            (false, false, true) => Err(Failure::Unread),
            (false, false, false) => Ok(()),
        }
    }

    fn check(&self, instances: &[Instance], references: &References) -> anyhow::Result<()> {
        let given = instances.len();
        for (option, is_given) in
            [("--start", self.search.start.is_some()), ("--optimum NUMBER", references.is_number())]
        {
            if is_given && given > 1 {
                return Err(anyhow!("{option} applies to one instance, {given} were given"));
            }
        }
        if self.json && self.output.as_deref() == Some(Path::new("-")) {
            return Err(anyhow!("--json and `-o -` both use standard output: remove one"));
        }
        Ok(())
    }

    fn form(&self) -> Form {
        match &self.output {
            Some(path) if path == Path::new("-") => Form::Nothing,
            _ if self.json => Form::Json,
            _ => Form::Line,
        }
    }

    /// All instances in the given order, and whether some file could not be read. Among several files an unreadable one
    /// is reported and skipped.
    fn read_all(&self, files: &[PathBuf]) -> Result<(Vec<Instance>, bool), Failure> {
        let (mut instances, mut failed) = (Vec::new(), false);
        for file in files {
            match self.read(file) {
                Ok(read) => instances.extend(read),
                Err(failure) if files.len() > 1 => {
                    failure.report();
                    failed = true;
                }
                Err(failure) => return Err(failure),
            }
        }
        distinguish_names(&mut instances);
        Ok((instances, failed))
    }

    /// The instances of a file, with at most as many vehicles as asked for.
    fn read(&self, file: &Path) -> Result<Vec<Instance>, Failure> {
        let instances = self.reading.read(file)?;
        let Some(vehicles) = self.vehicles else { return Ok(instances) };
        let limited = instances.iter().map(|instance| instance.with_vehicles(vehicles as usize));
        let limited: bqnco::Result<Vec<Instance>> = limited.collect();
        Ok(limited.with_context(|| format!("{}: --vehicles {vehicles}", file.display()))?)
    }

    /// Solves all instances; prints and writes each as soon as it and those before it are done.
    fn solve(
        &self,
        solver: &Solver,
        instances: &[Instance],
        targets: &Targets,
        results: &mut Results<'_>,
    ) -> Result<(), Failure> {
        let progress = if self.quiet { ProgressBar::hidden() } else { progress_bar(instances.len()) };
        let improvements = Mutex::new(0u64);
        let observer = |event: &Event<'_>| match event {
            Event::Improved { improvement, .. } => {
                let mut count = improvements.lock().expect("no observer panics");
                *count += 1;
                let (objective, value) = (improvement.objective, figure(improvement.value));
                progress.set_message(format!("{objective} {value}, {count} improvements"));
            }
            Event::Finished { .. } => progress.inc(1),
            _ => {}
        };
        let (started, mut failure) = (Instant::now(), None);
        let solved = solver.solve_each(instances, &observer, &mut |index, result| {
            let told = progress.suspend(|| self.tell(index, result, &instances[index], targets, results));
            told.map_err(|why| {
                failure = Some(why);
                bqnco::Error::Cancelled { done: index, total: instances.len() }
            })
        });
        progress.finish_and_clear();
        match failure {
            Some(why) => return Err(why),
            None => solved?,
        }
        results.print_summary(started.elapsed())
    }

    fn tell(
        &self,
        index: usize,
        result: bqnco::Result<bqnco::Solution>,
        instance: &Instance,
        targets: &Targets,
        results: &mut Results<'_>,
    ) -> Result<(), Failure> {
        match result {
            Ok(solution) => {
                let solved = Solved::new(&solution, results.references(), self.search.seed);
                targets.write(index, &solved)?;
                match results.add(&solved) {
                    Err(Failure::Unread) if targets.has_files() => results.stop_printing(),
                    printed => printed?,
                }
                Ok(())
            }
            Err(error) => {
                let failure = Failure::from(anyhow::Error::new(error).context(instance.name().to_string()));
                if results.is_single() {
                    return Err(failure);
                }
                results.fail(failure);
                Ok(())
            }
        }
    }
}

fn progress_bar(instances: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} {bar:24} {pos}/{len} instances  {msg}");
    let bar = ProgressBar::new(instances as u64).with_style(style.expect("the template is valid"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
