//! `bqnco solve`.

mod results;
mod search;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use bqnco::io::{Record, Source};
use bqnco::{Builtin, ProblemName, dispatch};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use self::results::{Results, Solved};
use self::search::{Limit, Search};
use crate::failure::Failure;
use crate::input::{Reading, open_all};
use crate::interruption::{self, INTERRUPTED};
use crate::output;
use crate::references::References;

/// Solve instances: TSPLIB, CVRPLIB, OPLib, kplib, CSV, JSON files or whole datasets.
///
/// The problem and the format are detected from the content. A policy builds the solution step by step, or the built-in
/// classical expert searches for it. Ctrl-C ends the search; the best so far is printed.
///
/// Examples:
///   bqnco solve data/examples/city48.tsp
///   bqnco solve data/examples/depot40.vrp --search beam --width 64 -o depot40.sol --plot depot40.svg
///   bqnco solve *.tsp --search expert --time-limit 5 --optimum optimal.csv
///   bqnco solve tours.npz --model runs/tiny/best --search beam
///   bqnco solve big.vrp --search external --command "hgs {instance} {solution} -t {seconds} -seed {seed}"
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Solve {
    /// Instance files, datasets or folders; `-` reads standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    search: Search,
    /// Seconds per instance; the best solution found by then counts.
    #[arg(long, value_name = "SECONDS", value_parser = output::seconds)]
    time_limit: Option<Duration>,
    /// Threads to use (default: all cores).
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    reading: Reading,
    /// Best known objective, for the gap: a number, or a CSV file with columns `name` and `optimum`.
    #[arg(long, value_name = "NUMBER|FILE")]
    optimum: Option<String>,
    /// Where to write the solution, in the format of the instance's world; a folder for several instances.
    #[arg(short, long, value_name = "FILE|FOLDER")]
    output: Option<PathBuf>,
    /// Draw the solution; .svg or .png, for a single instance.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// One JSON object per instance on standard output.
    #[arg(long)]
    json: bool,
    /// No progress on standard error.
    #[arg(short, long)]
    quiet: bool,
}

impl Solve {
    pub fn run(self) -> Result<(), Failure> {
        if let Some(path) = &self.plot {
            output::check_picture_name(path)?;
        }
        let references = References::parse(self.optimum.as_deref())?;
        output::use_threads(self.threads)?;
        interruption::catch()?;
        let mut results = Results::new(self.json);
        for (problem, sources) in self.group(open_all(&self.files)?)? {
            dispatch!(problem, P => self.solve_group::<P>(&sources, &references, &mut results))?;
        }
        results.print_summary()
    }

    /// The files by problem, in the order of first appearance.
    fn group(&self, sources: Vec<Source>) -> Result<Vec<(ProblemName, Vec<Source>)>, Failure> {
        let mut groups: Vec<(ProblemName, Vec<Source>)> = Vec::new();
        for source in sources {
            let problem = self.reading.problem(&source)?;
            match groups.iter_mut().find(|(other, _)| *other == problem) {
                Some((_, group)) => group.push(source),
                None => groups.push((problem, vec![source])),
            }
        }
        Ok(groups)
    }

    fn solve_group<P: Builtin>(
        &self,
        sources: &[Source],
        references: &References,
        results: &mut Results,
    ) -> Result<(), Failure> {
        let mut entries = Vec::new();
        for source in sources {
            let records = self.reading.read::<P>(source)?;
            let is_dataset = records.len() > 1;
            for record in records {
                let label = if is_dataset { &record.name } else { source.name() };
                let reference = references.of(label, record.reference);
                entries.push(Entry::<P>::new(record, reference));
            }
        }
        self.check_targets(&entries)?;
        let instances: Vec<Arc<P::Instance>> = entries.iter().map(|entry| Arc::clone(&entry.instance)).collect();
        let progress = if self.quiet { ProgressBar::hidden() } else { progress_bar(entries.len()) };
        let limit = Limit { time: self.time_limit, interrupted: &INTERRUPTED };
        let started = Instant::now();
        let found = self.search.run::<P>(&instances, limit, &progress)?;
        results.took(started.elapsed());
        progress.finish_and_clear();
        for (entry, timed) in entries.iter().zip(found) {
            let solved = Solved::new(entry, timed, &self.search);
            results.add(&solved)?;
            self.write_solution(entry, &solved)?;
        }
        Ok(())
    }

    /// Refuses options that fit a single instance only, before any work is done.
    fn check_targets<P: Builtin>(&self, entries: &[Entry<P>]) -> Result<(), Failure> {
        if entries.len() > 1 && self.plot.is_some() {
            return Err(anyhow!("--plot draws one instance, {} were given", entries.len()).into());
        }
        match &self.output {
            Some(path) if entries.len() > 1 && path.extension().is_some() => {
                let path = path.display();
                Err(anyhow!("-o {path}: {} instances need a folder for their solutions", entries.len()).into())
            }
            _ => Ok(()),
        }
    }

    fn write_solution<P: Builtin>(&self, entry: &Entry<P>, solved: &Solved<P>) -> Result<(), Failure> {
        if let Some(path) = &self.plot {
            let caption = results::caption(solved);
            let picture = P::draw(&entry.instance, Some(&solved.solution.steps)).title(&entry.name).caption(caption);
            output::write_picture(path, &picture)?;
        }
        let Some(path) = &self.output else { return Ok(()) };
        let (native, extension) = P::NATIVE.solution;
        let is_folder = path.is_dir() || path.extension().is_none();
        let path = if is_folder {
            std::fs::create_dir_all(path).with_context(|| format!("cannot create folder {}", path.display()))?;
            path.join(format!("{}.{extension}", output::file_name(&entry.name)))
        } else {
            path.clone()
        };
        let is_native = path.extension().is_some_and(|given| given == extension);
        let format = output::format_for(&path, is_native.then_some(native), native)?;
        let bytes = bqnco::io::write_solution::<P>(&entry.name, &entry.instance, &solved.solution.steps, format)?;
        output::write(&path, &bytes)
    }
}

/// An instance to solve.
pub struct Entry<P: Builtin> {
    name: String,
    instance: Arc<P::Instance>,
    reference: Option<f64>,
}

impl<P: Builtin> Entry<P> {
    fn new(record: Record<P>, reference: Option<f64>) -> Self {
        Entry { name: record.name, instance: Arc::new(record.instance), reference }
    }
}

fn progress_bar(instances: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} {bar:24} {pos}/{len} instances  {msg}");
    ProgressBar::new(instances as u64).with_style(style.expect("the template is valid"))
}
