//! What scores the steps of a search, and how it is asked.

use std::fmt;
use std::str::FromStr;

use bqnco_core::rollout::Stride;
use bqnco_core::{GreedyHeuristic, Observe, Policy, Problem, Uniform};
use bqnco_kernels::{CpuPath, ProductPrecision, available_paths};
use bqnco_net::{Config, Network};

use crate::{Error, GivenPolicy, Model, ModelSource};

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
    /// Whether paths grow at one end or at both.
    pub ends: Ends,
    /// Precision of the network's matrix products; `None`: bf16 where the CPU has it and the network does not rule it
    /// out, else f32.
    pub precision: Option<ProductPrecision>,
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
    /// As many as the network was trained with. If that was all: 250 for a transformer and all for a perceiver that see
    /// the nearest candidates, as in the paper, 50 for other networks. All without a network.
    #[default]
    Trained,
    /// All of them.
    All,
    /// This many, chosen as the network was trained ([`Config::cut`](bqnco_net::Config::cut)).
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
    /// As `Likely`, but the states in between are scored in one batch, and the steps are kept as far as the network agrees:
    /// the solution of one step at a time, in fewer passes one after the other.
    Verified(f64),
}

/// The ends at which a path may grow, for problems whose paths can be reversed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    /// As the network's configuration says for greedy constructions; one for other searches.
    #[default]
    Trained,
    /// From the origin only.
    One,
    /// Wherever the network is surer.
    Both,
}

/// Candidates per step of a network that does not store the number it was trained with; docs/search.md compares values.
const USUAL_SHORTLIST: usize = 50;

impl Guide {
    /// How far constructions go between two looks of a network, if one is used.
    pub(super) fn stride(&self, network: Option<&Config>) -> Stride {
        let least = match self.follow {
            Follow::Trained => network.and_then(|config| config.follow),
            Follow::One => None,
            Follow::Likely(least) | Follow::Verified(least) => Some(least),
        };
        let verified = matches!(self.follow, Follow::Verified(_));
        let both_ends = match self.ends {
            Ends::Trained => !verified && network.is_some_and(|config| config.both_ends),
            Ends::One => false,
            Ends::Both => true,
        };
        Stride { follow: least.filter(|&least| least < 1.0), verified, both_ends }
    }

    /// The precision of a network's matrix products.
    pub(crate) fn product_precision(&self, network: &Config) -> Result<ProductPrecision, Error> {
        match self.precision {
            None if network.needs_f32 => Ok(ProductPrecision::F32),
            None => Ok(ProductPrecision::fastest()),
            Some(ProductPrecision::Bf16) if !available_paths().contains(&CpuPath::Bf16) => Err(Error::NoBf16),
            Some(precision) => Ok(precision),
        }
    }

    /// The policy whose scores take time, if there is one: the network that was loaded for the search, or the caller's.
    pub(crate) fn learnt<'a, P: Observe>(&'a self, network: Option<&'a Network>) -> Option<&'a dyn Policy<P>> {
        let network = network.map(|network| network as &dyn Policy<P>);
        network.or_else(|| self.policy.given().map(|given| given as &dyn Policy<P>))
    }

    /// The policy of a search without a learnt one.
    pub(crate) fn rule<P: Problem>(&self) -> &dyn Policy<P> {
        match self.policy {
            PolicySource::Uniform => &Uniform,
            _ => &GreedyHeuristic,
        }
    }

    /// Whether it asks a network to look further ahead than to the next step.
    pub(crate) fn looks_ahead(&self) -> bool {
        matches!(self.follow, Follow::Likely(_) | Follow::Verified(_))
    }
}

impl PolicySource {
    /// The network that scores a problem's steps, if one does.
    pub(crate) fn network<P: Problem>(&self) -> Option<ModelSource> {
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
    /// Candidates per step; `None`: all. The network is the one that scores them, if one does.
    pub fn candidates(self, network: Option<&Config>) -> Option<usize> {
        match (self, network) {
            (Shortlist::Likeliest(k), _) => Some(k),
            (Shortlist::All, _) | (Shortlist::Trained, None) => None,
            (Shortlist::Trained, Some(config)) => config.candidates(Some(USUAL_SHORTLIST)),
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
