//! Initial weights from another network, also one of another problem.

use std::path::{Path, PathBuf};

use bqnco_net::{Config, Network, Residual, Tensors};

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
    /// Names of the tensors that start anew: the other has none of this shape, or they read other features. Layers that
    /// the other does not have start as the identity; everything else is initialised at random.
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
        let fitting = theirs
            .remove(&name)
            .map(|tensor| with_more_channels(&name, tensor, &random, config))
            .filter(|(found, _)| *found == shape && is_compatible(&name, config, &network));
        let names = if fitting.is_some() { &mut taken.taken } else { &mut taken.fresh };
        names.push(name.clone());
        let fresh = || if is_output_of_new_layer(&name, config) { vec![0.0; random.len()] } else { random };
        let tensor = fitting.unwrap_or_else(|| (shape, fresh()));
        tensors.insert(name, tensor);
    }
    taken.taken.sort();
    taken.fresh.sort();
    if taken.taken.is_empty() {
        return Err(TrainError::NothingToTake { folder: taken.folder });
    }
    Ok((network.with_tensors(tensors, "the random start")?, taken))
}

/// Whether a tensor ends a block of a layer behind the other network's last one. These start at zero, so that a deeper
/// network starts with the scores of the other. (With ReZero all layers start that way by their alphas.)
fn is_output_of_new_layer(name: &str, other: &Config) -> bool {
    let mut parts = name.rsplit('.');
    let (part, layer) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    other.residual == Residual::PreNorm
        && layer.parse().is_ok_and(|layer: usize| layer >= other.n_layers)
        && ["out", "out_bias", "down", "down_bias"].contains(&part)
}

/// A network that also sees alpha values has more weights per head; those of the costs come first and fit.
fn with_more_channels(
    name: &str,
    (shape, numbers): (Vec<usize>, Vec<f32>),
    random: &[f32],
    other: &Config,
) -> (Vec<usize>, Vec<f32>) {
    let (old, new) = (numbers.len() / other.n_heads, random.len() / other.n_heads);
    if !name.ends_with("cost_weights") || old == 0 || old >= new {
        return (shape, numbers);
    }
    let heads = random.chunks(new).zip(numbers.chunks(old));
    let wider: Vec<f32> = heads.flat_map(|(random, taken)| taken.iter().chain(&random[old..])).copied().collect();
    (vec![wider.len()], wider)
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
