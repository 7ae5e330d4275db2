//! Searches from keyword arguments.

use bqnco::{Decoding, Guide, ModelSource, PolicySource, Preset, Search, Shortlist};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call::Caller;
use crate::errors::{OrRaise, named};
use crate::model::Model;
use crate::policy::given;

/// The keyword arguments of a search, as the package passes them on.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SearchArguments<'py> {
    /// As on the command line: "auto", "beam16:50", ...
    search: String,
    preset: String,
    policy: Option<Bound<'py, PyAny>>,
    /// What results call a callable.
    policy_name: String,
    /// In which a callable sees states.
    frame: String,
    shortlist: Option<String>,
    symmetries: bool,
    temperature: f32,
    top_k: Option<usize>,
    rounds: Option<u64>,
    segment: Option<usize>,
}

impl SearchArguments<'_> {
    /// The search; a callable is called through the caller.
    pub fn search(self, py: Python<'_>, caller: Caller) -> PyResult<Search> {
        let preset = preset(&self.preset)?;
        let mut search: Search = self.search.parse().or_raise(py)?;
        match &mut search {
            Search::Auto { preset: own } => *own = preset,
            Search::Expert { effort } => *effort = preset.effort(),
            Search::Reconstruct { rebuild, .. } => *rebuild = preset.rebuild(),
            Search::Hybrid { rebuild, effort, .. } => (*rebuild, *effort) = (preset.rebuild(), preset.effort()),
            Search::Construct { decoding: Decoding::Sample { temperature, top_k, .. }, .. } => {
                (*temperature, *top_k) = (self.temperature, self.top_k);
            }
            _ => {}
        }
        if let Search::Reconstruct { rebuild, .. } | Search::Hybrid { rebuild, .. } = &mut search {
            rebuild.rounds = self.rounds;
            rebuild.segment = self.segment.unwrap_or(rebuild.segment);
        }
        let Some(guide) = search.guide().cloned() else { return self.without_policy(py, search) };
        let shortlist = match &self.shortlist {
            Some(text) => text.parse().or_raise(py)?,
            None => guide.shortlist,
        };
        let policy = self.policy(py, caller)?;
        let rebuilds = matches!(search, Search::Reconstruct { .. } | Search::Hybrid { .. });
        let symmetries = guide.symmetries || self.symmetries || (rebuilds && preset.guide().symmetries);
        Ok(search.with_guide(Guide { policy, shortlist, symmetries, ..guide }))
    }

    /// A search that a policy has no part in.
    fn without_policy(&self, py: Python<'_>, search: Search) -> PyResult<Search> {
        match self.policy {
            None => Ok(search),
            Some(_) => {
                let sentence = format!("the search `{}` uses no network: leave the model out", self.search);
                Err(named(py, "SettingsError", sentence))
            }
        }
    }

    fn policy(&self, py: Python<'_>, caller: Caller) -> PyResult<PolicySource> {
        let Some(policy) = &self.policy else { return Ok(PolicySource::Default) };
        if let Ok(name) = policy.extract::<String>() {
            return Ok(match name.as_str() {
                "heuristic" => PolicySource::Heuristic,
                "uniform" => PolicySource::Uniform,
                name => PolicySource::Network(name.parse::<ModelSource>().or_raise(py)?),
            });
        }
        if let Ok(model) = policy.cast::<Model>() {
            return Ok(PolicySource::Network(model.get().source().clone()));
        }
        Ok(PolicySource::Given(given(policy, self.policy_name.clone(), &self.frame, caller)?))
    }
}

fn preset(name: &str) -> PyResult<Preset> {
    match name {
        "fast" => Ok(Preset::Fast),
        "balanced" => Ok(Preset::Balanced),
        "quality" => Ok(Preset::Quality),
        _ => Err(PyValueError::new_err(format!("preset '{name}': expected fast, balanced or quality"))),
    }
}

/// Candidates per step of a policy of the caller's.
pub fn shortlist(text: Option<&str>, py: Python<'_>) -> PyResult<Shortlist> {
    text.map_or(Ok(Shortlist::All), |text| text.parse().or_raise(py))
}
