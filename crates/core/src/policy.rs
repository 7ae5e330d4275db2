//! Policies: from states to scores.

use crate::{Problem, Subproblem};

/// Scores the steps of tail subproblems. It sees the states only, never the history.
pub trait Policy<P: Problem>: Send + Sync {
    /// One vector per state, indexed by score slot (`token * KINDS + kind`): unnormalised log-probabilities. Values in
    /// slots that are not allowed are ignored: the rollout masks them.
    ///
    /// # Errors
    /// When the policy does not fit the problem or its device fails.
    fn scores(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError>;

    /// The scores, with a view of the steps after the next one if the policy has it.
    ///
    /// # Errors
    /// See [`Policy::scores`].
    fn outlooks(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Outlook>, PolicyError> {
        Ok(self.scores(batch)?.into_iter().map(Outlook::of_scores).collect())
    }

    /// Whether [`Policy::outlooks`] tells the successors of tokens.
    fn knows_successors(&self) -> bool {
        false
    }

    /// How the tails that it is shown are cut to a shortlist.
    fn cut(&self) -> Cut {
        Cut::Likeliest
    }

    /// Whether the symmetric images of an instance ([`Problem::symmetries`]) may get different scores. If not, a single
    /// construction represents all of them.
    fn distinguishes_augmentations(&self) -> bool {
        true
    }
}

/// How a tail is cut to a shortlist. A policy must be shown tails cut as those it has learnt from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Cut {
    /// To the candidates that the problem finds most promising ([`Problem::shortlist`]).
    #[default]
    Likeliest,
    /// To the nearest candidates ([`Problem::nearest`]; the paper).
    Nearest,
}

/// What a policy says about a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlook {
    /// By score slot; see [`Policy::scores`].
    pub scores: Vec<f32>,
    /// Unnormalised log-probabilities that a token follows another on the path, from row to column: `[tokens, tokens]`;
    /// empty if the policy does not know.
    pub successors: Vec<f32>,
    /// The token where the path must end, if there is one.
    pub destination: Option<usize>,
}

impl Outlook {
    /// Scores alone.
    pub fn of_scores(scores: Vec<f32>) -> Self {
        Outlook { scores, ..Outlook::default() }
    }
}

/// Why a policy gave no scores.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// A score is not a number, or there are too few of them.
    #[error("the policy scored slot {slot} with {score}: the model is damaged or does not fit the problem")]
    BadScore {
        /// The slot concerned.
        slot: usize,
        /// What was found there.
        score: f32,
    },
    /// The deadline came before the scores; rollouts and search return what they have.
    #[error("the deadline came before the policy's scores")]
    Stopped,
    /// The policy's own reason.
    #[error("the policy failed: {0}")]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

/// Equal scores for all allowed steps: sampling from it is a random construction.
pub struct Uniform;

impl<P: Problem> Policy<P> for Uniform {
    fn scores(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        Ok(batch.iter().map(|state| by_slot(state, |_| 0.0)).collect())
    }
}

/// The problem's greedy heuristic (nearest neighbour, best ratio): a baseline without weights.
pub struct GreedyHeuristic;

impl<P: Problem> Policy<P> for GreedyHeuristic {
    fn scores(&self, batch: &[&Subproblem<P>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        Ok(batch.iter().map(|state| by_slot(state, |step| state.greedy_score(step) as f32)).collect())
    }
}

fn by_slot<P: Problem>(state: &Subproblem<P>, score: impl Fn(P::Step) -> f32) -> Vec<f32> {
    let mut scores = Vec::with_capacity(state.allowed().size_hint().0 + 1);
    for (slot, step) in state.allowed() {
        if scores.len() < slot {
            scores.resize(slot, f32::NEG_INFINITY); // slots are ascending
        }
        scores.push(score(step));
    }
    scores
}
