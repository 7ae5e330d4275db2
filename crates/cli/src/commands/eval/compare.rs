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
    /// Instances in both files, whether their difference can be measured or not.
    matched: usize,
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
    /// What the differences of all these pairs can be measured in; a reference of zero has no gap and no say.
    fn of<'a>(pairs: impl Iterator<Item = (&'a Row, &'a Row)>) -> Self {
        let mut others = pairs.filter(|(before, _)| before.reference != Some(0.0)).peekable();
        let has_gaps = others.peek().is_some() && others.all(|(before, after)| gaps(before, after).is_some());
        if has_gaps { Unit::Points } else { Unit::Cost }
    }

    /// By how much the second is worse, if that can be said.
    fn difference(self, before: &Row, after: &Row) -> Option<f64> {
        let difference = match self {
            Unit::Points => gaps(before, after).map(|(before, after)| after - before),
            Unit::Cost => in_cost(before, after),
        };
        let difference = difference.or((before.cost == after.cost).then_some(0.0))?;
        Some(if difference.abs() < NOISE { 0.0 } else { difference })
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Points => "points of gap",
            Unit::Cost => "% of cost",
        }
    }
}

/// Results that are not compared.
struct Left {
    /// Only in the first file.
    first: usize,
    /// Only in the second file.
    second: usize,
    /// In both, but nothing can be said in percent of zero.
    zero: usize,
}

/// Differences below this many percent are rounding errors.
const NOISE: f64 = 1e-7;

/// How many instances that got worse are named per method and set.
const NAMED: usize = 10;

/// Prints what has changed from the first file to the second: differences of gaps in percentage points, or of costs in
/// percent of the first where there are no references.
pub fn run(before: &Path, after: &Path, as_json: bool) -> Result<(), Failure> {
    let (a, b) = (Results::read(before)?, Results::read(after)?);
    let (old, new) = (keyed(&a), keyed(&b));
    let comparisons = compare(&a, &old, &new);
    let matched: usize = comparisons.iter().map(|comparison| comparison.matched).sum();
    let measured: usize = comparisons.iter().map(|comparison| comparison.paired.count).sum();
    let left = Left { first: old.len() - matched, second: new.len() - matched, zero: matched - measured };
    if as_json {
        return output::print(format!("{:#}\n", to_json(&comparisons, &left)).as_bytes());
    }
    output::print(to_text(&comparisons, &left, before, after).as_bytes())
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
            let unit = Unit::of(pairs.iter().map(|&(_, before, after)| (before, after)));
            let difference =
                |(key, before, after): &(&Key<'a>, &Row, &Row)| Some((key.1, key.2, unit.difference(before, after)?));
            let mut differences: Vec<(&str, usize, f64)> = pairs.iter().filter_map(difference).collect();
            if pairs.is_empty() {
                continue;
            }
            differences.sort_by(|x, y| y.2.total_cmp(&x.2).then(x.0.cmp(y.0)).then(x.1.cmp(&y.1)));
            let paired = Paired::of(&differences.iter().map(|&(.., difference)| difference).collect::<Vec<_>>());
            let worse = differences.iter().filter(|&&(.., difference)| difference > 0.0);
            let worse = worse.map(|&(name, _, difference)| (name, difference)).collect();
            let matched = pairs.len();
            comparisons.push(Comparison { set: &set.name, method: &method.name, paired, unit, matched, worse });
        }
    }
    comparisons
}

/// Gaps to the same reference.
fn gaps(before: &Row, after: &Row) -> Option<(f64, f64)> {
    let (a, b) = before.reference.zip(after.reference)?;
    if (a - b).abs() <= NOISE / 100.0 * a.abs() { before.gap.zip(after.gap) } else { None }
}

/// By how much the second costs more, in percent of the first.
fn in_cost(before: &Row, after: &Row) -> Option<f64> {
    let problem: ProblemName = before.problem.parse().ok()?;
    let sign = dispatch!(problem, P => P::OBJECTIVE.1);
    (before.cost != 0.0).then(|| 100.0 * sign * (after.cost - before.cost) / before.cost.abs())
}

fn to_json(comparisons: &[Comparison<'_>], left: &Left) -> serde_json::Value {
    let comparisons: Vec<_> = comparisons
        .iter()
        .map(|Comparison { set, method, paired, unit, worse, .. }| {
            let worse: Vec<_> =
                worse.iter().map(|(name, difference)| json!({ "instance": name, "difference": difference })).collect();
            json!({
                "set": set, "method": method, "pairs": paired.count, "mean_difference": paired.mean, "unit": unit.name(),
                "margin_95": paired.margin, "wilcoxon_p": paired.p_value, "worse": worse,
            })
        })
        .collect();
    let Left { first, second, zero } = left;
    json!({ "comparisons": comparisons, "only_in_first": first, "only_in_second": second, "percent_of_zero": zero })
}

fn to_text(comparisons: &[Comparison<'_>], left: &Left, before: &Path, after: &Path) -> String {
    let (before, after) = (before.display(), after.display());
    let mut text = format!("{after} minus {before}; positive is worse\n");
    text += "interval: 95 %, Student's t; p: Wilcoxon's signed-rank test, two-sided\n\n";
    let width = |length: fn(&Comparison<'_>) -> usize| comparisons.iter().map(length).max().unwrap_or(0).max(6);
    let (w, v) = (width(|c| c.set.chars().count()), width(|c| c.method.chars().count()));
    text += &format!(
        "{:<w$}  {:<v$}  {:>5}  {:>9}  {:>11}  {:<13}  {:>8}  {:>5}\n",
        "set", "method", "pairs", "mean", "interval", "in", "p", "worse"
    );
    for Comparison { set, method, paired, unit, worse, .. } in comparisons {
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
    let Left { first, second, zero } = left;
    if (*first, *second) != (0, 0) {
        text += &format!("\nnot compared: {first} results only in {before}, {second} only in {after}\n");
    }
    if *zero > 0 {
        text += &format!("\nnot measured: {zero} results that differ from zero, of which nothing is a percentage\n");
    }
    text
}
