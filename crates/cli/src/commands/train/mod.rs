//! `bqnco train`.

mod data;
mod recipe;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, anyhow};
use bqnco::io::write_atomically;
use bqnco::net::Provenance;
use bqnco::plot::{Chart, Scale};
use bqnco::train::{Communicator, Folder, Imitation, News, Outcome, Round, Row, Taken, Training, train};
use bqnco::{Builtin, Deadline, dispatch};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

pub use self::recipe::GeneratedSet;

use self::data::{Labels, Shards};
use self::recipe::Recipe;
use crate::device::OnDevice;
use crate::failure::Failure;
use crate::interruption::{self, INTERRUPTED};
use crate::threads::Threads;
use crate::{lock, output, ranks};

/// Train a network to do as the experts do.
///
/// A recipe says what is learnt, from what, and how; words like training.steps=100 change it. The run's folder gets the
/// checkpoints `best` and `last` (for `bqnco solve --model`), metrics as CSV, JSON lines and TensorBoard events, and
/// curves.svg. The same command goes on after an interruption, whatever interrupted it.
///
/// Examples:
///   bqnco train recipes/tiny.toml
///   bqnco train recipes/tiny.toml training.steps=200 network.n_layers=2 -o runs/smaller
///   bqnco train recipes/tiny.toml --max-minutes 60
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Train {
    /// The recipe.
    #[arg(value_name = "RECIPE.toml")]
    recipe: PathBuf,
    /// Changes of the recipe.
    #[arg(value_name = "KEY=VALUE")]
    changes: Vec<String>,
    /// The run's folder (default: runs/ and the recipe's name).
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Save and end after so many minutes; the same command goes on from there.
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    max_minutes: Option<Duration>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    device: OnDevice,
    /// No progress on standard error.
    #[arg(short, long)]
    quiet: bool,
}

fn minutes(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 => Duration::try_from_secs_f64(60.0 * number).map_err(|error| error.to_string()),
        _ => Err("a number of minutes above zero is needed".into()),
    }
}

impl Train {
    pub fn run(self) -> Result<(), Failure> {
        let recipe = Recipe::read(&self.recipe, &self.changes)?;
        self.threads.start()?;
        interruption::catch()?;
        ranks::together(|communicator| dispatch!(recipe.problem()?, P => self.train::<P>(&recipe, communicator)))
    }

    fn train<P: Builtin>(&self, recipe: &Recipe, communicator: &dyn Communicator) -> Result<(), Failure> {
        let deadline = Deadline::after(self.max_minutes, &INTERRUPTED);
        let device = self.device.open()?;
        let config = recipe.config::<P>()?;
        recipe.training.check()?;
        let labels = if recipe.self_improvement.is_some() { Labels::MadeUp } else { Labels::Given };
        data::check::<P>(&recipe.data, "train", labels)?;
        data::check::<P>(&recipe.validation, "validation", labels)?;
        let quiet = self.quiet || !communicator.is_root();
        let folder = Folder::open(self.folder(), |path, bytes| write_atomically(path, bytes))?;
        let provenance = self.provenance(recipe, communicator.size());
        let _kept = if communicator.is_root() { Some(lock::folder(folder.path())?) } else { None };
        if communicator.is_root() {
            keep(&folder, "recipe.toml", &recipe.resolved(&config)?)?;
            note_data::<P>(&folder, recipe, quiet)?;
            folder.write("run.json", format!("{:#}\n", serde_json::json!(provenance)).as_bytes())?;
        }
        communicator.barrier(); // the files are there now
        let files = data::files::<P>(&recipe.data, "train", folder.path(), quiet)?;
        let mut validation = Vec::new();
        for path in data::files::<P>(&recipe.validation, "validation", folder.path(), quiet)? {
            validation.extend(data::examples::<P>(&path, labels)?);
        }
        let task = Imitation {
            config: &config,
            training: &recipe.training,
            examples: &Shards { files, labels },
            validation: &validation,
            device: &device,
            provenance: &provenance,
            improvement: recipe.self_improvement,
            communicator,
        };
        let bar = if quiet { ProgressBar::hidden() } else { progress_bar(&recipe.training) };
        let mut gap = None;
        let mut view = |news: News<'_>| {
            if !quiet {
                show(&bar, &mut gap, news);
            }
        };
        let outcome = train::<P>(&task, &folder, &mut view, &|| deadline.has_passed())?;
        bar.finish_and_clear();
        if communicator.is_root() {
            folder.write("curves.svg", curves::<P>(&outcome).to_svg().as_bytes())?;
            return self.conclude(&folder, &outcome);
        }
        Ok(())
    }

    fn folder(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| Path::new("runs").join(self.recipe.file_stem().unwrap_or_default()))
    }

    fn provenance(&self, recipe: &Recipe, processes: usize) -> Provenance {
        let facts = [
            ("recipe", self.recipe.file_name().unwrap_or_default().to_string_lossy().into_owned()),
            ("changes", self.changes.join(" ")),
            ("seed", recipe.training.seed.to_string()),
            ("threads", rayon::current_num_threads().to_string()),
            ("processes", processes.to_string()),
            ("bqnco", env!("CARGO_PKG_VERSION").to_string()),
            ("revision", revision()),
        ];
        facts.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
    }

    fn conclude(&self, folder: &Folder, outcome: &Outcome) -> Result<(), Failure> {
        let (step, path) = (outcome.step, folder.path().display());
        let gap =
            outcome.best_gap.map_or_else(|| "not measured yet".into(), |gap| format!("{} %", output::percent(gap)));
        if outcome.finished {
            let seconds = outcome.rows.last().map_or(0.0, |row| row.seconds);
            let model = folder.best();
            let line = format!("{step} steps in {seconds:.0} s, best greedy gap {gap}: {}\n", model.display());
            return output::print(line.as_bytes());
        }
        eprintln!("stopped after step {step}, best greedy gap {gap}; the same command goes on from there ({path})");
        if INTERRUPTED.load(std::sync::atomic::Ordering::Relaxed) { Err(Failure::No) } else { Ok(()) }
    }
}

