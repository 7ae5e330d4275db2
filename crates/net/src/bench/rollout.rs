//! Time of whole rollouts beyond their forward passes.

use std::sync::{Arc, Mutex, PoisonError};

use bqnco_core::rollout::{Options, solve};
use bqnco_core::{Generate, Observe, Policy, PolicyError, Subproblem, random};
use burn::tensor::Device;

use super::{best, time};
use crate::{Batch, Config, NetError, Network};

/// Times of a greedy rollout and of its forward passes alone.
#[derive(Clone, Debug)]
pub struct Rollout {
    /// What was run: "128 x tsp100".
    pub work: String,
    /// The whole rollout.
    pub seconds: f64,
    /// The same forward passes without anything between them.
    pub forward_seconds: f64,
    /// Peak resident memory of the process so far, in 10^6 bytes, where the system reports it.
    pub peak_megabytes: Option<f64>,
}

/// Rolls out random instances with random weights, then repeats the forward passes alone.
///
/// # Errors
/// When the configuration is not valid for the problem.
pub fn rollout<P: Observe + Generate>(
    config: &Config,
    (instances, size): (usize, usize),
    shortlist: Option<usize>,
    device: &Device,
) -> Result<Rollout, PolicyError> {
    let network = Network::new(config.clone(), 0, device).map_err(failed)?;
    let instances: Vec<_> = (0..instances as u64).map(|k| Arc::new(P::generate(size, &mut random(k, &[])))).collect();
    let recorder = Recorder { network: &network, batches: Mutex::default() };
    let options = Options { shortlist, ..Options::default() };
    let mut outcome = Ok(Vec::new());
    let seconds = time(|| outcome = solve::<P>(&recorder, &instances, &options));
    outcome?;
    let peak_megabytes = peak_megabytes();
    let batches = recorder.batches.into_inner().unwrap_or_else(PoisonError::into_inner);
    let forward_seconds = time(|| batches.iter().for_each(|batch| drop(network.forward(batch).into_data())));
    let cut = shortlist.map_or_else(String::new, |k| format!(", k {k}"));
    let work = format!("{} x {}{size}{cut}", instances.len(), P::NAME);
    Ok(Rollout { work, seconds, forward_seconds, peak_megabytes })
}

/// Times of one step of a rollout.
#[derive(Clone, Debug)]
pub struct Preparation {
    /// What was run: "64 x tsp100".
    pub work: String,
    /// Shortlists, observations, tensors, and the scores back.
    pub milliseconds: f64,
    /// The forward pass.
    pub forward_milliseconds: f64,
}

/// Measures one step of a rollout of `instances` instances, about `seconds` for each part.
///
/// # Errors
/// When the configuration is not valid for the problem.
pub fn preparation<P: Observe + Generate>(
    config: &Config,
    (instances, size): (usize, usize),
    seconds: f64,
    device: &Device,
) -> Result<Preparation, NetError> {
    let network = Network::new(config.clone(), 0, device)?;
    network.require::<P>()?;
    let whole = |k: u64| Subproblem::<P>::whole(Arc::new(P::generate(size, &mut random(k, &[]))));
    let states: Vec<_> = (0..instances as u64).map(whole).collect();
    let states: Vec<_> = states.iter().collect();
    let batch = network.observe(&states)?;
    let scores = network.forward(&batch);
    let before = best(seconds, || {
        let cuts: Vec<_> = states.iter().map(|state| state.shortlist(size)).collect();
        drop(network.observe(&cuts.iter().collect::<Vec<_>>()));
    });
    let after = best(seconds, || drop(network.unpad(scores.clone(), &batch)));
    let forward = best(seconds, || drop(network.forward(&batch).into_data()));
    Ok(Preparation {
        work: format!("{instances} x {}{size}", P::NAME),
        milliseconds: (before + after) * 1e3,
        forward_milliseconds: forward * 1e3,
    })
}

/// A network that records its batches.
struct Recorder<'a> {
    network: &'a Network,
    batches: Mutex<Vec<Batch>>,
}

impl<P: Observe> Policy<P> for Recorder<'_> {
    fn scores(&self, states: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.network.require::<P>().map_err(failed)?;
        let batch = self.network.observe(states).map_err(failed)?;
        self.batches.lock().unwrap_or_else(PoisonError::into_inner).push(batch.clone());
        Ok(self.network.score(&batch))
    }
}

fn failed(error: NetError) -> PolicyError {
    PolicyError::Failed(Box::new(error))
}

/// Peak resident memory of the process.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024e-6)
}
