//! Random instances.

use rand::Rng;

use crate::Problem;

/// A problem with a distribution of random instances, for training, benchmarks and the [`laws`](crate::laws).
pub trait Generate: Problem {
    /// The size used in speed comparisons.
    const USUAL_SIZE: usize = 100;
    /// The smallest size of an instance.
    const SMALLEST_SIZE: usize = 1;
    /// The largest size that fits in memory; a matrix grows with the square of its size.
    const LARGEST_SIZE: usize = 1_000_000;

    /// A random instance from the distribution of the paper.
    fn generate(size: usize, rng: &mut impl Rng) -> Self::Instance;

    /// As [`Generate::generate`], with a parameter that users choose freely (such as a capacity) drawn from a wide
    /// range, so that a network learns to take it into account. `None` if there is no such parameter.
    fn generate_varied(_size: usize, _rng: &mut impl Rng) -> Option<Self::Instance> {
        None
    }
}
