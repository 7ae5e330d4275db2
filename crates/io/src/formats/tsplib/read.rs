//! Reading instances.

use super::document::{Header, Section, TsplibDocument};
use super::matrix;
use crate::raw_instance::as_index;
use crate::text::{did_you_mean, number, quoted};
use crate::{Array, Metric, Place, RawInstance, ReadError, Source};

/// Reads the one instance of a TSPLIB file.
pub(crate) fn decode(source: &Source) -> Result<Vec<RawInstance>, ReadError> {
    let text = source.text();
    let document = TsplibDocument::new(source, &text)?;
    refuse_route_limits(&document)?;
    let nodes = document.dimension()?;
    let mut raw = RawInstance {
        problem: document.header("TYPE").and_then(problem),
        name: document.header("NAME").map(|header| header.value.to_string()).filter(|name| !name.is_empty()),
        cost: document.values("COMMENT").find_map(optimal_value),
        ..RawInstance::default()
    };
    read_distances(&document, nodes, &mut raw)?;
    for (section, name) in [("DEMAND_SECTION", "demands"), ("NODE_SCORE_SECTION", "prizes")] {
        if let Some(section) = document.section(section) {
            raw.insert(name, Array::list(by_node(&document, section, nodes, 1)?));
        }
    }
    for (key, name) in [("CAPACITY", "capacity"), ("COST_LIMIT", "limit")] {
        if let Some(header) = document.header(key) {
            raw.insert(name, Array::scalar(document.number(header)?));
        }
    }
    check_depot(&document)?;
    read_fixed_edge(&document, &mut raw)?;
    Ok(vec![raw])
}

/// `TYPE : TSP (remark)` is problem `tsp`: TSPLIB's types are the problems' names in capitals.
fn problem(header: Header<'_>) -> Option<String> {
    header
        .value
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
}

/// `Optimal value: 784` in a comment of CVRPLIB.
fn optimal_value(comment: &str) -> Option<f64> {
    let (_, value) = comment.split_once("Optimal value:")?;
    number(value.trim_start().split(|c: char| !c.is_ascii_digit() && !".+-eE".contains(c)).next()?)
}

/// Length limits of routes would change the problem, so they must not be ignored.
fn refuse_route_limits(document: &TsplibDocument<'_>) -> Result<(), ReadError> {
    for key in ["DISTANCE", "SERVICE_TIME"] {
        if let Some(header) = document.header(key) {
            let expected = "vehicles limited by capacity only (DISTANCE and SERVICE_TIME are not supported)";
            return Err(document.source().syntax(Place::Line(header.line), expected, format!("`{key}`")));
        }
    }
    Ok(())
}

fn read_distances(document: &TsplibDocument<'_>, nodes: usize, raw: &mut RawInstance) -> Result<(), ReadError> {
    let header = document.needed("EDGE_WEIGHT_TYPE")?;
    let name = header.value.split_whitespace().next().unwrap_or("").to_ascii_uppercase();
    if name == "EXPLICIT" {
        raw.insert("matrix", matrix::read(document, nodes)?);
    } else {
        let metric = Metric::from_name(&name).ok_or_else(|| unknown_metric(document, header))?;
        let width = if metric == Metric::Euc3d { 3 } else { 2 };
        let section = document.needed_section("NODE_COORD_SECTION")?;
        raw.metric = Some(metric);
        raw.insert("coordinates", Array::table(width, by_node(document, section, nodes, width)?));
    }
    let drawn = document.section("DISPLAY_DATA_SECTION");
    let drawn = drawn.or_else(|| document.section("NODE_COORD_SECTION").filter(|_| name == "EXPLICIT"));
    if let Some(section) = drawn {
        raw.insert("places", Array::table(2, by_node(document, section, nodes, 2)?));
    }
    Ok(())
}

fn unknown_metric(document: &TsplibDocument<'_>, header: Header<'_>) -> ReadError {
    let names = || Metric::ALL.into_iter().map(Metric::name).chain(["EXPLICIT"]);
    let expected = format!("an EDGE_WEIGHT_TYPE among {}", names().collect::<Vec<_>>().join(", "));
    let found = quoted(header.value) + &did_you_mean(header.value, names());
    document.source().syntax(Place::Line(header.line), expected, found)
}

/// Lines `node v1 .. v_width`, nodes numbered from 1 (or from 0) in any order: `[nodes, width]`.
fn by_node(
    document: &TsplibDocument<'_>,
    section: Section<'_>,
    nodes: usize,
    width: usize,
) -> Result<Vec<f64>, ReadError> {
    let source = document.source();
    let mut values = vec![0.0; nodes * width];
    let mut seen = vec![false; nodes];
    let (mut first, mut rows) = (1, 0);
    for (line, content) in section.lines().filter(|(_, content)| *content != "-1") {
        let row = split_row(content, width).ok_or_else(|| {
            let numbers = if width == 1 { "1 number".to_string() } else { format!("{width} numbers") };
            source.syntax(Place::Line(line), format!("a node and {numbers} in {}", section.key), quoted(content))
        })?;
        if rows == 0 {
            first = usize::from(row[0] != 0.0);
        }
        let index = as_index(row[0]).and_then(|number| number.checked_sub(first)).filter(|&index| index < nodes);
        let fresh = index.filter(|&index| !std::mem::replace(&mut seen[index], true));
        let Some(index) = fresh else {
            let fault = if index.is_some() { "a second line for node" } else { "node" };
            let expected = format!("each node from {first} to {} once in {}", nodes - 1 + first, section.key);
            return Err(source.syntax(Place::Line(line), expected, format!("{fault} {}", row[0])));
        };
        values[index * width..(index + 1) * width].copy_from_slice(&row[1..=width]);
        rows += 1;
    }
    if rows < nodes {
        let expected = format!("{nodes} lines in {}, one per node", section.key);
        return Err(source.syntax(Place::Line(section.line), expected, format!("{rows}")));
    }
    Ok(values)
}

/// A node number and up to three values.
fn split_row(content: &str, width: usize) -> Option<[f64; 4]> {
    let mut row = [0.0; 4];
    let mut words = content.split_whitespace();
    for slot in &mut row[..=width] {
        *slot = number(words.next()?)?;
    }
    words.next().is_none().then_some(row)
}

/// Only node 1 can be the depot.
fn check_depot(document: &TsplibDocument<'_>) -> Result<(), ReadError> {
    let Some(section) = document.section("DEPOT_SECTION") else { return Ok(()) };
    let depots = section.nodes_until_minus_one(document.source())?;
    if matches!(depots[..], [] | [1]) {
        return Ok(());
    }
    let found = depots.iter().take(4).map(usize::to_string).collect::<Vec<_>>().join(", ");
    Err(document.source().syntax(Place::Line(section.line), "node 1 as the only depot in DEPOT_SECTION", found))
}

fn read_fixed_edge(document: &TsplibDocument<'_>, raw: &mut RawInstance) -> Result<(), ReadError> {
    let Some(section) = document.section("FIXED_EDGES_SECTION") else { return Ok(()) };
    let ends = section.nodes_until_minus_one(document.source())?;
    match ends[..] {
        [] => {}
        [a, b] if a > 0 && b > 0 => {
            raw.insert("origin", Array::scalar((a - 1) as f64));
            raw.insert("destination", Array::scalar((b - 1) as f64));
            raw.insert("fixed_edge", Array::scalar(1.0));
        }
        _ => {
            let found = format!("{} node numbers", ends.len());
            return Err(document.source().syntax(
                Place::Line(section.line),
                "at most one fixed edge (two nodes)",
                found,
            ));
        }
    }
    Ok(())
}
