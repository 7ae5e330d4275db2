//! Training that begins with what another network knows, also one of another problem.

use std::path::{Path, PathBuf};

use bqnco_net::{Config, Network, Tensors};

use crate::TrainError;

/// What a network took over from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The other checkpoint.
    pub folder: PathBuf,
    /// What the other was made for.
    pub problem: String,
    /// Names of the tensors that were taken.
    pub taken: Vec<String>,
    /// Names of the tensors that start at random: the other has none of this shape, or they read other features.
    pub fresh: Vec<String>,
}

/// The network with all tensors of another one that fit.
pub(crate) fn warm_start(network: Network, folder: &Path) -> Result<(Network, Taken), TrainError> {
    let (other, _) = Network::load(folder, &network.device())?;
    let (config, mut theirs) = (other.config(), other.tensors());
    let mut taken =
        Taken { folder: folder.to_path_buf(), problem: config.problem.clone(), taken: Vec::new(), fresh: Vec::new() };
    let mut tensors = Tensors::new();
    for (name, (shape, random)) in network.tensors() {
        let fitting =
            theirs.remove(&name).filter(|(found, _)| *found == shape && means_the_same(&name, config, &network));
        let names = if fitting.is_some() { &mut taken.taken } else { &mut taken.fresh };
        names.push(name.clone());
        tensors.insert(name, fitting.unwrap_or((shape, random)));
    }
    taken.taken.sort();
    taken.fresh.sort();
    if taken.taken.is_empty() {
        return Err(TrainError::NothingToTake { folder: folder.to_path_buf() });
    }
    Ok((network.with_tensors(tensors, "the random start")?, taken))
}

/// Embeddings are of use only for as many features, heads only for as many kinds of steps.
fn means_the_same(name: &str, other: &Config, network: &Network) -> bool {
    let part = name.rsplit('.').next().unwrap_or_default();
    match part {
        "embed" | "embed_bias" => other.features == network.config().features,
        "head" | "head_bias" => other.kinds == network.config().kinds,
        _ => true,
    }
}
