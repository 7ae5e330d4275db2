//! The paper's figures, from `published.toml`.

use bqnco::net::Architecture;
use bqnco::{Decoding, Search, Shortlist};
use serde::Deserialize;

use crate::results::{MethodInfo, SetInfo};

/// A table of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// What suites call it.
    name: String,
    /// Where it stands in the paper.
    source: String,
    sets: Vec<String>,
    #[serde(default)]
    instances: Vec<usize>,
    /// Whether its networks see all candidates, and not the nearest 250.
    #[serde(default)]
    all_candidates: bool,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    method: String,
    like: Option<Like>,
    cells: Vec<String>,
}

/// The method here that does the same as one of the paper's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Like {
    network: Architecture,
    search: String,
}

/// A figure of the paper.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// The gap, as printed.
    pub gap: String,
    /// The time for all instances, as printed.
    pub time: Option<String>,
    /// Seconds per instance.
    pub seconds: Option<f64>,
}

impl Figure {
    /// The gap as a number.
    pub fn percent(&self) -> Option<f64> {
        self.gap.trim_end_matches('%').parse().ok()
    }
}

/// The paper's method that does what one of ours does.
#[derive(Clone, Debug)]
pub(crate) struct Twin<'a> {
    /// What the paper calls it.
    pub method: &'a str,
    pub figure: Figure,
    /// In what our settings differ from its; empty if in nothing.
    pub differs: Vec<String>,
}

/// All that the paper says about the sets of an evaluation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Published {
    tables: Vec<Table>,
}

impl Published {
    /// The tables that a suite calls by this name.
    pub fn named(name: &str) -> Self {
        #[derive(Deserialize)]
        struct All {
            table: Vec<Table>,
        }
        let all: All =
            toml::from_str(include_str!("data/published.toml")).expect("a test has read the published figures");
        Published { tables: all.table.into_iter().filter(|table| table.name == name).collect() }
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Names of the paper's methods for any of these sets, in the paper's order.
    pub fn methods(&self, sets: &[&str]) -> Vec<&str> {
        let tables = self.tables.iter().filter(|table| table.sets.iter().any(|set| sets.contains(&set.as_str())));
        tables.flat_map(|table| table.rows.iter().map(|row| row.method.as_str())).collect()
    }

    /// The figure of one of the paper's methods.
    pub fn figure(&self, set: &str, method: &str) -> Option<Figure> {
        self.find(set, |row| row.method == method)
    }

    /// The paper's method that does what one of ours does, and its figure for a set.
    pub fn twin(&self, set: &SetInfo, method: &MethodInfo) -> Option<Twin<'_>> {
        let search = Asked::parse(method.search.as_deref()?)?;
        let architecture = family(method.architecture?);
        self.tables.iter().find_map(|table| {
            let column = table.sets.iter().position(|name| *name == set.name)?;
            let (row, like) = table.rows.iter().find_map(|row| {
                let like = row.like.as_ref().filter(|like| like.network == architecture)?;
                let asked = Asked::parse(&like.search).filter(|asked| asked.is_like(&search, method.candidates))?;
                Some((row, asked))
            })?;
            let figure = figure(row.cells.get(column)?, table.instances.get(column).copied())?;
            let mut differs = method.other_settings.clone();
            let papers = like
                .candidates(table.all_candidates || architecture == Architecture::Perceiver)
                .map_or(set.size, |k| k.min(set.size));
            let ours = method.candidates.map_or(set.size, |k| k.min(set.size));
            if papers != ours {
                differs.push(format!("{ours} candidates per step"));
            }
            Some(Twin { method: &row.method, figure, differs })
        })
    }

    /// Where in the paper these sets are.
    pub fn source(&self, sets: &[&str]) -> Option<&str> {
        let is_it = |table: &&Table| table.sets.iter().any(|set| sets.contains(&set.as_str()));
        self.tables.iter().find(is_it).map(|table| table.source.as_str())
    }

