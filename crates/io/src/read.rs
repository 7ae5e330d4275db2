//! From bytes to instances and solutions.

use bqnco_problems::Metric;

use crate::files::record;
use crate::formats;
use crate::problems::identify;
use crate::{FieldError, Files, Format, Place, RawInstance, ReadError, Record, SolutionFile, Source};

/// What a file is.
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
    /// Use this metric instead of the file's, which must be `EXACT_2D`, `EUC_2D` or `CEIL_2D`: only these differ in
    /// nothing but the rounding.
    pub round: Option<Metric>,
}

/// A file's instances before they belong to a problem, for those who must ask first which problem it is.
pub struct Decoded {
    /// What the file is.
    pub detected: Detected,
    file: String,
    stem: String,
    fields: Vec<RawInstance>,
}

impl Decoded {
    /// The metric of the first instance, where the file has coordinates and says how they become distances.
    pub fn metric(&self) -> Option<Metric> {
        self.fields.first().filter(|fields| fields.has("coordinates")).and_then(|fields| fields.metric)
    }

    /// The instances as those of a problem.
    ///
    /// # Errors
    /// Another problem than the file says, or numbers that form no instance of it.
    pub fn records<P: Files>(self, options: &ReadOptions) -> Result<Vec<Record<P>>, ReadError> {
        into_records(&self.file, &self.stem, self.fields, options)
    }
}

/// Decodes a file once and tells format and problem; [`Decoded::records`] then makes instances of it.
///
/// # Errors
/// Everything but what is wrong with single instances.
pub fn decode(source: &Source) -> Result<Decoded, ReadError> {
    let format = formats::detect(source)?;
    let fields = formats::decode(source, format, None)?;
    let first = fields.first().ok_or_else(|| source.syntax(Place::File, "at least one instance", "none"))?;
    let problem = identify(first).map_err(|(expected, found)| source.syntax(first.place.clone(), expected, found))?;
    let detected = Detected { format, problem };
    Ok(Decoded { detected, file: source.name().to_string(), stem: source.stem().to_string(), fields })
}

/// Tells format and problem of a file of instances from its content.
///
/// # Errors
/// As [`decode`].
pub fn detect(source: &Source) -> Result<Detected, ReadError> {
    decode(source).map(|decoded| decoded.detected)
}

/// Reads the instances of a problem, in whatever format they are.
///
/// # Errors
/// Unknown formats, broken files, other problems, numbers that form no instance.
pub fn read<P: Files>(source: &Source, options: &ReadOptions) -> Result<Vec<Record<P>>, ReadError> {
    let format = formats::detect(source)?;
    let fields = formats::decode(source, format, Some(P::FIELDS))?;
    if fields.is_empty() {
        return Err(source.syntax(Place::File, "at least one instance", "none"));
    }
    into_records(source.name(), source.stem(), fields, options)
}

fn into_records<P: Files>(
    file: &str,
    stem: &str,
    all: Vec<RawInstance>,
    options: &ReadOptions,
) -> Result<Vec<Record<P>>, ReadError> {
    let single = all.len() == 1;
    let records = all.into_iter().enumerate().map(|(index, mut fields)| {
        let place = fields.place.clone();
        if let Some(found) = fields.problem.as_deref().filter(|problem| *problem != P::NAME) {
            let (expected, found) = (P::NAME.to_string(), found.to_string());
            return Err(ReadError::WrongProblem { file: file.to_string(), place, expected, found });
        }
        let name = if single { stem.to_string() } else { format!("{stem}-{}", index + 1) };
        let rounded = options.round.map_or(Ok(()), |metric| round(&mut fields, metric));
        let record = rounded.and_then(|()| record::<P>(fields, name));
        record.map_err(|source| ReadError::RawInstance { file: file.to_string(), place, source })
    });
    records.collect()
}

/// Replaces the metric where it differs from the old one in nothing but the rounding.
fn round(fields: &mut RawInstance, metric: Metric) -> Result<(), FieldError> {
    if fields.has("matrix") {
        return Err(FieldError::Rounding { found: "a matrix".to_string() });
    }
    if fields.has("coordinates") {
        match fields.metric.unwrap_or(Metric::Exact) {
            Metric::Exact | Metric::Euc2d | Metric::Ceil2d if fields.metric.unwrap_or(Metric::Exact) != metric => {
                fields.metric = Some(metric);
                fields.cost = None; // it was measured by the other metric
            }
            Metric::Exact | Metric::Euc2d | Metric::Ceil2d => {}
            other => return Err(FieldError::Rounding { found: format!("metric {}", other.name()) }),
        }
    }
    Ok(())
}

/// Reads a solution of an instance: a TSPLIB tour, CVRPLIB routes, zeros and ones, or JSON.
///
/// # Errors
/// Files of instances only, broken files, numbers that cannot be read as steps.
pub fn read_solution<P: Files>(source: &Source, instance: &P::Instance) -> Result<SolutionFile<P::Step>, ReadError> {
    let fields = formats::decode_solution(source)?;
    if let Some(found) = fields.problem.filter(|problem| problem != P::NAME) {
        let (file, place, expected) = (source.name().to_string(), Place::File, P::NAME.to_string());
        return Err(ReadError::WrongProblem { file, place, expected, found });
    }
    let Some(numbers) = fields.solution else {
        return Err(source.syntax(Place::File, "a solution", "none"));
    };
    let steps = P::solution_from(instance, &numbers).map_err(|error| source.fields(Place::File, error))?;
    Ok(SolutionFile { steps, claimed: fields.cost })
}
