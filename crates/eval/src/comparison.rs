//! Two evaluations, instance by instance.

use std::collections::HashMap;

use bqnco::{Error, Result, gap};
use serde_json::{Value, json};

use crate::results::{MethodInfo, Results, Row};
use crate::statistics::Paired;

/// What has changed from one evaluation to another.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Every method on every set that both have.
    pub differences: Vec<Difference>,
    /// Results that only the first has.
    pub only_in_first: usize,
    /// Results that only the second has.
    pub only_in_second: usize,
    /// Results of both whose difference would be a percentage of zero.
    pub percent_of_zero: usize,
}

/// A method on a set: what has changed.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The set.
    pub set: String,
    /// The method.
    pub method: String,
    /// The second minus the first; positive is worse.
    pub paired: Paired,
    /// What differences are measured in.
    pub unit: Unit,
    /// Instances that got worse, the worst first: name and difference.
    pub worse: Vec<(String, f64)>,
}

/// What differences are measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Percentage points of the gap, where both have the same references.
    Points,
    /// Percent of the first cost.
    Cost,
}

/// An instance solved by a method: set, instance, which of several of that name, method.
type Key<'a> = (&'a str, &'a str, usize, &'a str);

/// Differences below this many percent are rounding errors.
const NOISE: f64 = 1e-7;

/// How many instances that got worse are named per method and set.
const NAMED: usize = 10;

impl Comparison {
    /// Pairs results by set, instance and method. A method of the same name is the same method, and so is the same search
    /// with the same network: `greedy` where there is one network is `greedy (tsp)` where there are two.
    ///
    /// ```
    /// # use bqnco_eval::{Baseline, Comparison, Evaluation, Suite};
    /// # let folder = tempfile::tempdir()?;
    /// # let suite = Suite::named("tsp")?.with_sizes(&[6]);
    /// # let (shipped_networks, baselines, instances) = (false, vec![Baseline::Heuristic], Some(3));
    /// # let evaluation = Evaluation { shipped_networks, baselines, instances, ..Evaluation::new(folder.path()) };
    /// let before = suite.run(&evaluation, &mut |_| ())?;
    /// let after = suite.run(&evaluation, &mut |_| ())?;
    /// let comparison = Comparison::of(before.results(), after.results())?;
    /// assert_eq!(comparison.differences[0].paired.mean, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Evaluations that have no result in common.
    pub fn of(first: &Results, second: &Results) -> Result<Self> {
        let (old, new) = (keyed(first), keyed(second));
        let (mut differences, mut matched) = (Vec::new(), 0);
        for set in &first.sets {
            for method in first.methods_of(&set.problem) {
                let Some(partner) = partner(method, first, second) else { continue };
                let keys = old.keys().filter(|key| key.0 == set.name && key.3 == method.name);
                let pair = |key: &'_ Key<'_>| new.get(&(key.0, key.1, key.2, partner.name.as_str())).copied();
                let pairs: Vec<_> = keys.filter_map(|key| Some((key, *old.get(key)?, pair(key)?))).collect();
                matched += pairs.len();
                if !pairs.is_empty() {
                    differences.push(Difference::of(&set.name, &method.name, &pairs));
                }
            }
        }
        if matched == 0 {
            return Err(nothing_in_common(first, second));
        }
        let measured: usize = differences.iter().map(|difference| difference.paired.count).sum();
        Ok(Comparison {
            differences,
            only_in_first: old.len() - matched,
            only_in_second: new.len() - matched,
            percent_of_zero: matched - measured,
        })
    }

    /// For machines.
    pub fn json(&self) -> Value {
        let Comparison { differences, only_in_first, only_in_second, percent_of_zero } = self;
        let differences: Vec<_> = differences.iter().map(Difference::json).collect();
        json!({
            "comparisons": differences,
            "only_in_first": only_in_first,
            "only_in_second": only_in_second,
            "percent_of_zero": percent_of_zero,
        })
    }

    /// For terminals, with what the two evaluations are called.
    pub fn text(&self, first: &str, second: &str) -> String {
        let mut text = format!("{second} minus {first}; positive is worse\n");
        text += "interval: 95 %, Student's t; p: Wilcoxon's signed-rank test, two-sided\n\n";
        text += &self.table();
        for Difference { set, method, worse, .. } in self.differences.iter().filter(|other| !other.worse.is_empty()) {
            text += &format!("\nworse on {set} with {method}:\n");
            for (name, difference) in worse.iter().take(NAMED) {
                text += &format!("  {name}  {difference:+.3}\n");
            }
            if worse.len() > NAMED {
                text += &format!("  and {} more\n", worse.len() - NAMED);
            }
        }
        let (one, two, zero) = (self.only_in_first, self.only_in_second, self.percent_of_zero);
        if (one, two) != (0, 0) {
            text += &format!("\nnot compared: {one} results only in {first}, {two} only in {second}\n");
        }
        if zero > 0 {
            text +=
                &format!("\nnot measured: {zero} results that differ from zero, of which nothing is a percentage\n");
        }
        text
    }