    fn find(&self, set: &str, is_it: impl Fn(&Row) -> bool) -> Option<Figure> {
        self.tables.iter().find_map(|table| {
            let column = table.sets.iter().position(|name| name == set)?;
            let row = table.rows.iter().find(|row| is_it(row))?;
            figure(row.cells.get(column)?, table.instances.get(column).copied())
        })
    }
}

/// What a search asks of a network.
struct Asked {
    decoding: Decoding,
    symmetries: bool,
    shortlist: Shortlist,
}

impl Asked {
    /// Of a search as it is spelled; none if it is not a construction.
    fn parse(text: &str) -> Option<Self> {
        let Search::Construct { guide, decoding } = text.parse().ok()? else { return None };
        // Whether equal tails are merged is a setting, not another method.
        let decoding = match decoding {
            Decoding::Beam { width, .. } => Decoding::plain_beam(width),
            other => other,
        };
        Some(Asked { decoding, symmetries: guide.symmetries, shortlist: guide.shortlist })
    }

    /// Whether a search of ours does the same: also with as many candidates, where the paper's name says how many.
    fn is_like(&self, ours: &Asked, candidates: Option<usize>) -> bool {
        let same = (self.decoding, self.symmetries) == (ours.decoding, ours.symmetries);
        same && (self.shortlist == Shortlist::Trained || self.shortlist.candidates(None) == candidates)
    }

    /// The paper's candidates per step: all (`None`), or 250 if its name does not say.
    fn candidates(&self, all: bool) -> Option<usize> {
        match self.shortlist {
            Shortlist::Trained if all => None,
            Shortlist::Trained => Some(250),
            given => given.candidates(None),
        }
    }
}

/// What the paper's tables call an architecture: the graph convolutions of the ATSP belong to its transformer.
pub(crate) fn family(architecture: Architecture) -> Architecture {
    match architecture {
        Architecture::Transformer | Architecture::GcnTransformer => Architecture::Transformer,
        Architecture::Perceiver => Architecture::Perceiver,
        Architecture::Approximate => Architecture::Approximate,
    }
}

/// From `0.35% 2m`.
fn figure(cell: &str, instances: Option<usize>) -> Option<Figure> {
    let mut words = cell.split_whitespace();
    let gap = words.next()?.to_string();
    let time = words.next().map(str::to_string);
    let seconds = time.as_deref().and_then(seconds).zip(instances).map(|(total, count)| total / count as f64);
    Some(Figure { gap, time, seconds })
}

