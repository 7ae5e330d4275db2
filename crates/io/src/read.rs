//! From bytes to instances and solutions.

use crate::formats::{self, Size};
use crate::recogniser::identify;
use crate::{
    FieldError, Format, InstanceIo, Metric, Place, RawInstance, ReadError, Recogniser, Record, SolutionFile, Source,
};

/// Format and problem of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The format.
    pub format: Format,
    /// `Problem::NAME` of the instances.
    pub problem: &'static str,
}

/// How to read instances.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Use this metric instead of the file's, which must be `EXACT_2D`, `EUC_2D` or `CEIL_2D`: these three differ only in
    /// the rounding.
    pub round: Option<Metric>,
}

/// The decoded instances of a file whose problem is known at run time only.
pub struct Decoded {
    /// Format and problem.
    pub detected: Detected,
    file: String,
    stem: String,
    raw: Vec<RawInstance>,
}

impl Decoded {
    /// The metric of the first instance, if the file has coordinates and states how they become distances.
    pub fn metric(&self) -> Option<Metric> {
        self.raw.first().filter(|raw| raw.has("coordinates")).and_then(|raw| raw.metric)
    }

    /// The instances as those of a problem.
    ///
    /// # Errors
    /// Another problem than the file states, or invalid instances.
    pub fn records<P: InstanceIo>(self, options: &ReadOptions) -> Result<Vec<Record<P>>, ReadError> {
        into_records(&self.file, &self.stem, self.raw, options)
    }
}

/// Decodes a file and detects its format and its problem among those given; [`Decoded::records`] makes instances of it.
///
/// # Errors
/// Unknown formats and problems, broken files. Single instances are not checked yet.
pub fn decode(source: &Source, problems: &[Recogniser]) -> Result<Decoded, ReadError> {
    let format = formats::detect(source, problems)?;
    let raw = formats::decode(source, format, problems)?;
    let first = raw.first().ok_or_else(|| source.syntax(Place::File, "at least one instance", "none"))?;
    let problem =
        identify(first, problems).map_err(|(expected, found)| source.syntax(first.place.clone(), expected, found))?;
    let detected = Detected { format, problem };
    Ok(Decoded { detected, file: source.name().to_string(), stem: source.stem().to_string(), raw })
}

/// Detects format and problem of a file of instances from its content.
///
/// # Errors
/// As [`decode`].
pub fn detect(source: &Source, problems: &[Recogniser]) -> Result<Detected, ReadError> {
    decode(source, problems).map(|decoded| decoded.detected)
}

/// Reads the instances of a problem, in any format.
///
/// # Errors
/// Unknown formats, broken files, other problems, invalid instances.
pub fn read<P: InstanceIo>(source: &Source, options: &ReadOptions) -> Result<Vec<Record<P>>, ReadError> {
    let problem = [Recogniser::of::<P>()];
    let format = formats::detect(source, &problem)?;
    let raw = formats::decode(source, format, &problem)?;
    if raw.is_empty() {
        return Err(source.syntax(Place::File, "at least one instance", "none"));
    }
    into_records(source.name(), source.stem(), raw, options)
}

fn into_records<P: InstanceIo>(
    file: &str,
    stem: &str,
    all: Vec<RawInstance>,
    options: &ReadOptions,
) -> Result<Vec<Record<P>>, ReadError> {
    let single = all.len() == 1;
    let records = all.into_iter().enumerate().map(|(index, mut raw)| {
        let place = raw.place.clone();
        if let Some(found) = raw.problem.as_deref().filter(|problem| *problem != P::NAME) {
            let (expected, found) = (P::NAME.to_string(), found.to_string());
            return Err(ReadError::WrongProblem { file: file.to_string(), place, expected, found });
        }
        let name = if single { stem.to_string() } else { format!("{stem}-{}", index + 1) };
        let rounded = options.round.map_or(Ok(()), |metric| round(&mut raw, metric));
        let record = rounded.and_then(|()| Record::<P>::from_fields(raw, name));
        record.map_err(|source| ReadError::Invalid { file: file.to_string(), place, source })
    });
    records.collect()
}

/// Replaces the metric by one that differs only in the rounding.
fn round(raw: &mut RawInstance, metric: Metric) -> Result<(), FieldError> {
    if raw.has("matrix") {
        return Err(FieldError::Rounding { found: "a matrix".to_string() });
    }
    if raw.has("coordinates") {
        match raw.metric.unwrap_or(Metric::Exact) {
            Metric::Exact | Metric::Euc2d | Metric::Ceil2d if raw.metric.unwrap_or(Metric::Exact) != metric => {
                raw.metric = Some(metric);
                raw.cost = None; // it refers to the other metric
            }
            Metric::Exact | Metric::Euc2d | Metric::Ceil2d => {}
            other => return Err(FieldError::Rounding { found: format!("metric {}", other.name()) }),
        }
    }
    Ok(())
}

/// Reads a solution of an instance: a TSPLIB tour, CVRPLIB routes, zeros and ones, a plain list of nodes, or JSON.
///
/// # Errors
/// Files of instances only, broken files, solutions of other problems, numbers that cannot be read as steps.
pub fn read_solution<P: InstanceIo>(
    source: &Source,
    instance: &P::Instance,
) -> Result<SolutionFile<P::Step>, ReadError> {
    let raw = formats::decode_solution(source, P::NAME, P::NATIVE.solution.0, P::dimension(instance))?;
    if let Some(found) = raw.problem.filter(|problem| problem != P::NAME) {
        let expected = format!("a solution of problem {}", P::NAME);
        let found = format!("one of problem {found}; does it belong to another instance?");
        return Err(source.syntax(Place::File, expected, found));
    }
    raw.size.map_or(Ok(()), |size| check_size::<P>(source, size, instance))?;
    let Some(numbers) = raw.numbers else {
        return Err(source.syntax(Place::File, "a solution", "none"));
    };
    let steps = P::solution_from(instance, &numbers).map_err(|error| source.invalid(Place::File, error))?;
    Ok(SolutionFile { steps, claimed: raw.claimed })
}

/// Refuses a solution of an instance of another size.
fn check_size<P: InstanceIo>(source: &Source, size: Size, instance: &P::Instance) -> Result<(), ReadError> {
    let dimension = P::dimension(instance);
    match size {
        Size::Dimension(stated, line) if stated != dimension as f64 => {
            let expected = format!("a DIMENSION of {dimension}, as that of the instance");
            Err(source.syntax(Place::Line(line), expected, format!("{stated}")))
        }
        Size::ZerosAndOnes(flags) if flags != dimension => {
            let expected = format!("{dimension} zeros and ones, one per item of the instance");
            Err(source.syntax(Place::File, expected, format!("{flags}")))
        }
        _ => Ok(()),
    }
}
