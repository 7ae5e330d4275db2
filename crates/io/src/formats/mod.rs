//! One module per format: `decode` to and `encode` from [`Fields`], and the choice among them.

pub(crate) mod tour;
pub(crate) mod tsplib;

use crate::text::quoted;
use crate::{Fields, Format, Place, ReadError, Source, WriteError};

/// Tells a format by content. The file's name only breaks ties.
pub(crate) fn detect(source: &Source) -> Result<Format, ReadError> {
    let text = source.text();
    if tsplib::sniff(&text) {
        return Ok(if tour::sniff(&text) { Format::Tour } else { Format::Tsplib });
    }
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let reason = match line {
        None => "the file is empty".to_string(),
        Some(line) => {
            let word = line.split([':', ' ', '\t']).next().unwrap_or(line);
            format!("it begins with {}{}", quoted(line), tsplib::hint(word))
        }
    };
    Err(ReadError::UnknownFormat { file: source.name().to_string(), reason })
}

/// Decodes the instances of a file.
pub(crate) fn decode(source: &Source, format: Format, _problem: Option<&str>) -> Result<Vec<Fields>, ReadError> {
    match format {
        Format::Tsplib => tsplib::decode(source),
        _ => Err(source.syntax(Place::File, "instances", format!("a solution ({format})"))),
    }
}

/// Decodes the solution in a file.
pub(crate) fn decode_solution(source: &Source) -> Result<Fields, ReadError> {
    match detect(source)? {
        Format::Tour => tour::decode(source),
        format => Err(source.syntax(Place::File, "a solution", format!("instances ({format})"))),
    }
}

/// Encodes instances; a single one where the format holds no more.
pub(crate) fn encode(mut all: Vec<Fields>, format: Format) -> Result<Vec<u8>, WriteError> {
    match format {
        Format::Tsplib => tsplib::encode(all.swap_remove(0)),
        _ => Err(WriteError::Unsupported { format, what: "instances".into(), instead: Format::Json }),
    }
}
