//! The approximated model (paper, appendix E.2): the bottom layers see the whole instance once, and only the top layer
//! is recomputed at each step, on the tokens that are left. The ablation that shows why BQ-NCO recomputes everything.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bqnco_core::{Observation, Observe, Subproblem};
use burn::tensor::{Tensor, TensorData};

use crate::layer::Context;
use crate::{Batch, NetError, Network, Transformer};

/// Bottom layers of the instances seen last.
#[derive(Clone, Debug, Default)]
pub struct Bottoms(Arc<Mutex<Vec<Known>>>);

/// How many instances are remembered.
const MOST: usize = 1024;

#[derive(Clone, Debug)]
struct Known {
    instance: Arc<dyn Any + Send + Sync>, // held, so that its address stays its own
    weights: u32,                         // checksum of the embedding, which every training step changes
    bottom: Arc<Bottom>,
}

/// An instance after the bottom layers.
#[derive(Debug)]
struct Bottom {
    token: HashMap<Vec<u32>, usize>, // by the bits of its features
    stream: Vec<f32>,                // [tokens, dim]
}

fn key(features: &[f32]) -> Vec<u32> {
    features.iter().map(|x| x.to_bits()).collect()
}

/// Scores of states from their instances' remembered bottom layers.
pub(crate) fn scores<P: Observe>(
    network: &Network,
    body: &Transformer,
    bottoms: &Bottoms,
    batch: &[&Subproblem<P>],
) -> Result<Vec<Vec<f32>>, NetError> {
    let config = network.config();
    let observations: Vec<Observation> = batch.iter().map(|state| state.observe(config.frame)).collect();
    let tails = network.batch(&observations)?;
    let (tokens, dim) = (tails.tokens(), config.dim);
    let mut stream = vec![0.0; batch.len() * tokens * dim];
    for (index, (state, observation)) in batch.iter().zip(&observations).enumerate() {
        let bottom = bottoms.of(network, body, state)?;
        for (k, features) in observation.features.chunks(config.features).enumerate() {
            let token = bottom.token.get(&key(features)).ok_or(NetError::ChangingFeatures { index, token: k })?;
            let to = (index * tokens + k) * dim;
            stream[to..to + dim].copy_from_slice(&bottom.stream[token * dim..(token + 1) * dim]);
        }
    }
    let data = TensorData::new(stream, [batch.len(), tokens, dim]);
    let top = body.top(Tensor::from_data(data, &network.device()), &tails);
    Ok(network.unpad(network.head(top), &tails))
}

impl Bottoms {
    fn of<P: Observe>(
        &self,
        network: &Network,
        body: &Transformer,
        state: &Subproblem<P>,
    ) -> Result<Arc<Bottom>, NetError> {
        let instance: Arc<dyn Any + Send + Sync> = Arc::clone(state.instance()) as _;
        let weights = crc32fast::hash(body.ends.embed.val().into_data().as_bytes());
        let is_this = |known: &&Known| known.weights == weights && Arc::ptr_eq(&known.instance, &instance);
        if let Some(known) = self.lock().iter().find(is_this) {
            return Ok(Arc::clone(&known.bottom));
        }
        // Not under the lock: a thread that waits for its layers may be given another state's scores to find.
        let whole = Subproblem::<P>::whole(Arc::clone(state.instance()));
        let observation = whole.observe(network.config().frame);
        let tokens = observation.features.chunks(network.config().features).map(key);
        let token = tokens.enumerate().map(|(k, bits)| (bits, k)).collect();
        let batch = network.batch(&[observation])?;
        let stream = body.bottom(&batch).into_data_as::<f32>();
        let stream = stream.as_slice::<f32>().expect("f32 as asked for").to_vec();
        let bottom = Arc::new(Bottom { token, stream });
        let mut known = self.lock();
        known.push(Known { instance, weights, bottom: Arc::clone(&bottom) });
        if known.len() > MOST {
            known.remove(0);
        }
        Ok(bottom)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transformer {
    /// The stream below the top layer, origin and destination unmarked: `[batch, tokens, dim]`.
    pub(crate) fn bottom(&self, batch: &Batch) -> Tensor<3> {
        let context = Context { lengths: batch.lengths.clone(), costs: batch.costs.clone() };
        let n_bottom = self.layers.len() - 1;
        let embedded = self.ends.embed_features(batch.inputs.clone());
        self.layers[..n_bottom].iter().fold(embedded, |stream, layer| layer.forward(stream, &context))
    }

    /// From the stream below the top layer to what the head sees, origin and destination marked on the way.
    pub(crate) fn top(&self, stream: Tensor<3>, batch: &Batch) -> Tensor<3> {
        let context = Context { lengths: batch.lengths.clone(), costs: batch.costs.clone() };
        let top = self.layers.last().expect("a network has layers");
        self.normed(top.forward(stream + self.ends.embed_roles(batch.inputs.clone()), &context))
    }
}
