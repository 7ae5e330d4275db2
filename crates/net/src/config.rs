//! The configuration of a network.

use std::fmt;

use bqnco_core::{Cut, Frame, Observe};
use serde::{Deserialize, Serialize};

use crate::NetError;

/// The architecture and sizes of a network, and how it observes states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The problem it was made for ([`Problem::NAME`](bqnco_core::Problem::NAME)).
    pub problem: String,
    /// Features per token ([`Observe::FEATURES`]).
    pub features: usize,
    /// Scores per token ([`Problem::KINDS`](bqnco_core::Problem::KINDS)).
    pub kinds: usize,
    /// The architecture.
    pub architecture: Architecture,
    /// Number of layers.
    pub n_layers: usize,
    /// Attention heads per layer.
    pub n_heads: usize,
    /// Size of an embedded token.
    pub dim: usize,
    /// Width of the feed-forward blocks.
    pub dim_ff: usize,
    /// How blocks are added to the residual stream.
    pub residual: Residual,
    /// How the costs between tokens enter the attention scores.
    pub costs: CostBias,
    /// Whether the costs to and from origin and destination are inputs of a token.
    #[serde(default)]
    pub end_costs: EndCosts,
    /// Rounds of Held and Karp's ascent over spanning trees of a tail, whose potentials are inputs of its tokens, and whose
    /// alpha values enter the attention scores like costs, in as many directions; zero: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ascent: usize,
    /// The units in which states are observed.
    pub frame: Frame,
    /// Number of candidates per step ([`Problem::shortlist`](bqnco_core::Problem::shortlist)), in training and by default in rollouts; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortlist: Option<usize>,
    /// How tails are cut to that number of candidates, or to another one that a rollout asks for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cut: Cut,
    /// Whether the last feature of a token is a random number (paper, section 4): one more than the problem has, unless
    /// its last feature is such an identifier anyway ([`Observe::IDENTIFIED`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub random_identifiers: bool,
    /// Whether it has a second head that scores which token follows which on the path ([`Network::successors`](crate::Network::successors)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub successors: bool,
    /// Joint probability down to which greedy constructions follow the successors without looking again
    /// ([`rollout::Stride::follow`](bqnco_core::rollout::Stride::follow)); `None`: one step at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<f64>,
    /// Whether greedy constructions grow paths at both ends by default ([`rollout::Stride::both_ends`](bqnco_core::rollout::Stride::both_ends)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub both_ends: bool,
    /// Whether products are f32 by default, because bf16 makes its solutions worse.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_f32: bool,
    /// Length of the latent array of the perceiver.
    pub n_latents: usize,
    /// Size of a latent of the perceiver.
    pub dim_latent: usize,
}

/// The architectures of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Self-attention over all tokens (paper, section 4).
    Transformer,
    /// A graph convolution weighted by the costs before every attention layer (paper, section 4, for the ATSP).
    GcnTransformer,
    /// PerceiverIO: cross-attention to a latent array, linear in the number of tokens (paper, appendix E.1).
    Perceiver,
    /// A transformer of which only the top layer is recomputed at each step (paper, appendix E.2).
    Approximate,
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Architecture::Transformer => "transformer",
            Architecture::GcnTransformer => "gcn-transformer",
            Architecture::Perceiver => "perceiver",
            Architecture::Approximate => "approximate",
        })
    }
}

/// How attention and feed-forward blocks are added to the residual stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Residual {
    /// `x + alpha * block(x)`, where alpha is learned and starts at 0 (the paper, after Bachlechner et al., 2021).
    ReZero,
    /// `x + block(rms_norm(x))`, and a final normalisation before the head.
    PreNorm,
}

/// How the costs between tokens enter the attention scores of every head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostBias {
    /// Not at all (the paper).
    Unseen,
    /// `w_head * cost(i, j)` is added to the score with which token i attends to token j.
    Forward,
    /// `w_head * cost(i, j) + v_head * cost(j, i)` is added: for asymmetric costs.
    BothWays,
}

impl CostBias {
    /// Learned weights per head.
    pub fn channels(self) -> usize {
        match self {
            CostBias::Unseen => 0,
            CostBias::Forward => 1,
            CostBias::BothWays => 2,
        }
    }
}

/// Whether the costs between a token and origin and destination are inputs of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndCosts {
    /// No (the paper).
    #[default]
    Unseen,
    /// The costs from the origin and to the destination; with [`CostBias::BothWays`] also in the other direction.
    Seen,
}

