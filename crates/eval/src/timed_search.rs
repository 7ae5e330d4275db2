//! Searches as lists of methods spell them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bqnco::{Error, Result, Search};
use serde::Deserialize;

/// A search with a network, and a time limit of its own where it has one: `beam16`, `greedy:100`, `reconstruct@5`.
///
/// ```
/// let search: bqnco_eval::TimedSearch = "reconstruct@5".parse()?;
/// assert_eq!(search.time_limit().map(|limit| limit.as_secs()), Some(5));
/// assert!("beam16@5".parse::<bqnco_eval::TimedSearch>().is_err()); // constructions take the time they take
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct TimedSearch {
    name: String,
    search: Search,
    time_limit: Option<Duration>,
}

impl TimedSearch {
    /// The search, without its time limit.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Its own time limit per instance.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }
}

/// As [`Search`] is spelled, and after an `@` the seconds per instance.
impl FromStr for TimedSearch {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| Error::UnknownSearch { text: text.into(), reason: why.into() };
        let (spelled, seconds) = text.split_once('@').map_or((text, None), |(search, time)| (search, Some(time)));
        let search: Search = spelled.parse()?;
        if search.guide().is_none() {
            return Err(wrong("it needs no network, so it is a baseline"));
        }
        if seconds.is_some() && !search.is_anytime() {
            return Err(wrong("constructions take their time; leave the @ out"));
        }
        let time_limit = match seconds.map(str::parse::<f64>) {
            None => None,
            Some(Ok(seconds)) if seconds > 0.0 && seconds <= 1e9 => Some(Duration::from_secs_f64(seconds)),
            Some(_) => return Err(wrong("a number of seconds above zero is needed, a billion at most")),
        };
        Ok(TimedSearch { name: text.into(), search, time_limit })
    }
}

impl TryFrom<String> for TimedSearch {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

/// As it was spelled.
impl fmt::Display for TimedSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_nothing_is_refused() {
        let texts =
            ["gredy", "beam0", "greedy@1", "expert", "reconstruct@0", "reconstruct@-1", "reconstruct@NaN", "hybrid@"];
        for text in texts {
            let message = text.parse::<TimedSearch>().expect_err(text).to_string();
            assert!(message.contains("search `"), "{text}: {message}");
        }
    }
}
