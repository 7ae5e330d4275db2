//! What a policy network sees of a tail subproblem (paper, section 4).

use rand::{Rng, RngExt};

use crate::Problem;

/// A problem whose tails a network can see.
pub trait Observe: Problem {
    /// Number of features per token of an [`Observation`].
    const FEATURES: usize;

    /// Whether the last feature distinguishes tokens and means nothing else.
    const IDENTIFIED: bool = false;

    /// The name of a problem with the same slots whose networks need only costs: they can score this problem's tails,
    /// too, if they are shown [`Observe::observe_costs`].
    const COST_PROBLEM: Option<&'static str> = None;

    /// Number of tokens of a tail.
    fn tokens(instance: &Self::Instance, tail: &Self::Tail) -> usize;

    /// Writes the features of a tail's tokens, all of them and row by row: `[tokens, FEATURES]`. Many tails are observed
    /// into one array, without memory of their own.
    fn observe_into(instance: &Self::Instance, tail: &Self::Tail, frame: Frame, features: &mut [f32]) -> Relations;

    /// The tail as input of a network: what [`Observe::observe_into`] writes and tells.
    fn observe(instance: &Self::Instance, tail: &Self::Tail, frame: Frame) -> Observation {
        let tokens = Self::tokens(instance, tail);
        let mut features = vec![0.0; tokens * Self::FEATURES];
        let Relations { origin, destination, costs } = Self::observe_into(instance, tail, frame, &mut features);
        Observation { tokens, features, origin, destination, costs }
    }

    /// Whether the features of [`Observe::observe`] determine the costs. Coordinates that are merely fitted to a cost
    /// matrix do not, and a network must not be shown them.
    fn has_features(_instance: &Self::Instance) -> bool {
        true
    }

    /// The tail as input of a network for [`Observe::COST_PROBLEM`].
    fn observe_costs(_instance: &Self::Instance, _tail: &Self::Tail, _frame: Frame) -> Option<Observation> {
        None
    }
}

/// Tokens with features, the two special tokens, and the costs between tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Number of tokens.
    pub tokens: usize,
    /// Token features, row by row: `[tokens, Observe::FEATURES]`.
    pub features: Vec<f32>,
    /// The token of the current position.
    pub origin: Option<usize>,
    /// The token where the construction must end.
    pub destination: Option<usize>,
    /// Costs between tokens, for networks that use them.
    pub costs: Costs,
}

impl Observation {
    /// Makes the last of `features` numbers per token a random one from [0, 1) that tells the token from others: a new
    /// number where tokens have one less, else instead of their last.
    pub fn identify(&mut self, features: usize, rng: &mut impl Rng) {
        let given = self.features.len() / self.tokens.max(1);
        let kept = given.min(features - 1);
        let tokens = self.features.chunks(given.max(1)).take(self.tokens);
        self.features = tokens.flat_map(|token| token[..kept].iter().copied().chain([rng.random()])).collect();
    }
}

/// What an [`Observation`] tells besides the features of single tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Relations {
    /// The token of the current position.
    pub origin: Option<usize>,
    /// The token where the construction must end.
    pub destination: Option<usize>,
    /// Costs between tokens, for networks that use them.
    pub costs: Costs,
}

impl Relations {
    /// There are neither special tokens nor costs.
    pub const NONE: Relations = Relations { origin: None, destination: None, costs: Costs::None };
}

/// Travel costs between the tokens of an [`Observation`], scaled like its features.
#[derive(Clone, Debug, PartialEq)]
pub enum Costs {
    /// The tokens have no costs between them.
    None,
    /// Euclidean distances between the tokens' first two features, which need no n x n matrix.
    Planar,
    /// A full matrix, from row to column: `[tokens, tokens]`.
    Matrix(Vec<f32>),
}

/// The frame of reference in which a tail is observed: its origin, orientation and unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Frame {
    /// The instance's own coordinates; instances outside the unit square are scaled into it once (the paper).
    #[default]
    Instance,
    /// Every tail is scaled to fill the unit square, so that a network sees one scale only.
    Subproblem,
    /// As `Subproblem`, and tails with coordinates are moved and rotated: the origin is the point (0, 0), the mean of
    /// all tokens lies on the positive first axis, the destination not to the right of it. Tails that differ by a motion
    /// of the plane then have the same observation, so a network need not learn that they are equivalent. (A problem may
    /// draw distant tokens nearer before that.)
    Origin,
}
