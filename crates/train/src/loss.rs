//! The loss of imitation.

use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;

use crate::batch::TrainingBatch;

/// Cross-entropy between the expert's choices and the network's, over allowed slots only: `[1]`.
///
/// Where several steps are right (knapsack), the expert is taken to choose any of them alike.
///
/// # Shapes
/// - scores: `[batch, tokens, kinds]`
pub(crate) fn cross_entropy(scores: Tensor<3>, lesson: &TrainingBatch) -> Tensor<1> {
    let [batch, tokens, kinds] = scores.dims();
    let scores = scores.reshape([batch, tokens * kinds]) + lesson.mask.clone();
    -(log_softmax(scores, 1) * lesson.right.clone()).sum() / batch as f32
}
