//! `bqnco models`.

use std::path::Path;

use anyhow::anyhow;
use bqnco::net::{Description, Device, Network, Provenance};
use bqnco::{MODELS, Model, ModelSource};
use clap::Args;

use crate::failure::Failure;
use crate::output;

/// List the trained networks that are built into this program, or show the card of one, or what a folder says of its
/// network.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Models {
    /// The network whose card is shown: training, gaps, weaknesses; or a folder with model.safetensors and config.json,
    /// whose configuration and provenance are shown.
    #[arg(value_name = "NAME|FOLDER")]
    name: Option<String>,
    /// One JSON object per network on standard output.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  bqnco models
  bqnco models tsp
  bqnco models runs/tiny/best
  bqnco solve data/examples/city48.tsp --model tsp";

impl Models {
    pub fn run(self) -> Result<(), Failure> {
        if let Some(folder) =
            self.name.as_deref().filter(|name| Model::named(name).is_none() && Path::new(name).is_dir())
        {
            return self.show(folder);
        }
        let chosen = match &self.name {
            Some(name) => std::slice::from_ref(Model::named(name).ok_or_else(|| unknown(name))?),
            None => MODELS,
        };
        let text: String = match (self.json, &self.name) {
            (true, _) => chosen.iter().map(json).collect::<Result<_, _>>()?,
            (false, Some(_)) => chosen.iter().map(|model| model.card).collect(),
            (false, None) => table(chosen)?,
        };
        output::print(text.as_bytes())
    }

    /// Prints what is known of a network in a folder.
    fn show(&self, folder: &str) -> Result<(), Failure> {
        let source: ModelSource = folder.parse()?;
        let Description { config, provenance, checksum, .. } = source.describe()?;
        if self.json {
            let object = serde_json::json!({
                "name": folder, "config": config, "checksum": checksum, "provenance": provenance,
            });
            return output::print_json(&format!("{object}\n"));
        }
        let mut text = format!(
            "{folder}: a network for {} ({}), {} layers, {} heads, {} numbers per token\n",
            config.problem, config.architecture, config.n_layers, config.n_heads, config.dim
        );
        for (key, value) in provenance.iter().filter(|(_, value)| !value.is_empty()) {
            text += &format!("{key}: {value}\n");
        }
        output::print(output::plain(&text).as_bytes())
    }
}

fn unknown(name: &str) -> anyhow::Error {
    let names: Vec<_> = MODELS.iter().map(|model| model.name).collect();
    anyhow!("no network is called `{name}`; the networks are {}", names.join(", "))
}

fn load(model: &Model) -> Result<(Network, Provenance), Failure> {
    Ok(model.load(&Device::flex())?)
}

fn table(models: &[Model]) -> Result<String, Failure> {
    let mut text = format!(
        "{:<18} {:<9} {:<16} {:>7} {:>6} {:>11} {:>9} {:>9}\n",
        "name", "problem", "network", "layers", "width", "parameters", "size", "samples"
    );
    for model in models {
        let (network, provenance) = load(model)?;
        let config = network.config();
        let samples = provenance.get("samples").map_or("-", String::as_str);
        text += &format!(
            "{:<18} {:<9} {:<16} {:>7} {:>6} {:>11} {:>6.1} MB {:>9}\n",
            model.name,
            config.problem,
            config.architecture,
            config.n_layers,
            config.dim,
            network.parameters(),
            model.weights().len() as f64 * 1e-6,
            samples
        );
    }
    Ok(text)
}

fn json(model: &Model) -> Result<String, Failure> {
    let (network, provenance) = load(model)?;
    let object = serde_json::json!({
        "name": model.name,
        "config": network.config(),
        "parameters": network.parameters(),
        "bytes": model.weights().len(),
        "provenance": provenance,
    });
    Ok(format!("{object}\n"))
}
