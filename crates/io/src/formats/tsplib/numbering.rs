//! Sections with a line per node.

use super::document::{Section, TsplibDocument};
use crate::raw_instance::as_index;
use crate::text::{number, quoted};
use crate::{Place, ReadError};

/// How the nodes of a file are numbered.
#[derive(Clone, Copy)]
pub(super) struct Numbering {
    /// The number of the first node: 1, or 0 in some files of the CVRP.
    pub first: usize,
    /// How many there are.
    pub nodes: usize,
}

/// The sections that number the nodes.
const SECTIONS: [&str; 4] = ["NODE_COORD_SECTION", "DISPLAY_DATA_SECTION", "DEMAND_SECTION", "NODE_SCORE_SECTION"];

impl Numbering {
    /// Nodes may be numbered from 0 in files of the CVRP only. Its solutions list customers from 1, which then are the
    /// file's own numbers; tours would have other numbers than the file.
    pub fn of(document: &TsplibDocument<'_>) -> Result<Self, ReadError> {
        let nodes = document.dimension()?;
        let lines = SECTIONS.into_iter().filter_map(|key| document.section(key)).flat_map(|section| section.lines());
        match lines.into_iter().find(|(_, content)| content.split_whitespace().next() == Some("0")) {
            None => Ok(Numbering { first: 1, nodes }),
            Some(_) if document.section("DEMAND_SECTION").is_some() => Ok(Numbering { first: 0, nodes }),
            Some((line, _)) => {
                let reason = "node 0: nodes are numbered from 1, as in the tours that are read and written";
                Err(document.source().refused(Place::Line(line), reason, "add 1 to the number of every node"))
            }
        }
    }

    /// Lines `node v1 .. v_width`, in any order: `[nodes, width]`.
    pub fn by_node(
        self,
        document: &TsplibDocument<'_>,
        section: Section<'_>,
        width: usize,
    ) -> Result<Vec<f64>, ReadError> {
        let (source, Numbering { first, nodes }) = (document.source(), self);
        let mut values = vec![0.0; nodes * width];
        let mut seen = vec![false; nodes];
        let mut rows = 0;
        for (line, content) in section.lines().filter(|(_, content)| *content != "-1") {
            let row = split_row(content, width).ok_or_else(|| {
                let numbers = if width == 1 { "1 number".to_string() } else { format!("{width} numbers") };
                source.syntax(Place::Line(line), format!("a node and {numbers} in {}", section.key), quoted(content))
            })?;
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
