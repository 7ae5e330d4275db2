//! Initial weights from another network, also one of another problem.

use std::path::{Path, PathBuf};

use bqnco_net::{Config, Network, Tensors};

use crate::TrainError;

/// What a network took over from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarmStart {
    /// The other checkpoint.
    pub folder: PathBuf,
    /// The other network's problem.
    pub problem: String,
    /// Names of the tensors that were taken.
    pub taken: Vec<String>,
    /// Names of the tensors that are initialised at random: the other has none of this shape, or they read other features.
    pub fresh: Vec<String>,
}

/// The network with all tensors of another one that fit.
pub(crate) fn warm_start(network: Network, folder: &Path) -> Result<(Network, WarmStart), TrainError> {
    let (other, _) = Network::load(folder, &network.device())?;
    let (config, mut theirs) = (other.config(), other.tensors());
    let (folder, problem) = (folder.to_path_buf(), config.problem.clone());
    let mut taken = WarmStart { folder, problem, taken: Vec::new(), fresh: Vec::new() };
    let mut tensors = Tensors::new();
    for (name, (shape, random)) in network.tensors() {
        let fitting =
            theirs.remove(&name).filter(|(found, _)| *found == shape && is_compatible(&name, config, &network));
        let names = if fitting.is_some() { &mut taken.taken } else { &mut taken.fresh };
        names.push(name.clone());
        tensors.insert(name, fitting.unwrap_or((shape, random)));
    }
    taken.taken.sort();
    taken.fresh.sort();
    if taken.taken.is_empty() {
        return Err(TrainError::NothingToTake { folder: taken.folder });
    }
    Ok((network.with_tensors(tensors, "the random start")?, taken))
}

/// Embeddings fit only networks with as many features, heads only those with as many kinds of steps.
fn is_compatible(name: &str, other: &Config, network: &Network) -> bool {
    let part = name.rsplit('.').next().unwrap_or_default();
    match part {
        "embed" | "embed_bias" => other.features == network.config().features,
        "head" | "head_bias" => other.kinds == network.config().kinds,
        _ => true,
    }
}
