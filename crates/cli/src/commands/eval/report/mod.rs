//! The report: the same content as Markdown and as a page for browsers.

mod charts;
mod html;
mod markdown;
mod tables;

use std::path::Path;

use bqnco::plot::Picture;

use super::published::Published;
use super::results::Results;
use crate::failure::Failure;
use crate::output;

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
pub struct Table {
    pub caption: String,
    pub head: Vec<Cell>,
    pub rows: Vec<Vec<Cell>>,
}

/// A cell, and whether the paper says so rather than we.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    pub text: String,
    pub published: bool,
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

/// Writes the four files of a report; gives the summary that people see at the end of the command.
pub fn write(
    folder: &Path,
    results: &Results,
    published: &Published,
    methods_down: bool,
    solutions: Vec<Picture>,
) -> Result<String, Failure> {
    let report = Report { results, published, methods_down };
    let document = report.document(solutions);
    output::write(&folder.join("results.json"), &results.json()?)?;
    output::write(&folder.join("results.csv"), &results.csv()?)?;
    output::write(&folder.join("report.md"), markdown::render(&document).as_bytes())?;
    output::write(&folder.join("report.html"), html::render(&document).as_bytes())?;
    for (problem, chart) in report.problems().into_iter().zip(report.gap_against_time()) {
        output::write_picture(&folder.join(format!("gap-time-{problem}.svg")), &chart)?;
    }
    Ok(markdown::aligned(&report.details()))
}

/// Results beside what the paper says.
struct Report<'a> {
    results: &'a Results,
    published: &'a Published,
    methods_down: bool,
}

impl Report<'_> {
    fn document(&self, solutions: Vec<Picture>) -> Document {
        let results = self.results;
        let machine = &results.machine;
        let processes =
            if machine.processes > 1 { format!("{} processes, ", machine.processes) } else { String::new() };
        let lead = vec![
            format!(
                "bqnco {}, {}, {} ({processes}{} threads, {}), seed {}.",
                machine.bqnco, results.date, machine.cpu, machine.threads, machine.system, results.seed
            ),
            "Gaps are means over instances, in percent behind the reference; positive is worse. Seconds are wall clock per \
             instance. What is marked as published is printed in Drakulic et al. (NeurIPS 2023): other instances of the \
             same kind, other machines (one V100 for networks), times for all instances of the set."
                .into(),
        ];
        let mut sections: Vec<Section> = vec![self.overview()];
        let charts = self.gap_against_time().into_iter().chain(self.gap_by_size()).chain(self.scatter());
        sections.push(Section { title: "Plots".into(), pictures: charts.collect(), ..Section::default() });
        if !solutions.is_empty() {
            let text =
                vec!["Of each problem, an instance in the middle and the worst one, by the first method's gap.".into()];
            sections.push(Section { title: "Solutions".into(), text, pictures: solutions, ..Section::default() });
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
