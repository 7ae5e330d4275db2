//! The tables of a report.

use bqnco::plot::number;

use super::{Cell, Report, Table, percent};
use crate::results::{MethodInfo, SetInfo, Summary};

impl Report {
    /// A problem's gaps: sets and methods, ours and the paper's.
    pub(super) fn grid(&self, problem: &str) -> Table {
        let sets: Vec<&SetInfo> = self.results.sets_of(problem).collect();
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        let methods: Vec<&MethodInfo> = self.results.methods_of(problem).collect();
        let theirs = self.published.methods(&names);
        let mut head = vec![Cell::ours(if self.methods_down { "method" } else { "set" }), Cell::ours("instances")];
        head.extend(methods.iter().map(|method| Cell::ours(&method.name)));
        head.extend(theirs.iter().map(|name| Cell::published(format!("{name} (published)"))));
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for set in &sets {
            let mut row = vec![Cell::ours(&set.name), Cell::ours(set.instances.to_string())];
            let summary = |method: &&MethodInfo| self.results.summary(&set.name, &method.name);
            row.extend(
                methods.iter().map(|method| Cell::ours(summary(method).map_or("-".into(), |found| self.short(&found)))),
            );
            row.extend(theirs.iter().map(|name| self.published_cell(&set.name, name)));
            rows.push(row);
        }
        if sets.len() > 1 && !self.methods_down {
            rows.push(self.all(&sets, &methods, &theirs));
        }
        let source = self.published.source(&names).map_or(String::new(), |source| format!("; published: {source}"));
        let what = if self.methods_down { "gap, seconds per instance" } else { "gap" };
        let caption = format!("{}: {what}{source}", problem.to_uppercase());
        let table = Table { caption, head, rows };
        if self.methods_down { table.turned() } else { table }
    }

    /// The line below all sets: the mean over instances of files, over sets of random instances, as in the paper.
    fn all(&self, sets: &[&SetInfo], methods: &[&MethodInfo], theirs: &[&str]) -> Vec<Cell> {
        let count: usize = sets.iter().map(|set| set.instances).sum();
        let mut row = vec![Cell::ours("All"), Cell::ours(count.to_string())];
        for method in methods {
            let summaries: Vec<Summary> =
                sets.iter().filter_map(|set| self.results.summary(&set.name, &method.name)).collect();
            let by_set = sets.iter().all(|set| set.random);
            row.push(Cell::ours(mean_of(&summaries, by_set).map_or("-".into(), |found| self.short(&found))));
        }
        row.extend(theirs.iter().map(|name| self.published_cell("All", name)));
        row
    }

    /// The gap, and the time where the paper's table has times too.
    fn short(&self, summary: &Summary) -> String {
        let gap = with_margin(summary);
        if self.methods_down { format!("{gap}, {} s", seconds(summary.seconds)) } else { gap }
    }

    fn published_cell(&self, set: &str, method: &str) -> Cell {
        let text = self.published.figure(set, method).map(|figure| match figure.time {
            Some(time) => format!("{}, {time}", figure.gap),
            None => figure.gap,
        });
        Cell::published(text.unwrap_or_else(|| "-".into()))
    }

    /// All means, a line per set and method.
    pub(super) fn details(&self) -> Table {
        let head = ["set", "method", "instances", "mean cost", "gap %", "95 %"].map(Cell::ours).into_iter();
        let head = head.chain([Cell::published("published")]);
        let head = head.chain(["s each", "s total", "batch", "reference"].map(Cell::ours));
        let mut rows = Vec::new();
        for set in &self.results.sets {
            let reference = self.results.references(&set.name);
            for method in self.results.methods_of(&set.problem) {
                let Some(found) = self.results.summary(&set.name, &method.name) else { continue };
                let twin = self.published.twin(set, method);
                rows.push(vec![
                    Cell::ours(&set.name),
                    Cell::ours(&method.name),
                    Cell::ours(found.instances.to_string()),
                    Cell::ours(number(found.cost)),
                    Cell::ours(found.gap.map_or("-".into(), percent)),
                    Cell::ours(found.margin.map_or("-".into(), |margin| format!("±{}", percent(margin)))),
                    Cell::published(twin.map_or("-".into(), |twin| match twin.differs[..] {
                        [] => twin.figure.gap,
                        _ => format!("{} (other settings)", twin.figure.gap),
                    })),
                    Cell::ours(seconds(found.seconds)),
                    Cell::ours(seconds(found.total)),
                    Cell::ours(found.batch.to_string()),
                    Cell::ours(&reference),
                ]);
            }
        }
        Table { caption: "Means per set and method".into(), head: head.collect(), rows }
    }

