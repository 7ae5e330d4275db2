//! The networks that are evaluated.

use std::path::Path;

use anyhow::Context;
use bqnco::net::{Device, Network, WEIGHTS};
use bqnco::{MODELS, ProblemName};

use super::published;
use crate::failure::Failure;
use crate::model::ModelSource;

/// A network with the names that tables know it by.
pub struct Model {
    /// Its own name, or its folder's last telling one.
    pub name: String,
    pub source: ModelSource,
    pub problem: ProblemName,
    /// `transformer`, `perceiver`, ...
    pub architecture: String,
    /// Of its weights, as in its `config.json`.
    pub checksum: String,
    pub network: Network,
}

impl Model {
    /// Loads a network.
    pub fn open(source: &ModelSource, device: &Device) -> Result<Self, Failure> {
        let (network, _) = source.load(device)?;
        let (name, checksum) = match source {
            ModelSource::Own(model) => (model.name.to_string(), crc32fast::hash(model.weights())),
            ModelSource::Folder(folder) => {
                let path = folder.join(WEIGHTS);
                let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                (telling_name(folder), crc32fast::hash(&bytes))
            }
        };
        Ok(Model {
            name,
            source: source.clone(),
            problem: network.config().problem.parse()?,
            architecture: network.config().architecture.to_string(),
            checksum: format!("crc32:{checksum:08x}"),
            network,
        })
    }

    /// The network that solves a problem where nobody says otherwise, and those of some kinds that come with the program too.
    pub fn shipped(problem: ProblemName, kinds: &[&str], device: &Device) -> Result<Vec<Self>, Failure> {
        let all = MODELS.iter().map(|model| Self::open(&ModelSource::Own(model), device));
        let is_wanted = |model: &Self| {
            let own = model.name == problem.as_str();
            model.problem == problem && (own || kinds.contains(&published::family(&model.architecture)))
        };
        all.filter(|model| !model.as_ref().is_ok_and(|model| !is_wanted(model))).collect()
    }
}

/// `tsp` of `runs/tsp/best`: what training calls its results says little.
fn telling_name(folder: &Path) -> String {
    let names: Vec<_> = folder.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let telling = names.iter().rev().find(|name| !["best", "last", ".", ".."].contains(&name.as_ref()));
    telling.map_or_else(|| "network".into(), |name| name.to_string())
}
