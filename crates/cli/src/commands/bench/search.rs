//! `bqnco bench search` and `bqnco bench deadlines`: what a search's seconds buy, and whether it keeps to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use bqnco::core::{Effort, Solution, random};
use bqnco::plot::{Chart, Scale};
use bqnco::{Builtin, ProblemName, dispatch};
use clap::Args;
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::commands::solve::options::{Method, Search};
use crate::commands::solve::search::{Job, Limit};
use crate::failure::Failure;
use crate::interruption::INTERRUPTED;
use crate::model::ModelSource;
use crate::output;
use crate::references::gap;

/// Which instances, and which network.
#[derive(Args)]
struct Subject {
    /// The problem.
    #[arg(long)]
    problem: ProblemName,
    /// The network: one of `bqnco models`, or a folder (default: the network that has the problem's name).
    #[arg(long, value_name = "NAME|FOLDER", value_parser = ModelSource::parse)]
    model: Option<ModelSource>,
    /// Source of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Gap against time of all searches on random instances, as a table and a chart.
///
/// Rows are kept in FOLDER/search-PROBLEMSIZE.csv, so that a long comparison can be made in parts.
#[derive(Args)]
pub struct Quality {
    #[command(flatten)]
    subject: Subject,
    /// Size of the instances.
    #[arg(long, default_value_t = 100)]
    size: usize,
    /// Number of instances.
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..))]
    instances: u16,
    /// Only these rows, by the beginnings of their names.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Seconds per instance of reconstruction; hybrid and expert have the first of them.
    #[arg(long, value_delimiter = ',', value_parser = output::seconds, default_values = ["1", "5", "20"])]
    limits: Vec<Duration>,
    /// Number of instances, the first of all, for limits above a second.
    #[arg(long, default_value_t = 128)]
    few: u16,
    /// The reference is the expert with so many times its usual rounds.
    #[arg(long, default_value_t = 5)]
    reference: u64,
    /// Where the rows and the chart go.
    #[arg(short, long, value_name = "FOLDER", default_value = "benchmarks")]
    output: PathBuf,
}

/// By how much searches overrun their time limits.
#[derive(Args)]
pub struct Deadlines {
    #[command(flatten)]
    subject: Subject,
    /// Sizes of the instances.
    #[arg(long, value_delimiter = ',', default_values = ["100", "1000"])]
    sizes: Vec<usize>,
    /// Seconds per instance.
    #[arg(long, value_delimiter = ',', value_parser = output::seconds, default_values = ["0.2", "1", "5"])]
    limits: Vec<Duration>,
}

/// One search's figures.
#[derive(Clone, Serialize, Deserialize)]
struct Row {
    search: String,
    limit: Option<f64>, // seconds per instance
    instances: usize,
    seconds: f64, // per instance
    objective: f64,
    gap: f64, // percent
}

impl Quality {
    pub fn run(self) -> Result<(), Failure> {
        dispatch!(self.subject.problem, P => self.compare::<P>())
    }

    fn compare<P: Builtin>(&self) -> Result<(), Failure> {
        let instances: Vec<Arc<P::Instance>> = (0..self.instances.into())
            .map(|k| Arc::new(P::generate(self.size, &mut random(self.subject.seed, &[k]))))
            .collect();
        let name = format!("search-{}{}", P::NAME, self.size);
        let table = self.output.join(format!("{name}.csv"));
        let mut rows = read(&table)?;
        let references = self.references::<P>(&instances)?;
        for (name, limit, solve) in self.searches::<P>() {
            if !self.only.is_empty() && !self.only.iter().any(|only| name.starts_with(only.as_str())) {
                continue;
            }
            let is_long = limit.is_some_and(|limit| limit > Duration::from_secs(1));
            let instances = &instances[..instances.len().min(if is_long { self.few.into() } else { usize::MAX })];
            let (costs, seconds) = solve(instances, limit)?;
            let row = Row::new::<P>(name, limit, &costs, seconds, &references);
            eprintln!("{}", row.markdown());
            rows.retain(|other| (&other.search, other.limit) != (&row.search, row.limit));
            rows.push(row);
        }
        rows.sort_by(|a, b| a.search.cmp(&b.search).then(a.seconds.total_cmp(&b.seconds)));
        write(&table, &rows)?;
        let title = format!("{} {}: gap against time", P::NAME.to_uppercase(), self.size);
        output::write_picture(&self.output.join(format!("{name}.svg")), &chart(&title, &rows).draw())?;
        let head =
            "| search | limit | instances | seconds per instance | mean objective | gap |\n|---|---|---|---|---|---|\n";
        let lines: String = rows.iter().map(|row| row.markdown() + "\n").collect();
        output::print(format!("{head}{lines}").as_bytes())
    }

