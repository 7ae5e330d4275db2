//! What is to be done, for all problems of an evaluation.

use bqnco::kernels::best_path;
use bqnco::plot::Picture;
use bqnco::{Builtin, dispatch};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::Eval;
use super::contender::Wanted;
use super::models::Model;
use super::results::{Machine, MethodInfo, Results, Row, SetInfo, today};
use super::run::{Journals, Work, batch_size};
use super::sets::{Files, Set};
use super::suite::Suite;
use crate::failure::Failure;
use crate::output::{figure, percent};

/// The work on every problem.
pub struct Plan<'a> {
    pub tasks: Vec<Box<dyn Task + 'a>>,
    /// What is said about instances that are left out.
    pub notes: Vec<String>,
}

/// The work on one problem, when it is known at run time only.
pub trait Task {
    /// Instances to solve, references included.
    fn total(&self) -> usize;
    /// Instances to solve by the methods.
    fn results(&self) -> usize;
    /// Does what is not in the journals yet.
    fn run(&self, journals: &mut Journals<'_>, progress: &ProgressBar) -> Result<(), Failure>;
    fn sets(&self) -> Vec<SetInfo>;
    fn methods(&self) -> Vec<MethodInfo>;
    fn rows(&self, journals: &Journals<'_>) -> Vec<Row>;
    /// Some solutions, drawn.
    fn pictures(&self, results: &Results, journals: &Journals<'_>) -> Vec<Picture>;
    /// All that the instances depend on.
    fn fingerprint(&self) -> Value;
}

impl<'a> Plan<'a> {
    pub fn new(command: &Eval, suite: &Suite, wanted: &Wanted<'_>, models: &'a [Model]) -> Result<Self, Failure> {
        let (mut tasks, mut notes) = (Vec::new(), Vec::new());
        for problem in suite.problems() {
            dispatch!(problem, P => {
                let (sets, more) = sets::<P>(command, suite)?;
                notes.extend(more);
                let contenders = wanted.contenders::<P>(models)?;
                if contenders.is_empty() {
                    return Err(anyhow::anyhow!("nothing to evaluate for {problem}: neither networks nor baselines").into());
                }
                tasks.push(Box::new(Work::<P> { sets, contenders, seed: wanted.seed }) as Box<dyn Task + 'a>);
            });
        }
        Ok(Plan { tasks, notes })
    }

    /// What the journals have, without notes.
    pub fn results(&self, suite: &Suite, journals: &Journals<'_>, machine: Machine, seed: u64) -> Results {
        Results {
            format: Results::FORMAT.into(),
            version: Results::VERSION,
            suite: suite.name.clone(),
            title: suite.title.clone(),
            date: today(),
            machine,
            seed,
            sets: self.tasks.iter().flat_map(|task| task.sets()).collect(),
            methods: self.tasks.iter().flat_map(|task| task.methods()).collect(),
            notes: Vec::new(),
            rows: self.tasks.iter().flat_map(|task| task.rows(journals)).collect(),
        }
    }

    /// All that the results depend on: a journal with other settings is not continued.
    pub fn settings(&self, command: &Eval, suite: &Suite, models: &[Model]) -> Value {
        let model = |model: &Model| json!([model.name, model.checksum, model.network.config()]);
        let models: Vec<_> = models.iter().map(model).collect();
        json!({
            "suite": suite.name,
            "searches": suite.searches,
            "models": models,
            "baselines": command.baselines,
            "external": command.external,
            "time_limit": command.time_limit.as_secs_f64(),
            "seed": command.seed,
            "threads": rayon::current_num_threads(),
            "device": command.device.name(),
            "instances": self.tasks.iter().map(|task| task.fingerprint()).collect::<Vec<_>>(),
            "cpu": [Machine::here(1).cpu, best_path().to_string()],
            "program": program(),
        })
    }
}

/// The checksum of this program: another one may find other solutions, in other times.
fn program() -> Option<String> {
    let bytes = std::fs::read(std::env::current_exe().ok()?).ok()?;
    Some(format!("crc32:{:08x}", crc32fast::hash(&bytes)))
}

/// The sets of a problem.
fn sets<P: Builtin>(command: &Eval, suite: &Suite) -> Result<(Vec<Set<P>>, Vec<String>), Failure> {
    let wanted = command.instances.map(|count| count as usize);
    let smallest = suite.random.iter().map(|set| set.size).min().unwrap_or(1);
    if let (Some(data), Some(library)) = (&command.data, &suite.library) {
        let files = Files::open(data, library, command.optimum.as_deref())?;
        let (sets, notes) = files.sets::<P>(library, wanted)?;
        if sets.is_empty() {
            let why: String = notes.iter().map(|note| format!("; {note}")).collect();
            let data = data.display();
            return Err(anyhow::anyhow!("{data}: no instances of {} for {}{why}", P::NAME, suite.name).into());
        }
        return Ok((sets, notes));
    }
    let ours = suite.random.iter().filter(|set| set.problem.as_str() == P::NAME);
    let sets = ours.map(|set| Set::drawn(set, set.count(wanted, smallest), command.seed));
    Ok((sets.collect::<Result<_, _>>()?, Vec::new()))
}

/// Larger instances are not drawn: pages would be slow.
const DRAWN: usize = 1200;

impl<P: Builtin> Task for Work<'_, P> {
    fn total(&self) -> usize {
        Work::total(self)
    }

    fn results(&self) -> usize {
        self.sets.iter().map(|set| set.len() * self.contenders.len()).sum()
    }

    fn run(&self, journals: &mut Journals<'_>, progress: &ProgressBar) -> Result<(), Failure> {
        Work::run(self, journals, progress)
    }

    fn sets(&self) -> Vec<SetInfo> {
        let info = |set: &Set<P>| SetInfo {
            name: set.name.clone(),
            problem: P::NAME.into(),
            instances: set.len(),
            random: set.is_drawn(),
            size: set.largest(),
            batch: batch_size(set),
        };
        self.sets.iter().map(info).collect()
    }

    fn methods(&self) -> Vec<MethodInfo> {
        let methods = self.contenders.iter().map(|contender| MethodInfo {
            problem: P::NAME.into(),
            name: contender.name.clone(),
            search: contender.search.clone(),
            model: contender.model.map(|model| model.name.clone()),
            checksum: contender.model.map(|model| model.checksum.clone()),
            architecture: contender.model.map(|model| model.architecture.clone()),
            details: contender.describe(),
        });
        methods.collect()
    }

    fn rows(&self, journals: &Journals<'_>) -> Vec<Row> {
        Work::rows(self, journals)
    }

    fn pictures(&self, results: &Results, journals: &Journals<'_>) -> Vec<Picture> {
        let method = &self.contenders[0].name;
        let is_it =
            |row: &&Row| row.problem == P::NAME && &row.method == method && row.size <= DRAWN && row.gap.is_some();
        let mut rows: Vec<&Row> = results.rows.iter().filter(is_it).collect();
        rows.sort_by(|a, b| a.gap.partial_cmp(&b.gap).unwrap_or(std::cmp::Ordering::Equal));
        let mut chosen: Vec<&Row> = rows.get(rows.len() / 2).into_iter().chain(rows.last()).copied().collect();
        chosen.dedup_by(|a, b| std::ptr::eq(*a, *b));
        chosen.into_iter().filter_map(|row| self.picture(row, journals)).collect()
    }

    fn fingerprint(&self) -> Value {
        let set = |set: &Set<P>| {
            let mut checksum = crc32fast::Hasher::new();
            let read = if set.is_drawn() { 0 } else { set.len() };
            (0..read).for_each(|index| checksum.update(set.key(index).as_bytes()));
            json!([set.name, set.len(), checksum.finalize()])
        };
        json!([P::NAME, self.sets.iter().map(set).collect::<Vec<_>>()])
    }
}

impl<P: Builtin> Work<'_, P> {
    /// A solution as the journal has it.
    fn picture(&self, row: &Row, journals: &Journals<'_>) -> Option<Picture> {
        let set = self.sets.iter().find(|set| set.name == row.set)?;
        let is_it =
            |entry: &&super::run::Entry| (&entry.set, &entry.method, entry.index) == (&row.set, &row.method, row.index);
        let entry = journals.entries().iter().find(is_it)?;
        let instance = set.instance(entry.index).ok()?;
        let steps = P::solution_from(&instance, &entry.solution).ok()?;
        let gap = row.gap.map_or(String::new(), |gap| format!(", gap {} %", percent(gap)));
        let caption = format!("{}: {} {}{gap}", row.method, row.objective, figure(row.cost));
        Some(P::draw(&instance, Some(&steps)).title(format!("{} ({})", row.instance, row.set)).caption(caption))
    }
}
