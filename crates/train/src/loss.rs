//! The imitation loss.

use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;

use crate::batch::TrainingBatch;

/// Cross-entropy between the expert's choices and the network's, over allowed slots only: `[1]`.
///
/// Where several steps are right (knapsack), the expert's probability is spread evenly over them.
///
/// # Shapes
/// - scores: `[batch, tokens, kinds]`
pub(crate) fn cross_entropy(scores: Tensor<3>, target: &TrainingBatch) -> Tensor<1> {
    let [batch, tokens, kinds] = scores.dims();
    let scores = scores.reshape([batch, tokens * kinds]) + target.mask.clone();
    -(log_softmax(scores, 1) * target.right.clone()).sum() / batch as f32
}
