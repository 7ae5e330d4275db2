//! The configuration of a search: the method and its settings, as types that rule out meaningless combinations.

mod effort;
mod guide;
mod parse;

use std::borrow::Cow;

use bqnco_core::Problem;
pub use bqnco_core::rollout::Decoding;
use bqnco_core::rollout::Stride;
use bqnco_net::Config;

pub use self::effort::{ExpertEffort, Preset, RebuildEffort};
pub use self::guide::{Ends, Follow, Guide, PolicySource, Shortlist};
use crate::{Builtin, Error, GivenPolicy, Model, ModelSource};

/// A search method with its settings.
///
/// ```
/// use bqnco::Search;
///
/// let beam: Search = "beam16:50".parse()?; // 16 wide, 50 candidates per step
/// assert!(matches!(beam, Search::Construct { .. }));
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Search {
    /// The best that the problem offers: several searches of its expert with different seeds, or reconstruction if it
    /// has no expert. Without a time limit it ends when more rounds are unlikely to help.
    Auto {
        /// The effort.
        preset: Preset,
    },
    /// A policy builds solutions step by step; the best counts.
    Construct {
        /// What scores the steps.
        guide: Guide,
        /// How steps are chosen from scores.
        decoding: Decoding,
    },
    /// Parts of a solution are removed and rebuilt by a policy, repeatedly.
    Reconstruct {
        /// What scores the steps.
        guide: Guide,
        /// How much is rebuilt.
        rebuild: RebuildEffort,
    },
    /// Reconstruct, then the expert from the result.
    Hybrid {
        /// What scores the steps.
        guide: Guide,
        /// How much is rebuilt.
        rebuild: RebuildEffort,
        /// The expert's effort.
        effort: ExpertEffort,
    },
    /// The built-in classical solver of the problem.
    Expert {
        /// Its effort.
        effort: ExpertEffort,
    },
    /// An external solver.
    External {
        /// The program and its arguments, with placeholders; see [`External`](crate::experts::External). `lkh:PROGRAM`
        /// writes LKH's parameter file.
        command: String,
    },
}

impl Default for Search {
    fn default() -> Self {
        Preset::default().search()
    }
}

impl Search {
    /// The maximum width of a beam and number of samples: all are kept in memory, and those of a beam are compared with
    /// each other.
    pub const WIDEST: usize = 10_000;

    /// The best that the problem offers, until more rounds are unlikely to help or until the time limit.
    pub fn auto() -> Self {
        Search::Auto { preset: Preset::default() }
    }

