//! How to solve: in the query of a request, or as `options` in its body.

use std::time::Duration;

use bqnco::{Ends, Model, ModelSource, PolicySource, Search};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

use crate::error::{Kind, Problem, shortened};
use crate::members::members;
use crate::settings::Limits;

/// The options of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// auto (default), greedy, greedy8, beam16, sample16, reconstruct, hybrid or expert.
    pub search: Option<String>,
    /// A built-in network, for searches that use one.
    pub model: Option<String>,
    /// Seconds for the search.
    pub seconds: Option<f64>,
    /// Random seed.
    pub seed: Option<u64>,
    /// The instance's file name, for the name of the instance and for messages. No such file is opened.
    pub name: Option<String>,
    /// Candidates per step in the answer of `policy/steps`.
    pub candidates: Option<usize>,
    /// `both`: paths that can be reversed grow at both ends, wherever the network is surer.
    pub ends: Option<EndsName>,
}

/// The ends at which a path may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndsName {
    /// At its front only.
    One,
    /// At both.
    Both,
}

/// The options by name, and what a value must be: serde's messages speak of Rust's types.
const KNOWN: [(&str, &str); 7] = [
    ("search", "the name of a search, such as greedy"),
    ("model", "the name of a network, such as tsp"),
    ("seconds", "a number above zero, such as 2.5"),
    ("seed", "a whole number from 0 on"),
    ("name", "the name of a file"),
    ("candidates", "a whole number from 1 to 100"),
    ("ends", "one or both"),
];
/// Options whose text in a query is a number.
const NUMBERS: [&str; 3] = ["seconds", "seed", "candidates"];

/// Seconds if a request does not say.
const USUAL_SECONDS: f64 = 2.0;
/// Candidates if a request does not say, and at most.
const USUAL_CANDIDATES: usize = 8;
const MOST_CANDIDATES: usize = 100;
/// Letters of a name.
const LONGEST_NAME: usize = 100;

impl Options {
    /// The options of a query.
    pub fn of_query(pairs: Vec<(String, String)>) -> Result<Self, Problem> {
        let refuse = |message: String| Problem::new(Kind::BadRequest, format!("query: {message}"));
        let mut values = Map::new();
        for (key, text) in pairs {
            let value = value_of(&key, &text);
            check(&key, value.to_string().as_bytes(), &text).map_err(refuse)?;
            if values.contains_key(&key) {
                return Err(refuse(format!("`{key}` is given twice; give it once")));
            }
            values.insert(key, value);
        }
        serde_json::from_value(Value::Object(values)).map_err(|error| refuse(error.to_string()))
    }

    /// The `options` of a body, which are JSON.
    pub fn of_json(json: &[u8]) -> Result<Self, Problem> {
        let refuse = |message: String| Problem::unfit(format!("options: {message}"));
        let Some(given) = members(json) else {
            let found = shortened(&String::from_utf8_lossy(json));
            return Err(refuse(format!("expected an object such as {{\"seconds\": 2}}, found {found}")));
        };
        for (key, value) in given {
            check(&key, value, &String::from_utf8_lossy(value)).map_err(refuse)?;
        }
        serde_json::from_slice(json).map_err(|error| refuse(error.to_string())) // a key that is given twice
    }

    /// Whether there is an option of this name.
    pub fn has(name: &str) -> bool {
        KNOWN.iter().any(|(known, _)| *known == name)
    }

    /// These options, and those of `other` where these say nothing.
    pub fn or(self, other: Options) -> Options {
        Options {
            search: self.search.or(other.search),
            model: self.model.or(other.model),
            seconds: self.seconds.or(other.seconds),
            seed: self.seed.or(other.seed),
            name: self.name.or(other.name),
            candidates: self.candidates.or(other.candidates),
            ends: self.ends.or(other.ends),
        }
    }

    /// Candidates per step.
    pub fn candidates(&self) -> Result<usize, Problem> {
        match self.candidates.unwrap_or(USUAL_CANDIDATES) {
            k @ 1..=MOST_CANDIDATES => Ok(k),
            k => Err(Problem::unfit(format!("candidates = {k}: expected 1 to {MOST_CANDIDATES}"))),
        }
    }

    /// The time for the search, within the limit.
    pub fn seconds(&self, limits: &Limits) -> Result<Duration, Problem> {
        let seconds = self.seconds.unwrap_or(USUAL_SECONDS.min(limits.seconds));
        if seconds > 0.0 && seconds <= limits.seconds {
            return Ok(Duration::from_secs_f64(seconds));
        }
        Err(Problem::unfit(format!("seconds = {seconds}: expected a number above zero, at most {}", limits.seconds)))
    }

    /// The search, with its network.
    pub fn search(&self) -> Result<Search, Problem> {
        let search: Search = self.search.as_deref().unwrap_or("auto").parse()?;
        if self.model.is_none() && self.ends.is_none() {
            return Ok(search);
        }
        let Some(mut guide) = search.guide().cloned() else {
            return Err(Problem::unfit(
                "`model` and `ends` need the search greedy, beam, sample, reconstruct or hybrid",
            ));
        };
        if let Some(name) = &self.model {
            guide.policy = PolicySource::Network(ModelSource::Shipped(built_in(name)?));
        }
        guide.ends = match self.ends {
            None => guide.ends,
            Some(EndsName::One) => Ends::One,
            Some(EndsName::Both) => Ends::Both,
        };
        Ok(search.with_guide(guide))
    }

