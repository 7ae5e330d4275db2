//! `bqnco convert`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use bqnco::io::Format;
use bqnco::net::{self, Config, Network, Precision, Provenance};
use bqnco::{Instance, ProblemName, Reader, dispatch, instance_files, write_all};
use clap::Args;

use crate::failure::Failure;
use crate::output::{self, parse_format, say};
use crate::reading::Reading;

/// Convert instances, with their solutions, to another format; import a network of the paper's authors; or store a
/// network's weights as float16.
///
/// Several files or a folder of instances of one problem become one dataset.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Convert {
    /// Files and folders to read, whose formats are detected; or the folder of a network, which is written as float16.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Output file; `-` prints. For a network a folder, to be used with `solve --model`.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// The file format, if the output's extension does not determine it (default: JSON lines).
    #[arg(long, value_parser = parse_format)]
    format: Option<Format>,
    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
Examples:
  bqnco convert data/examples/city48.tsp -o city48.json
  bqnco convert tsplib/ -o tsplib.npz
  bqnco convert cvrp100.npz --format npz-rl4co -o for-rl4co.npz
  bqnco convert model.best -o networks/cvrp100
  bqnco convert runs/tiny/best -o networks/tiny";

impl Convert {
    pub fn run(self) -> Result<(), Failure> {
        match &self.inputs[..] {
            [input] if net::is_pytorch(&beginning(input)) => self.import(input),
            [input] if input.join(net::WEIGHTS).exists() => self.halve(input),
            inputs => self.convert(inputs),
        }
    }

    /// The output folder of a network.
    fn folder(&self, input: &Path) -> Result<&Path, Failure> {
        let path = input.display();
        if self.format.is_some() {
            return Err(anyhow!("{path}: --format is for instances, but this is a network").into());
        }
        if self.output == Path::new("-") {
            return Err(anyhow!("{path}: a network is written into a folder; name it with -o").into());
        }
        Ok(&self.output)
    }

    /// Writes a network in half precision: scores change in the third decimal.
    fn halve(&self, input: &Path) -> Result<(), Failure> {
        let folder = self.folder(input)?;
        let (network, provenance) = Network::load(input, &net::device("cpu")?)?;
        network.save(folder, Precision::Half, &provenance)?;
        say(folder, network.config())
    }

    /// Imports a checkpoint of the paper's authors, whose tokens have the same features in the same order as ours.
    fn import(&self, path: &Path) -> Result<(), Failure> {
        let folder = self.folder(path)?;
        let (features, kinds) = net::pytorch_sizes(path)?;
        let problem = match self.reading.problem {
            Some(problem) => problem,
            None => problem_with(features, kinds).ok_or_else(|| {
                anyhow!("{}: no problem has {features} numbers and {kinds} scores per token", path.display())
            })?,
        };
        dispatch!(problem, P => if (features, kinds) != (P::FEATURES, P::KINDS) {
            let (problem, path) = (P::NAME, path.display());
            let (expected, expected_kinds) = (P::FEATURES, P::KINDS);
            return Err(anyhow!(
                "{path}: expected {expected} numbers and {expected_kinds} scores per token for {problem}, found {features} and {kinds}"
            ).into());
        });
        let order: Vec<usize> = (0..features).collect();
        let network = net::import_pytorch(path, problem.as_str(), &order, &net::device("cpu")?)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        network.save(folder, Precision::Single, &Provenance::from([("imported from".into(), name)]))?;
        say(folder, network.config())
    }

    fn convert(&self, inputs: &[PathBuf]) -> Result<(), Failure> {
        if self.output != Path::new("-") {
            output::check_writable(&self.output)?;
        }
        let format = output::format_for(&self.output, self.format, Format::JsonLines)?;
        let found = instance_files(inputs)?;
        output::tell_skipped(&found);
        let instances = self.reading.reader().read_all(&found.files)?;
        if let Some(first) = instances.first() {
            output::check_extension(&self.output, self.format, first.problem())?;
        }
        let bytes = write_all(&instances, format)?;
        output::write(&self.output, &bytes)?;
        let reader = Reader { problem: instances.first().map(Instance::problem), ..Reader::default() };
        let carried = |instances: &[Instance]| instances.iter().filter(|one| one.solution().is_some()).count();
        let lost = carried(&instances).saturating_sub(carried(&reader.parse("output", bytes)?));
        if lost > 0 {
            say!("note: {lost} solutions were not written, format {format} cannot hold them");
        }
        Ok(())
    }
}

fn say(folder: &Path, config: &Config) -> Result<(), Failure> {
    let Config { problem, n_layers, n_heads, dim, .. } = config;
    let folder = folder.display();
    let line =
        format!("{folder}: a network for {problem} with {n_layers} layers, {n_heads} heads, {dim} numbers per token\n");
    output::print(output::plain(&line).as_bytes())
}

/// Enough of a file to recognise a PyTorch checkpoint; empty for standard input and unreadable files.
fn beginning(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if path != Path::new("-") {
        let _ = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut bytes));
    }
    bytes
}

/// The problem whose tokens have this many features and scores.
fn problem_with(features: usize, kinds: usize) -> Option<ProblemName> {
    let fits = |name: ProblemName| dispatch!(name, P => (P::FEATURES, P::KINDS) == (features, kinds));
    ProblemName::ALL.iter().copied().find(|&name| fits(name))
}