    fn references<P: Builtin>(&self, instances: &[Arc<P::Instance>]) -> Result<Vec<f64>, Failure> {
        let rounds = self.reference * P::label_rounds(self.size);
        let solve = |(k, instance): (usize, &Arc<P::Instance>)| {
            P::expert().solve(instance, &Effort::rounds(rounds, k as u64)).map(|solution| solution.cost)
        };
        Ok(instances.par_iter().enumerate().map(solve).collect::<Result<_, _>>()?)
    }

    /// All searches by name, limit and way to run them.
    fn searches<P: Builtin>(&self) -> Vec<(String, Option<Duration>, Run<'_, P>)> {
        let seed = self.subject.seed;
        let model = &self.subject.model;
        let by =
            |search: Search| -> Run<'_, P> { Box::new(move |instances, limit| solve::<P>(&search, instances, limit)) };
        let network = |method| Search::by(method, model.clone(), seed);
        let mut searches: Vec<(String, Option<Duration>, Run<'_, P>)> = vec![
            (P::MYOPIC.into(), None, by(Search::without_network(Method::Greedy, seed))),
            (
                format!("construction: {}", P::CONSTRUCTIONS[0].0),
                None,
                Box::new(move |instances, _| construct::<P>(instances, seed)),
            ),
            ("greedy".into(), None, by(network(Method::Greedy))),
            ("best of 8 images".into(), None, by(network(Method::Greedy).with_symmetries())),
            ("beam 16".into(), None, by(network(Method::Beam))),
        ];
        for &limit in &self.limits {
            searches.push(("reconstruct".into(), Some(limit), by(network(Method::Reconstruct))));
        }
        for (name, method) in [("hybrid", Method::Hybrid), ("expert", Method::Expert)] {
            searches.push((name.into(), self.limits.first().copied(), by(network(method))));
        }
        searches
    }
}

/// Costs, and seconds per instance.
type Run<'a, P> = Box<
    dyn Fn(&[Arc<<P as bqnco::core::SolutionSpace>::Instance>], Option<Duration>) -> Result<(Vec<f64>, f64), Failure>
        + 'a,
>;

fn solve<P: Builtin>(
    search: &Search,
    instances: &[Arc<P::Instance>],
    limit: Option<Duration>,
) -> Result<(Vec<f64>, f64), Failure> {
    let limit = Limit { time: limit, interrupted: &INTERRUPTED };
    let progress = ProgressBar::hidden();
    let job = Job::<P> { search, instances, first: 0, start: None, limit, progress: &progress };
    let (mut costs, mut seconds) = (vec![f64::NAN; instances.len()], 0.0);
    job.run(&mut |index, timed| {
        P::check(&instances[index], &timed.solution.steps).context("a search ends in a solution")?;
        costs[index] = P::cost(&instances[index], &timed.solution.steps);
        seconds += timed.seconds;
        Ok(())
    })?;
    Ok((costs, seconds / instances.len() as f64))
}