    /// What the methods are.
    pub(super) fn methods(&self) -> Table {
        let head = ["problem", "method", "network", "checksum", "details", "other settings than the paper's"];
        let head = head.map(Cell::ours).into();
        let dash = |text: &Option<String>| Cell::ours(text.as_deref().unwrap_or("-"));
        let network = |method: &MethodInfo| match (&method.model, &method.architecture) {
            (Some(model), Some(architecture)) => Cell::ours(format!("{model} ({architecture})")),
            _ => Cell::ours("-"),
        };
        let rows = self.results.methods.iter().map(|method| {
            let (problem, name) = (Cell::ours(&method.problem), Cell::ours(&method.name));
            let other = Cell::ours(if method.other_settings.is_empty() {
                "-".into()
            } else {
                method.other_settings.join(", ")
            });
            vec![problem, name, network(method), dash(&method.checksum), Cell::ours(&method.details), other]
        });
        Table { caption: "Methods".into(), head, rows: rows.collect() }
    }
}

/// The mean of means, each counting once or as often as it has instances.
fn mean_of(summaries: &[Summary], by_set: bool) -> Option<Summary> {
    let weight = |summary: &Summary| if by_set { 1.0 } else { summary.instances as f64 };
    let mean = |value: &dyn Fn(&Summary) -> Option<f64>| {
        let known = summaries.iter().filter_map(|summary| Some((value(summary)?, weight(summary))));
        let (sum, weights) = known.fold((0.0, 0.0), |(sum, weights), (v, w)| (sum + v * w, weights + w));
        (weights > 0.0).then(|| sum / weights)
    };
    Some(Summary {
        instances: summaries.iter().map(|summary| summary.instances).sum(),
        cost: mean(&|summary| Some(summary.cost))?,
        gap: mean(&|summary| summary.gap),
        margin: None, // of unequal instances
        seconds: mean(&|summary| Some(summary.seconds))?,
        total: summaries.iter().map(|summary| summary.total).sum(),
        batch: summaries.iter().map(|summary| summary.batch).max()?,
    })
}

/// The gap with half the width of its interval; the objective where there is no gap.
fn with_margin(summary: &Summary) -> String {
    let Some(gap) = summary.gap else { return number(summary.cost) };
    let margin = summary.margin.map_or(String::new(), |margin| format!(" ±{}", decimals(margin, 2)));
    format!("{}%{margin}", decimals(gap, 2))
}

/// A time to two digits, seconds at least.
fn seconds(seconds: f64) -> String {
    let magnitude = if seconds > 0.0 { seconds.log10().floor() } else { 0.0 };
    let places = (1.0 - magnitude).clamp(0.0, 6.0) as usize;
    format!("{seconds:.places$}")
}

/// Without a sign on nothing.
fn decimals(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
        text.trim_start_matches('-').into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(instances: usize, gap: f64) -> Summary {
        Summary { instances, cost: 1.0, gap: Some(gap), margin: None, seconds: 1.0, total: 1.0, batch: 1 }
    }

    #[test]
    fn all_counts_instances_of_files_and_sets_of_random_ones() {
        let both = [summary(1, 4.0), summary(3, 0.0)];
        assert_eq!(mean_of(&both, true).and_then(|mean| mean.gap), Some(2.0));
        assert_eq!(mean_of(&both, false).and_then(|mean| mean.gap), Some(1.0));
        assert_eq!(mean_of(&[], true), None);
    }

    #[test]
    fn gaps_of_several_instances_have_an_interval() {
        assert_eq!(with_margin(&summary(1, 4.0)), "4.00%");
        assert_eq!(with_margin(&Summary { margin: Some(0.214), ..summary(9, 4.0) }), "4.00% ±0.21");
        assert_eq!(with_margin(&Summary { gap: None, ..summary(1, 4.0) }), "1");
    }

    #[test]
    fn times_have_two_digits() {
        let cases =
            [(1234.5, "1234"), (12.34, "12"), (1.234, "1.2"), (0.1234, "0.12"), (0.000_042, "0.000042"), (0.0, "0.0")];
        for (value, text) in cases {
            assert_eq!(seconds(value), text);
        }
    }

    #[test]
    fn nothing_has_no_sign() {
        assert_eq!(decimals(-0.001, 2), "0.00");
        assert_eq!(decimals(-0.012, 2), "-0.01");
    }
}
