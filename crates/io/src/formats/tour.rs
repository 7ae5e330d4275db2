//! TSPLIB tours: `.tour`, `.opt.tour`. Also the routes of OPLib, which visit some of the nodes.

use std::fmt::Write;

use super::tsplib::TsplibDocument;
use super::{RawSolution, Size};
use crate::text::{format_number, number, one_line};
use crate::{Place, ReadError, Source};

/// Nodes from 0 in the order of the file, and the length or score it claims.
pub(crate) fn decode(source: &Source) -> Result<RawSolution, ReadError> {
    let text = source.text();
    let document = TsplibDocument::new(source, &text)?;
    let section = match document.section("NODE_SEQUENCE_SECTION") {
        Some(section) => section,
        None => document.needed_section("TOUR_SECTION")?,
    };
    let mut nodes = section.nodes_until_minus_one(source)?;
    for node in &mut nodes {
        let Some(index) = node.checked_sub(1) else {
            return Err(source.syntax(Place::Line(section.line), "nodes numbered from 1", "node 0"));
        };
        *node = index;
    }
    let comments = document.values("COMMENT").find_map(claimed);
    let score = document.header("ROUTE_SCORE").map(|header| document.number(header)).transpose()?;
    let mut size = None;
    if let Some(header) = document.header("DIMENSION") {
        let dimension = document.number(header)?;
        // A route through some of the nodes may state their number instead of the instance's.
        size = (dimension != nodes.len() as f64).then_some(Size::Dimension(dimension, header.line));
    }
    Ok(RawSolution { problem: None, numbers: Some(nodes), claimed: comments.or(score), size })
}

/// Whether a TSPLIB text is a tour.
pub(crate) fn sniff(text: &str) -> bool {
    let keyword = |line: &str| {
        let line = line.trim_start();
        ["TOUR_SECTION", "NODE_SEQUENCE_SECTION"]
            .iter()
            .any(|key| line.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key)))
    };
    text.lines().any(keyword)
}

/// `Length = 426` (LKH), `length 426`, `prize 31`, `cost 3.5`.
fn claimed(comment: &str) -> Option<f64> {
    let (word, value) = comment.trim().split_once([' ', '='])?;
    let known = ["length", "prize", "cost"].iter().any(|known| word.eq_ignore_ascii_case(known));
    known.then(|| number(value.trim_start_matches([' ', '=']))).flatten()
}

/// Writes nodes from 0 as a tour with its objective in the comment.
pub(crate) fn encode(name: &str, nodes: &[usize], (objective, value): (&str, f64)) -> Vec<u8> {
    let mut text = String::new();
    let (name, value) = (one_line(name), format_number(value));
    let dimension = nodes.len();
    let written = writeln!(
        text,
        "NAME : {name}\nCOMMENT : {objective} {value}\nTYPE : TOUR\nDIMENSION : {dimension}\nTOUR_SECTION"
    );
    written.and_then(|()| nodes.iter().try_for_each(|node| writeln!(text, "{}", node + 1))).expect("a string grows");
    text.push_str("-1\nEOF\n");
    text.into_bytes()
}
