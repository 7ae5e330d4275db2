//! What `bqnco solve` prints.

use std::time::Duration;

use bqnco::Builtin;
use bqnco::core::Solution;

use super::Entry;
use super::search::{Search, Timed};
use crate::failure::Failure;
use crate::output::{self, figure, percent};
use crate::references::gap;

/// A solved instance.
pub struct Solved<'a, P: Builtin> {
    entry: &'a Entry<P>,
    pub solution: Solution<P::Step>,
    objective: f64, // with a person's sign
    gap: Option<f64>,
    seconds: f64,
    search: &'a Search,
}

impl<'a, P: Builtin> Solved<'a, P> {
    /// # Panics
    /// When the search gave something that is not a solution, which nobody must ever see.
    pub fn new(entry: &'a Entry<P>, timed: Timed<P::Step>, search: &'a Search) -> Self {
        let Timed { solution, seconds } = timed;
        P::check(&entry.instance, &solution.steps).expect("a search ends in a solution");
        let objective = P::OBJECTIVE.1 * P::cost(&entry.instance, &solution.steps);
        let gap = entry.reference.and_then(|reference| gap::<P>(objective, reference));
        Solved { entry, solution, objective, gap, seconds, search }
    }

    fn json(&self) -> String {
        let object = serde_json::json!({
            "name": self.entry.name,
            "problem": P::NAME,
            "size": P::size(&self.entry.instance),
            P::OBJECTIVE.0: self.objective,
            "reference": self.entry.reference,
            "gap_percent": self.gap,
            "seconds": self.seconds,
            "search": self.search.describe::<P>(),
            "seed": self.search.seed,
            "solution": P::solution_to(&self.entry.instance, &self.solution.steps),
        });
        format!("{object}\n")
    }

    fn line(&self) -> String {
        let size = format!("{} {}", P::size(&self.entry.instance), P::SIZE);
        let objective = format!("{} {}", P::OBJECTIVE.0, figure(self.objective));
        let gap = self.gap.map_or(String::new(), |gap| format!("gap {} %", percent(gap)));
        let (name, problem, seconds) = (&self.entry.name, P::NAME, self.seconds);
        let search = self.search.describe::<P>();
        format!("{name:<20} {problem:<8} {size:<16} {objective:<20} {gap:<13} {seconds:>8.3} s  {search}\n")
    }
}

/// What a picture of the solution says under its title.
pub fn caption<P: Builtin>(solved: &Solved<'_, P>) -> String {
    let gap = solved.gap.map_or(String::new(), |gap| format!(", gap {} %", percent(gap)));
    let (objective, search) = (P::OBJECTIVE.0, solved.search.describe::<P>());
    format!("{objective} {}{gap} ({search})", figure(solved.objective))
}

/// Prints results as they come and a summary of several.
pub struct Results {
    json: bool,
    gaps: Vec<f64>,
    count: usize,
    elapsed: Duration,
}

impl Results {
    pub fn new(json: bool) -> Self {
        Results { json, gaps: Vec::new(), count: 0, elapsed: Duration::ZERO }
    }

    pub fn add<P: Builtin>(&mut self, solved: &Solved<'_, P>) -> Result<(), Failure> {
        self.count += 1;
        self.gaps.extend(solved.gap);
        let text = if self.json { solved.json() } else { solved.line() };
        output::print(text.as_bytes())
    }

    /// A group of instances took so long, all together.
    pub fn took(&mut self, time: Duration) {
        self.elapsed += time;
    }

    pub fn print_summary(&self) -> Result<(), Failure> {
        if self.json || self.count < 2 {
            return Ok(());
        }
        let gap = match self.gaps.len() {
            0 => String::new(),
            known => format!("mean gap {} % over {known}, ", percent(self.gaps.iter().sum::<f64>() / known as f64)),
        };
        let rate = self.count as f64 / self.elapsed.as_secs_f64().max(1e-9);
        let summary =
            format!("{} instances: {gap}{:.2} s, {rate:.1} per second\n", self.count, self.elapsed.as_secs_f64());
        output::print(summary.as_bytes())
    }
}