fn construct<P: Builtin>(instances: &[Arc<P::Instance>], seed: u64) -> Result<(Vec<f64>, f64), Failure> {
    let started = Instant::now();
    let (_, construct) = P::CONSTRUCTIONS[0];
    let solve = |instance: &Arc<P::Instance>| construct(instance, &Effort::rounds(1, seed));
    let solutions: Vec<Solution<P::Step>> = instances.iter().map(solve).collect::<Result<_, _>>()?;
    let costs = solutions.into_iter().map(|solution| solution.cost).collect();
    Ok((costs, started.elapsed().as_secs_f64() / instances.len() as f64))
}

impl Row {
    fn new<P: Builtin>(
        search: String,
        limit: Option<Duration>,
        costs: &[f64],
        seconds: f64,
        references: &[f64],
    ) -> Self {
        let (count, sign) = (costs.len() as f64, P::OBJECTIVE.1);
        let gaps = costs.iter().zip(references).filter_map(|(cost, reference)| gap::<P>(sign * cost, sign * reference));
        Row {
            search,
            limit: limit.map(|limit| limit.as_secs_f64()),
            instances: costs.len(),
            seconds,
            objective: sign * costs.iter().sum::<f64>() / count,
            gap: gaps.sum::<f64>() / count,
        }
    }

    fn markdown(&self) -> String {
        let limit = self.limit.map_or("-".into(), |limit| format!("{limit} s"));
        let Row { search, instances, seconds, objective, gap, .. } = self;
        format!("| {search} | {limit} | {instances} | {seconds:.4} | {objective:.4} | {} % |", output::percent(*gap))
    }
}

fn read(table: &Path) -> Result<Vec<Row>, Failure> {
    if !table.exists() {
        return Ok(Vec::new());
    }
    let rows = csv::Reader::from_path(table)?.deserialize().collect::<Result<_, _>>();
    Ok(rows.with_context(|| format!("cannot read {}", table.display()))?)
}

fn write(table: &Path, rows: &[Row]) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    output::write(table, &writer.into_inner().context("a table in memory")?)
}

/// A line for every search with limits, a point for every other.
fn chart(title: &str, rows: &[Row]) -> Chart {
    let mut chart = Chart::new(title).x("seconds per instance", Scale::Log).y("gap, percent", Scale::Linear);
    for (k, row) in rows.iter().enumerate() {
        if rows[..k].iter().any(|other| other.search == row.search) {
            continue;
        }
        let points: Vec<_> =
            rows.iter().filter(|other| other.search == row.search).map(|row| [row.seconds, row.gap]).collect();
        chart = if points.len() > 1 { chart.line(&row.search, points) } else { chart.scatter(&row.search, points) };
    }
    chart
}

impl Deadlines {
    pub fn run(self) -> Result<(), Failure> {
        dispatch!(self.subject.problem, P => self.measure::<P>())
    }

    fn measure<P: Builtin>(&self) -> Result<(), Failure> {
        let limits: String = self.limits.iter().map(|limit| format!(" {} s |", limit.as_secs_f64())).collect();
        let rule = "---|".repeat(self.limits.len());
        output::print(format!("| problem | size | search |{limits}\n|---|---|---|{rule}\n").as_bytes())?;
        for &size in &self.sizes {
            let instance = [Arc::new(P::generate(size, &mut random(self.subject.seed, &[])))];
            for (name, method) in [
                ("greedy", Method::Greedy),
                ("beam 16", Method::Beam),
                ("reconstruct", Method::Reconstruct),
                ("hybrid", Method::Hybrid),
                ("expert", Method::Expert),
            ] {
                let mut line = format!("| {} | {size} | {name} |", P::NAME);
                for &limit in &self.limits {
                    let search = Search::by(method, self.subject.model.clone(), self.subject.seed);
                    let (_, seconds) = solve::<P>(&search, &instance, Some(limit))?;
                    let over = seconds - limit.as_secs_f64();
                    line += &if over > 0.0 { format!(" {:+.0} ms |", 1000.0 * over) } else { " in time |".into() };
                }
                output::print(format!("{line}\n").as_bytes())?;
            }
        }
        Ok(())
    }
}
