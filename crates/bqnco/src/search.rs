//! The configuration of a search: the method and its settings, as types that rule out meaningless combinations.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use bqnco_core::Problem;
pub use bqnco_core::rollout::Decoding;

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
        rebuild: Rebuild,
    },
    /// Reconstruct, then the expert from the result.
    Hybrid {
        /// What scores the steps.
        guide: Guide,
        /// How much is rebuilt.
        rebuild: Rebuild,
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

/// What scores the steps, and which part of an instance it sees.
///
/// ```
/// use bqnco::{Guide, PolicySource, Search, Shortlist};
///
/// let policy = PolicySource::Network("tsp".parse()?); // or the folder of a network you have trained
/// let guide = Guide { policy, shortlist: Shortlist::Likeliest(20), ..Guide::default() };
/// let search = Search::beam(16).with_guide(guide);
/// # search.check()?;
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Guide {
    /// The policy.
    pub policy: PolicySource,
    /// Candidates per step.
    pub shortlist: Shortlist,
    /// Whether greedy constructions may take several steps at once where the network is sure.
    pub follow: Follow,
    /// Whether constructions try all symmetries of an instance that the policy distinguishes.
    pub symmetries: bool,
}

/// A policy.
#[derive(Clone, Debug, Default)]
pub enum PolicySource {
    /// The network that has the problem's name; the greedy heuristic if there is none.
    #[default]
    Default,
    /// A network.
    Network(ModelSource),
    /// The greedy heuristic of the problem: nearest neighbour, best ratio. No weights, no training.
    Heuristic,
    /// All allowed steps equally likely.
    Uniform,
    /// A policy of the caller's.
    Given(GivenPolicy),
}

/// How many candidates of a step are scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shortlist {
    /// As many as the network was trained with, otherwise 50; all without a network.
    #[default]
    Trained,
    /// All of them.
    All,
    /// This many, the most likely first.
    Likeliest(usize),
}

/// How many steps a greedy construction takes before the network is asked again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Follow {
    /// As the network's configuration says.
    #[default]
    Trained,
    /// One.
    One,
    /// Several, while their joint probability is at least this.
    Likely(f64),
}

impl Follow {
    /// The least joint probability; `None`: one step at a time. `trained` is that of the network, if there is one.
    pub(crate) fn least(self, trained: Option<f64>) -> Option<f64> {
        let least = match self {
            Follow::Trained => trained,
            Follow::One => None,
            Follow::Likely(least) => Some(least),
        };
        least.filter(|&least| least < 1.0)
    }
}

/// Candidates per step of a network that does not store the number it was trained with; docs/search.md compares values.
const USUAL_SHORTLIST: usize = 50;

/// How much of a solution is rebuilt, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuild {
    /// Rounds; `None`: until the time limit.
    pub rounds: Option<u64>,
    /// Rounds if neither rounds nor a time limit are given.
    pub untimed_rounds: u64,
    /// Steps of the longest part that is rebuilt.
    pub segment: usize,
}

/// The effort of an expert.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpertEffort {
    /// Rounds of the expert's search (kicks, generations); `None`: until the time limit.
    pub rounds: Option<u64>,
    /// Multiple of the rounds of a training label, used if neither rounds nor a time limit are given.
    pub untimed_share: f64,
}

impl Default for Rebuild {
    fn default() -> Self {
        Rebuild { rounds: None, untimed_rounds: 25, segment: 100 }
    }
}

impl Rebuild {
    /// Rounds; `None`: until the deadline.
    pub(crate) fn rounds(&self, timed: bool) -> Option<u64> {
        self.rounds.or((!timed).then_some(self.untimed_rounds))
    }
}

impl Default for ExpertEffort {
    fn default() -> Self {
        ExpertEffort { rounds: None, untimed_share: 1.0 }
    }
}

impl ExpertEffort {
    /// Rounds, if a label takes `usual` rounds; `None`: until the deadline.
    pub(crate) fn rounds(&self, usual: u64, timed: bool) -> Option<u64> {
        let untimed = || (usual as f64 * self.untimed_share).ceil() as u64;
        self.rounds.or_else(|| (!timed).then(untimed))
    }
}

