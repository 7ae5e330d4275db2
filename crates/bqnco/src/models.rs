//! The trained networks that are part of the library: the repository's folder `models/`.

use bqnco_net::{Device, NetError, Network, Provenance};

/// A network that is part of the library.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Its name. The network of a problem's name is the one that solves the problem by default.
    pub name: &'static str,
    /// What it was trained on, how well it does, and where it fails, as Markdown.
    pub card: &'static str,
    weights: &'static [u8],
    config: &'static [u8],
}

macro_rules! models {
    ($($name:literal)*) => {
        /// All of them.
        pub const MODELS: &[Model] = &[$(Model {
            name: $name,
            card: include_str!(concat!("../../../models/", $name, "/README.md")),
            weights: include_bytes!(concat!("../../../models/", $name, "/model.safetensors")),
            config: include_bytes!(concat!("../../../models/", $name, "/config.json")),
        }),*];
    };
}

models! { "tsp" "tsp-perceiver" "atsp" "cvrp" "cvrp-perceiver" "op" "knapsack" }

impl Model {
    /// The network of this name.
    pub fn named(name: &str) -> Option<&'static Model> {
        MODELS.iter().find(|model| model.name == name)
    }

    /// The network with what is known of its training.
    ///
    /// # Errors
    /// When the device cannot hold it.
    pub fn load(&self, device: &Device) -> Result<(Network, Provenance), NetError> {
        Network::from_bytes(self.weights, self.config, device)
    }

    /// Its weights, a safetensors file.
    pub fn weights(&self) -> &'static [u8] {
        self.weights
    }
}
