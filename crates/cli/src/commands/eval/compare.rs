//! `bqnco eval --compare`: two evaluations, instance by instance.

use std::collections::HashMap;
use std::path::Path;

use bqnco::core::Problem;
use bqnco::{ProblemName, dispatch};
use serde_json::json;

use super::results::{Results, Row};
use super::statistics::Paired;
use crate::failure::Failure;
use crate::output;

/// An instance solved by a method: set, instance, which of several of that name, method.
type Key<'a> = (&'a str, &'a str, usize, &'a str);

/// A method on a set in both files.
struct Comparison<'a> {
    set: &'a str,
    method: &'a str,
    paired: Paired,
    unit: Unit,
    /// Instances that got worse, the worst first: name and difference.
    worse: Vec<(&'a str, f64)>,
}

/// What differences are measured in.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// Percentage points of the gap, where both have the same references.
    Points,
    /// Percent of the first cost.
    Cost,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Points => "points of gap",
            Unit::Cost => "% of cost",
        }
    }
}

/// How many instances that got worse are named per method and set.
const NAMED: usize = 10;

/// Prints what has changed from the first file to the second: differences of gaps in percentage points, or of costs in
/// percent of the first where there are no references.
pub fn run(before: &Path, after: &Path, as_json: bool) -> Result<(), Failure> {
    let (a, b) = (Results::read(before)?, Results::read(after)?);
    let (old, new) = (keyed(&a), keyed(&b));
    let comparisons = compare(&a, &old, &new);
    let matched: usize = comparisons.iter().map(|comparison| comparison.paired.count).sum();
    let unmatched = (old.len() - matched, new.len() - matched);
    if as_json {
        return output::print(format!("{:#}\n", to_json(&comparisons, unmatched)).as_bytes());
    }
    output::print(to_text(&comparisons, unmatched, before, after).as_bytes())
}

fn keyed(results: &Results) -> HashMap<Key<'_>, &Row> {
    let mut seen: HashMap<(&str, &str, &str), usize> = HashMap::new();
    let keyed = results.rows.iter().map(|row| {
        let count = seen.entry((&row.set, &row.instance, &row.method)).or_default();
        *count += 1;
        ((row.set.as_str(), row.instance.as_str(), *count, row.method.as_str()), row)
    });
    keyed.collect()
}

fn compare<'a>(a: &'a Results, old: &HashMap<Key<'a>, &Row>, new: &HashMap<Key<'_>, &Row>) -> Vec<Comparison<'a>> {
    let mut comparisons = Vec::new();
    for set in &a.sets {
        for method in a.methods_of(&set.problem) {
            let keys = old.keys().filter(|key| key.0 == set.name && key.3 == method.name);
            let pairs: Vec<_> = keys.filter_map(|key| Some((key, *old.get(key)?, *new.get(key)?))).collect();
            let have_gaps = pairs.iter().all(|(_, before, after)| gaps(before, after).is_some());
            let unit = if have_gaps { Unit::Points } else { Unit::Cost };
            let differences = pairs.iter().filter_map(|(key, before, after)| {
                let difference = match unit {
                    Unit::Points => gaps(before, after).map(|(before, after)| after - before),
                    Unit::Cost => in_cost(before, after),
                };
                Some((key.1, key.2, difference?))
            });
            let mut differences: Vec<(&str, usize, f64)> = differences.collect();
            if differences.is_empty() {
                continue;
            }
            differences.sort_by(|x, y| y.2.total_cmp(&x.2).then(x.0.cmp(y.0)).then(x.1.cmp(&y.1)));
            let paired = Paired::of(&differences.iter().map(|&(.., difference)| difference).collect::<Vec<_>>());
            let worse = differences.iter().filter(|&&(.., difference)| difference > 0.0);
            let worse = worse.map(|&(name, _, difference)| (name, difference)).collect();
            comparisons.push(Comparison { set: &set.name, method: &method.name, paired, unit, worse });
        }
    }
    comparisons
}

/// Gaps to the same reference.
fn gaps(before: &Row, after: &Row) -> Option<(f64, f64)> {
    if before.reference == after.reference { before.gap.zip(after.gap) } else { None }
}

/// By how much the second costs more, in percent of the first.
fn in_cost(before: &Row, after: &Row) -> Option<f64> {
    let problem: ProblemName = before.problem.parse().ok()?;
    let sign = dispatch!(problem, P => P::OBJECTIVE.1);
    (before.cost != 0.0).then(|| 100.0 * sign * (after.cost - before.cost) / before.cost.abs())
}

fn to_json(comparisons: &[Comparison<'_>], unmatched: (usize, usize)) -> serde_json::Value {
    let comparisons: Vec<_> = comparisons
        .iter()
        .map(|Comparison { set, method, paired, unit, worse }| {
            let worse: Vec<_> =
                worse.iter().map(|(name, difference)| json!({ "instance": name, "difference": difference })).collect();
            json!({
                "set": set, "method": method, "pairs": paired.count, "mean_difference": paired.mean, "unit": unit.name(),
                "margin_95": paired.margin, "wilcoxon_p": paired.p_value, "worse": worse,
            })
        })
        .collect();
    json!({ "comparisons": comparisons, "only_in_first": unmatched.0, "only_in_second": unmatched.1 })
}

fn to_text(comparisons: &[Comparison<'_>], unmatched: (usize, usize), before: &Path, after: &Path) -> String {
    let (before, after) = (before.display(), after.display());
    let mut text = format!("{after} minus {before}; positive is worse\n");
    text += "interval: 95 %, Student's t; p: Wilcoxon's signed-rank test, two-sided\n\n";
    let width = |length: fn(&Comparison<'_>) -> usize| comparisons.iter().map(length).max().unwrap_or(0).max(6);
    let (w, v) = (width(|c| c.set.chars().count()), width(|c| c.method.chars().count()));
    text += &format!(
        "{:<w$}  {:<v$}  {:>5}  {:>9}  {:>11}  {:<13}  {:>8}  {:>5}\n",
        "set", "method", "pairs", "mean", "interval", "in", "p", "worse"
    );
    for Comparison { set, method, paired, unit, worse } in comparisons {
        let interval = paired.margin.map_or("-".into(), |margin| format!("± {margin:.3}"));
        let Paired { count, mean, p_value, .. } = paired;
        let (unit, worse) = (unit.name(), worse.len());
        text += &format!(
            "{set:<w$}  {method:<v$}  {count:>5}  {mean:>+9.3}  {interval:>11}  {unit:<13}  {p_value:>8.4}  {worse:>5}\n"
        );
    }
    for Comparison { set, method, worse, .. } in comparisons.iter().filter(|comparison| !comparison.worse.is_empty()) {
        text += &format!("\nworse on {set} with {method}:\n");
        for (name, difference) in worse.iter().take(NAMED) {
            text += &format!("  {name}  {difference:+.3}\n");
        }
        if worse.len() > NAMED {
            text += &format!("  and {} more\n", worse.len() - NAMED);
        }
    }
    if unmatched != (0, 0) {
        text += &format!("\nnot compared: {} results only in {before}, {} only in {after}\n", unmatched.0, unmatched.1);
    }
    text
}