/// The effort per solution if there is no time limit.
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
    pub fn rebuild(self) -> Rebuild {
        let untimed_rounds = match self {
            Preset::Fast => 5,
            Preset::Balanced => 25,
            Preset::Quality => 250,
        };
        Rebuild { untimed_rounds, ..Rebuild::default() }
    }

    /// The expert's effort.
    pub fn effort(self) -> ExpertEffort {
        let untimed_share = match self {
            Preset::Fast => 0.1,
            Preset::Balanced => 1.0,
            Preset::Quality => 10.0,
        };
        ExpertEffort { untimed_share, ..ExpertEffort::default() }
    }

    /// Width of a beam, number of samples.
    pub fn breadth(self) -> usize {
        match self {
            Preset::Fast => 4,
            Preset::Balanced => 16,
            Preset::Quality => 64,
        }
    }
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
    /// that the problem's own network could see, the default network is the one that needs only costs.
    pub(crate) fn for_problem<P: Builtin>(&self, has_features: bool) -> Cow<'_, Search> {
        let mut search = Cow::Borrowed(self);
        if let Search::Auto { preset } = self
            && P::expertise().is_none()
        {
            search = Cow::Owned(Search::Reconstruct { guide: preset.guide(), rebuild: preset.rebuild() });
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
        Search::Construct { guide: Guide::default(), decoding: Decoding::Beam { width } }
    }

    /// Best of several samples by the default policy.
    pub fn sample(count: usize) -> Self {
        let decoding = Decoding::Sample { count, temperature: 1.0, top_k: None };
        Search::Construct { guide: Guide::default(), decoding }
    }

    /// Construction and reconstruction by the default policy.
    pub fn reconstruct() -> Self {
        Search::Reconstruct { guide: Guide::default(), rebuild: Rebuild::default() }
    }

    /// Reconstruction by the default policy, then the expert.
    pub fn hybrid() -> Self {
        let (rebuild, effort) = (Rebuild::default(), ExpertEffort::default());
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

    /// Checks that its numbers are in range.
    ///
    /// # Errors
    /// The first number out of range.
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
        if let Some(Guide { follow: Follow::Likely(least), .. }) = self.guide()
            && !(0.0..=1.0).contains(least)
        {
            return refuse("joint probability", least.to_string(), "0 to 1");
        }
        if let Search::Construct { decoding: Decoding::Beam { width }, .. } = self {
            wide_enough(*width, "beam width")?;
        }
        if let Search::Construct { decoding: Decoding::Sample { count, temperature, .. }, .. } = self {
            wide_enough(*count, "samples")?;
            positive((*temperature).into(), "temperature")?;
        }
        if let Search::Reconstruct { rebuild, .. } | Search::Hybrid { rebuild, .. } = self
            && rebuild.segment < 2
        {
            return refuse("segment", rebuild.segment.to_string(), "at least 2 steps");
        }
        if let Search::Expert { effort } | Search::Hybrid { effort, .. } = self {
            positive(effort.untimed_share, "share of the usual rounds")?;
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
            Search::Construct { decoding: Decoding::Beam { width }, .. } => {
                format!("{policy}, beam {width}{symmetries}")
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

impl PolicySource {
    /// The network that scores a problem's steps, if one does.
    pub fn network<P: Problem>(&self) -> Option<ModelSource> {
        match self {
            PolicySource::Network(model) => Some(model.clone()),
            PolicySource::Default => Model::named(P::NAME).map(ModelSource::Shipped),
            PolicySource::Heuristic | PolicySource::Uniform | PolicySource::Given(_) => None,
        }
    }

    /// The policy of the caller's, if it is one.
    pub(crate) fn given(&self) -> Option<&GivenPolicy> {
        if let PolicySource::Given(policy) = self { Some(policy) } else { None }
    }
}

impl Shortlist {
    /// Candidates per step; `None`: all. `trained` is that of the network, if there is one.
    pub fn candidates(self, trained: Option<Option<usize>>) -> Option<usize> {
        match (self, trained) {
            (Shortlist::Likeliest(k), _) => Some(k),
            (Shortlist::All, _) | (Shortlist::Trained, None) => None,
            (Shortlist::Trained, Some(trained)) => trained.or(Some(USUAL_SHORTLIST)),
        }
    }
}

impl FromStr for Shortlist {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.parse() {
            _ if text == "all" => Ok(Shortlist::All),
            Ok(k) if k > 0 => Ok(Shortlist::Likeliest(k)),
            _ => Err(Error::UnknownShortlist { text: text.into() }),
        }
    }
}

impl fmt::Display for Shortlist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shortlist::Trained => f.write_str("as trained"),
            Shortlist::All => f.write_str("all"),
            Shortlist::Likeliest(k) => write!(f, "{k}"),
        }
    }
}

/// Short names of searches: `auto`, `greedy`, `greedy8` (the best of eight symmetries), `beam16`, `sample64`, `reconstruct`,
/// `hybrid`, `expert`, optionally followed by a colon and the candidates per step: `beam16:250` or `beam16:all`.
impl FromStr for Search {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (method, listed) = text.split_once(':').map_or((text, None), |(method, listed)| (method, Some(listed)));
        let (name, number) = method.split_at(method.trim_end_matches(|c: char| c.is_ascii_digit()).len());
        let unknown = |reason: String| Error::UnknownSearch { text: text.into(), reason };
        let expected = || {
            let names = "auto, greedy, greedy8, beam16, sample16, reconstruct, hybrid or expert";
            unknown(format!("expected {names}, with :K or :all for a shortlist"))
        };
        let number: Option<usize> = match number {
            "" => None,
            number => {
                Some(number.parse().ok().filter(|number| (1..=Self::WIDEST).contains(number)).ok_or_else(expected)?)
            }
        };
        let breadth = number.unwrap_or(Preset::default().breadth());
        let search = match (name, number) {
            ("greedy", None | Some(8)) => Search::greedy(),
            ("beam", _) => Search::beam(breadth),
            ("sample", _) => Search::sample(breadth),
            ("reconstruct", None) => Search::reconstruct(),
            ("hybrid", None) => Search::hybrid(),
            ("expert", None) if listed.is_none() => Search::expert(),
            ("auto", None) if listed.is_none() => Search::auto(),
            _ => return Err(expected()),
        };
        let listed = listed.map(str::parse).transpose();
        let listed = listed.map_err(|error: Error| unknown(error.to_string()))?;
        let shortlist = listed.unwrap_or_default();
        let symmetries = name == "greedy" && number == Some(8);
        Ok(search.with_guide(Guide { shortlist, symmetries, ..Guide::default() }))
    }
}
