//! A network of any architecture, as a policy.

use bqnco_core::{Cut, Frame, Observation, Observe, Outlook, Policy, PolicyError, Subproblem, random};
use bqnco_kernels::{Factor, ProductPrecision, multiply, parallel};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};

use crate::approximate::LowerCache;
use crate::gcn::require_costs;
use crate::init::zeros;
use crate::{Architecture, Batch, Config, NetError, Perceiver, Transformer, fused};

/// Weights with their configuration.
#[derive(Module, Debug)]
pub struct Network {
    body: Body,
    /// How well a token follows another: `query * successor * key`, `[dim, dim]`.
    successor: Option<Param<Tensor<2>>>,
    #[module(skip)]
    config: Config,
    #[module(skip)]
    precision: ProductPrecision,
    #[module(skip)]
    lower_cache: LowerCache,
}

/// The layers, by architecture.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // a network has one
pub enum Body {
    /// Transformer, GCN-transformer and approximate transformer.
    Transformer(Transformer),
    /// PerceiverIO.
    Perceiver(Perceiver),
}

/// Seed of the identifiers of tokens where no others are given.
const IDENTIFIERS: u64 = 1;
/// Successors are scored for at most this many tokens: pairs need 4 MB per state there.
const MOST_PAIRED: usize = 1000;
/// Tokens that are worth a thread.
const ROWS_PER_THREAD: usize = 24;

