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
            .map(|tensor| match name.ends_with("cost_weights") {
                true => common_channels(tensor, &random, config, network.config()),
                false => tensor,
            })
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

/// The weights of costs and alpha values in the attention scores: those that both networks have; the others start anew.
fn common_channels(
    (shape, numbers): (Vec<usize>, Vec<f32>),
    random: &[f32],
    theirs: &Config,
    mine: &Config,
) -> (Vec<usize>, Vec<f32>) {
    let directions = [theirs, mine].map(|config| config.costs.channels());
    let [old, new] = [theirs, mine].map(Config::channels);
    if old == 0 || new == 0 {
        return (shape, numbers);
    }
    // Per head: the costs by direction, then the alpha values by direction.
    let place = |channel: usize| match channel.checked_sub(directions[1]) {
        None => Some(channel).filter(|&direction| direction < directions[0]),
        Some(direction) => Some(directions[0] + direction).filter(|&place| direction < directions[0] && place < old),
    };
    let heads = numbers.chunks(old).zip(random.chunks(new));
    let common = heads.flat_map(|(taken, random)| {
        let of = move |(channel, &random): (usize, &f32)| place(channel).map_or(random, |place| taken[place]);
        random.iter().enumerate().map(of)
    });
    let common: Vec<f32> = common.collect();
    (vec![common.len()], common)
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

#[cfg(test)]
mod tests {
    use bqnco_net::CostBias;

    use super::*;

    #[test]
    fn weights_of_costs_and_alpha_values_are_taken_by_what_they_weigh() {
        let config = |costs, ascent| Config { costs, ascent, ..Config::paper_for("atsp", 1, 1) };
        let (one, both) = (CostBias::Forward, CostBias::BothWays);
        // Weights of the second of two heads are larger by ten; those that start anew are zero.
        for (theirs, taken, mine, expected) in [
            ((one, 0), &[1.0][..], (one, 50), &[1.0, 0.0][..]),
            ((one, 50), &[1.0, 3.0], (one, 0), &[1.0]),
            ((one, 50), &[1.0, 3.0], (both, 100), &[1.0, 0.0, 3.0, 0.0]),
            ((one, 50), &[1.0, 3.0], (both, 0), &[1.0, 0.0]),
            ((both, 0), &[1.0, 2.0], (one, 50), &[1.0, 0.0]),
            ((both, 100), &[1.0, 2.0, 3.0, 4.0], (one, 50), &[1.0, 3.0]),
            ((both, 100), &[1.0, 2.0, 3.0, 4.0], (both, 30), &[1.0, 2.0, 3.0, 4.0]),
        ] {
            let heads = |head: &[f32]| {
                [head.to_vec(), head.iter().map(|w| if *w > 0.0 { w + 10.0 } else { 0.0 }).collect()].concat()
            };
            let (taken, expected) = (heads(taken), heads(expected));
            let random = vec![0.0; expected.len()];
            let (theirs, mine) = (config(theirs.0, theirs.1), config(mine.0, mine.1));
            let found = common_channels((vec![taken.len()], taken), &random, &theirs, &mine);
            assert_eq!(found, (vec![expected.len()], expected), "{:?} -> {:?}", theirs.costs, mine.costs);
        }
    }
}
