//! Writing instances.

use std::fmt::Write;

use crate::text::{one_line, push_number, push_numbers};
use crate::{Array, Format, Metric, RawInstance, WriteError};

/// Writes the one instance of a TSPLIB file.
pub(crate) fn encode(mut raw: RawInstance) -> Result<Vec<u8>, WriteError> {
    let mut text = String::new();
    let kind = raw.problem.clone().unwrap_or_default().to_ascii_uppercase();
    header(&mut text, "NAME", &one_line(raw.name.as_deref().unwrap_or_default()));
    header(&mut text, "TYPE", &kind);
    if let Some(cost) = raw.cost {
        header(&mut text, "COMMENT", &format!("Optimal value: {}", crate::text::format_number(cost)));
    }
    let (coordinates, matrix, places) = (raw.take("coordinates"), raw.take("matrix"), raw.take("places"));
    let nodes = coordinates.as_ref().or(matrix.as_ref()).map_or(0, |array| array.shape[0]);
    header(&mut text, "DIMENSION", &nodes.to_string());
    for (key, name) in [("CAPACITY", "capacity"), ("VEHICLES", "vehicles"), ("COST_LIMIT", "limit")] {
        if let Some(array) = raw.take(name) {
            header(&mut text, key, &crate::text::format_number(array.values[0]));
        }
    }
    push_distances(&mut text, &raw, &coordinates, &matrix, &places);
    push_fixed_edge(&mut text, &mut raw);
    let mut depot = false;
    for (section, name) in [("DEMAND_SECTION", "demands"), ("NODE_SCORE_SECTION", "prizes")] {
        if let Some(array) = raw.take(name) {
            push_rows(&mut text, section, &array);
            depot = true;
        }
    }
    if depot {
        text.push_str("DEPOT_SECTION\n1\n-1\n");
    }
    text.push_str("EOF\n");
    crate::write::all_written(Format::Tsplib, &raw, Format::Json)?;
    Ok(text.into_bytes())
}

fn header(text: &mut String, key: &str, value: &str) {
    writeln!(text, "{key} : {value}").expect("writing to a string cannot fail");
}

fn push_distances(
    text: &mut String,
    raw: &RawInstance,
    coordinates: &Option<Array>,
    matrix: &Option<Array>,
    places: &Option<Array>,
) {
    match (coordinates, matrix) {
        (Some(coordinates), _) => {
            header(text, "EDGE_WEIGHT_TYPE", raw.metric.unwrap_or(Metric::Exact).name());
            if places.is_some() {
                header(text, "DISPLAY_DATA_TYPE", "TWOD_DISPLAY");
            }
            push_rows(text, "NODE_COORD_SECTION", coordinates);
        }
        (None, Some(matrix)) => {
            header(text, "EDGE_WEIGHT_TYPE", "EXPLICIT");
            header(text, "EDGE_WEIGHT_FORMAT", "FULL_MATRIX");
            if places.is_some() {
                header(text, "DISPLAY_DATA_TYPE", "TWOD_DISPLAY");
            }
            text.push_str("EDGE_WEIGHT_SECTION\n");
            for row in matrix.values.chunks(matrix.shape[1]) {
                push_numbers(text, " ", row.iter().copied());
                text.push('\n');
            }
        }
        (None, None) => {}
    }
    if let Some(places) = places {
        push_rows(text, "DISPLAY_DATA_SECTION", places);
    }
}

/// A path as a tour with a fixed edge between its ends, whose length does not count. An ATSP's would need a direction.
fn push_fixed_edge(text: &mut String, raw: &mut RawInstance) {
    let end = |name| raw.get(name).map(|array| array.values[0]);
    let ends = end("origin").zip(end("destination")).filter(|(origin, destination)| origin != destination);
    let Some((origin, destination)) = ends.filter(|_| raw.problem.as_deref() == Some("tsp")) else { return };
    raw.take("origin");
    raw.take("destination");
    text.push_str("FIXED_EDGES_SECTION\n");
    push_numbers(text, " ", [origin + 1.0, destination + 1.0]);
    text.push_str("\n-1\n");
}

/// One line per node, numbered from 1.
fn push_rows(text: &mut String, section: &str, array: &Array) {
    text.push_str(section);
    text.push('\n');
    let width = array.shape.get(1).copied().unwrap_or(1);
    for (index, row) in array.values.chunks(width).enumerate() {
        push_number(text, (index + 1) as f64);
        text.push(' ');
        push_numbers(text, " ", row.iter().copied());
        text.push('\n');
    }
}
