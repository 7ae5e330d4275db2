//! What a policy network sees of a tail subproblem.

/// Tokens with features, the two special tokens, and the costs between tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Number of tokens.
    pub tokens: usize,
    /// Node features, row by row: `[tokens, Problem::FEATURES]`.
    pub features: Vec<f32>,
    /// The token where the construction stands.
    pub origin: Option<usize>,
    /// The token where it must end.
    pub destination: Option<usize>,
    /// Costs between tokens, for networks that use them.
    pub costs: Costs,
}

/// Travel costs between the tokens of an [`Observation`], scaled like its features.
#[derive(Clone, Debug, PartialEq)]
pub enum Costs {
    /// The tokens have no costs between them.
    None,
    /// Euclidean distances between the tokens' first two features, so that nobody has to store n x n numbers.
    Planar,
    /// A full matrix, from row to column: `[tokens, tokens]`.
    Matrix(Vec<f32>),
}

/// The units in which a tail is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Frame {
    /// The instance's units, with instances that leave the unit square scaled into it once (the paper).
    #[default]
    Instance,
    /// Every tail is scaled to fill the unit square by itself, so that a network meets one scale only.
    Subproblem,
    /// The same, and where there is a map, it is seen from the origin: that is the point (0, 0), most of the rest lies
    /// ahead on the first axis, the destination not to the right. Tails that a motion of the plane carries into each other
    /// look alike, so a network need not learn that they are. (Problems may draw what is far away nearer before that.)
    Origin,
}