/// The git revision of the checkout that the program runs from, if it runs from one.
fn revision() -> String {
    let folder = std::env::current_exe().ok().and_then(|program| program.parent().map(Path::to_path_buf));
    let mut git = Command::new("git");
    git.arg("-C").arg(folder.unwrap_or_default()).args(["describe", "--always", "--dirty", "--abbrev=40"]);
    match git.output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_string(),
        _ => "unknown".into(),
    }
}

/// Makes the data where they are not there yet, and keeps their checksums.
fn note_data<P: Builtin>(folder: &Folder, recipe: &Recipe, quiet: bool) -> Result<(), Failure> {
    let sums = |data, name| data::checksums(&data::files::<P>(data, name, folder.path(), quiet)?);
    let sums = serde_json::json!({ "train": sums(&recipe.data, "train")?, "validation": sums(&recipe.validation, "validation")? });
    keep(folder, "data.json", &format!("{sums:#}\n"))
}

/// Writes a file that all sessions of a run must agree on.
fn keep(folder: &Folder, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.path().join(name);
    match std::fs::read_to_string(&path) {
        Ok(found) if found == text => Ok(()),
        Ok(_) => {
            let (path, name) = (folder.path().display(), path.display());
            Err(anyhow!("{path} holds another run ({name} differs); choose another folder with -o, or remove it")
                .into())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(folder.write(name, text.as_bytes())?),
        Err(error) => Err(error).with_context(|| path.display().to_string())?,
    }
}

fn progress_bar(training: &Training) -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} {bar:24} {pos}/{len} steps, {eta} left  {msg}");
    ProgressBar::new(training.steps).with_style(style.expect("the template is valid"))
}

fn show(bar: &ProgressBar, last_gap: &mut Option<f64>, news: News<'_>) {
    match news {
        News::Row(row) => {
            *last_gap = row.gap.or(*last_gap);
            show_row(bar, row, *last_gap);
        }
        News::Round(Round { step, tried, improved, before, after }) => bar.suspend(|| {
            eprintln!("step {step:>8}  {improved} of {tried} labels improved, mean cost {before:.4} to {after:.4}")
        }),
        News::WarmStart(Taken { folder, problem, taken, fresh }) => bar.suspend(|| {
            let all = taken.len() + fresh.len();
            let fresh = if fresh.is_empty() { String::new() } else { format!("; at random: {}", fresh.join(", ")) };
            eprintln!("{} of {all} tensors from {} ({problem}){fresh}", taken.len(), folder.display());
        }),
    }
}

fn show_row(bar: &ProgressBar, row: &Row, last_gap: Option<f64>) {
    if bar.position() == 0 && row.step > 1 {
        bar.set_position(row.step); // a session that goes on
        bar.reset_eta();
    }
    bar.set_position(row.step);
    let gap = last_gap.map(|gap| format!(", gap {gap:.2} %")).unwrap_or_default();
    bar.set_message(format!("loss {:.4}{gap}, {:.0} samples/s", row.loss, row.samples_per_second));
    if let Some(gap) = row.gap {
        let seconds = row.seconds;
        bar.suspend(|| {
            eprintln!("step {:>8}  {seconds:>7.0} s  loss {:.4}  greedy gap {gap:.3} %", row.step, row.loss)
        });
    }
}

/// Loss and gap on one logarithmic axis.
fn curves<P: Builtin>(outcome: &Outcome) -> bqnco::plot::Picture {
    let points = |value: fn(&Row) -> Option<f64>| {
        let rows = outcome.rows.iter();
        rows.filter_map(|row| value(row).map(|value| [row.samples as f64, value])).collect::<Vec<_>>()
    };
    let chart = Chart::new(format!("Training on {}", P::NAME)).x("samples", Scale::Linear).y("", Scale::Log);
    chart.line("loss", points(|row| Some(row.loss))).line("greedy gap in %", points(|row| row.gap)).draw()
}
