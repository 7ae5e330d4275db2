//! How much work a search does: rounds, and presets for them.

use super::{Guide, Search};

/// How much of a solution is rebuilt, and how often.
///
/// ```
/// use bqnco::{Guide, Instance, RebuildEffort, Search, Solver};
///
/// let rebuild = RebuildEffort { rounds: Some(3), segment: 20, ..RebuildEffort::default() };
/// let search = Search::Reconstruct { guide: Guide::default(), rebuild };
/// let instance = Instance::tsp(&[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])?;
/// assert_eq!(Solver::new().search(search).solve(&instance)?.value(), 14.0);
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebuildEffort {
    /// Rounds; `None`: until the time limit.
    pub rounds: Option<u64>,
    /// Rounds if neither rounds nor a time limit are given.
    pub untimed_rounds: u64,
    /// Steps of the longest part that is rebuilt.
    pub segment: usize,
}

/// The effort of an expert.
///
/// ```
/// use bqnco::{ExpertEffort, Instance, Search, Solver};
///
/// let effort = ExpertEffort { rounds: Some(100), ..ExpertEffort::default() };
/// let instance = Instance::tsp(&[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])?;
/// assert_eq!(Solver::new().search(Search::Expert { effort }).solve(&instance)?.value(), 14.0);
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpertEffort {
    /// Rounds of the expert's search (kicks, generations); `None`: until the time limit.
    pub rounds: Option<u64>,
    /// Multiple of the rounds of a training label, used if neither rounds nor a time limit are given.
    pub untimed_factor: f64,
}

impl Default for RebuildEffort {
    fn default() -> Self {
        RebuildEffort { rounds: None, untimed_rounds: 25, segment: 100 }
    }
}

impl RebuildEffort {
    /// Rounds; `None`: until the deadline.
    pub(crate) fn rounds(&self, timed: bool) -> Option<u64> {
        self.rounds.or((!timed).then_some(self.untimed_rounds))
    }
}

impl Default for ExpertEffort {
    fn default() -> Self {
        ExpertEffort { rounds: None, untimed_factor: 1.0 }
    }
}

impl ExpertEffort {
    /// Rounds, if a label takes `usual` rounds; `None`: until the deadline.
    pub(crate) fn rounds(&self, usual: u64, timed: bool) -> Option<u64> {
        let untimed = || (usual as f64 * self.untimed_factor).ceil() as u64;
        self.rounds.or_else(|| (!timed).then(untimed))
    }
}

/// The effort per solution.
///
/// Its numbers of rounds and of searches hold if there is no time limit; with one, searches use the time they have.
/// In auto the rounds are those without an improvement after which a search ends. The symmetries of
/// [`Preset::Quality`] and [`Preset::breadth`] apply with a time limit too.
///
/// ```
/// let instance = bqnco::Instance::tsp(&[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])?;
/// let solution = bqnco::Solver::new().preset(bqnco::Preset::Fast).solve(&instance)?;
/// assert_eq!(solution.value(), 12.0);
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Experts: a tenth of the usual rounds, in auto one search. Reconstruct and hybrid: 5 rounds.
    Fast,
    /// Experts: the usual rounds, in auto two searches. Reconstruct and hybrid: 25 rounds.
    #[default]
    Balanced,
    /// Experts: ten times the usual rounds, in auto four searches. Reconstruct and hybrid: the best of 8 symmetries (if
    /// the network distinguishes them), then 250 rounds.
    Quality,
}

impl Preset {
    /// The default search with this effort.
    pub fn search(self) -> Search {
        Search::Auto { preset: self }
    }

    /// Number of searches of an expert, with different seeds, whatever the number of threads, so that equal seeds give
    /// equal solutions on all machines.
    pub(crate) fn searches(self) -> usize {
        match self {
            Preset::Fast => 1,
            Preset::Balanced => 2,
            Preset::Quality => 4,
        }
    }

    /// The guide of searches that reconstruct.
    pub fn guide(self) -> Guide {
        Guide { symmetries: self == Preset::Quality, ..Guide::default() }
    }

    /// How much is rebuilt.
    pub fn rebuild(self) -> RebuildEffort {
        let untimed_rounds = match self {
            Preset::Fast => 5,
            Preset::Balanced => 25,
            Preset::Quality => 250,
        };
        RebuildEffort { untimed_rounds, ..RebuildEffort::default() }
    }

    /// The expert's effort.
    pub fn effort(self) -> ExpertEffort {
        let untimed_factor = match self {
            Preset::Fast => 0.1,
            Preset::Balanced => 1.0,
            Preset::Quality => 10.0,
        };
        ExpertEffort { untimed_factor, ..ExpertEffort::default() }
    }

    /// Width of a beam, number of samples; with and without a time limit.
    pub fn breadth(self) -> usize {
        match self {
            Preset::Fast => 4,
            Preset::Balanced => 16,
            Preset::Quality => 64,
        }
    }
}
