//! Which network: one of the program's own, or a folder.

use std::fmt;
use std::path::PathBuf;

use bqnco::net::{Device, NetError, Network, Provenance};
use bqnco::{MODELS, Model};

/// The value of `--model`.
#[derive(Clone)]
pub enum ModelSource {
    /// Part of the program.
    Own(&'static Model),
    /// A folder with `model.safetensors` and `config.json`.
    Folder(PathBuf),
}

impl ModelSource {
    /// For clap: a name, or else a folder. A folder that has a network's name is meant by `./name`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let folder = PathBuf::from(text);
        match Model::named(text) {
            Some(model) => Ok(ModelSource::Own(model)),
            None if folder.is_dir() => Ok(ModelSource::Folder(folder)),
            None => {
                let names: Vec<_> = MODELS.iter().map(|model| model.name).collect();
                Err(format!("neither a folder nor one of the networks {}", names.join(", ")))
            }
        }
    }

    /// The network with what is known of its training.
    pub fn load(&self, device: &Device) -> Result<(Network, Provenance), NetError> {
        match self {
            ModelSource::Own(model) => model.load(device),
            ModelSource::Folder(folder) => Network::load(folder, device),
        }
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelSource::Own(model) => f.write_str(model.name),
            ModelSource::Folder(folder) => folder.display().fmt(f),
        }
    }
}
