//! What can go wrong with a network.

use std::path::PathBuf;

/// Why a network cannot be created, loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// A size of the configuration is not valid.
    #[error("the network's {field} is {found}; expected {expected}")]
    BadConfig {
        /// The field of `Config`.
        field: &'static str,
        /// What would have been accepted.
        expected: String,
        /// What was found.
        found: usize,
    },
    /// The network was made for another problem.
    #[error(
        "the network was made for {made_for} ({features} features, {kinds} scores per token); \
         {asked} needs {asked_features} and {asked_kinds}"
    )]
    OtherProblem {
        /// The problem of the configuration.
        made_for: String,
        /// Its features per token.
        features: usize,
        /// Its scores per token.
        kinds: usize,
        /// The problem asked to be scored.
        asked: &'static str,
        /// Its features per token.
        asked_features: usize,
        /// Its scores per token.
        asked_kinds: usize,
    },
    /// The instance has costs, but no coordinates.
    #[error("the network {problem} needs coordinates, and the instance has none, only a matrix of distances")]
    NoCoordinates {
        /// The problem of the network.
        problem: String,
    },
    /// An observation contradicts itself or the network.
    #[error("observation {index} has {found} {what}; expected {expected}")]
    BadObservation {
        /// Position in the batch, from 0.
        index: usize,
        /// What is wrong.
        what: &'static str,
        /// How many were expected.
        expected: usize,
        /// How many were found.
        found: usize,
    },
    /// The architecture needs costs between tokens that the problem does not offer.
    #[error("observation {index} has no costs between its tokens; the {architecture} network needs them")]
    NoCosts {
        /// Position in the batch, from 0.
        index: usize,
        /// The architecture.
        architecture: &'static str,
    },
    /// The approximated model needs features that do not change between steps.
    #[error(
        "an approximate network needs the frame `instance`, unseen end costs and no random identifiers: \
         the features of a token must not change between steps"
    )]
    ChangingFrame,
    /// The approximated model got a token with features that the whole instance does not have.
    #[error(
        "token {token} of observation {index} has features that change between steps; \
         an approximate network cannot use them"
    )]
    ChangingFeatures {
        /// Position in the batch, from 0.
        index: usize,
        /// The token.
        token: usize,
    },
    /// The device is not part of this build.
    #[error("this build has no device '{asked}'; it has: {available}")]
    NoDevice {
        /// What was asked for.
        asked: String,
        /// What can be asked for.
        available: String,
    },
    /// Weights that are infinite or not a number are not saved.
    #[error(
        "the network is not saved: tensor {tensor} has numbers that are not finite (in half precision: above 65504); \
         what was saved before is unchanged: go on from there with a lower learning rate"
    )]
    NotFinite {
        /// The first such tensor.
        tensor: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file is not a checkpoint, or a damaged one.
    #[error("{file}: {reason}")]
    BadCheckpoint {
        /// The file.
        file: String,
        /// What was expected and what was found.
        reason: String,
    },
}