impl Config {
    /// The paper's network: 9 layers, 12 heads, dim 192, feed-forward 512, ReZero, raw features, nearest candidates.
    pub fn paper<P: Observe>() -> Self {
        Self::paper_for(P::NAME, P::FEATURES, P::KINDS)
    }

    /// [`Config::paper`] for a problem of this name, with so many features and scores per token.
    pub fn paper_for(problem: &str, features: usize, kinds: usize) -> Self {
        Config {
            problem: problem.to_string(),
            features,
            kinds,
            architecture: Architecture::Transformer,
            n_layers: 9,
            n_heads: 12,
            dim: 192,
            dim_ff: 512,
            residual: Residual::ReZero,
            costs: CostBias::Unseen,
            end_costs: EndCosts::Unseen,
            ascent: 0,
            frame: Frame::Instance,
            shortlist: None,
            cut: Cut::Nearest,
            random_identifiers: false,
            successors: false,
            follow: None,
            both_ends: false,
            needs_f32: false,
            n_latents: 64,
            dim_latent: 48,
        }
    }

    /// The paper's network for the ATSP: graph convolutions over the costs.
    pub fn gcn<P: Observe>() -> Self {
        Config { architecture: Architecture::GcnTransformer, ..Self::paper::<P>() }
    }

    /// The paper's PerceiverIO (appendix E.1): 8 heads, 64 latents of size 48.
    pub fn perceiver<P: Observe>() -> Self {
        Config { architecture: Architecture::Perceiver, n_heads: 8, ..Self::paper::<P>() }
    }

    /// A more sample-efficient network: PreNorm, attention biased by the costs, every tail scaled and seen from its
    /// origin.
    pub fn modern<P: Observe>() -> Self {
        let (residual, costs, frame) = (Residual::PreNorm, CostBias::Forward, Frame::Origin);
        Config { residual, costs, frame, cut: Cut::Likeliest, ..Self::paper::<P>() }
    }

    /// [`Config::modern`] with costs of both directions in the attention scores and the costs to and from origin and
    /// destination as inputs: the edge-aware network for the ATSP.
    pub fn edges<P: Observe>() -> Self {
        Config { costs: CostBias::BothWays, end_costs: EndCosts::Seen, ..Self::modern::<P>() }
    }

    /// [`Config::modern`] at 1.2 million parameters: 6 layers, 8 heads, dim 128.
    pub fn small<P: Observe>() -> Self {
        Config { n_layers: 6, n_heads: 8, dim: 128, dim_ff: 512, ..Self::modern::<P>() }
    }

    /// [`Config::modern`] at a size for tests: 2 layers, 2 heads, dim 32.
    pub fn tiny<P: Observe>() -> Self {
        Config { n_layers: 2, n_heads: 2, dim: 32, dim_ff: 64, n_latents: 8, dim_latent: 16, ..Self::modern::<P>() }
    }

    /// The number of features per token ([`Config::features`]) with or without random identifiers.
    pub fn features_of<P: Observe>(random_identifiers: bool) -> usize {
        P::FEATURES + usize::from(random_identifiers && !P::IDENTIFIED)
    }

    /// Candidates per step: as many as the network was trained with. If that was all, 250 of the nearest, and all of them
    /// for perceivers, as in the paper (section 5); `usual` where candidates are not the nearest.
    pub fn candidates(&self, usual: Option<usize>) -> Option<usize> {
        let untrained = match (self.cut, self.architecture) {
            (Cut::Nearest, Architecture::Perceiver) => None,
            (Cut::Nearest, _) => Some(NEAREST),
            (Cut::Likeliest, _) => usual,
        };
        self.shortlist.or(untrained)
    }

    /// Floating-point operations of a forward pass over so many tokens: products with weights, and attention.
    pub fn flop(&self, tokens: usize) -> f64 {
        let [tokens, layers, dim, dim_ff] = [tokens, self.n_layers, self.dim, self.dim_ff].map(|size| size as f64);
        let [latents, latent] = [self.n_latents, self.dim_latent].map(|size| size as f64);
        // `rows` of width `wide` attend to `others` of width `source`, which is also that of the heads together.
        let layer = |rows: f64, wide: f64, others: f64, source: f64| {
            let projections = 4.0 * rows * wide * source + 4.0 * others * source * source;
            projections + 4.0 * rows * others * source + 4.0 * rows * wide * dim_ff
        };
        let convolution = 4.0 * tokens * tokens * dim + 6.0 * tokens * dim * dim;
        match self.architecture {
            Architecture::Transformer | Architecture::Approximate => layers * layer(tokens, dim, tokens, dim),
            Architecture::GcnTransformer => layers * (layer(tokens, dim, tokens, dim) + convolution),
            Architecture::Perceiver => {
                let ends = layer(latents, latent, tokens, dim) + layer(tokens, dim, latents, latent);
                ends + layers * layer(latents, latent, latents, latent)
            }
        }
    }

