//! Random instances.

use std::fmt;
use std::str::FromStr;

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

    /// As [`Generate::generate`], with places from another distribution; `varied`: with parameters that users choose
    /// freely (such as a capacity) drawn from a wide range, so that a network learns to take them into account. `None` if
    /// the problem has no places, or no such parameters.
    fn generate_from(
        distribution: Distribution,
        varied: bool,
        size: usize,
        rng: &mut impl Rng,
    ) -> Option<Self::Instance> {
        (distribution == Distribution::Uniform && !varied).then(|| Self::generate(size, rng))
    }
}

/// How the places of random instances are spread over the unit square.
///
/// ```
/// use bqnco_core::Distribution;
///
/// let ring: Distribution = "ring".parse()?;
/// assert_eq!(ring, Distribution::Ring);
/// # Ok::<(), bqnco_core::UnknownDistribution>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Independent and uniform, as in the paper.
    #[default]
    Uniform,
    /// In clusters of different sizes: cities.
    Clustered,
    /// Half of them uniform, half in clusters (Uchoa et al., 2017).
    Mixed,
    /// On the points of a lattice, so that many distances are equal; in half of the instances a little off.
    Grid,
    /// The same few places again and again, as on a printed circuit board.
    Boards,
    /// Near one or a few circles.
    Ring,
    /// Each instance from one of these, at random.
    Any,
}

impl Distribution {
    /// All of them.
    pub const ALL: &'static [Distribution] =
        &[Self::Uniform, Self::Clustered, Self::Mixed, Self::Grid, Self::Boards, Self::Ring, Self::Any];

    /// The name on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Clustered => "clustered",
            Self::Mixed => "mixed",
            Self::Grid => "grid",
            Self::Boards => "boards",
            Self::Ring => "ring",
            Self::Any => "any",
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Distribution {
    type Err = UnknownDistribution;

    fn from_str(name: &str) -> Result<Self, UnknownDistribution> {
        let found = Self::ALL.iter().find(|distribution| distribution.as_str() == name);
        found.copied().ok_or_else(|| UnknownDistribution(name.into()))
    }
}

/// Text that is not the name of a [`Distribution`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown distribution `{0}`; expected {expected}", expected = expected())]
pub struct UnknownDistribution(pub String);

fn expected() -> String {
    let names: Vec<&str> = Distribution::ALL.iter().map(|distribution| distribution.as_str()).collect();
    let (last, others) = names.split_last().expect("there are some");
    format!("{} or {last}", others.join(", "))
}
