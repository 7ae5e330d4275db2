//! The trained networks that are built into the library (the repository's folder `models/`), and those in folders.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bqnco_net::{CONFIG, Description, Device, NetError, Network, Provenance, WEIGHTS};

use crate::Error;

/// A network that is built into the library.
///
/// ```
/// let model = bqnco::Model::named("cvrp").expect("a built-in network");
/// println!("{}", model.card); // what it was trained on, how well it does, and where it fails
/// assert!(bqnco::MODELS.iter().any(|other| other.name == model.name));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Its name. By default a problem is solved by the network of the same name.
    pub name: &'static str,
    /// The model card: what it was trained on, how well it does, and where it fails, as Markdown.
    pub card: &'static str,
    weights: &'static [u8],
    config: &'static [u8],
}

macro_rules! models {
    ($($name:literal)*) => {
        /// All built-in networks. A static, because every crate that uses a constant would hold a copy of the weights.
        pub static MODELS: &[Model] = &[$(Model {
            name: $name,
            card: include_str!(concat!("../../../models/", $name, "/README.md")),
            weights: include_bytes!(concat!("../../../models/", $name, "/model.safetensors")),
            config: include_bytes!(concat!("../../../models/", $name, "/config.json")),
        }),*];
    };
}

models! { "tsp" "tsp-perceiver" "atsp" "cvrp" "cvrp-perceiver" "op" "knapsack" "pctsp" }

impl Model {
    /// The network with this name.
    pub fn named(name: &str) -> Option<&'static Model> {
        MODELS.iter().find(|model| model.name == name)
    }

    /// Loads the network, with the provenance of its weights.
    ///
    /// # Errors
    /// If the device cannot hold it.
    pub fn load(&self, device: &Device) -> Result<(Network, Provenance), NetError> {
        Network::from_bytes(self.weights, self.config, device)
    }

    /// Its metadata, without loading the weights.
    ///
    /// # Errors
    /// None for the networks of a release.
    pub fn describe(&self) -> Result<Description, NetError> {
        Description::from_bytes(self.config)
    }

    /// Its weights, as a safetensors file.
    pub fn weights(&self) -> &'static [u8] {
        self.weights
    }
}

/// The source of a network.
///
/// ```
/// let source: bqnco::ModelSource = "tsp".parse()?;
/// assert_eq!(source.to_string(), "tsp");
/// assert!("no such folder".parse::<bqnco::ModelSource>().is_err());
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum ModelSource {
    /// Built into the library.
    Shipped(&'static Model),
    /// A folder with `model.safetensors` and `config.json`.
    Folder(PathBuf),
}

impl ModelSource {
    /// Loads the network, with the provenance of its weights.
    ///
    /// # Errors
    /// If the folder holds no network, or the device cannot hold it.
    pub fn load(&self, device: &Device) -> Result<(Network, Provenance), NetError> {
        match self {
            ModelSource::Shipped(model) => model.load(device),
            ModelSource::Folder(folder) => Network::load(folder, device),
        }
    }

    /// The network's metadata, without loading the weights.
    ///
    /// # Errors
    /// If the folder holds no network.
    pub fn describe(&self) -> Result<Description, NetError> {
        match self {
            ModelSource::Shipped(model) => model.describe(),
            ModelSource::Folder(folder) => Description::load(folder),
        }
    }
}

/// A name, or else a folder. `./name` refers to a folder that has a network's name.
impl FromStr for ModelSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let folder = PathBuf::from(text);
        match Model::named(text) {
            Some(model) => Ok(ModelSource::Shipped(model)),
            None if holds_network(&folder) => Ok(ModelSource::Folder(folder)),
            None if folder.is_dir() => {
                let best = Some(folder.join("best")).filter(|best| holds_network(best));
                Err(Error::NoNetwork { folder, best })
            }
            None => Err(Error::UnknownNetwork { text: text.into() }),
        }
    }
}

fn holds_network(folder: &Path) -> bool {
    folder.join(WEIGHTS).is_file() && folder.join(CONFIG).is_file()
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelSource::Shipped(model) => f.write_str(model.name),
            ModelSource::Folder(folder) => folder.display().fmt(f),
        }
    }
}
