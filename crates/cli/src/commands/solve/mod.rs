//! `bqnco solve`.

mod batch;
pub mod options;
mod results;
pub mod search;
mod targets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use bqnco::core::{ExpertError, Solution, SolutionSpace};
use bqnco::io::{Source, read_solution};
use bqnco::{Builtin, ProblemName, dispatch};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use self::options::Search;
use self::results::{Form, Results, Solved};
use self::search::{Job, Limit, Timed};
use self::targets::Targets;
use crate::failure::Failure;
use crate::input::{Input, Named, Reading, files_of, tell_apart};
use crate::interruption::{self, INTERRUPTED};
use crate::output;
use crate::references::References;
use crate::threads::Threads;

/// Solve instances: TSPLIB, CVRPLIB, OPLib, kplib, CSV, JSON files or whole datasets.
///
/// The problem and the format are detected from the content. A policy builds the solution step by step and rebuilds
/// parts of it, or the built-in classical expert searches for it. Ctrl-C ends the search; the best so far is printed.
///
/// Examples:
///   bqnco solve data/examples/city48.tsp
///   bqnco solve big.tsp --model runs/tsp/best --time-limit 20 --start yesterday.tour -o today.tour
///   bqnco solve dataset.npz --model runs/tsp/best --preset fast
///   bqnco solve data/examples/depot40.vrp --search beam --width 64 -o depot40.sol --plot depot40.svg
///   bqnco solve *.tsp --search expert --time-limit 5 --optimum optimal.csv
///   bqnco solve big.vrp --search external --command "hgs {instance} {solution} -t {seconds} -seed {seed}"
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Solve {
    /// Instance files, datasets or folders of them; `-` reads standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    search: Search,
    /// Seconds per instance; the best solution found by then counts.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = output::seconds)]
    time_limit: Option<Duration>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    reading: Reading,
    /// Best known objective, for the gap: a number, or a CSV file with columns `name` and `optimum`.
    #[arg(long, value_name = "NUMBER|FILE", allow_hyphen_values = true)]
    optimum: Option<String>,
    /// Where to write the solution, in the format of the instance's world or as .json; a folder for several instances;
    /// `-` prints it instead of the result.
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
        self.search.check()?;
        let references = References::parse(self.optimum.as_deref())?;
        self.threads.start()?;
        let files = files_of(&self.files)?;
        let (mut groups, failed) = self.read_all(&files)?;
        let given: usize = groups.iter().map(|group| group.len()).sum();
        for (option, is_given) in
            [("--start", self.search.start.is_some()), ("--optimum NUMBER", references.is_number())]
        {
            if is_given && given > 1 {
                return Err(anyhow!("{option} is for one instance, {given} were given").into());
            }
        }
        if self.json && self.output.as_deref() == Some(Path::new("-")) {
            return Err(anyhow!("--json and `-o -` both want standard output: leave one out").into());
        }
        let mut targets = Targets::new(self.output.as_deref(), self.plot.as_deref())?;
        for group in &mut groups {
            group.prepare(&self, &mut targets)?;
        }
        targets.check(&files)?;
        interruption::catch()?;
        let form = match &self.output {
            Some(path) if path == Path::new("-") => Form::Nothing,
            _ if self.json => Form::Json,
            _ => Form::Line,
        };
        let mut results = Results::new(form, &references);
        for group in groups {
            group.solve(&self, &targets, &mut results)?;
        }
        results.print_summary()?;
        match (failed || results.has_failures(), results.interrupted()) {
            (true, _) => Err(Failure::Reported),
            (false, true) => Err(Failure::No),
            (false, false) => Ok(()),
        }
    }

    /// All instances by problem, in the order of first appearance, and whether some file could not be read. Among
    /// several files a bad one is reported and left out.
    fn read_all(&self, files: &[PathBuf]) -> Result<(Vec<Box<dyn Solvable>>, bool), Failure> {
        let mut inputs: Vec<(ProblemName, Vec<Input>)> = Vec::new();
        let mut failed = false;
        for file in files {
            match self.reading.open(file) {
                Ok(input) => match inputs.iter_mut().find(|(problem, _)| *problem == input.problem) {
                    Some((_, group)) => group.push(input),
                    None => inputs.push((input.problem, vec![input])),
                },
                Err(failure) if files.len() > 1 => {
                    failure.report();
                    failed = true;
                }
                Err(failure) => return Err(failure),
            }
        }
        let mut groups = Vec::new();
        for (problem, inputs) in inputs {
            groups.push(dispatch!(problem, P => {
                let (group, bad) = Group::<P>::read(inputs, files.len() > 1)?;
                failed |= bad;
                Box::new(group) as Box<dyn Solvable>
            }));
        }
        Ok((groups, failed))
    }
}

