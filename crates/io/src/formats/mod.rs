//! One module per format: `decode` to and `encode` from [`RawInstance`], and the choice among them.

mod csv;
mod json;
mod kp;
mod lines;
mod list;
mod npz;
mod pickle;
mod sol;
mod tour;
mod tsplib;

use crate::field::vocabulary;
use crate::text::{did_you_mean, quoted};
use crate::{Format, Metric, Place, RawInstance, ReadError, Recogniser, Source, WriteError};

/// Detects a format by content; the file's name only breaks ties. The problems' fields are known as column headings.
pub(crate) fn detect(source: &Source, problems: &[Recogniser]) -> Result<Format, ReadError> {
    let bytes = source.bytes();
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return npz::detect(source);
    }
    if pickle::sniff(bytes) {
        return Ok(Format::Pickle);
    }
    let text = source.text();
    if tsplib::sniff(&text) {
        return Ok(if tour::sniff(&text) { Format::Tour } else { Format::Tsplib });
    }
    let checks: [&dyn Fn() -> Option<Format>; 6] = [
        &|| json::sniff(&text),
        &|| sol::sniff(&text).then_some(Format::Sol),
        &|| kp::sniff(&text, source.extension()),
        &|| (kp::sniff_solution(&text) && !csv::is_table(&text)).then_some(Format::ZeroOne),
        &|| lines::sniff(&text).then_some(Format::Lines),
        &|| csv::sniff(&text, source.extension(), &vocabulary(problems)).map(|_| Format::Csv),
    ];
    checks.iter().find_map(|check| check()).ok_or_else(|| unknown(source, &text))
}

fn unknown(source: &Source, text: &str) -> ReadError {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let reason = match line {
        None => "the file is empty".to_string(),
        Some(_) if source.bytes().starts_with(b"\x93NUMPY") => {
            "it is a single numpy array; save arrays by name with numpy.savez(file, coordinates=...)".to_string()
        }
        Some(_) if source.bytes().contains(&0) => "it is neither text nor a numpy archive nor a pickle".to_string(),
        Some(line) => {
            let word = line.split([':', ' ', '\t', ',']).next().unwrap_or(line);
            format!("it begins with {}{}", quoted(line), tsplib::hint(word))
        }
    };
    ReadError::UnknownFormat { file: source.name().to_string(), reason }
}

/// Decodes the instances of a file, which are of one of the problems.
pub(crate) fn decode(source: &Source, format: Format, problems: &[Recogniser]) -> Result<Vec<RawInstance>, ReadError> {
    match format {
        Format::Tsplib => tsplib::decode(source, problems),
        Format::Kp | Format::KpText => kp::decode(source),
        Format::Csv => csv::decode(source, &vocabulary(problems)),
        Format::Json | Format::JsonLines => json::decode(source),
        Format::Npz | Format::NpzBq | Format::NpzRl4co => npz::decode(source, format),
        Format::Pickle => pickle::decode(source, problems),
        Format::Lines => lines::decode(source),
        Format::Tour | Format::Sol | Format::ZeroOne => {
            Err(source.syntax(Place::File, "instances", format!("a solution (format {format})")))
        }
    }
}

/// A solution between a file and a problem.
pub(crate) struct RawSolution {
    /// `Problem::NAME`, if the file states it.
    pub problem: Option<String>,
    /// See [`RawInstance::solution`].
    pub numbers: Option<Vec<usize>>,
    /// The objective that the file claims.
    pub claimed: Option<f64>,
    /// The size of the instance according to the file.
    pub size: Option<Size>,
}

/// How a file of a solution states the size of its instance.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    /// `DIMENSION` of a tour, and its line.
    Dimension(f64, usize),
    /// A zero or a one for every item.
    ZerosAndOnes(usize),
}

/// No list of the nodes 0 and 1 is longer: there, back again.
const LONGEST_OF_TWO: usize = 3;

