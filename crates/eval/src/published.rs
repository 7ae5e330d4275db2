//! The paper's figures, from `published.toml`.

use bqnco::net::Architecture;
use serde::Deserialize;

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

    /// The figure of the paper's method that does the same as one of ours.
    pub fn like(&self, set: &str, architecture: Architecture, search: &str) -> Option<Figure> {
        self.find(set, |row| row.is_like(architecture, search))
    }

    /// The paper's method that does the same as one of ours.
    pub fn twin(&self, set: &str, architecture: Architecture, search: &str) -> Option<&str> {
        let tables = self.tables.iter().filter(|table| table.sets.iter().any(|name| name == set));
        let row = tables.flat_map(|table| &table.rows).find(|row| row.is_like(architecture, search));
        row.map(|row| row.method.as_str())
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

impl Row {
    fn is_like(&self, architecture: Architecture, search: &str) -> bool {
        self.like.as_ref().is_some_and(|like| like.network == family(architecture) && like.search == search)
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

    #[test]
    fn figures_are_those_of_the_paper() {
        let table1 = Published::named("table1");
        let figure = table1.like("TSP100", Architecture::Transformer, "greedy").expect("a figure");
        assert_eq!((figure.percent(), figure.time.as_deref()), (Some(0.35), Some("2m")));
        assert_eq!(figure.seconds, Some(120.0 / 10_000.0));
        assert_eq!(table1.like("ATSP1000", Architecture::GcnTransformer, "beam16").expect("a figure").gap, "8.26%");
        assert_eq!(table1.figure("CVRP1000", "SGBS (4,4)").expect("a figure").gap, "151.07%");
        assert_eq!(table1.figure("TSP200", "DIMES RL+S*"), None);
        assert_eq!(table1.like("TSP100", Architecture::Transformer, "greedy:100"), None);
        let tsplib = Published::named("tsplib");
        assert_eq!(tsplib.like("All", Architecture::Transformer, "beam16").expect("a figure").percent(), Some(2.55));
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
