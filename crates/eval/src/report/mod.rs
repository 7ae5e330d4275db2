//! The report: the same content as Markdown and as a page for browsers.

mod charts;
mod html;
mod markdown;
mod tables;

use std::path::Path;

use bqnco::Result;
use bqnco::io::write_atomically;
use bqnco::plot::Picture;

use crate::file_error;
use crate::published::Published;
use crate::results::Results;

/// What a report says.
struct Document {
    title: String,
    /// Sentences below the title.
    lead: Vec<String>,
    sections: Vec<Section>,
}

/// A part of a report.
#[derive(Default)]
struct Section {
    title: String,
    text: Vec<String>,
    tables: Vec<Table>,
    /// Shown in the page only.
    pictures: Vec<Picture>,
    /// Sentences that form a list.
    list: Vec<String>,
}

/// A table of text.
#[derive(Clone, Default)]
struct Table {
    caption: String,
    head: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
}

/// A cell, and whether the paper says so rather than we.
#[derive(Clone, Debug, Default, PartialEq)]
struct Cell {
    text: String,
    published: bool,
}

impl Cell {
    fn ours(text: impl Into<String>) -> Self {
        Cell { text: text.into(), published: false }
    }

    fn published(text: impl Into<String>) -> Self {
        Cell { text: text.into(), published: true }
    }
}

impl Table {
    /// Words stand at the left of their column, figures at the right.
    fn holds_words(&self, column: usize) -> bool {
        self.rows.iter().any(|row| row[column].text.starts_with(char::is_alphabetic))
    }

    /// Columns become lines.
    fn turned(self) -> Self {
        let lines: Vec<Vec<Cell>> = std::iter::once(self.head).chain(self.rows).collect();
        let width = lines[0].len();
        let column = |k: usize| lines.iter().map(|line| line.get(k).cloned().unwrap_or_default()).collect::<Vec<_>>();
        let mut columns = (0..width).map(column);
        Table { caption: self.caption, head: columns.next().unwrap_or_default(), rows: columns.collect() }
    }
}

/// Results beside what the paper says.
pub struct Report {
    results: Results,
    published: Published,
    methods_down: bool,
    solutions: Vec<Picture>,
}

impl Report {
    pub(crate) fn new(results: Results, published: Published, methods_down: bool, solutions: Vec<Picture>) -> Self {
        Report { results, published, methods_down, solutions }
    }

    /// Every instance, and what a reader must know.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// All means as a table for terminals, a line per set and method.
    pub fn summary(&self) -> String {
        markdown::aligned(&self.details())
    }

    /// Writes `report.html`, `report.md`, `results.json`, `results.csv`, and a chart `gap-time-PROBLEM.svg` per problem.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<()> {
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.as_ref().join(name);
            write_atomically(&path, bytes).map_err(file_error("cannot write", path))
        };
        bqnco::io::create_folder(folder.as_ref()).map_err(file_error("cannot create", folder.as_ref()))?;
        let document = self.document();
        write("results.json", &self.results.json())?;
        write("results.csv", &self.results.csv())?;
        write("report.md", markdown::render(&document).as_bytes())?;
        write("report.html", html::render(&document).as_bytes())?;
        for (problem, chart) in self.problems().into_iter().zip(self.gap_against_time()) {
            write(&format!("gap-time-{problem}.svg"), chart.to_svg().as_bytes())?;
        }
        Ok(())
    }

    fn document(&self) -> Document {
        let results = &self.results;
        let machine = &results.machine;
        let processes =
            if machine.processes > 1 { format!("{} processes, ", machine.processes) } else { String::new() };
        let lead = vec![
            format!(
                "bqnco {}, {}, {} ({processes}{} threads, {}), seed {}.",
                machine.bqnco, results.date, machine.cpu, machine.threads, machine.system, results.seed
            ),
            "Gaps are means over instances, in percent behind the reference, with the half width of their 95 % interval \
             (Student's t); positive is worse. Seconds are wall clock per \
             instance. What is marked as published is printed in Drakulic et al. (NeurIPS 2023): other instances of the \
             same kind, other machines (one V100 for networks), times for all instances of the set."
                .into(),
        ];
        let mut sections: Vec<Section> = vec![self.overview()];
        let charts = self.gap_against_time().into_iter().chain(self.gap_by_size()).chain(self.scatter());
        sections.push(Section { title: "Plots".into(), pictures: charts.collect(), ..Section::default() });
        if !self.solutions.is_empty() {
            let text =
                vec!["Of each problem, an instance in the middle and the worst one, by the first method's gap.".into()];
            sections.push(Section {
                title: "Solutions".into(),
                text,
                pictures: self.solutions.clone(),
                ..Section::default()
            });
        }
        sections.push(Section { title: "All means".into(), tables: vec![self.details()], ..Section::default() });
        sections.push(self.measurement());
        Document { title: results.title.clone(), lead, sections }
    }

    /// The paper's tables with our figures.
    fn overview(&self) -> Section {
        let tables = self.results.problems().into_iter().map(|problem| self.grid(problem));
        Section { title: "Gaps".into(), tables: tables.collect(), ..Section::default() }
    }

    fn measurement(&self) -> Section {
        let text = vec![
            "References are stored values where the files or a table have them, else solutions of our expert with the \
             rounds that are named. Without a time limit, instances of equal size are solved in batches; the time of an \
             instance is then its share of the batch's. Experts, constructions and external programs have one thread per \
             instance and run on all threads at once."
                .into(),
        ];
        Section {
            title: "How it was measured".into(),
            text,
            tables: vec![self.methods()],
            list: self.results.notes.clone(),
            ..Section::default()
        }
    }

    fn problems(&self) -> Vec<&str> {
        self.results.problems()
    }
}

/// A percentage with three decimals, without a sign on zero.
pub(crate) fn percent(value: f64) -> String {
    format!("{:.3}", if value.abs() < 0.0005 { 0.0 } else { value })
}