    /// The search that is run for a problem: auto reconstructs if there is no expert. If the instances have no features
    /// that the problem's own network could see, the default network is the one that needs only costs; without one,
    /// auto reconstructs with the heuristic.
    pub(crate) fn for_problem<P: Builtin>(&self, has_features: bool) -> Cow<'_, Search> {
        let mut search = Cow::Borrowed(self);
        if let Search::Auto { preset } = self
            && P::expertise().is_none()
        {
            let is_seen = has_features || P::COST_PROBLEM.is_some();
            let blind = || Guide { policy: PolicySource::Heuristic, ..Guide::default() };
            let guide = if is_seen { preset.guide() } else { blind() };
            search = Cow::Owned(Search::Reconstruct { guide, rebuild: preset.rebuild() });
        }
        if let Some(guide @ Guide { policy: PolicySource::Default, .. }) = search.guide()
            && !has_features
            && let Some(model) = P::COST_PROBLEM.and_then(Model::named)
        {
            let policy = PolicySource::Network(ModelSource::Shipped(model));
            let guide = Guide { policy, ..guide.clone() };
            search = Cow::Owned(search.into_owned().with_guide(guide));
        }
        search
    }

    /// The expert, for its usual rounds or until the time limit.
    pub fn expert() -> Self {
        Search::Expert { effort: ExpertEffort::default() }
    }

    /// Greedy construction by the default policy.
    pub fn greedy() -> Self {
        Search::Construct { guide: Guide::default(), decoding: Decoding::Greedy }
    }

    /// Beam search by the default policy.
    pub fn beam(width: usize) -> Self {
        Search::Construct { guide: Guide::default(), decoding: Decoding::beam(width) }
    }

    /// As [`Search::beam`], but partial solutions with equal tails are not merged.
    pub fn plain_beam(width: usize) -> Self {
        Search::Construct { guide: Guide::default(), decoding: Decoding::plain_beam(width) }
    }

    /// Best of several samples by the default policy.
    pub fn sample(count: usize) -> Self {
        let decoding = Decoding::Sample { count, temperature: 1.0, top_k: None };
        Search::Construct { guide: Guide::default(), decoding }
    }

    /// Construction and reconstruction by the default policy.
    pub fn reconstruct() -> Self {
        Search::Reconstruct { guide: Guide::default(), rebuild: RebuildEffort::default() }
    }

    /// Reconstruction by the default policy, then the expert.
    pub fn hybrid() -> Self {
        let (rebuild, effort) = (RebuildEffort::default(), ExpertEffort::default());
        Search::Hybrid { guide: Guide::default(), rebuild, effort }
    }

    /// What scores the steps, if a policy does.
    pub fn guide(&self) -> Option<&Guide> {
        match self {
            Search::Construct { guide, .. } | Search::Reconstruct { guide, .. } | Search::Hybrid { guide, .. } => {
                Some(guide)
            }
            Search::Auto { .. } | Search::Expert { .. } | Search::External { .. } => None,
        }
    }

    /// How far its constructions go between two looks of a network, if one is used. A network's own default of ends is for
    /// greedy constructions: beams and samples find less at both ends.
    pub fn stride(&self, network: Option<&Config>) -> Stride {
        let Some(guide) = self.guide() else { return Stride::default() };
        let stride = guide.stride(network);
        let is_greedy = matches!(self, Search::Construct { decoding: Decoding::Greedy, .. });
        Stride { both_ends: stride.both_ends && (is_greedy || guide.ends == Ends::Both), ..stride }
    }

    /// The pool to run on: the thread of the caller's policy, or else the given one.
    pub(crate) fn pool<'a>(&'a self, pool: Option<&'a rayon::ThreadPool>) -> Option<&'a rayon::ThreadPool> {
        self.guide().and_then(|guide| guide.policy.given()).map(GivenPolicy::thread).or(pool)
    }

    /// The same search with another guide, if it has one.
    #[must_use]
    pub fn with_guide(mut self, other: Guide) -> Self {
        if let Search::Construct { guide, .. } | Search::Reconstruct { guide, .. } | Search::Hybrid { guide, .. } =
            &mut self
        {
            *guide = other;
        }
        self
    }

    /// Whether it runs until a time limit or a number of rounds ends it.
    pub fn is_anytime(&self) -> bool {
        !matches!(self, Search::Construct { .. })
    }

    /// Checks that its settings are in range and fit each other.
    ///
    /// # Errors
    /// The first setting that is out of range, or does not fit another one.
    pub fn check(&self) -> Result<(), Error> {
        let widest = Self::WIDEST;
        let refuse = |setting: &'static str, found: String, expected: &str| {
            Err(Error::OutOfRange { setting, found, expected: expected.into() })
        };
        let wide_enough = |number: usize, setting: &'static str| match number {
            number if (1..=widest).contains(&number) => Ok(()),
            number => refuse(setting, number.to_string(), &format!("1 to {widest}")),
        };
        let positive = |number: f64, setting: &'static str| match number {
            number if number > 0.0 && number.is_finite() => Ok(()),
            number => refuse(setting, number.to_string(), "a number above zero"),
        };
        if self.guide().is_some_and(|guide| guide.shortlist == Shortlist::Likeliest(0)) {
            return refuse("shortlist", "0".into(), "at least 1 candidate");
        }
        if let Some(Guide { follow: Follow::Likely(least) | Follow::Verified(least), .. }) = self.guide()
            && !(0.0..=1.0).contains(least)
        {
            return refuse("joint probability", least.to_string(), "0 to 1");
        }
        if let Some(Guide { follow: Follow::Verified(_), ends: Ends::Both, .. }) = self.guide() {
            return refuse("verified steps", "both ends".into(), "one end");
        }
        if let Search::Construct { decoding: Decoding::Beam { width, keep, .. }, .. } = self {
            wide_enough(*width, "beam width")?;
            if !(0.0..=1.0).contains(keep) {
                return refuse("share that a beam keeps", keep.to_string(), "0 to 1");
            }
        }
        if let Search::Construct { decoding: Decoding::Sample { count, temperature, top_k }, .. } = self {
            wide_enough(*count, "samples")?;
            positive((*temperature).into(), "temperature")?;
            if *top_k == Some(0) {
                return refuse("top_k", "0".into(), "at least 1 step");
            }
        }
        if let Search::Reconstruct { rebuild, .. } | Search::Hybrid { rebuild, .. } = self
            && rebuild.segment < 2
        {
            return refuse("segment", rebuild.segment.to_string(), "at least 2 steps");
        }
        if let Search::Expert { effort } | Search::Hybrid { effort, .. } = self {
            positive(effort.untimed_factor, "multiple of the usual rounds")?;
        }
        Ok(())
    }

    /// A readable description of the search; `symmetries` is the number of symmetries that were tried.
    pub(crate) fn describe<P: Problem>(&self, symmetries: usize) -> String {
        let policy = self.guide().map_or(String::new(), |guide| self.describe_policy::<P>(&guide.policy));
        let symmetries = if symmetries > 1 { format!(", {symmetries} symmetries") } else { String::new() };
        match self {
            Search::Construct { decoding: Decoding::Greedy, .. } => format!("{policy}{symmetries}"),
            Search::Construct { decoding: Decoding::Sample { count, .. }, .. } => {
                format!("{policy}, best of {count}{symmetries}")
            }
            Search::Construct { decoding: Decoding::Beam { width, merge, .. }, .. } => {
                let plain = if *merge { "" } else { "plain " };
                format!("{policy}, {plain}beam {width}{symmetries}")
            }
            Search::Reconstruct { .. } => format!("{policy}{symmetries}, reconstructed"),
            Search::Hybrid { .. } => format!("{policy}{symmetries}, reconstructed, then expert"),
            Search::Auto { .. } | Search::Expert { .. } => "expert".into(),
            Search::External { command } => command.clone(),
        }
    }

    fn describe_policy<P: Problem>(&self, policy: &PolicySource) -> String {
        let is_greedy = matches!(self, Search::Construct { decoding: Decoding::Greedy, .. });
        match policy.network::<P>() {
            Some(model) => format!("network {model}"),
            None if matches!(policy, PolicySource::Uniform) && is_greedy => "first allowed".into(),
            None if matches!(policy, PolicySource::Uniform) => "random".into(),
            None => policy.given().map_or(P::GREEDY_HEURISTIC, GivenPolicy::name).into(),
        }
    }
}
