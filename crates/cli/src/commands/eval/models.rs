//! The networks that are evaluated.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use bqnco::ProblemName;
use bqnco::net::{Device, Network, WEIGHTS};

use crate::failure::Failure;

/// A network with the names that tables know it by.
pub struct Model {
    /// Its folder's last telling name.
    pub name: String,
    pub folder: PathBuf,
    pub problem: ProblemName,
    /// `transformer`, `perceiver`, ...
    pub architecture: String,
    /// Of its weights, as in its `config.json`.
    pub checksum: String,
    pub network: Network,
}

impl Model {
    /// The network of a name or a folder.
    pub fn open(name: &str, device: &Device) -> Result<Self, Failure> {
        let folder = Path::new(name);
        if !folder.is_dir() {
            return Err(anyhow!("--model {name}: no such folder").into());
        }
        let (network, _) = Network::load(folder, device)?;
        let weights = folder.join(WEIGHTS);
        let bytes = std::fs::read(&weights).with_context(|| format!("cannot read {}", weights.display()))?;
        let config = network.config();
        let architecture = serde_json::to_value(config.architecture).context("an architecture's name")?;
        Ok(Model {
            name: telling_name(folder),
            folder: folder.to_path_buf(),
            problem: config.problem.parse()?,
            architecture: architecture.as_str().unwrap_or_default().to_string(),
            checksum: format!("crc32:{:08x}", crc32fast::hash(&bytes)),
            network,
        })
    }

    /// The network that is used for a problem where nobody says otherwise.
    pub fn shipped(_problem: ProblemName, _device: &Device) -> Result<Option<Self>, Failure> {
        Ok(None)
    }
}

/// `tsp` of `runs/tsp/best`: what training calls its results says little.
fn telling_name(folder: &Path) -> String {
    let names: Vec<_> = folder.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let telling = names.iter().rev().find(|name| !["best", "last", ".", ".."].contains(&name.as_ref()));
    telling.map_or_else(|| "network".into(), |name| name.to_string())
}
