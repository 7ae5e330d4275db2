//! What `bqnco solve` prints.

use std::time::Duration;

use bqnco::Builtin;
use bqnco::core::Solution;

use super::options::Search;
use super::search::{Rebuilt, Timed};
use crate::failure::Failure;
use crate::input::Named;
use crate::output::{self, figure, percent};
use crate::references::{References, gap};

/// A solved instance.
pub struct Solved<'a, P: Builtin> {
    instance: &'a Named<P>,
    pub solution: Solution<P::Step>,
    objective: f64, // with a person's sign
    reference: Option<f64>,
    gap: Option<f64>,
    seconds: f64,
    cut_short: bool,
    rebuilt: Option<Rebuilt>,
    images: usize,
    search: &'a Search,
}

impl<'a, P: Builtin> Solved<'a, P> {
    /// # Panics
    /// When the search gave something that is not a solution, which nobody must ever see.
    pub fn new(instance: &'a Named<P>, timed: Timed<P::Step>, search: &'a Search, references: &References) -> Self {
        let Timed { solution, seconds, cut_short, rebuilt, images } = timed;
        let record = &instance.record;
        P::check(&record.instance, &solution.steps).expect("a search ends in a solution");
        let objective = P::OBJECTIVE.1 * P::cost(&record.instance, &solution.steps);
        let reference = references.of(&instance.label, record.reference);
        let gap = reference.and_then(|reference| gap::<P>(objective, reference));
        Solved { instance, solution, objective, reference, gap, seconds, cut_short, rebuilt, images, search }
    }

    pub fn name(&self) -> &str {
        &self.instance.name
    }

    pub fn instance(&self) -> &P::Instance {
        &self.instance.record.instance
    }

    fn json(&self) -> String {
        let object = serde_json::json!({
            "name": self.instance.name,
            "file": self.instance.label,
            "problem": P::NAME,
            "size": P::size(self.instance()),
            "objective": P::OBJECTIVE.0,
            P::OBJECTIVE.0: self.objective,
            "reference": self.reference,
            "gap_percent": self.gap,
            "seconds": self.seconds,
            "search": self.search.describe::<P>(self.images),
            "cut_short": self.cut_short,
            "start": self.rebuilt.map(|rebuilt| rebuilt.start),
            "improvements": self.rebuilt.map(|rebuilt| rebuilt.improvements),
            "seed": self.search.seed,
            "solution": P::solution_to(self.instance(), &self.solution.steps),
        });
        format!("{object}\n")
    }

    fn line(&self) -> String {
        let size = format!("{} {}", P::size(self.instance()), P::UNIT);
        let objective = format!("{} {}", P::OBJECTIVE.0, figure(self.objective));
        let gap = self.gap.map_or(String::new(), |gap| format!("gap {} %", percent(gap)));
        let (name, problem, seconds, who) = (self.name(), P::NAME, self.seconds, self.who());
        format!("{name:<20} {problem:<8} {size:<16} {objective:<20} {gap:<13} {seconds:>8.3} s  {who}\n")
    }

    /// Who found it, and whether it was all that was asked for.
    fn who(&self) -> String {
        let mut search = self.search.describe::<P>(self.images);
        if let Some(rebuilt) = self.rebuilt.filter(|rebuilt| rebuilt.start != "policy") {
            search += &format!(" from {}", rebuilt.start);
        }
        if self.cut_short { format!("{search}, cut short") } else { search }
    }
}

/// What a picture of the solution says under its title.
pub fn caption<P: Builtin>(solved: &Solved<'_, P>) -> String {
    let gap = solved.gap.map_or(String::new(), |gap| format!(", gap {} %", percent(gap)));
    format!("{} {}{gap} ({})", P::OBJECTIVE.0, figure(solved.objective), solved.who())
}

/// Prints results as they come and a summary of several.
pub struct Results<'a> {
    form: Form,
    references: &'a References,
    gaps: Vec<f64>,
    solved: usize,
    failed: usize,
    given: usize,
    elapsed: Duration,
}

/// What is printed of a result.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// A line for a person.
    Line,
    /// A JSON object.
    Json,
    /// Nothing: standard output is for the solution itself.
    Nothing,
}

impl<'a> Results<'a> {
    pub fn new(form: Form, references: &'a References) -> Self {
        Results { form, references, gaps: Vec::new(), solved: 0, failed: 0, given: 0, elapsed: Duration::ZERO }
    }

    pub fn references(&self) -> &'a References {
        self.references
    }

    pub fn add<P: Builtin>(&mut self, solved: &Solved<'_, P>) -> Result<(), Failure> {
        self.solved += 1;
        self.gaps.extend(solved.gap);
        match self.form {
            Form::Line => output::print(solved.line().as_bytes()),
            Form::Json => output::print(solved.json().as_bytes()),
            Form::Nothing => Ok(()),
        }
    }

    /// Tells that an instance has no solution; the others go on.
    pub fn fail(&mut self, why: Failure) {
        self.failed += 1;
        why.report();
    }

    /// Whether some instance has no solution.
    pub fn has_failures(&self) -> bool {
        self.failed > 0
    }

    /// So many instances took so long, all communicator.
    pub fn took(&mut self, time: Duration, instances: usize) {
        self.elapsed += time;
        self.given += instances;
    }

    /// Whether somebody did not wait for all instances.
    pub fn interrupted(&self) -> bool {
        self.solved + self.failed < self.given
    }

    pub fn print_summary(&self) -> Result<(), Failure> {
        let (solved, given) = (self.solved, self.given);
        if self.interrupted() {
            eprintln!("interrupted: {solved} of {given} instances solved");
        }
        if self.references.were_given() && self.gaps.len() < solved {
            eprintln!("note: the table knows no optimum of {} instances", solved - self.gaps.len());
        }
        if self.form != Form::Line || solved < 2 {
            return Ok(());
        }
        let gap = match self.gaps.len() {
            0 => String::new(),
            known => format!("mean gap {} % over {known}, ", percent(self.gaps.iter().sum::<f64>() / known as f64)),
        };
        let seconds = self.elapsed.as_secs_f64();
        let rate = solved as f64 / seconds.max(1e-9);
        output::print(format!("{solved} instances: {gap}{seconds:.2} s, {rate:.1} per second\n").as_bytes())
    }
}
