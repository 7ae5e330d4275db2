//! The exponential moving average of weights.

/// Adds one more update to an average of the first weights (heads that only training uses come last and are left out).
pub(crate) fn blend(average: &mut [f32], weights: &[f32], decay: f64) {
    let (old, new) = (decay as f32, (1.0 - decay) as f32);
    average.iter_mut().zip(weights).for_each(|(average, weight)| *average = *average * old + weight * new);
}

/// Decay at a step: an average over few updates must not be dominated by the random initial weights.
pub(crate) fn decay_at(decay: f64, step: u64) -> f64 {
    decay.min((1.0 + step as f64) / (10.0 + step as f64))
}