    fn table(&self) -> String {
        let width = |length: fn(&Difference) -> usize| self.differences.iter().map(length).max().unwrap_or(0).max(6);
        let (w, v) = (width(|d| d.set.chars().count()), width(|d| d.method.chars().count()));
        let mut text = format!(
            "{:<w$}  {:<v$}  {:>5}  {:>9}  {:>11}  {:<13}  {:>8}  {:>5}\n",
            "set", "method", "pairs", "mean", "interval", "in", "p", "worse"
        );
        for Difference { set, method, paired, unit, worse } in &self.differences {
            let interval = paired.margin.map_or("-".into(), |margin| format!("± {margin:.3}"));
            let Paired { count, mean, p_value, .. } = paired;
            let (unit, worse) = (unit.name(), worse.len());
            text += &format!(
                "{set:<w$}  {method:<v$}  {count:>5}  {mean:>+9.3}  {interval:>11}  {unit:<13}  {p_value:>8.4}  {worse:>5}\n"
            );
        }
        text
    }
}

impl Difference {
    fn of(set: &str, method: &str, pairs: &[(&Key<'_>, &Row, &Row)]) -> Self {
        let unit = Unit::of(pairs.iter().map(|&(_, before, after)| (before, after)));
        let measured =
            pairs.iter().filter_map(|(key, before, after)| Some((key.1, key.2, unit.difference(before, after)?)));
        let mut measured: Vec<(&str, usize, f64)> = measured.collect();
        measured.sort_by(|x, y| y.2.total_cmp(&x.2).then(x.0.cmp(y.0)).then(x.1.cmp(&y.1)));
        let paired = Paired::of(&measured.iter().map(|&(.., difference)| difference).collect::<Vec<_>>());
        let worse = measured.iter().filter(|&&(.., difference)| difference > 0.0);
        let worse = worse.map(|&(name, _, difference)| (name.to_string(), difference)).collect();
        Difference { set: set.into(), method: method.into(), paired, unit, worse }
    }

    fn json(&self) -> Value {
        let Difference { set, method, paired, unit, worse } = self;
        let worse: Vec<_> =
            worse.iter().map(|(name, difference)| json!({ "instance": name, "difference": difference })).collect();
        json!({
            "set": set, "method": method, "pairs": paired.count, "mean_difference": paired.mean, "unit": unit.name(),
            "margin_95": paired.margin, "wilcoxon_p": paired.p_value, "worse": worse,
        })
    }
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

    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Points => "points of gap",
            Unit::Cost => "% of cost",
        }
    }
}

/// What the second evaluation calls a method of the first.
fn partner<'r>(method: &MethodInfo, first: &Results, second: &'r Results) -> Option<&'r MethodInfo> {
    let is_same_search = |other: &&MethodInfo| {
        let is_taken = first.methods_of(&method.problem).any(|ours| ours.name == other.name);
        method.checksum.is_some() && !is_taken && (&method.search, &method.checksum) == (&other.search, &other.checksum)
    };
    let mut others = second.methods.iter().filter(|other| other.problem == method.problem);
    let same_name = others.clone().find(|other| other.name == method.name);
    same_name.or_else(|| others.find(is_same_search))
}

fn nothing_in_common(first: &Results, second: &Results) -> Error {
    let listed = |results: &Results| {
        let sets: Vec<&str> = results.sets.iter().map(|set| set.name.as_str()).collect();
        let methods: Vec<&str> = results.methods.iter().map(|method| method.name.as_str()).collect();
        format!("{} by {}", sets.join(", "), methods.join(", "))
    };
    let (one, two) = (listed(first), listed(second));
    Error::Settings(format!("nothing to compare: no instance was solved by the same method in both ({one}; {two})"))
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

/// Gaps to the same reference.
fn gaps(before: &Row, after: &Row) -> Option<(f64, f64)> {
    let (a, b) = before.reference.zip(after.reference)?;
    if (a - b).abs() <= NOISE / 100.0 * a.abs() { before.gap.zip(after.gap) } else { None }
}

/// By how much the second costs more, in percent of the first.
fn in_cost(before: &Row, after: &Row) -> Option<f64> {
    gap(before.problem.parse().ok()?, after.cost, before.cost)
}