/// Decodes the solution in a file, of a problem whose solutions usually have this format, with so many nodes or items.
pub(crate) fn decode_solution(
    source: &Source,
    problem: &str,
    native: Format,
    dimension: usize,
) -> Result<RawSolution, ReadError> {
    let text = source.text();
    // A tour read as routes, or routes read as a tour, would be judged by rules that its author did not know.
    let only_native = |found: Format| match found == native {
        true => Ok(()),
        false => Err(other_solution(source, problem, native, found)),
    };
    let is_short = text.split_whitespace().count() <= LONGEST_OF_TWO;
    if kp::sniff_solution(&text) && (native == Format::ZeroOne || !is_short) {
        only_native(Format::ZeroOne)?;
        return kp::decode_solution(source); // a column of them may be mistaken for items
    }
    if list::sniff(&text) {
        return list::decode(source, native, dimension); // may be mistaken for coordinates or items
    }
    match detect(source, &[])? {
        Format::Tour => only_native(Format::Tour).and_then(|()| tour::decode(source)),
        Format::Sol => only_native(Format::Sol).and_then(|()| sol::decode(source)),
        Format::Json => match <[RawInstance; 1]>::try_from(json::decode(source)?) {
            Ok([RawInstance { problem, solution: numbers, cost: claimed, .. }]) => {
                Ok(RawSolution { problem, numbers, claimed, size: None })
            }
            Err(all) => Err(source.syntax(Place::File, "one solution", format!("{}", all.len()))),
        },
        format => Err(source.syntax(Place::File, "a solution", format!("instances (format {format})"))),
    }
}

/// The error for a solution of another kind of problem.
fn other_solution(source: &Source, problem: &str, native: Format, found: Format) -> ReadError {
    let described = |format: Format| match format {
        Format::Tour => "a tour (as in .tour files)",
        Format::Sol => "routes (as in .sol files)",
        Format::ZeroOne => "zeros and ones (one per item)",
        _ => "JSON",
    };
    let expected = format!("a solution of problem {problem}: {}", described(native));
    source.syntax(Place::File, expected, format!("{}; does it belong to another instance?", described(found)))
}

/// Encodes instances of a problem; exactly one if the format holds no more.
pub(crate) fn encode(mut all: Vec<RawInstance>, format: Format, problem: Recogniser) -> Result<Vec<u8>, WriteError> {
    match format {
        Format::Tsplib => tsplib::encode(all.swap_remove(0)),
        Format::Kp | Format::KpText => kp::encode(all.swap_remove(0), format),
        Format::Csv => csv::encode(all.swap_remove(0), &vocabulary(&[problem])),
        Format::Json => Ok(json::encode(&all)),
        Format::JsonLines => Ok(json::encode_lines(&all)),
        Format::Npz | Format::NpzBq | Format::NpzRl4co => npz::encode(all, format),
        Format::Pickle => pickle::encode(all),
        Format::Lines => lines::encode(all),
        Format::Tour | Format::Sol | Format::ZeroOne => {
            Err(WriteError::Unsupported { format, what: "instances".to_string(), instead: Format::Json })
        }
    }
}

/// Encodes a solution given as the numbers of [`RawInstance::solution`], with its objective.
pub(crate) fn encode_solution(raw: RawInstance, format: Format, objective: (&str, f64), items: usize) -> Vec<u8> {
    let numbers = raw.solution.as_deref().unwrap_or_default();
    match format {
        Format::Tour => tour::encode(raw.name.as_deref().unwrap_or_default(), numbers, objective),
        Format::Sol => sol::encode(numbers, objective.1),
        Format::ZeroOne => kp::zeros_and_ones(numbers, items).into_bytes(),
        _ => json::encode(&[raw]),
    }
}

/// The metric with a name.
fn metric(source: &Source, place: Place, name: &str) -> Result<Metric, ReadError> {
    let names = || Metric::ALL.into_iter().map(Metric::name);
    Metric::from_name(name).ok_or_else(|| {
        let expected = format!("a metric among {}", names().collect::<Vec<_>>().join(", "));
        source.syntax(place, expected, quoted(name) + &did_you_mean(name, names()))
    })
}

/// For formats in which distances are never rounded.
fn only_exact(raw: &RawInstance, format: Format) -> Result<(), WriteError> {
    match raw.metric.filter(|metric| *metric != Metric::Exact) {
        Some(metric) => {
            let what = format!("distances of metric {}", metric.name());
            Err(WriteError::Unsupported { format, what, instead: Format::Npz })
        }
        None => Ok(()),
    }
}

/// For formats in which the depot has no prize.
fn only_idle_depot(prizes: &[f64], format: Format) -> Result<(), WriteError> {
    match prizes.first() {
        Some(&prize) if prize != 0.0 => {
            Err(WriteError::Unsupported { format, what: "a prize at the depot".to_string(), instead: Format::Npz })
        }
        _ => Ok(()),
    }
}