/// What a search says about an instance.
type Answer<P> = Result<Timed<<P as SolutionSpace>::Step>, ExpertError>;

/// Instances of one problem, when it is known at run time only.
trait Solvable {
    /// Number of instances.
    fn len(&self) -> usize;
    /// Finds out whether all is there that the search needs, and tells where the solutions will go.
    fn prepare(&mut self, command: &Solve, targets: &mut Targets) -> Result<(), Failure>;
    /// Solves all instances, prints and writes each as soon as it is done.
    fn solve(&self, command: &Solve, targets: &Targets, results: &mut Results<'_>) -> Result<(), Failure>;
}

/// Instances of one problem.
struct Group<P: Builtin> {
    instances: Vec<Named<P>>,
    start: Option<Solution<P::Step>>, // what the search begins with
}

impl<P: Builtin> Group<P> {
    fn read(inputs: Vec<Input>, several: bool) -> Result<(Self, bool), Failure> {
        let (mut instances, mut bad) = (Vec::new(), false);
        for input in inputs {
            match input.read::<P>() {
                Ok(named) => instances.extend(named),
                Err(failure) if several => {
                    failure.report();
                    bad = true;
                }
                Err(failure) => return Err(failure),
            }
        }
        tell_apart(instances.iter_mut().collect());
        Ok((Group { instances, start: None }, bad))
    }

    /// The solution to begin with.
    fn start(&self, command: &Solve) -> Result<Option<Solution<P::Step>>, Failure> {
        let Some(path) = &command.search.start else { return Ok(None) };
        let [named] = self.instances.as_slice() else { return Ok(None) };
        let instance = &named.record.instance;
        let steps = read_solution::<P>(&Source::open(path)?, instance)?.steps;
        P::check(instance, &steps).with_context(|| format!("--start {}", path.display()))?;
        Ok(Some(Solution::new::<P>(instance, steps)))
    }
}

impl<P: Builtin> Solvable for Group<P> {
    fn len(&self) -> usize {
        self.instances.len()
    }

    fn prepare(&mut self, command: &Solve, targets: &mut Targets) -> Result<(), Failure> {
        command.search.check_model::<P>()?;
        self.start = self.start(command)?;
        self.instances.iter().try_for_each(|instance| targets.add::<P>(&instance.name))
    }

    fn solve(&self, command: &Solve, targets: &Targets, results: &mut Results<'_>) -> Result<(), Failure> {
        let instances: Vec<Arc<P::Instance>> =
            self.instances.iter().map(|named| Arc::new(named.record.instance.clone())).collect();
        let progress = if command.quiet { ProgressBar::hidden() } else { progress_bar(instances.len()) };
        let limit = Limit { time: command.time_limit, interrupted: &INTERRUPTED };
        let started = Instant::now();
        // Results may come in any order; they are told in the order of the instances.
        let mut waiting: BTreeMap<usize, Answer<P>> = BTreeMap::new();
        let mut next = 0;
        let start = self.start.clone();
        let job =
            Job::<P> { search: &command.search, instances: &instances, first: 0, start, limit, progress: &progress };
        let tell = |index: usize, answer: Answer<P>, results: &mut Results<'_>| {
            let named = &self.instances[index];
            let timed = match answer {
                Ok(timed) => timed,
                Err(error) => {
                    let failure = Failure::from(anyhow::Error::new(error).context(named.name.clone()));
                    if instances.len() == 1 {
                        return Err(failure);
                    }
                    results.fail(failure);
                    return Ok(());
                }
            };
            let solved = Solved::new(named, timed, &command.search, results.references());
            results.add(&solved)?;
            targets.write(&solved)
        };
        job.run(&mut |index, answer| {
            waiting.insert(index, answer);
            while let Some(answer) = waiting.remove(&next) {
                progress.suspend(|| tell(next, answer, results))?;
                next += 1;
            }
            Ok(())
        })?;
        waiting.into_iter().try_for_each(|(index, answer)| tell(index, answer, results))?;
        results.took(started.elapsed(), instances.len());
        progress.finish_and_clear();
        Ok(())
    }
}

fn progress_bar(instances: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} {bar:24} {pos}/{len} instances  {msg}");
    let bar = ProgressBar::new(instances as u64).with_style(style.expect("the template is valid"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
