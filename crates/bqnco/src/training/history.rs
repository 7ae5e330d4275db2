//! `run.json`: the sessions of a run, and what changed between them.

use std::collections::BTreeMap;

use bqnco_net::Provenance;
use bqnco_train::{Folder, read_metrics};
use serde_json::{Value, json};

use super::stored::read;
use crate::Result;

const RUN: &str = "run.json";

/// Facts on which the bits of the weights depend: sums are made in another order, or by other code.
const DECISIVE: [&str; 5] = ["cpu", "device", "processes", "bqnco", "revision"];

/// Facts that do not change results.
const HARMLESS: [&str; 1] = ["threads"];

/// What differs from the session before.
#[derive(Debug, PartialEq)]
pub(super) struct Change {
    /// As a sentence's part: "cpu avx2 instead of avx512".
    pub what: String,
    /// Whether the run still ends with the weights that it would have had without the change, bit by bit.
    pub bit_equal: bool,
}

/// Adds this session to the run's history. The history has a new entry where something changed.
pub(super) fn begin_session(folder: &Folder, facts: &Provenance) -> Result<Option<Change>> {
    let stored = read(&folder.path().join(RUN))?.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let mut sessions = stored.map(sessions).unwrap_or_default();
    let change = sessions.last().and_then(|last| change(last, facts));
    if sessions.is_empty() || change.is_some() {
        let mut session = facts.clone();
        let step = read_metrics(folder.path()).last().map_or(0, |row| row.step);
        session.insert(AFTER.into(), step.to_string());
        sessions.push(session);
    }
    let mut run = json!(facts);
    run["sessions"] = json!(sessions);
    folder.write(RUN, format!("{run:#}\n").as_bytes())?;
    Ok(change)
}

/// The last reported step before a session.
const AFTER: &str = "after step";

/// The sessions of a stored `run.json`; older versions wrote the facts of the last one only.
fn sessions(mut run: Value) -> Vec<Provenance> {
    let list = run.as_object_mut().and_then(|run| run.remove("sessions"));
    let one = || serde_json::from_value::<BTreeMap<String, String>>(run).map(|facts| vec![facts]);
    list.map_or_else(one, serde_json::from_value).unwrap_or_default()
}

fn change(last: &Provenance, now: &Provenance) -> Option<Change> {
    let differs = |key: &&str| last.get(*key).is_some_and(|value| now.get(*key) != Some(value));
    let decisive = DECISIVE.iter().copied().filter(differs);
    let all: Vec<&str> = decisive.chain(HARMLESS.iter().copied().filter(differs)).collect();
    let told = |key: &&str| {
        let value = |facts: &Provenance| facts.get(*key).cloned().unwrap_or_else(|| "unknown".into());
        format!("{key} {} instead of {}", value(now), value(last))
    };
    let what = all.iter().map(told).collect::<Vec<_>>().join(", ");
    let bit_equal = !all.iter().any(|key| DECISIVE.contains(key));
    (!all.is_empty()).then_some(Change { what, bit_equal })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pairs: &[(&str, &str)]) -> Provenance {
        pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn the_history_says_what_changed_and_whether_it_matters() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(scratch.path()).expect("a folder");
        let begin = |pairs: &[(&str, &str)]| begin_session(&folder, &facts(pairs)).expect("written");
        let entries = || {
            let text = std::fs::read_to_string(scratch.path().join(RUN)).expect("a file");
            let run: Value = serde_json::from_str(&text).expect("JSON");
            run["sessions"].as_array().expect("a list").len()
        };
        std::fs::write(scratch.path().join(RUN), r#"{ "cpu": "avx512", "threads": "4" }"#)
            .expect("of an older version");
        assert_eq!(begin(&[("cpu", "avx512"), ("threads", "4"), ("device", "cpu")]), None);
        assert_eq!(entries(), 1);
        let change = begin(&[("cpu", "avx512"), ("threads", "2")]).expect("threads");
        assert_eq!(change, Change { what: "threads 2 instead of 4".into(), bit_equal: true });
        let change = begin(&[("cpu", "avx2"), ("threads", "2")]).expect("another CPU");
        assert_eq!(change, Change { what: "cpu avx2 instead of avx512".into(), bit_equal: false });
        assert_eq!(begin(&[("cpu", "avx2"), ("threads", "2")]), None);
        assert_eq!(entries(), 3, "what was before is kept");
    }
}
