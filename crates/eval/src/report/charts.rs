//! The plots of a report.

use bqnco::plot::{Chart, Picture, Scale};

use super::Report;
use crate::results::{MethodInfo, SetInfo};

impl Report {
    /// Per problem, as in the paper's figure: a line per method through its sets; lower and further left is better.
    pub(super) fn gap_against_time(&self) -> Vec<Picture> {
        let chart = |problem: &str| {
            let title = format!("{}: gap against time", problem.to_uppercase());
            let chart = Chart::new(title)
                .caption(format!(
                    "A point per set, from small to large. Gaps below {LEAST_GAP} % are drawn there. \
                     Published times: other machines."
                ))
                .x("seconds per instance", Scale::Log)
                .y("gap, percent", Scale::Log);
            self.with_series(chart, problem, Along::Time)
        };
        self.problems().into_iter().map(chart).collect()
    }

    /// Per problem with several sizes, a line per method over sizes.
    pub(super) fn gap_by_size(&self) -> Vec<Picture> {
        let chart = |problem: &str| {
            let title = format!("{}: gap by size", problem.to_uppercase());
            let chart = Chart::new(title)
                .caption("A point per set, at the size of its largest instance.")
                .x("size", Scale::Log)
                .y("gap, percent", Scale::Linear);
            self.with_series(chart, problem, Along::Size)
        };
        let has_sizes = |problem: &&str| has_several(self.results.sets_of(problem).map(|set| set.size));
        self.problems().into_iter().filter(has_sizes).map(chart).collect()
    }

    /// Per problem, a dot per instance and method: over sizes, or side by side if all have the same size.
    pub(super) fn scatter(&self) -> Vec<Picture> {
        let chart = |problem: &str| {
            let title = format!("{}: every instance", problem.to_uppercase());
            let sizes = self.results.rows.iter().filter(|row| row.problem == problem).map(|row| row.size);
            if !has_several(sizes) {
                return self.instances_in_order(Chart::new(title), problem);
            }
            let mut chart = Chart::new(title)
                .caption("A dot per instance and method; equal sizes are spread a little, methods side by side.")
                .x("size", Scale::Log)
                .y("gap, percent", Scale::Linear);
            let methods: Vec<&MethodInfo> = self.results.methods_of(problem).collect();
            for (k, method) in methods.iter().enumerate() {
                let rows = self.results.rows.iter().filter(|row| row.problem == problem && row.method == method.name);
                let points = rows.enumerate().filter_map(|(n, row)| {
                    // Side by side within 15 percent of the size, and a little apart from each other.
                    let aside = (k as f64 + 0.6 * (n % 8) as f64 / 8.0) / methods.len() as f64 - 0.5;
                    Some([row.size as f64 * (1.0 + 0.15 * aside), row.gap?])
                });
                chart = chart.scatter(&method.name, points.collect());
            }
            chart.draw()
        };
        self.problems().into_iter().map(chart).collect()
    }

    /// A dot per instance and method, in the order of the instances.
    fn instances_in_order(&self, chart: Chart, problem: &str) -> Picture {
        let chart = chart.caption("A dot per instance and method; all instances have the same size.");
        let mut chart = chart.x("instance", Scale::Linear).y("gap, percent", Scale::Linear);
        for method in self.results.methods_of(problem) {
            let rows = self.results.rows.iter().filter(|row| row.problem == problem && row.method == method.name);
            let points = rows.enumerate().filter_map(|(n, row)| Some([(n + 1) as f64, row.gap?]));
            chart = chart.scatter(&method.name, points.collect());
        }
        chart.draw()
    }

    /// Our methods, and beside each the paper's that does the same.
    fn with_series(&self, mut chart: Chart, problem: &str, along: Along) -> Picture {
        let point = |set: &SetInfo, method: &MethodInfo| {
            let found = self.results.summary(&set.name, &method.name)?;
            Some([along.place(set, Some(found.seconds))?, along.height(found.gap?)])
        };
        let mut sets: Vec<&SetInfo> = self.results.sets_of(problem).collect();
        sets.sort_by_key(|set| set.size); // libraries come by name, and a line must not run to and fro
        let methods: Vec<&MethodInfo> = self.results.methods_of(problem).collect();
        for (name, methods) in series(&methods, sets.len()) {
            let points = sets.iter().flat_map(|set| methods.iter().filter_map(|method| point(set, method)));
            chart = chart.line(name, points.collect());
        }
        for name in self.shown_beside(&sets, &methods, along) {
            let points = sets.iter().filter_map(|set| {
                let figure = self.published.figure(&set.name, name)?;
                Some([along.place(set, figure.seconds)?, along.height(figure.percent()?)])
            });
            let points: Vec<[f64; 2]> = points.collect();
            if !points.is_empty() {
                chart = chart.line(format!("{name} (published)"), points);
            }
        }
        chart.draw()
    }

