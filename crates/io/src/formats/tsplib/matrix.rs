//! `EDGE_WEIGHT_SECTION`: the triangles and squares of TSPLIB.

use super::document::{Section, TsplibDocument};
use crate::text::{did_you_mean, number, quoted};
use crate::{Array, Place, ReadError};

/// Which entries are listed, row by row. A triangle by columns is the other triangle by rows.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Full,
    Upper { diagonal: bool },
    Lower { diagonal: bool },
}

const LAYOUTS: [(&str, Layout); 9] = [
    ("FULL_MATRIX", Layout::Full),
    ("UPPER_ROW", Layout::Upper { diagonal: false }),
    ("LOWER_ROW", Layout::Lower { diagonal: false }),
    ("UPPER_DIAG_ROW", Layout::Upper { diagonal: true }),
    ("LOWER_DIAG_ROW", Layout::Lower { diagonal: true }),
    ("UPPER_COL", Layout::Lower { diagonal: false }),
    ("LOWER_COL", Layout::Upper { diagonal: false }),
    ("UPPER_DIAG_COL", Layout::Lower { diagonal: true }),
    ("LOWER_DIAG_COL", Layout::Upper { diagonal: true }),
];

impl Layout {
    /// The listed columns of a row.
    fn columns(self, row: usize, nodes: usize) -> std::ops::Range<usize> {
        match self {
            Layout::Full => 0..nodes,
            Layout::Upper { diagonal } => row + usize::from(!diagonal)..nodes,
            Layout::Lower { diagonal } => 0..row + usize::from(diagonal),
        }
    }

    /// How many numbers there are.
    fn entries(self, nodes: usize) -> u128 {
        let nodes = nodes as u128;
        match self {
            Layout::Full => nodes * nodes,
            Layout::Upper { diagonal: true } | Layout::Lower { diagonal: true } => nodes * (nodes + 1) / 2,
            Layout::Upper { .. } | Layout::Lower { .. } => nodes * nodes.saturating_sub(1) / 2,
        }
    }
}

/// The whole matrix, `[nodes, nodes]`. Words may wrap over lines anywhere.
pub(super) fn read(document: &TsplibDocument<'_>, nodes: usize) -> Result<Array, ReadError> {
    let source = document.source();
    let section = document.needed_section("EDGE_WEIGHT_SECTION")?;
    let (name, layout) = layout(document)?;
    let entries = layout.entries(nodes);
    let expected = || format!("{entries} numbers ({name} of {nodes} nodes) in EDGE_WEIGHT_SECTION");
    if entries * 2 > section.bytes() as u128 + 1 {
        let most = section.bytes().div_ceil(2);
        return Err(source.syntax(Place::Line(section.line), expected(), format!("room for {most} at most")));
    }
    let mut words = section.words();
    let mut values = vec![0.0; nodes * nodes];
    let mut read = 0;
    for row in 0..nodes {
        for column in layout.columns(row, nodes) {
            let Some((line, word)) = words.next() else {
                return Err(source.syntax(Place::Line(section.line), expected(), format!("{read}")));
            };
            let value = number(word).ok_or_else(|| source.syntax(Place::Line(line), "a number", quoted(word)))?;
            values[row * nodes + column] = value;
            if layout != Layout::Full {
                values[column * nodes + row] = value;
            }
            read += 1;
        }
    }
    no_more(document, section, words.next(), expected)?;
    Ok(Array::table(nodes, values))
}

fn layout(document: &TsplibDocument<'_>) -> Result<(&'static str, Layout), ReadError> {
    let Some(header) = document.header("EDGE_WEIGHT_FORMAT") else { return Ok(LAYOUTS[0]) };
    let known = LAYOUTS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(header.value));
    known.ok_or_else(|| {
        let names: Vec<_> = LAYOUTS.iter().map(|(name, _)| *name).collect();
        let found = quoted(header.value) + &did_you_mean(header.value, names.iter().copied());
        let expected = format!("an EDGE_WEIGHT_FORMAT among {}", names.join(", "));
        document.source().syntax(Place::Line(header.line), expected, found)
    })
}

fn no_more(
    document: &TsplibDocument<'_>,
    section: Section<'_>,
    next: Option<(usize, &str)>,
    expected: impl Fn() -> String,
) -> Result<(), ReadError> {
    match next {
        None => Ok(()),
        Some((line, word)) => {
            let found =
                format!("{} more, from {}", section.words().skip_while(|(at, _)| *at < line).count(), quoted(word));
            Err(document.source().syntax(Place::Line(line), expected(), found))
        }
    }
}