impl Network {
    /// A network with random weights that depend on the seed alone.
    ///
    /// # Errors
    /// When the configuration is not valid ([`Config::check`]).
    pub fn new(config: Config, seed: u64, device: &Device) -> Result<Self, NetError> {
        config.check()?;
        let mut random = random(seed, &[]);
        let body = match config.architecture {
            Architecture::Perceiver => Body::Perceiver(Perceiver::new(&config, &mut random, device)),
            _ => Body::Transformer(Transformer::new(&config, &mut random, device)),
        };
        // Zero, so that training that continues from a network without it starts with equal scores.
        let successor = config.successors.then(|| zeros([config.dim, config.dim], device));
        Ok(Network { body, successor, config, precision: ProductPrecision::F32, lower_cache: LowerCache::default() })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The same network with another precision of the layers' matrix products, where no gradients are needed.
    #[must_use]
    pub fn with_precision(self, precision: ProductPrecision) -> Self {
        Network { precision, ..self }
    }

    /// The precision of the layers' matrix products, where no gradients are needed.
    pub fn precision(&self) -> ProductPrecision {
        self.precision
    }

    /// The number of weights.
    pub fn parameters(&self) -> usize {
        self.num_params()
    }

    /// The layers.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The device that holds the weights.
    pub fn device(&self) -> Device {
        match &self.body {
            Body::Transformer(body) => body.embed_and_head.embed.val().device(),
            Body::Perceiver(body) => body.embed_and_head.embed.val().device(),
        }
    }

    /// Raw scores: `[batch, tokens, kinds]`; arbitrary for padding. Differentiable on autodiff devices.
    pub fn forward(&self, batch: &Batch) -> Tensor<3> {
        let rows: usize = batch.lengths.iter().sum();
        parallel::keep_awake(rows / ROWS_PER_THREAD, || self.head(self.encode(batch)))
    }

    /// The tokens before the head: `[batch, tokens, dim]`; arbitrary for padding.
    pub fn encode(&self, batch: &Batch) -> Tensor<3> {
        match &self.body {
            Body::Transformer(body) if self.config.architecture == Architecture::Approximate => {
                body.top(body.lower(batch), batch)
            }
            Body::Transformer(body) => body.encode(batch),
            Body::Perceiver(body) => body.encode(batch),
        }
    }

    /// From encoded tokens to scores: `[batch, tokens, kinds]`.
    pub fn head(&self, encoded: Tensor<3>) -> Tensor<3> {
        match &self.body {
            Body::Transformer(body) => body.embed_and_head.score(encoded),
            Body::Perceiver(body) => body.embed_and_head.score(encoded),
        }
    }

    /// From encoded tokens to scores of which token follows which on the path: `[batch, from, to]`; arbitrary for
    /// padding. `None` if the network has no such head.
    pub fn successors(&self, encoded: Tensor<3>) -> Option<Tensor<3>> {
        let head = self.successor.as_ref()?.val().unsqueeze();
        let scale = (self.config.dim as f64).powf(-0.5);
        Some(encoded.clone().matmul(head).matmul(encoded.transpose()) * scale)
    }

    /// Observations as tensors on the network's device.
    ///
    /// # Errors
    /// When an observation does not fit the network.
    pub fn batch(&self, observations: &[Observation]) -> Result<Batch, NetError> {
        if self.config.architecture == Architecture::GcnTransformer {
            require_costs(observations)?;
        }
        Ok(Batch { precision: self.precision, ..Batch::new(&self.config, observations, &self.device())? })
    }

    /// States as tensors on the network's device, in the frame that the network was trained in.
    pub(crate) fn observe<P: Observe>(&self, states: &[&Subproblem<P>]) -> Result<Batch, NetError> {
        self.batch(&self.observations(states)?)
    }

    fn observations<P: Observe>(&self, states: &[&Subproblem<P>]) -> Result<Vec<Observation>, NetError> {
        parallel::map(states, |state| self.observe_one(state)).into_iter().collect()
    }

    /// A state as the network sees it: by its features or, if the network is for another problem, by its costs.
    pub(crate) fn observe_one<P: Observe>(&self, state: &Subproblem<P>) -> Result<Observation, NetError> {
        let Config { problem, frame, random_identifiers, features, .. } = &self.config;
        if problem == P::NAME && !P::has_features(state.instance()) {
            return Err(NetError::NoCoordinates { problem: problem.clone() });
        }
        let by_costs = if problem == P::NAME { None } else { P::observe_costs(state.instance(), state.tail(), *frame) };
        let mut observation = by_costs.unwrap_or_else(|| state.observe(*frame));
        if *random_identifiers {
            // Any identifiers do; the same ones every time make results repeatable.
            observation.identify(*features, &mut random(IDENTIFIERS, &[]));
        }
        Ok(observation)
    }

    /// Scores of every slot of every observation.
    ///
    /// # Errors
    /// When an observation does not fit the network.
    pub fn scores(&self, observations: &[Observation]) -> Result<Vec<Vec<f32>>, NetError> {
        Ok(self.score(&self.batch(observations)?))
    }

    /// Scores of every slot of a batch.
    pub(crate) fn score(&self, batch: &Batch) -> Vec<Vec<f32>> {
        match batch.tokens() {
            0 => vec![Vec::new(); batch.len()],
            _ => self.unpad(self.forward(batch), batch),
        }
    }

    /// Scores of every slot of a batch, and of every pair of tokens as neighbours on the path.
    fn look_ahead(&self, batch: &Batch, destinations: &[Option<usize>]) -> Vec<Outlook> {
        if batch.tokens() == 0 {
            return vec![Outlook::default(); batch.len()];
        }
        let rows: usize = batch.lengths.iter().sum();
        let (scores, successors) = parallel::keep_awake(rows / ROWS_PER_THREAD, || {
            let encoded = self.encode(batch);
            (self.head(encoded.clone()), self.pairs(encoded, batch))
        });
        let outlooks = self.unpad(scores, batch).into_iter().zip(successors).zip(destinations);
        outlooks.map(|((scores, successors), &destination)| Outlook { scores, successors, destination }).collect()
    }

    /// [`Network::successors`] without the padding: `[tokens, tokens]` per observation.
    fn pairs(&self, encoded: Tensor<3>, batch: &Batch) -> Vec<Vec<f32>> {
        let Some(head) = &self.successor else { return vec![Vec::new(); batch.len()] };
        let (padded, dim) = (batch.tokens(), self.config.dim);
        let floats = |data: &TensorData| data.as_slice::<f32>().expect("f32 as asked for").to_vec();
        if fused::on_cpu(&encoded.device()) {
            // Small matrices, for which the kernels are several times as fast as tensors.
            let head = Factor::new(&floats(&head.val().into_data_as::<f32>()), dim);
            let encoded = encoded.into_data_as::<f32>();
            let encoded = encoded.as_slice::<f32>().expect("f32 as asked for");
            let states: Vec<&[f32]> = encoded
                .chunks(padded * dim)
                .zip(batch.lengths.iter())
                .map(|(state, &tokens)| &state[..tokens * dim])
                .collect();
            let scale = (dim as f32).powf(-0.5);
            return parallel::map(&states, |state| {
                let mut pairs = multiply(
                    &multiply(state, dim, &head, dim),
                    dim,
                    &Factor::transposed(state, dim),
                    state.len() / dim,
                );
                pairs.iter_mut().for_each(|score| *score *= scale);
                pairs
            });
        }
        let pairs = self.successors(encoded).map(|pairs| floats(&pairs.into_data_as::<f32>())).unwrap_or_default();
        let of = |(state, &tokens): (&[f32], &usize)| -> Vec<f32> {
            state.chunks(padded).take(tokens).flat_map(|row| &row[..tokens]).copied().collect()
        };
        pairs.chunks(padded * padded).zip(batch.lengths.iter()).map(of).collect()
    }

    /// Scores without the padding.
    pub(crate) fn unpad(&self, scores: Tensor<3>, batch: &Batch) -> Vec<Vec<f32>> {
        let kinds = self.config.kinds;
        let data = scores.into_data_as::<f32>();
        let scores = data.as_slice::<f32>().expect("scores are f32 as asked for");
        let rows = scores.chunks((batch.tokens() * kinds).max(1)).zip(batch.lengths.iter());
        rows.map(|(row, &tokens)| row[..tokens * kinds].to_vec()).collect()
    }

    /// Refuses problems other than the one that the network was made for, unless it can score them by their costs.
    pub(crate) fn require<P: Observe>(&self) -> Result<(), NetError> {
        let Config { problem, features, kinds, random_identifiers, .. } = &self.config;
        let by_costs = P::COST_PROBLEM == Some(problem);
        let expected = Config::features_of::<P>(*random_identifiers);
        if (by_costs || (problem == P::NAME && *features == expected)) && *kinds == P::KINDS {
            return Ok(());
        }
        Err(NetError::OtherProblem {
            made_for: problem.clone(),
            features: *features,
            kinds: *kinds,
            asked: P::NAME,
            asked_features: expected,
            asked_kinds: P::KINDS,
        })
    }
}

impl<P: Observe> Policy<P> for Network {
    fn scores(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        let failed = |error: NetError| PolicyError::Failed(Box::new(error));
        self.require::<P>().map_err(failed)?;
        if let (Architecture::Approximate, Body::Transformer(body)) = (self.config.architecture, &self.body) {
            return crate::approximate::scores(self, body, &self.lower_cache, batch).map_err(failed);
        }
        Ok(self.score(&self.observe(batch).map_err(failed)?))
    }

    fn outlooks(&self, states: &[&Subproblem<P>]) -> Result<Vec<Outlook>, PolicyError> {
        if !Policy::<P>::knows_successors(self) {
            return Ok(Policy::<P>::scores(self, states)?.into_iter().map(Outlook::of_scores).collect());
        }
        let failed = |error: NetError| PolicyError::Failed(Box::new(error));
        self.require::<P>().map_err(failed)?;
        let observations = self.observations(states).map_err(failed)?;
        let batch = self.batch(&observations).map_err(failed)?;
        if batch.tokens() > MOST_PAIRED {
            return Ok(self.score(&batch).into_iter().map(Outlook::of_scores).collect());
        }
        let destinations: Vec<Option<usize>> = observations.iter().map(|seen| seen.destination).collect();
        Ok(self.look_ahead(&batch, &destinations))
    }

    fn knows_successors(&self) -> bool {
        self.successor.is_some() && self.config.architecture != Architecture::Approximate
    }

    fn cut(&self) -> Cut {
        self.config.cut
    }

    fn distinguishes_augmentations(&self) -> bool {
        self.config.frame != Frame::Origin
    }
}
