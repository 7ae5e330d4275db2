//! Evaluations through the library: events, cancellation, what is left out.

use std::path::Path;

use bqnco::{CancelToken, Error, ProblemName};
use bqnco_eval::{Baseline, Evaluation, Event, Report, Suite};

fn suite() -> Suite {
    Suite::of_problem(ProblemName::Cvrp).with_sizes(&[8, 12])
}

fn evaluation(folder: &Path) -> Evaluation<'static> {
    Evaluation {
        shipped_networks: false,
        baselines: vec![Baseline::Heuristic, Baseline::Constructions],
        instances: Some(4),
        ..Evaluation::new(folder)
    }
}

/// All that does not depend on the moment.
fn costs(report: &Report) -> Vec<(String, String, f64, Option<f64>)> {
    let rows = report.results().rows.iter();
    rows.map(|row| (row.instance.clone(), row.method.clone(), row.cost, row.gap)).collect()
}

#[test]
fn a_cancelled_evaluation_goes_on_where_it_was() {
    let (whole, parts) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut last = (0, 0);
    let uninterrupted = suite().run(&evaluation(whole.path()), &mut |event| {
        if let Event::Progress { done, total, .. } = event {
            assert!(done >= last.0 && done <= total, "{done} of {total} after {last:?}");
            last = (done, total);
        }
    });
    let uninterrupted = uninterrupted.expect("a report");
    // Four instances of size 8 and three of size 12, by two methods and the references' expert.
    assert_eq!(last, (21, 21));
    let cancel = CancelToken::new();
    let cancelled = Evaluation { cancel: cancel.clone(), ..evaluation(parts.path()) };
    let interrupted = suite().run(&cancelled, &mut |event| {
        if matches!(event, Event::Progress { done: 6, .. }) {
            cancel.cancel();
        }
    });
    assert!(matches!(interrupted, Err(Error::Cancelled { total: 14, .. })));
    let mut tasks = Vec::new();
    let resumed = suite().run(&evaluation(parts.path()), &mut |event| {
        if let Event::Progress { task, .. } = event {
            tasks.push(task.to_string());
        }
    });
    assert_eq!(costs(&resumed.expect("a report")), costs(&uninterrupted));
    assert!(!tasks.iter().any(|task| task == "CVRP8: references"), "references are not computed twice");
}

#[test]
fn what_is_left_out_is_noted_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut notes = Vec::new();
    let report = suite().run(&evaluation(folder.path()), &mut |event| {
        if let Event::Note(note) = event {
            notes.push(note.to_string());
        }
    });
    assert_eq!(notes, ["no network of cvrp: rows of networks are left out"]);
    assert_eq!(report.expect("a report").results().notes, notes);
}

/// The expert's rows and references are left out of problems without an expert, and the rest is there.
#[test]
fn problems_without_an_expert_are_evaluated_without_gaps() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = Suite::of_problem(ProblemName::Pctsp).with_sizes(&[8]);
    let evaluation = Evaluation { instances: Some(3), ..Evaluation::new(folder.path()) };
    let report = suite.run(&evaluation, &mut |_| ()).expect("a report");
    report.write(folder.path()).expect("written");
    let results = report.results();
    assert!(results.notes.iter().any(|note| note.contains("no expert of pctsp: its rows are left out")));
    assert!(results.notes.iter().any(|note| note.contains("have no gap")), "{:?}", results.notes);
    assert!(!results.rows.is_empty() && results.rows.iter().all(|row| row.gap.is_none()));
    assert!(!results.methods.iter().any(|method| method.name.contains("expert")));
}

#[test]
fn settings_that_mean_nothing_are_refused_before_any_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let journals = folder.path().join("journals");
    let nothing = Evaluation { baselines: Vec::new(), ..evaluation(&journals) };
    let external = || Baseline::External { name: "x".into(), command: "true".into() };
    let twice = Evaluation { baselines: vec![external(), external()], ..evaluation(&journals) };
    let elsewhere = Evaluation { device: "abacus".into(), ..evaluation(&journals) };
    let zero = suite().with_sizes(&[0]);
    for (suite, evaluation, reason) in [
        (suite(), nothing, "nothing to evaluate for cvrp"),
        (suite(), twice, "two methods are called `x`"),
        (suite(), elsewhere, "abacus"),
        (zero, evaluation(&journals), "size = 0: expected 1 to"),
    ] {
        let message = suite.run(&evaluation, &mut |_| ()).err().expect(reason).to_string();
        assert!(message.contains(reason), "{message}");
    }
    assert!(!journals.exists(), "nothing was written");
}
