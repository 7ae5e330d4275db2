//! Searches by their short names.

use std::str::FromStr;

use super::{Guide, Preset, Search};
use crate::Error;

/// Short names of searches: `auto`, `greedy`, `greedy8` (the best of eight symmetries), `beam16`, `plain-beam16`
/// (equal tails are not merged), `sample64`, `reconstruct`, `hybrid`, `expert`. Without a number, `beam`, `plain-beam`
/// and `sample` mean 16. All but `auto` and `expert` may be followed by a colon and the candidates per step:
/// `beam16:250` or `beam16:all`.
impl FromStr for Search {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (method, listed) = text.split_once(':').map_or((text, None), |(method, listed)| (method, Some(listed)));
        let (name, number) = method.split_at(method.trim_end_matches(|c: char| c.is_ascii_digit()).len());
        let unknown = |reason: String| Error::UnknownSearch { text: text.into(), reason };
        let expected = || {
            let names = "auto, greedy, greedy8, beam16, plain-beam16, sample16, reconstruct, hybrid or expert";
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
            ("plain-beam", _) => Search::plain_beam(breadth),
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