    /// A lower bound on the number of weights: a file must have that many before memory is allocated for them.
    pub(crate) fn min_parameters(&self) -> u128 {
        let [features, kinds, layers, dim, dim_ff] =
            [self.features, self.kinds, self.n_layers, self.dim, self.dim_ff].map(|size| size as u128);
        let [latents, dim_latent] = [self.n_latents, self.dim_latent].map(|size| size as u128);
        let ends = dim * (features + kinds + dim + dim_ff);
        match self.architecture {
            Architecture::Perceiver => ends + dim_latent * (latents + layers * (dim_latent + dim_ff)),
            _ => ends.max(layers * dim * (dim + dim_ff)),
        }
    }

    /// Costs to and from origin and destination among the inputs of a token.
    pub(crate) fn n_end_costs(&self) -> usize {
        match (self.end_costs, self.costs) {
            (EndCosts::Unseen, _) => 0,
            (EndCosts::Seen, CostBias::BothWays) => 4,
            (EndCosts::Seen, _) => 2,
        }
    }

    /// Numbers of an ascent among the inputs of a token: its potentials and its alpha values with the ends.
    pub(crate) fn n_ascent(&self) -> usize {
        if self.ascent > 0 { self.costs.channels() + 2 } else { 0 }
    }

    /// Matrices between tokens that enter the attention scores, costs first.
    pub fn channels(&self) -> usize {
        self.costs.channels() * if self.ascent > 0 { 2 } else { 1 }
    }

    /// Numbers per token: its features, whether it is an end, and what is computed from the costs.
    pub(crate) fn width(&self) -> usize {
        self.features + 2 + self.n_end_costs() + self.n_ascent()
    }

    /// Size of an attention head.
    pub fn dim_head(&self) -> usize {
        self.dim / self.n_heads
    }

    /// Checks that the sizes are valid.
    ///
    /// # Errors
    /// Names the first size that is not valid, and what was expected.
    pub fn check(&self) -> Result<(), NetError> {
        let positive = [
            ("features", self.features),
            ("kinds", self.kinds),
            ("n_layers", self.n_layers),
            ("n_heads", self.n_heads),
            ("dim", self.dim),
            ("dim_ff", self.dim_ff),
            ("n_latents", self.n_latents),
            ("dim_latent", self.dim_latent),
            ("shortlist", self.shortlist.unwrap_or(1)),
        ];
        for (field, found) in positive {
            if found == 0 || found > MAX_SIZE {
                return Err(NetError::BadConfig { field, expected: format!("from 1 to {MAX_SIZE}"), found });
            }
        }
        let divided = [("dim", self.dim), ("dim_latent", self.dim_latent)];
        let n_divided = if self.architecture == Architecture::Perceiver { 2 } else { 1 };
        for (field, found) in divided.into_iter().take(n_divided) {
            if !found.is_multiple_of(self.n_heads) {
                let expected = format!("a multiple of the {} heads", self.n_heads);
                return Err(NetError::BadConfig { field, expected, found });
            }
        }
        let takes_ascent = self.architecture == Architecture::Transformer && self.costs != CostBias::Unseen;
        let most = if takes_ascent { MAX_ROUNDS } else { 0 };
        if self.ascent > most {
            let expected = match most {
                0 => "0 unless it is a transformer that sees costs".into(),
                _ => format!("at most {most}"),
            };
            return Err(NetError::BadConfig { field: "ascent", expected, found: self.ascent });
        }
        let changes = self.frame != Frame::Instance || self.end_costs == EndCosts::Seen || self.random_identifiers;
        if self.architecture == Architecture::Approximate && changes {
            return Err(NetError::ChangingFrame);
        }
        Ok(())
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Nearest candidates of a step in the paper.
const NEAREST: usize = 250;

/// Protects against absurd numbers of rounds.
const MAX_ROUNDS: usize = 1000;

/// Protects against absurd sizes in a damaged file.
const MAX_SIZE: usize = 1 << 16;