    /// The paper's methods in a chart: against time all of them, as in its figure, else those that do what ours do.
    fn shown_beside(&self, sets: &[&SetInfo], methods: &[&MethodInfo], along: Along) -> Vec<&str> {
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        let has_twin = |name: &str| {
            let twin = |set: &&SetInfo, method: &&MethodInfo| {
                self.published.twin(set, method).is_some_and(|twin| twin.method == name)
            };
            sets.iter().any(|set| methods.iter().any(|method| twin(set, method)))
        };
        let mut all = self.published.methods(&names);
        all.retain(|name| matches!(along, Along::Time) || has_twin(name));
        all
    }
}

/// Whether there are two different sizes.
fn has_several(mut sizes: impl Iterator<Item = usize>) -> bool {
    sizes.next().is_some_and(|first| sizes.any(|size| size != first))
}

/// Methods that share a line: of a single set, a search with several time limits.
fn series<'m>(methods: &[&'m MethodInfo], sets: usize) -> Vec<(String, Vec<&'m MethodInfo>)> {
    let mut series: Vec<(String, Vec<&MethodInfo>)> = Vec::new();
    for method in methods {
        let name = if sets == 1 { without_limit(&method.name) } else { method.name.clone() };
        match series.iter_mut().find(|(other, _)| *other == name) {
            Some((_, methods)) => methods.push(method),
            None => series.push((name, vec![method])),
        }
    }
    series
}

/// `reconstruct (tsp)` of `reconstruct@5 (tsp)`.
fn without_limit(name: &str) -> String {
    let Some((search, rest)) = name.split_once('@') else { return name.into() };
    let network = rest.find(' ').map_or("", |at| &rest[at..]);
    format!("{search}{network}")
}

/// The smallest gap on a logarithmic axis, in percent: what is below, at or beyond the reference is drawn there.
const LEAST_GAP: f64 = 0.01;

/// The horizontal axis.
#[derive(Clone, Copy)]
enum Along {
    Time,
    Size,
}

impl Along {
    fn place(self, set: &SetInfo, seconds: Option<f64>) -> Option<f64> {
        match self {
            Along::Time => seconds,
            Along::Size => Some(set.size as f64),
        }
    }

    /// Where a gap is drawn.
    fn height(self, gap: f64) -> f64 {
        match self {
            Along::Time => gap.max(LEAST_GAP),
            Along::Size => gap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::Published;
    use crate::results::{Machine, Results, Row};

    fn results(gap: f64) -> Results {
        let row = Row {
            set: "TSP100".into(),
            problem: "tsp".into(),
            instance: "one".into(),
            index: 0,
            size: 100,
            method: "greedy".into(),
            model: None,
            checksum: None,
            objective: "length".into(),
            cost: 1.0,
            reference: Some(1.0),
            reference_by: None,
            gap: Some(gap),
            published: None,
            other_settings: None,
            seconds: 0.1,
            wall: 0.1,
            batch: 1,
            seed: 0,
            cut_short: false,
        };
        let method = MethodInfo {
            problem: "tsp".into(),
            name: "greedy".into(),
            search: Some("greedy".into()),
            model: None,
            checksum: None,
            architecture: Some(bqnco::net::Architecture::Transformer),
            candidates: Some(70),
            other_settings: Vec::new(),
            details: String::new(),
        };
        let set =
            SetInfo { name: "TSP100".into(), problem: "tsp".into(), instances: 1, random: true, size: 100, batch: 1 };
        Results {
            format: Results::FORMAT.into(),
            version: Results::VERSION,
            suite: String::new(),
            title: String::new(),
            date: String::new(),
            machine: Machine::here(1),
            seed: 0,
            sets: vec![set],
            methods: vec![method],
            notes: Vec::new(),
            rows: vec![row],
        }
    }

    /// As in the paper's figure: all its methods, and gaps that a linear axis would draw on one line.
    #[test]
    fn against_time_all_methods_are_drawn_on_a_logarithmic_axis() {
        let chart = |gap| {
            let report = Report::new(results(gap), Published::named("table1"), false, Vec::new());
            report.gap_against_time().remove(0).to_svg()
        };
        for name in ["greedy", "Concorde (published)", "POMO augx8 (published)", "BQ-transformer bs16 (published)"] {
            assert!(chart(1.0).contains(&format!(">{name}<")), "{name}");
        }
        assert_ne!(chart(0.3), chart(1.0));
        assert_eq!(chart(-0.2), chart(0.0), "what is not behind the reference is at the lower end");
        assert!(chart(0.0).contains(">0.01<"));
    }
}
