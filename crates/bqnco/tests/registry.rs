//! The list of problems: names, dispatch, and files whose problem is detected.

use bqnco::core::random;
use bqnco::io::{Format, ReadOptions, Record, Source, write};
use bqnco::{Builtin, ProblemName, decode, dispatch};

/// Writes a random instance without the problem's name and reads it back as the detected problem.
fn is_detected<P: Builtin>(problem: ProblemName) {
    let record = Record::<P>::new("a", P::generate(6, &mut random(1, &[])));
    let json = String::from_utf8(write::<P>(&[record], Format::Json).expect("JSON holds everything")).expect("text");
    let unnamed = json.replace(&format!("\"problem\": \"{}\",", P::NAME), "");
    assert_ne!(json, unnamed);
    let source = Source::new("a.json", unnamed);
    let decoded = decode(&source).expect("a known problem");
    assert_eq!(decoded.detected.problem.parse(), Ok(problem));
    let records = decoded.records::<P>(&ReadOptions::default()).expect("an instance");
    assert_eq!(P::size(&records[0].instance), P::size(&P::generate(6, &mut random(1, &[]))));
}

#[test]
fn every_problem_is_detected_in_files_that_do_not_name_it() {
    for &problem in ProblemName::ALL {
        dispatch!(problem, P => is_detected::<P>(problem));
    }
}

#[test]
fn names_are_parsed_and_printed() {
    for &problem in ProblemName::ALL {
        assert_eq!(problem.to_string().parse(), Ok(problem));
        assert_eq!(dispatch!(problem, P => P::NAME), problem.as_str());
        assert!(dispatch!(problem, P => P::USUAL_SIZE <= P::LARGEST_SIZE));
        assert!(dispatch!(problem, P => !P::constructions().is_empty()));
    }
    let error = "tps".parse::<ProblemName>().expect_err("no problem");
    assert!(error.to_string().starts_with("unknown problem `tps`; the problems are tsp, "));
}
