//! Reading instances.

use super::document::{Header, TsplibDocument};
use super::numbering::Numbering;
use super::{keywords, matrix};
use crate::text::{did_you_mean, number, quoted};
use crate::{Array, Metric, Place, RawInstance, ReadError, Recogniser, Source, variants};

/// Reads the one instance of a TSPLIB file.
pub(crate) fn decode(source: &Source, problems: &[Recogniser]) -> Result<Vec<RawInstance>, ReadError> {
    let text = source.text();
    let document = TsplibDocument::new(source, &text)?;
    let problem = document.header("TYPE").map(|header| problem(&document, header, problems)).transpose()?.flatten();
    keywords::check(&document)?;
    let numbering = Numbering::of(&document)?;
    let mut raw = RawInstance {
        problem,
        name: document.header("NAME").map(|header| header.value.to_string()).filter(|name| !name.is_empty()),
        cost: document.values("COMMENT").find_map(optimal_value),
        ..RawInstance::default()
    };
    read_distances(&document, numbering, &mut raw)?;
    for (section, name) in [("DEMAND_SECTION", "demands"), ("NODE_SCORE_SECTION", "prizes")] {
        if let Some(section) = document.section(section) {
            raw.insert(name, Array::list(numbering.by_node(&document, section, 1)?));
        }
    }
    for (key, name) in [("CAPACITY", "capacity"), ("VEHICLES", "vehicles"), ("COST_LIMIT", "limit")] {
        if let Some(header) = document.header(key) {
            raw.insert(name, Array::scalar(document.number(header)?));
        }
    }
    check_depot(&document, numbering.first)?;
    read_fixed_edge(&document, numbering.nodes, &mut raw)?;
    Ok(vec![raw])
}

/// `TYPE : TSP (remark)` is problem `tsp`: TSPLIB's types are the problems' names in capitals.
fn problem(
    document: &TsplibDocument<'_>,
    header: Header<'_>,
    problems: &[Recogniser],
) -> Result<Option<String>, ReadError> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let word = header.value.split(|c| !is_part(c)).next().unwrap_or_default();
    let name = word.to_ascii_lowercase();
    match variants::meaning(&name) {
        Some(meaning) if problems.iter().all(|problem| problem.name != name) => {
            let meaning = if meaning.is_empty() { String::new() } else { format!(" ({meaning})") };
            let reason = format!("problem `{word}`{meaning} is not supported");
            let names: Vec<_> = problems.iter().map(|problem| problem.name).collect();
            let advice = format!("supported: {}", names.join(", "));
            Err(document.source().refused(Place::Line(header.line), reason, advice))
        }
        _ => Ok((!name.is_empty()).then_some(name)),
    }
}

/// `Optimal value: 784` in a comment of CVRPLIB.
fn optimal_value(comment: &str) -> Option<f64> {
    let (_, value) = comment.split_once("Optimal value:")?;
    number(value.trim_start().split(|c: char| !c.is_ascii_digit() && !".+-eE".contains(c)).next()?)
}

fn read_distances(document: &TsplibDocument<'_>, numbering: Numbering, raw: &mut RawInstance) -> Result<(), ReadError> {
    let header = document.needed("EDGE_WEIGHT_TYPE")?;
    let name = header.value.split_whitespace().next().unwrap_or("").to_ascii_uppercase();
    if name == "EXPLICIT" {
        raw.insert("matrix", matrix::read(document, numbering.nodes)?);
    } else {
        let metric = Metric::from_name(&name).ok_or_else(|| unknown_metric(document, header))?;
        let width = if metric == Metric::Euc3d { 3 } else { 2 };
        let section = document.needed_section("NODE_COORD_SECTION")?;
        raw.metric = Some(metric);
        raw.insert("coordinates", Array::table(width, numbering.by_node(document, section, width)?));
    }
    let drawn = document.section("DISPLAY_DATA_SECTION");
    let drawn = drawn.or_else(|| document.section("NODE_COORD_SECTION").filter(|_| name == "EXPLICIT"));
    if let Some(section) = drawn {
        raw.insert("places", Array::table(2, numbering.by_node(document, section, 2)?));
    }
    Ok(())
}

fn unknown_metric(document: &TsplibDocument<'_>, header: Header<'_>) -> ReadError {
    let names = || Metric::ALL.into_iter().map(Metric::name).chain(["EXPLICIT"]);
    let expected = format!("an EDGE_WEIGHT_TYPE among {}", names().collect::<Vec<_>>().join(", "));
    let found = quoted(header.value) + &did_you_mean(header.value, names());
    document.source().syntax(Place::Line(header.line), expected, found)
}

/// Only the first node can be the depot.
fn check_depot(document: &TsplibDocument<'_>, first: usize) -> Result<(), ReadError> {
    let Some(section) = document.section("DEPOT_SECTION") else { return Ok(()) };
    let depots = section.nodes_until_minus_one(document.source())?;
    let (reason, advice) = match depots[..] {
        [] => return Ok(()),
        [depot] if depot == first => return Ok(()),
        [depot] => (
            format!("node {depot} in DEPOT_SECTION: only the first node, {first}, can be the depot"),
            "make it the first node".to_string(),
        ),
        _ => {
            let some = depots.iter().take(4).map(usize::to_string).collect::<Vec<_>>().join(", ");
            (format!("several depots in DEPOT_SECTION ({some}) are not supported"), format!("keep only node {first}"))
        }
    };
    Err(document.source().refused(Place::Line(section.line), reason, advice))
}

/// A tour with a fixed edge is a path between the edge's ends. As in TSPLIB's list of optima (linhp318) and in LKH, the
/// length of the edge does not count.
fn read_fixed_edge(document: &TsplibDocument<'_>, nodes: usize, raw: &mut RawInstance) -> Result<(), ReadError> {
    let Some(section) = document.section("FIXED_EDGES_SECTION") else { return Ok(()) };
    let ends = section.nodes_until_minus_one(document.source())?;
    let (place, is_node) = (Place::Line(section.line), |node| (1..=nodes).contains(&node));
    match ends[..] {
        [] => Ok(()),
        [a, b] if a != b && is_node(a) && is_node(b) => {
            raw.insert("origin", Array::scalar((a - 1) as f64));
            raw.insert("destination", Array::scalar((b - 1) as f64));
            Ok(())
        }
        [a, b] => {
            let expected = format!("two different nodes from 1 to {nodes} in FIXED_EDGES_SECTION");
            Err(document.source().syntax(place, expected, format!("{a} and {b}")))
        }
        _ => {
            let reason = format!("{} node numbers in FIXED_EDGES_SECTION: one fixed edge is supported", ends.len());
            Err(document.source().refused(place, reason, "delete the others to solve without them"))
        }
    }
}
