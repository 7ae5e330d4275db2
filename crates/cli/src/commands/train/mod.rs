//! `bqnco train`.

mod plan;
mod progress;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bqnco::net::Provenance;
use bqnco::train::{Communicator, Outcome};
use bqnco::{Recipe, RunEvent, TrainOptions};
use clap::Args;

use self::progress::Progress;
use crate::device::OnDevice;
use crate::failure::Failure;
use crate::output::say;
use crate::threads::Threads;
use crate::{interruption, output, ranks};

/// Train a network to imitate experts.
///
/// A recipe defines the problem, the data and the training; arguments like training.steps=100 change it. The run's
/// folder gets the checkpoints `best` and `last` (for `bqnco solve --model`), metrics as CSV, JSON lines and
/// TensorBoard events, and curves.svg. After an interruption of any kind, run the same command to resume.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Train {
    /// The recipe.
    #[arg(value_name = "RECIPE.toml")]
    recipe: PathBuf,
    /// Changes to the recipe.
    #[arg(value_name = "KEY=VALUE")]
    changes: Vec<String>,
    /// The run's folder (default: runs/ and the recipe's name).
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Save and stop after this many minutes; run the same command to resume.
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    max_minutes: Option<Duration>,
    /// Print what the recipe will take (labels, disk, samples, operations, hours), and train nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    device: OnDevice,
    /// No progress on standard error.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  bqnco train recipes/tiny.toml
  bqnco train recipes/tiny.toml network.n_layers=2 -o runs/smaller
  bqnco train recipes/tiny.toml --max-minutes 60
  bqnco train recipes/paper/tsp.toml --dry-run
  bqnco train recipes/paper/tsp.toml share=0.002";

fn minutes(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 => Duration::try_from_secs_f64(60.0 * number).map_err(|error| error.to_string()),
        _ => Err("expected a number of minutes above zero".into()),
    }
}

impl Train {
    pub fn run(self) -> Result<(), Failure> {
        let recipe = Recipe::read(&self.recipe, &self.changes)?;
        self.threads.start()?;
        if self.dry_run {
            return output::print(plan::describe(&recipe, &recipe.plan(&self.device.name())?).as_bytes());
        }
        interruption::catch()?;
        ranks::together(|communicator| self.train(&recipe, communicator))
    }

    fn train(&self, recipe: &Recipe, communicator: &dyn Communicator) -> Result<(), Failure> {
        let options = TrainOptions {
            device: self.device.name(),
            time_limit: self.max_minutes,
            cancel: interruption::token().clone(),
            communicator,
            provenance: self.provenance(),
            ..TrainOptions::new(self.folder())
        };
        let mut progress = Progress::new(recipe.training.steps);
        let mut on_event = |event: RunEvent<'_>| {
            if !self.quiet {
                progress.show(event);
            }
        };
        let outcome = interruption::unless_cancelled(recipe.train(&options, &mut on_event))?;
        progress.finish();
        if communicator.is_root() { conclude(&options.folder, &outcome) } else { Ok(()) }
    }

    fn folder(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| Path::new("runs").join(self.recipe.file_stem().unwrap_or_default()))
    }

    fn provenance(&self) -> Provenance {
        let facts = [
            ("recipe", self.recipe.file_name().unwrap_or_default().to_string_lossy().into_owned()),
            ("changes", self.changes.join(" ")),
            ("revision", revision()),
        ];
        facts.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
    }
}

fn conclude(folder: &Path, outcome: &Outcome) -> Result<(), Failure> {
    let step = outcome.step;
    let gap = outcome.best_gap.map_or_else(|| "not measured yet".into(), |gap| format!("{} %", output::percent(gap)));
    if outcome.finished {
        let seconds = outcome.rows.last().map_or(0.0, |row| row.seconds);
        let model = folder.join("best");
        let line = format!("{step} steps in {seconds:.0} s, best greedy gap {gap}: {}\n", model.display());
        return output::print(line.as_bytes());
    }
    let path = folder.display();
    say!("stopped after step {step}, best greedy gap {gap}; run the same command to resume ({path})");
    if interruption::token().is_cancelled() { Err(Failure::No) } else { Ok(()) }
}

/// The git revision of the checkout that contains the program, if there is one.
fn revision() -> String {
    let folder = std::env::current_exe().ok().and_then(|program| program.parent().map(Path::to_path_buf));
    let mut git = Command::new("git");
    git.arg("-C").arg(folder.unwrap_or_default()).args(["describe", "--always", "--dirty", "--abbrev=40"]);
    match git.output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_string(),
        _ => "unknown".into(),
    }
}
