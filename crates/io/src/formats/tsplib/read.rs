//! Reading instances.

use bqnco_problems::Metric;

use super::matrix;
use super::outline::{Header, Section, TsplibDocument};
use crate::problems::node;
use crate::text::{did_you_mean, number, quoted};
use crate::{Array, Place, RawInstance, ReadError, Source};

/// Reads the one instance of a TSPLIB file.
pub(crate) fn decode(source: &Source) -> Result<Vec<RawInstance>, ReadError> {
    let text = source.text();
    let outline = TsplibDocument::new(source, &text)?;
    refuse_route_limits(&outline)?;
    let nodes = outline.dimension()?;
    let mut fields = RawInstance {
        problem: outline.header("TYPE").and_then(problem),
        name: outline.header("NAME").map(|header| header.value.to_string()).filter(|name| !name.is_empty()),
        cost: outline.values("COMMENT").find_map(optimal_value),
        ..RawInstance::default()
    };
    read_distances(&outline, nodes, &mut fields)?;
    for (section, name) in [("DEMAND_SECTION", "demands"), ("NODE_SCORE_SECTION", "prizes")] {
        if let Some(section) = outline.section(section) {
            fields.insert(name, Array::list(by_node(&outline, section, nodes, 1)?));
        }
    }
    for (key, name) in [("CAPACITY", "capacity"), ("COST_LIMIT", "limit")] {
        if let Some(header) = outline.header(key) {
            fields.insert(name, Array::scalar(outline.number(header)?));
        }
    }
    check_depot(&outline)?;
    read_fixed_edge(&outline, &mut fields)?;
    Ok(vec![fields])
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

/// A route's length limit would change the problem, so it must not be overlooked.
fn refuse_route_limits(outline: &TsplibDocument<'_>) -> Result<(), ReadError> {
    for key in ["DISTANCE", "SERVICE_TIME"] {
        if let Some(header) = outline.header(key) {
            let expected = "vehicles limited by capacity only (DISTANCE and SERVICE_TIME are not supported)";
            return Err(outline.source().syntax(Place::Line(header.line), expected, format!("`{key}`")));
        }
    }
    Ok(())
}

fn read_distances(outline: &TsplibDocument<'_>, nodes: usize, fields: &mut RawInstance) -> Result<(), ReadError> {
    let header = outline.needed("EDGE_WEIGHT_TYPE")?;
    let name = header.value.split_whitespace().next().unwrap_or("").to_ascii_uppercase();
    if name == "EXPLICIT" {
        fields.insert("matrix", matrix::read(outline, nodes)?);
    } else {
        let metric = Metric::from_name(&name).ok_or_else(|| unknown_metric(outline, header))?;
        let width = if metric == Metric::Euc3d { 3 } else { 2 };
        let section = outline.needed_section("NODE_COORD_SECTION")?;
        fields.metric = Some(metric);
        fields.insert("coordinates", Array::table(width, by_node(outline, section, nodes, width)?));
    }
    let drawn = outline.section("DISPLAY_DATA_SECTION");
    let drawn = drawn.or_else(|| outline.section("NODE_COORD_SECTION").filter(|_| name == "EXPLICIT"));
    if let Some(section) = drawn {
        fields.insert("places", Array::table(2, by_node(outline, section, nodes, 2)?));
    }
    Ok(())
}

fn unknown_metric(outline: &TsplibDocument<'_>, header: Header<'_>) -> ReadError {
    let names = || Metric::ALL.into_iter().map(Metric::name).chain(["EXPLICIT"]);
    let expected = format!("an EDGE_WEIGHT_TYPE among {}", names().collect::<Vec<_>>().join(", "));
    let found = quoted(header.value) + &did_you_mean(header.value, names());
    outline.source().syntax(Place::Line(header.line), expected, found)
}

/// Lines `node v1 .. v_width`, nodes numbered from 1 (or from 0) in any order: `[nodes, width]`.
fn by_node(
    outline: &TsplibDocument<'_>,
    section: Section<'_>,
    nodes: usize,
    width: usize,
) -> Result<Vec<f64>, ReadError> {
    let source = outline.source();
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
        let index = node(row[0]).and_then(|number| number.checked_sub(first)).filter(|&index| index < nodes);
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

/// Node 1 is the depot in every instance of the problems here.
fn check_depot(outline: &TsplibDocument<'_>) -> Result<(), ReadError> {
    let Some(section) = outline.section("DEPOT_SECTION") else { return Ok(()) };
    let depots = section.nodes_until_minus_one(outline.source())?;
    if matches!(depots[..], [] | [1]) {
        return Ok(());
    }
    let found = depots.iter().take(4).map(usize::to_string).collect::<Vec<_>>().join(", ");
    Err(outline.source().syntax(Place::Line(section.line), "node 1 as the only depot in DEPOT_SECTION", found))
}

fn read_fixed_edge(outline: &TsplibDocument<'_>, fields: &mut RawInstance) -> Result<(), ReadError> {
    let Some(section) = outline.section("FIXED_EDGES_SECTION") else { return Ok(()) };
    let ends = section.nodes_until_minus_one(outline.source())?;
    match ends[..] {
        [] => {}
        [a, b] if a > 0 && b > 0 => {
            fields.insert("origin", Array::scalar((a - 1) as f64));
            fields.insert("destination", Array::scalar((b - 1) as f64));
            fields.insert("fixed_edge", Array::scalar(1.0));
        }
        _ => {
            let found = format!("{} node numbers", ends.len());
            return Err(outline.source().syntax(
                Place::Line(section.line),
                "at most one fixed edge (two nodes)",
                found,
            ));
        }
    }
    Ok(())
}
