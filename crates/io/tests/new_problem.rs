//! A problem that this crate knows nothing about, with fields of its own, in the formats that hold any fields.

#![allow(clippy::unwrap_used)]

use bqnco_core::{Infeasible, Problem, SolutionSpace};
use bqnco_io::{
    Array, Field, FieldError, Format, InstanceIo, NativeFormats, RawInstance, ReadOptions, Recogniser, Record, Source,
    decode, read, write,
};

/// Choose jobs, each with a duration and a reward, within a number of hours.
struct Jobs;

#[derive(Clone, Debug, PartialEq)]
struct Instance {
    durations: Vec<f64>,
    rewards: Vec<f64>,
    hours: f64,
}

impl SolutionSpace for Jobs {
    type Instance = Instance;
    type Step = usize;

    fn steps(instance: &Instance) -> Vec<usize> {
        (0..instance.durations.len()).collect()
    }

    fn horizon(instance: &Instance) -> usize {
        instance.durations.len()
    }

    fn cost(instance: &Instance, partial: &[usize]) -> f64 {
        -partial.iter().map(|&job| instance.rewards[job]).sum::<f64>()
    }

    fn check(_: &Instance, _: &[usize]) -> Result<(), Infeasible> {
        Ok(())
    }
}

impl Problem for Jobs {
    const NAME: &'static str = "jobs";
    const OBJECTIVE: (&'static str, f64) = ("reward", -1.0);

    type Tail = ();

    fn whole(_: &Instance) {}

    fn allowed(_: &Instance, (): &()) -> impl Iterator<Item = (usize, usize)> {
        std::iter::empty()
    }

    fn reward(_: &Instance, (): &(), _: usize) -> f64 {
        0.0
    }

    fn advance(_: &Instance, (): &mut (), _: usize) {}

    fn extract(instance: &Instance, (): &()) -> Instance {
        instance.clone()
    }
}

impl InstanceIo for Jobs {
    const NATIVE: NativeFormats = NativeFormats { instance: (Format::Json, "json"), solution: (Format::Json, "json") };
    const FIELDS: &'static [Field] =
        &[Field::list("durations", &["duration", "time"]), Field::list("rewards", &["reward"]), Field::number("hours")];

    fn recognises(raw: &RawInstance) -> bool {
        raw.has("durations")
    }

    fn instance_from(raw: &mut RawInstance) -> Result<Instance, FieldError> {
        Ok(Instance {
            durations: raw.take_list("durations")?.ok_or(FieldError::missing::<Jobs>("`durations`"))?,
            rewards: raw.take_list("rewards")?.ok_or(FieldError::missing::<Jobs>("`rewards`"))?,
            hours: raw.take_number("hours")?.ok_or(FieldError::missing::<Jobs>("`hours`"))?,
        })
    }

    fn instance_to(instance: &Instance, raw: &mut RawInstance) {
        raw.insert("durations", Array::list(instance.durations.clone()));
        raw.insert("rewards", Array::list(instance.rewards.clone()));
        raw.insert("hours", Array::scalar(instance.hours));
    }

    fn solution_from(_: &Instance, numbers: &[usize]) -> Result<Vec<usize>, FieldError> {
        Ok(numbers.to_vec())
    }

    fn solution_to(_: &Instance, steps: &[usize]) -> Vec<usize> {
        steps.to_vec()
    }
}

/// A problem whose instances are a part of those of [`Jobs`]: it accepts them, but has fewer of their fields.
const DURATIONS_ONLY: Recogniser = Recogniser {
    name: "durations",
    fields: &[Field::list("durations", &["duration"])],
    recognises: |raw| raw.has("durations"),
};

#[test]
fn json_csv_and_npz_hold_any_fields() {
    let instance = Instance { durations: vec![2.5, 1.0, 4.0], rewards: vec![3.0, 1.0, 7.0], hours: 5.5 };
    let record =
        Record { solution: Some(vec![2, 1]), reference: Some(8.0), ..Record::<Jobs>::new("a", instance.clone()) };
    for format in [Format::Json, Format::JsonLines, Format::Csv, Format::Npz] {
        let bytes = write::<Jobs>(std::slice::from_ref(&record), format).unwrap();
        let again = read::<Jobs>(&Source::new("jobs", bytes), &ReadOptions::default()).unwrap();
        assert_eq!(again[0].instance, instance, "{format}");
    }
    let csv = String::from_utf8(write::<Jobs>(std::slice::from_ref(&record), Format::Csv).unwrap()).unwrap();
    assert!(csv.contains("# hours = 5.5\n") && csv.contains("duration,reward\n2.5,3\n"), "{csv}");
    let refusal = write::<Jobs>(&[record], Format::Tsplib).unwrap_err().to_string();
    assert_eq!(refusal, "format tsplib cannot hold `durations`; json can");
}

#[test]
fn columns_may_have_any_of_their_names() {
    for header in ["duration,reward", "time,rewards", "Durations,Reward"] {
        let source = Source::new("jobs.csv", format!("# hours = 3\n{header}\n1,2\n3,4\n"));
        let records = read::<Jobs>(&source, &ReadOptions::default()).unwrap();
        assert_eq!(records[0].instance.durations, [1.0, 3.0], "{header}");
    }
    let source = Source::new("jobs.csv", "# huors = 3\nduration,reward\n1,2\n");
    let complaint = read::<Jobs>(&source, &ReadOptions::default()).unwrap_err().to_string();
    let sentence = "jobs.csv, line 1: `huors` is no known key (did you mean `hours`?); known are ";
    assert!(complaint.starts_with(sentence), "{complaint}");
}

#[test]
fn the_problem_with_most_of_the_fields_is_recognised() {
    let jobs = Recogniser::of::<Jobs>();
    let detected = |text: &str, problems: &[Recogniser]| {
        let decoded = decode(&Source::new("f", text), problems);
        decoded.map(|decoded| decoded.detected.problem.to_string()).unwrap_or_else(|error| error.to_string())
    };
    let (all, some) = ("{\"durations\": [1], \"rewards\": [2], \"hours\": 3}", "{\"durations\": [1]}");
    for problems in [[DURATIONS_ONLY, jobs], [jobs, DURATIONS_ONLY]] {
        assert_eq!(detected(all, &problems), "jobs");
        assert_eq!(detected(some, &problems), problems[0].name, "the first in case of a tie");
    }
    assert_eq!(detected("{\"problem\": \"durations\", \"rewards\": [2]}", &[jobs, DURATIONS_ONLY]), "durations");
    assert_eq!(detected(some, &[]), "f: expected the numbers of a known problem, found `durations`");
    assert_eq!(
        detected("{\"problem\": \"job\"}", &[jobs]),
        "f: expected one of the problems jobs, found `job` (did you mean `jobs`?)"
    );
}