/// From `2.5h`, `38m` or `9s`.
fn seconds(time: &str) -> Option<f64> {
    let (number, unit) = time.split_at_checked(time.len().checked_sub(1)?)?;
    let unit = match unit {
        "h" => 3600.0,
        "m" => 60.0,
        "s" => 1.0,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|number| number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, size: usize) -> SetInfo {
        let problem = name.to_lowercase().trim_end_matches(|c: char| c.is_ascii_digit()).to_string();
        SetInfo { name: name.into(), problem, instances: 1, random: true, size, batch: 1 }
    }

    fn method(architecture: Architecture, search: &str, candidates: Option<usize>, other: &[&str]) -> MethodInfo {
        MethodInfo {
            problem: "tsp".into(),
            name: search.into(),
            search: Some(search.into()),
            model: None,
            checksum: None,
            architecture: Some(architecture),
            candidates,
            other_settings: other.iter().map(|text| text.to_string()).collect(),
            details: String::new(),
        }
    }

    #[test]
    fn figures_are_those_of_the_paper() {
        let table1 = Published::named("table1");
        let greedy = method(Architecture::Transformer, "greedy", Some(250), &[]);
        let twin = table1.twin(&set("TSP100", 100), &greedy).expect("a figure");
        assert_eq!((twin.figure.percent(), twin.figure.time.as_deref()), (Some(0.35), Some("2m")));
        assert_eq!((twin.figure.seconds, twin.method), (Some(120.0 / 10_000.0), "BQ-transformer G"));
        let beam = method(Architecture::GcnTransformer, "beam16", Some(250), &[]);
        assert_eq!(table1.twin(&set("ATSP1000", 1000), &beam).expect("a figure").figure.gap, "8.26%");
        assert_eq!(table1.figure("CVRP1000", "SGBS (4,4)").expect("a figure").gap, "151.07%");
        assert_eq!(table1.figure("TSP200", "DIMES RL+S*"), None);
        assert!(table1.twin(&set("TSP100", 100), &method(Architecture::Transformer, "beam4", None, &[])).is_none());
        let tsplib = Published::named("tsplib");
        let all = tsplib.twin(&set("All", 9), &method(Architecture::Transformer, "beam16", Some(250), &[]));
        assert_eq!(all.expect("a figure").figure.percent(), Some(2.55));
    }

    /// However the search is spelled, its settings decide whether it is the paper's.
    #[test]
    fn other_settings_are_told() {
        let table1 = Published::named("table1");
        let differs = |size: usize, search: &str, candidates: Option<usize>, other: &[&str]| {
            let method = method(Architecture::Transformer, search, candidates, other);
            table1.twin(&set(&format!("TSP{size}"), size), &method).expect("a figure").differs
        };
        assert!(differs(1000, "greedy", Some(250), &[]).is_empty());
        assert!(differs(1000, "greedy:250", Some(250), &[]).is_empty());
        assert!(differs(1000, "plain-beam16:250", Some(250), &[]).is_empty());
        assert!(differs(200, "greedy:all", None, &[]).is_empty(), "250 of 200 are all");
        assert_eq!(differs(1000, "greedy:all", None, &[]), ["1000 candidates per step"]);
        assert_eq!(differs(1000, "greedy", Some(70), &["network"]), ["network", "70 candidates per step"]);
        let kp = Published::named("kp");
        let set = set("N=500, C=10", 500);
        for (candidates, exact) in [(None, true), (Some(250), false)] {
            let method = method(Architecture::Transformer, "greedy", candidates, &[]);
            assert_eq!(kp.twin(&set, &method).expect("a figure").differs.is_empty(), exact);
        }
        let (knn, tsp1000) = (Published::named("knn"), self::set("TSP1000", 1000));
        let twin = |search: &str, candidates| {
            let method = method(Architecture::Transformer, search, candidates, &[]);
            knn.twin(&tsp1000, &method).map(|twin| (twin.method.to_string(), twin.differs.len()))
        };
        assert_eq!(twin("greedy:500", Some(500)), Some(("greedy, 500 KNNs".into(), 0)));
        assert_eq!(twin("greedy:100", Some(100)), None);
    }

    #[test]
    fn every_row_has_a_cell_per_set_and_every_cell_can_be_read() {
        for suite in ["table1", "tsplib", "cvrplib", "kp", "knn", "approximate"] {
            let published = Published::named(suite);
            assert!(!published.tables.is_empty(), "{suite}");
            for table in &published.tables {
                for row in &table.rows {
                    assert_eq!(row.cells.len(), table.sets.len(), "{suite}, {}", row.method);
                    for cell in row.cells.iter().filter(|cell| !cell.is_empty()) {
                        let figure = figure(cell, Some(1)).expect("a figure");
                        assert!(figure.percent().is_some(), "{cell}");
                        assert_eq!(figure.time.is_some(), figure.seconds.is_some(), "{cell}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_means_of_the_knapsack_table_are_those_of_its_sets() {
        let published = Published::named("kp");
        for method in ["POMO (single traj.)", "POMO (all traj.)", "BQ (greedy)"] {
            let gap = |set: &str| published.figure(set, method).and_then(|figure| figure.percent()).expect("a gap");
            let sets = &published.tables[0].sets;
            let mean = sets[..12].iter().map(|set| gap(set)).sum::<f64>() / 12.0;
            assert!((mean - gap("All")).abs() < 0.02, "{method}: {mean}");
        }
    }
}
