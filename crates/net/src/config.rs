//! What a network looks like: every choice is a field.

use std::fmt;

use bqnco_core::{Frame, Observe};
use serde::{Deserialize, Serialize};

use crate::NetError;

/// The shape of a network and the view it has of a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The problem it was made for ([`Problem::NAME`](bqnco_core::Problem::NAME)).
    pub problem: String,
    /// Numbers per token ([`Observe::FEATURES`]).
    pub features: usize,
    /// Scores per token ([`Problem::KINDS`](bqnco_core::Problem::KINDS)).
    pub kinds: usize,
    /// The architecture.
    pub architecture: Architecture,
    /// Number of layers.
    pub n_layers: usize,
    /// Attention heads per layer.
    pub n_heads: usize,
    /// Numbers per embedded token.
    pub dim: usize,
    /// Width of the feed-forward blocks.
    pub dim_ff: usize,
    /// How a block joins the residual stream.
    pub residual: Residual,
    /// Whether attention sees the costs between tokens.
    pub costs: CostBias,
    /// Whether tokens know what it costs to come from the origin and to get to the destination.
    #[serde(default)]
    pub end_costs: EndCosts,
    /// The frame of reference in which states are observed.
    pub frame: Frame,
    /// Candidates that it sees per step ([`Problem::shortlist`](bqnco_core::Problem::shortlist)), in training and by
    /// default in rollouts; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortlist: Option<usize>,
    /// Length of the perceiver's latent array.
    pub n_latents: usize,
    /// Numbers per latent of the perceiver.
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

/// How attention and feed-forward blocks join the residual stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Residual {
    /// `x + alpha * block(x)`, alpha learned from 0 (the paper, after Bachlechner et al., 2021).
    ReZero,
    /// `x + block(rms_norm(x))`, and a last normalisation before the scores.
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
    /// `w_head * cost(i, j) + v_head * cost(j, i)`: what asymmetric costs need.
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

/// What a token knows beside its features of the costs between it and the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndCosts {
    /// Nothing (the paper).
    #[default]
    Unseen,
    /// The costs from the origin and to the destination; with [`CostBias::BothWays`] also those of the ways back.
    Seen,
}

impl Config {
    /// The paper's network: 9 layers, 12 heads, 192 numbers per token, feed-forward 512, ReZero, raw features.
    pub fn paper<P: Observe>() -> Self {
        Config {
            problem: P::NAME.to_string(),
            features: P::FEATURES,
            kinds: P::KINDS,
            architecture: Architecture::Transformer,
            n_layers: 9,
            n_heads: 12,
            dim: 192,
            dim_ff: 512,
            residual: Residual::ReZero,
            costs: CostBias::Unseen,
            end_costs: EndCosts::Unseen,
            frame: Frame::Instance,
            shortlist: None,
            n_latents: 64,
            dim_latent: 48,
        }
    }

    /// The paper's network for the ATSP: graph convolutions over the costs.
    pub fn gcn<P: Observe>() -> Self {
        Config { architecture: Architecture::GcnTransformer, ..Self::paper::<P>() }
    }

    /// The paper's PerceiverIO (appendix E.1): 8 heads, 64 latents of 48 numbers.
    pub fn perceiver<P: Observe>() -> Self {
        Config { architecture: Architecture::Perceiver, n_heads: 8, ..Self::paper::<P>() }
    }

    /// A body that learns from fewer samples: pre-normalised residuals, attention biased by the costs, every tail scaled
    /// and seen from its origin.
    pub fn modern<P: Observe>() -> Self {
        Config { residual: Residual::PreNorm, costs: CostBias::Forward, frame: Frame::Origin, ..Self::paper::<P>() }
    }

    /// [`Config::modern`] with costs of both directions in the attention scores, and those from and to the ends as
    /// features: the edge-aware network for the ATSP.
    pub fn edges<P: Observe>() -> Self {
        Config { costs: CostBias::BothWays, end_costs: EndCosts::Seen, ..Self::modern::<P>() }
    }

    /// [`Config::modern`] at 1.2 million parameters: 6 layers, 8 heads, 128 numbers per token.
    pub fn small<P: Observe>() -> Self {
        Config { n_layers: 6, n_heads: 8, dim: 128, dim_ff: 512, ..Self::modern::<P>() }
    }

    /// [`Config::modern`] at a size for tests: 2 layers, 2 heads, 32 numbers per token.
    pub fn tiny<P: Observe>() -> Self {
        Config { n_layers: 2, n_heads: 2, dim: 32, dim_ff: 64, n_latents: 8, dim_latent: 16, ..Self::modern::<P>() }
    }

    /// Fewer numbers than its weights have for certain: what a file must hold before memory is asked for.
    pub(crate) fn fewest_numbers(&self) -> u128 {
        let [features, kinds, layers, dim, dim_ff] =
            [self.features, self.kinds, self.n_layers, self.dim, self.dim_ff].map(|size| size as u128);
        let [latents, dim_latent] = [self.n_latents, self.dim_latent].map(|size| size as u128);
        let ends = dim * (features + kinds + dim + dim_ff);
        match self.architecture {
            Architecture::Perceiver => ends + dim_latent * (latents + layers * (dim_latent + dim_ff)),
            _ => ends.max(layers * dim * (dim + dim_ff)),
        }
    }

    /// Costs from and to the ends that a token knows.
    pub(crate) fn n_end_costs(&self) -> usize {
        match (self.end_costs, self.costs) {
            (EndCosts::Unseen, _) => 0,
            (EndCosts::Seen, CostBias::BothWays) => 4,
            (EndCosts::Seen, _) => 2,
        }
    }

    /// Numbers per attention head.
    pub fn dim_head(&self) -> usize {
        self.dim / self.n_heads
    }

    /// Checks that the sizes make a network.
    ///
    /// # Errors
    /// Names the first size that does not fit, with what was expected of it.
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
        let changes = self.frame != Frame::Instance || self.end_costs == EndCosts::Seen;
        if self.architecture == Architecture::Approximate && changes {
            return Err(NetError::ChangingFrame);
        }
        Ok(())
    }
}

/// Guards against absurd sizes in a damaged file.
const MAX_SIZE: usize = 1 << 16;
