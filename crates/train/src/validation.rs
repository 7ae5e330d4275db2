//! Validation: the network's greedy solutions against the expert's.

use std::sync::Arc;

use bqnco_core::rollout::{Options, solve};
use bqnco_core::{Observe, PolicyError};
use bqnco_net::Network;

use crate::{Communicator, Example};

/// The mean gap of greedy solutions to the expert's, in percent of the expert's cost; positive is worse. Examples whose
/// expert cost is zero have no gap and are left out.
///
/// # Errors
/// When the network does not fit the problem.
pub fn greedy_gap<P: Observe>(network: &Network, validation: &[Example<P>]) -> Result<f64, PolicyError> {
    Ok(mean(&gaps(network, validation)?))
}

/// As [`greedy_gap`], with the work shared by the processes.
pub(crate) fn shared_gap<P: Observe>(
    network: &Network,
    validation: &[Example<P>],
    communicator: &dyn Communicator,
) -> Result<f64, PolicyError> {
    let gaps = gaps(network, &validation[communicator.share(validation.len())])?;
    if communicator.size() == 1 {
        return Ok(mean(&gaps));
    }
    let mut sums = [gaps.iter().sum::<f64>() as f32, gaps.len() as f32];
    communicator.sum(&mut sums);
    Ok(f64::from(sums[0] / sums[1].max(1.0)))
}

fn gaps<P: Observe>(network: &Network, validation: &[Example<P>]) -> Result<Vec<f64>, PolicyError> {
    let instances: Vec<_> = validation.iter().map(|example| Arc::clone(example.instance())).collect();
    let options = Options { shortlist: network.config().shortlist, ..Options::default() };
    let found = solve::<P>(network, &instances, &options)?;
    let pairs = found.iter().zip(validation).map(|(solution, example)| (solution.cost, example.cost()));
    let gaps = pairs.filter(|(_, expert)| *expert != 0.0).map(|(cost, expert)| 100.0 * (cost - expert) / expert.abs());
    Ok(gaps.collect())
}

fn mean(gaps: &[f64]) -> f64 {
    gaps.iter().sum::<f64>() / gaps.len().max(1) as f64
}