    /// The name of the file, without its folder.
    pub fn file_name(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
        let name: String = name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
        if name.is_empty() || name == "-" { "instance".into() } else { name }
    }
}

/// A built-in network. No others: the name of a folder must not be opened.
fn built_in(name: &str) -> Result<&'static Model, Problem> {
    Model::named(name).ok_or_else(|| {
        let names: Vec<_> = bqnco::MODELS.iter().map(|model| model.name).collect();
        Problem::unfit(format!("no network is called `{name}`; the networks are {}", names.join(", ")))
    })
}

/// The value of an option in a query, where all is text. A number that JSON does not have (nan, inf) stays text.
fn value_of(key: &str, text: &str) -> Value {
    let number = || match text.parse::<u64>() {
        Ok(whole) => Some(Number::from(whole)),
        Err(_) => Number::from_f64(text.parse().ok()?),
    };
    let number = if NUMBERS.contains(&key) { number() } else { None };
    number.map_or_else(|| Value::from(text), Value::Number)
}

/// Refuses an option that there is not, or one with a value that it cannot have. The value is JSON; `text` is how it was
/// given. It is read here without building it, since a body may have anything there.
fn check(key: &str, value: &[u8], text: &str) -> Result<(), String> {
    let Some((_, expected)) = KNOWN.iter().find(|(known, _)| *known == key) else {
        let names = KNOWN.map(|(known, _)| known).join(", ");
        return Err(format!("`{}` is no option; the options are {names}", shortened(key)));
    };
    let alone = [b"{", json!(key).to_string().as_bytes(), b":", value, b"}"].concat();
    match serde_json::from_slice::<Options>(&alone) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("{key} = {}: expected {expected}", shortened(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> Result<Options, Problem> {
        Options::of_query(pairs.iter().map(|(key, text)| (key.to_string(), text.to_string())).collect())
    }

    #[test]
    fn every_option_is_known_by_its_name() {
        let all = serde_json::to_value(Options::default()).expect("JSON");
        let mut fields: Vec<&str> = all.as_object().expect("an object").keys().map(String::as_str).collect();
        let mut known = KNOWN.map(|(name, _)| name);
        fields.sort_unstable();
        known.sort_unstable();
        assert_eq!(fields, known);
        assert!(NUMBERS.iter().all(|name| Options::has(name)));
    }

    #[test]
    fn a_query_and_a_body_have_the_same_options() {
        let pairs = [("seconds", ".5"), ("seed", "18446744073709551615"), ("search", "7"), ("ends", "both")];
        let options = query(&pairs).expect("valid");
        let json = br#"{"seconds": 0.5, "seed": 18446744073709551615, "search": "7", "ends": "both", "model": null}"#;
        assert_eq!(options, Options::of_json(json).expect("valid"));
        assert_eq!((options.seconds, options.seed, options.ends), (Some(0.5), Some(u64::MAX), Some(EndsName::Both)));
        assert_eq!(query(&[("seconds", "2")]).expect("valid").seconds, Some(2.0));
    }

    #[test]
    fn what_is_wrong_with_a_query_is_said_with_what_was_expected() {
        let long = "x".repeat(1000);
        for (pairs, message) in [
            (&[("seconds", "abc")][..], "query: seconds = abc: expected a number above zero, such as 2.5"),
            (&[("seconds", "nan")], "query: seconds = nan: expected a number above zero, such as 2.5"),
            (&[("seconds", "")], "query: seconds = nothing: expected a number above zero, such as 2.5"),
            (&[("seed", "-1")], "query: seed = -1: expected a whole number from 0 on"),
            (&[("candidates", "2.5")], "query: candidates = 2.5: expected a whole number from 1 to 100"),
            (&[("ends", "left")], "query: ends = left: expected one or both"),
            (&[("seed", "1"), ("seed", "2")], "query: `seed` is given twice; give it once"),
            (
                &[("time_limit", "5")],
                "query: `time_limit` is no option; the options are search, model, seconds, seed, name, candidates, ends",
            ),
        ] {
            let problem = query(pairs).expect_err(message);
            assert_eq!((problem.kind, problem.message.as_str()), (Kind::BadRequest, message));
        }
        assert!(query(&[("seed", long.as_str())]).expect_err("no number").message.len() < 120);
    }

    #[test]
    fn what_is_wrong_with_the_options_of_a_body_is_said_with_what_was_expected() {
        for (json, message) in [
            ("5", "options: expected an object such as {\"seconds\": 2}, found 5"),
            ("null", "options: expected an object such as {\"seconds\": 2}, found null"),
            (r#"{"seconds": "2"}"#, "options: seconds = \"2\": expected a number above zero, such as 2.5"),
            (r#"{"seed": 1.5}"#, "options: seed = 1.5: expected a whole number from 0 on"),
            (
                r#"{"search": ["beam16"]}"#,
                "options: search = [\"beam16\"]: expected the name of a search, such as greedy",
            ),
            (r#"{"ends": "left"}"#, "options: ends = \"left\": expected one or both"),
            (r#"{"time_limit": 5}"#, "options: `time_limit` is no option; the options are search, model, seconds,"),
            (r#"{"seed": 1, "seed": 2}"#, "options: duplicate field `seed`"),
        ] {
            let problem = Options::of_json(json.as_bytes()).expect_err(json);
            assert_eq!(problem.kind, Kind::Unfit, "{json}");
            assert!(problem.message.starts_with(message), "{json}: {}", problem.message);
        }
    }
}
