//! `bqnco plot`.

use std::path::PathBuf;

use anyhow::anyhow;
use bqnco::plot::{Chart, Picture, Scale};
use bqnco::train::{self, MetricsRow};
use clap::Args;

use crate::failure::Failure;
use crate::output;
use crate::reading::Reading;

/// Draw an instance, with a solution if there is one, or compare training runs.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Plot {
    /// An instance, optionally followed by its solution, which need not be feasible (default: the one in the instance
    /// file, if any); or folders of training runs.
    #[arg(required = true, value_name = "INSTANCE [SOLUTION] | RUN...")]
    files: Vec<PathBuf>,
    /// The output picture: .svg or .png.
    #[arg(short, long)]
    output: PathBuf,
    /// Training runs: their losses instead of their greedy gaps.
    #[arg(long)]
    loss: bool,
    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
Examples:
  bqnco plot data/examples/depot40.vrp depot40.sol -o routes.png
  bqnco plot runs/tiny runs/smaller -o gaps.svg
  bqnco plot runs/tiny runs/smaller --loss -o losses.svg";

impl Plot {
    pub fn run(self) -> Result<(), Failure> {
        output::check_picture_name(&self.output)?;
        if self.files[0].is_dir() {
            return output::write_picture(&self.output, &runs(&self.files, self.loss)?);
        }
        if self.loss {
            return Err(anyhow!("--loss needs folders of training runs").into());
        }
        let picture = match &self.files[..] {
            [instance] => self.reading.read_one(instance)?.draw(),
            [instance, solution] => self.reading.read_one(instance)?.read_solution(solution)?.draw(),
            files => {
                return Err(anyhow!("{} files; expected an instance and at most one solution", files.len()).into());
            }
        };
        output::write_picture(&self.output, &picture)
    }
}

/// Greedy gaps or losses of training runs against the number of samples.
fn runs(folders: &[PathBuf], loss: bool) -> Result<Picture, Failure> {
    let measured = if loss { "loss" } else { "greedy gap in %" };
    let mut chart = Chart::new("Training runs").x("samples", Scale::Linear).y(measured, Scale::Log);
    for folder in folders {
        let rows = train::read_metrics(folder).into_iter();
        let measure = |row: &MetricsRow| if loss { Some(row.loss) } else { row.gap };
        let points: Vec<_> = rows.filter_map(|row| measure(&row).map(|value| [row.samples as f64, value])).collect();
        if points.is_empty() {
            let folder = folder.display();
            return Err(
                anyhow!("{folder}: no validated training run; expected a folder written by `bqnco train`").into()
            );
        }
        chart = chart.line(folder.file_name().unwrap_or_default().to_string_lossy(), points);
    }
    Ok(chart.draw())
}
