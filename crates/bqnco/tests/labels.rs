//! Labels of random instances: resumable, with clear errors.

use bqnco::io::Format;
use bqnco::{CancelToken, Distribution, Error, GeneratedSet, Labeller, ProblemName, write_all};

#[test]
fn interrupted_labelling_resumes_from_its_journal() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = bqnco::journal::beside(&scratch.path().join("labels.npz"));
    for problem in [ProblemName::Tsp, ProblemName::Cvrp, ProblemName::Knapsack] {
        let set = GeneratedSet { seed: 3, ..GeneratedSet::new(problem, 12, 40) };
        let labeller = Labeller::new().rounds(20);
        let whole = labeller.label(&set, 10..40, Some(&path), &mut |_, _| ()).expect("labels");

        // Five labels are complete, and the sixth was being written.
        let journal = std::fs::read_to_string(&path).expect("a journal");
        let lines: Vec<&str> = journal.lines().collect();
        assert_eq!(lines.len(), 31, "settings and labels");
        std::fs::write(&path, format!("{}\n{}", lines[..6].join("\n"), &lines[6][..5])).expect("written");
        let token = CancelToken::new();
        token.cancel();
        let cancelled = labeller.clone().cancel_token(&token).label(&set, 10..40, Some(&path), &mut |_, _| ());
        assert!(matches!(cancelled, Err(Error::Cancelled { done: 5, total: 30 })), "{cancelled:?}");

        let mut told = Vec::new();
        let resumed = labeller.label(&set, 10..40, Some(&path), &mut |done, total| told.push((done, total)));
        let file = |instances: &[_]| write_all(instances, Format::Npz).expect("a dataset");
        assert_eq!(file(&resumed.expect("labels")), file(&whole), "{problem}");
        assert_eq!(told, (5..=30).map(|done| (done, 30)).collect::<Vec<_>>());
        bqnco::journal::remove(&path).expect("removed");
    }
}

/// Between releases versions have the same number, and their experts may differ.
#[test]
fn labels_of_different_experts_are_not_mixed() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = bqnco::journal::beside(&scratch.path().join("labels.npz"));
    let (set, labeller) = (GeneratedSet::new(ProblemName::Tsp, 6, 2), Labeller::new().rounds(5));
    labeller.label(&set, 0..2, Some(&path), &mut |_, _| ()).expect("labels");
    let journal = std::fs::read_to_string(&path).expect("a journal");
    std::fs::write(&path, journal.replacen("\"crc32:", "\"crc32:other", 1)).expect("written");
    let error = labeller.label(&set, 0..2, Some(&path), &mut |_, _| ()).expect_err("another expert").to_string();
    assert!(error.contains("expert"), "{error}");
}

#[test]
fn invalid_sets_are_rejected() {
    let tsp = |size, count| GeneratedSet::new(ProblemName::Tsp, size, count);
    let sacks = |distribution| GeneratedSet { distribution, ..GeneratedSet::new(ProblemName::Knapsack, 10, 1) };
    for (set, words) in [
        (tsp(10, 0), "count = 0"),
        (tsp(0, 1), "size = 0: expected 2 to"),
        (GeneratedSet { varied: true, ..tsp(10, 1) }, "tsp has no parameter to vary"),
        (sacks(Distribution::Ring), "knapsack has no places to spread"),
        (GeneratedSet::new(ProblemName::Pctsp, 10, 1), "pctsp has no built-in expert"),
    ] {
        let error = Labeller::new().label(&set, 0..1, None, &mut |_, _| ()).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn labels_of_one_distribution_are_not_taken_for_those_of_another() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = bqnco::journal::beside(&scratch.path().join("labels.npz"));
    let set = |distribution| GeneratedSet { distribution, ..GeneratedSet::new(ProblemName::Tsp, 8, 3) };
    let label = |distribution| Labeller::new().label(&set(distribution), 0..3, Some(&path), &mut |_, _| ());
    let rings = label(Distribution::Ring).expect("labels");
    let squares = set(Distribution::Uniform).instances(0..3).expect("instances");
    assert_ne!(rings[1].places(), squares[1].places());
    let error = label(Distribution::Uniform).expect_err("a journal of rings");
    assert!(error.to_string().contains("distribution"), "{error}");
    label(Distribution::Ring).expect("nothing is left to do");
}

#[test]
fn solutions_of_the_solver_can_be_labels() {
    let instances = GeneratedSet::new(ProblemName::Op, 10, 2).instances(0..2).expect("instances");
    let solution = bqnco::Solver::new().search(bqnco::Search::greedy()).solve(&instances[0]).expect("a solution");
    let labelled = instances[0].with_solution(&solution).expect("feasible");
    assert_eq!(labelled.reference(), Some(solution.value()));
    assert_eq!(labelled.solution().map(|found| found.numbers()), Some(solution.numbers()));
    let tour = GeneratedSet::new(ProblemName::Tsp, 10, 1).instances(0..1).expect("an instance").remove(0);
    assert!(tour.with_solution(&solution).is_err(), "a solution of another problem");
}

/// A program that visits the nodes in their order labels instances, also of a problem without an expert, by the same journal.
#[cfg(unix)]
#[test]
fn an_external_solver_makes_labels() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = bqnco::journal::beside(&scratch.path().join("labels.npz"));
    let program = scratch.path().join("solver.sh");
    let script = "printf 'TYPE : TOUR\\nTOUR_SECTION\\n1\\n2\\n3\\n4\\n5\\n-1\\nEOF\\n' > \"$2\"\n";
    std::fs::write(&program, script).expect("written");
    let command = format!("sh {} {{instance}} {{solution}}", program.display());
    let set = GeneratedSet::new(ProblemName::Tsp, 5, 4);
    let labeller = Labeller::new().command(&command);
    let labelled = labeller.label(&set, 0..4, Some(&path), &mut |_, _| ()).expect("labels");
    for instance in &labelled {
        assert_eq!(instance.solution().expect("a label").numbers(), [0, 1, 2, 3, 4]);
    }
    // The journal is that of this solver: resumed by it, refused for others.
    std::fs::remove_file(&program).expect("removed");
    labeller.label(&set, 0..4, Some(&path), &mut |_, _| ()).expect("nothing is left to do");
    let other = Labeller::new().label(&set, 0..4, Some(&path), &mut |_, _| ()).expect_err("other settings");
    assert!(other.to_string().contains("rounds"), "{other}");
    let failed = labeller.label(&set, 0..4, None, &mut |_, _| ()).expect_err("the program is gone");
    assert!(failed.to_string().contains("`sh` failed"), "{failed}");
}
