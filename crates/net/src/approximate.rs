//! The approximated model (paper, appendix E.2): the lower layers run once, on the whole instance; only the top layer
//! is recomputed at each step, on the remaining tokens. The ablation that shows why BQ-NCO recomputes everything.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bqnco_core::{Observation, Observe, Subproblem};
use burn::tensor::{Tensor, TensorData};

use crate::{Batch, NetError, Network, Transformer};

/// Outputs of the lower layers for the most recent instances.
#[derive(Clone, Debug, Default)]
pub struct LowerCache(Arc<Mutex<Vec<CacheEntry>>>);

/// Instances in the cache.
const MAX_ENTRIES: usize = 1024;

#[derive(Clone, Debug)]
struct CacheEntry {
    instance: Arc<dyn Any + Send + Sync>, // held, so that no other instance gets its address
    weights: u32,                         // checksum of the embedding, which every training step changes
    output: Arc<LowerOutput>,
}

/// An instance after the lower layers.
#[derive(Debug)]
struct LowerOutput {
    token: HashMap<Vec<u32>, usize>, // index by the bits of the features
    stream: Vec<f32>,                // [tokens, dim]
}

fn key(features: &[f32]) -> Vec<u32> {
    features.iter().map(|x| x.to_bits()).collect()
}

/// Scores of states from the cached lower layers of their instances.
pub(crate) fn scores<P: Observe>(
    network: &Network,
    body: &Transformer,
    cache: &LowerCache,
    batch: &[&Subproblem<P>],
) -> Result<Vec<Vec<f32>>, NetError> {
    let config = network.config();
    let observations: Vec<Observation> =
        batch.iter().map(|state| network.observe_one(state)).collect::<Result<_, _>>()?;
    let tails = network.batch(&observations)?;
    let (tokens, dim) = (tails.tokens(), config.dim);
    let mut stream = vec![0.0; batch.len() * tokens * dim];
    for (index, (state, observation)) in batch.iter().zip(&observations).enumerate() {
        let lower = cache.get(network, body, state)?;
        for (k, features) in observation.features.chunks(config.features).enumerate() {
            let token = lower.token.get(&key(features)).ok_or(NetError::ChangingFeatures { index, token: k })?;
            let to = (index * tokens + k) * dim;
            stream[to..to + dim].copy_from_slice(&lower.stream[token * dim..(token + 1) * dim]);
        }
    }
    let data = TensorData::new(stream, [batch.len(), tokens, dim]);
    let top = body.top(Tensor::from_data(data, &network.device()), &tails);
    Ok(network.unpad(network.head(top), &tails))
}

impl LowerCache {
    fn get<P: Observe>(
        &self,
        network: &Network,
        body: &Transformer,
        state: &Subproblem<P>,
    ) -> Result<Arc<LowerOutput>, NetError> {
        let instance: Arc<dyn Any + Send + Sync> = Arc::clone(state.instance()) as _;
        let weights = crc32fast::hash(body.embed_and_head.embed.val().into_data().as_bytes());
        let matches = |entry: &&CacheEntry| entry.weights == weights && Arc::ptr_eq(&entry.instance, &instance);
        if let Some(entry) = self.lock().iter().find(matches) {
            return Ok(Arc::clone(&entry.output));
        }
        // Without the lock: a thread that waits for its layers may run the task of another state, which locks too.
        let whole = Subproblem::<P>::whole(Arc::clone(state.instance()));
        let observation = network.observe_one(&whole)?;
        let tokens = observation.features.chunks(network.config().features).map(key);
        let token = tokens.enumerate().map(|(k, bits)| (bits, k)).collect();
        let batch = network.batch(&[observation])?;
        let stream = body.lower(&batch).into_data_as::<f32>();
        let stream = stream.as_slice::<f32>().expect("f32 as asked for").to_vec();
        let output = Arc::new(LowerOutput { token, stream });
        let mut entries = self.lock();
        entries.push(CacheEntry { instance, weights, output: Arc::clone(&output) });
        if entries.len() > MAX_ENTRIES {
            entries.remove(0);
        }
        Ok(output)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CacheEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transformer {
    /// The stream before the top layer, without the vectors of origin and destination: `[batch, tokens, dim]`.
    pub(crate) fn lower(&self, batch: &Batch) -> Tensor<3> {
        let context = batch.context();
        let n_lower = self.layers.len() - 1;
        let embedded = self.embed_and_head.embed_features(batch.inputs.clone());
        self.layers[..n_lower].iter().fold(embedded, |stream, layer| layer.forward(stream, &context))
    }

    /// From the stream before the top layer to the input of the head; adds the vectors of origin and destination.
    pub(crate) fn top(&self, stream: Tensor<3>, batch: &Batch) -> Tensor<3> {
        let context = batch.context();
        let top = self.layers.last().expect("a network has layers");
        self.normed(top.forward(stream + self.embed_and_head.embed_roles(batch.inputs.clone()), &context))
    }
}
