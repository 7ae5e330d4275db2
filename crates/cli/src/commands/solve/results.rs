//! The output of `bqnco solve`.

use std::time::Duration;

use bqnco::io::Route;
use bqnco::{References, Solution};

use crate::failure::Failure;
use crate::output::{self, figure, percent, route, say};

/// A solved instance with its reference.
pub struct Solved<'a> {
    pub solution: &'a Solution,
    reference: Option<f64>,
    gap: Option<f64>,
    routes: Vec<Route>,
    seed: u64,
}

impl<'a> Solved<'a> {
    pub fn new(solution: &'a Solution, references: &References, seed: u64) -> Self {
        let instance = solution.instance();
        let reference = references.of_instance(instance);
        let gap = reference.and_then(|reference| solution.gap(reference));
        Solved { solution, reference, gap, routes: solution.routes(), seed }
    }

    fn json(&self) -> String {
        let Solved { solution, reference, gap, routes, seed } = self;
        let instance = solution.instance();
        let rebuilt = solution.rebuilt();
        let mut object = serde_json::json!({
            "name": instance.name(),
            "file": instance.label(),
            "problem": instance.problem().as_str(),
            "size": instance.size(),
            "objective": solution.objective(),
            solution.objective(): solution.value(),
            "reference": reference,
            "gap_percent": gap,
            "seconds": solution.seconds(),
            "search": solution.search(),
            "found_by": solution.found_by(),
            "cut_short": solution.cut_short(),
            "optimal": solution.proven_optimal(),
            "start": rebuilt.map(|rebuilt| rebuilt.start),
            "improvements": rebuilt.map(|rebuilt| rebuilt.improvements),
            "passes": solution.passes(),
            "seed": seed,
            "solution": solution.numbers(),
        });
        if !routes.is_empty() {
            object["routes"] = routes.iter().map(route).collect();
        }
        format!("{object}\n")
    }

    fn line(&self) -> String {
        let instance = self.solution.instance();
        let size = instance.sized();
        let objective = self.objective();
        let gap = self.gap.map_or(String::new(), |gap| format!("gap {} %", percent(gap)));
        let (name, problem, seconds) = (instance.name(), instance.problem(), self.solution.seconds());
        let who = self.who();
        format!("{name:<20} {problem:<8} {size:<16} {objective:<28} {gap:<13} {seconds:>8.3} s  {who}\n")
    }

    fn objective(&self) -> String {
        let routes = match self.routes.len() {
            0 => String::new(),
            1 => ", 1 route".into(),
            count => format!(", {count} routes"),
        };
        format!("{} {}{routes}", self.solution.objective(), figure(self.solution.value()))
    }

    /// The method that found it, whether it was cut short, and what an exact expert has proven.
    fn who(&self) -> String {
        let cut = if self.solution.cut_short() { ", cut short" } else { "" };
        let proof = match self.solution.proven_optimal() {
            Some(true) => ", proven optimal",
            Some(false) => ", optimality not proven",
            None => "",
        };
        format!("{}{cut}{proof}", self.solution.found_by())
    }

    /// The caption of a picture of the solution.
    pub fn caption(&self) -> String {
        let gap = self.gap.map_or(String::new(), |gap| format!(", gap {} %", percent(gap)));
        format!("{}{gap} ({})", self.objective(), self.who())
    }
}

/// Prints results as they arrive and a summary of several.
pub struct Results<'a> {
    form: Form,
    references: &'a References,
    gaps: Vec<f64>,
    solved: usize,
    failed: usize,
    given: usize,
    unread: bool,
}

/// The output format of a result.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// A line of text.
    Line,
    /// A JSON object.
    Json,
    /// Nothing: standard output is reserved for the solution.
    Nothing,
}

impl<'a> Results<'a> {
    pub fn new(form: Form, references: &'a References, given: usize) -> Self {
        Results { form, references, gaps: Vec::new(), solved: 0, failed: 0, given, unread: false }
    }

    pub fn references(&self) -> &'a References {
        self.references
    }

    pub fn add(&mut self, solved: &Solved<'_>) -> Result<(), Failure> {
        self.solved += 1;
        self.gaps.extend(solved.gap);
        match self.form {
            Form::Line => output::print(solved.line().as_bytes()),
            Form::Json => output::print_json(&solved.json()),
            Form::Nothing => Ok(()),
        }
    }

    /// Goes on without printing: there is nobody to read it, but files to be written.
    pub fn stop_printing(&mut self) {
        (self.form, self.unread) = (Form::Nothing, true);
    }

    /// Whether some results were not printed because nobody reads them.
    pub fn is_unread(&self) -> bool {
        self.unread
    }

    /// Reports that an instance has no solution; the others continue.
    pub fn fail(&mut self, why: Failure) {
        self.failed += 1;
        why.report();
    }

    /// Whether there is only one instance, so that its failure is that of the command.
    pub fn is_single(&self) -> bool {
        self.given == 1
    }

    /// Whether some instance has no solution.
    pub fn has_failures(&self) -> bool {
        self.failed > 0
    }

    /// Whether an interruption left instances without a result.
    pub fn interrupted(&self) -> bool {
        self.solved + self.failed < self.given
    }

    /// The summary of several instances, with the total time.
    pub fn print_summary(&self, elapsed: Duration) -> Result<(), Failure> {
        let (solved, given) = (self.solved, self.given);
        if self.interrupted() {
            say!("interrupted: {solved} of {given} instances solved");
        }
        if self.references.is_table() && self.gaps.len() < solved {
            say!("note: the table has no optimum for {} instances", solved - self.gaps.len());
        }
        if self.form != Form::Line || solved < 2 {
            return Ok(());
        }
        let gap = match self.gaps.len() {
            0 => String::new(),
            known => format!("mean gap {} % over {known}, ", percent(self.gaps.iter().sum::<f64>() / known as f64)),
        };
        let seconds = elapsed.as_secs_f64();
        let rate = solved as f64 / seconds.max(1e-9);
        output::print(format!("{solved} instances: {gap}{seconds:.2} s, {rate:.1} per second\n").as_bytes())
    }
}
