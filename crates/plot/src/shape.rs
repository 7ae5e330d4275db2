//! The elements of pictures, in page coordinates: 800 units wide, y downwards.

use crate::Color;

/// A drawn element: a form with a style.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Its meaning ("tour", "nodes"): the class of its SVG element.
    pub class: &'static str,
    /// Its form.
    pub form: Form,
    /// Its style.
    pub style: Style,
}

/// A geometric form.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Lines through points, all in one SVG path.
    Lines(Vec<Vec<[f64; 2]>>),
    /// Filled discs of one radius, all in one SVG path: compact even for many thousands.
    Dots {
        /// The centres.
        places: Vec<[f64; 2]>,
        /// The common radius.
        radius: f64,
    },
    /// Circles, each with its centre and radius.
    Circles(Vec<([f64; 2], f64)>),
    /// A rectangle.
    Rectangle(Area),
    /// A grid of coloured cells, row by row from the top.
    Cells {
        /// The area of the grid.
        area: Area,
        /// Cells per row.
        columns: usize,
        /// A palette index per cell.
        levels: Vec<u8>,
        /// The colours; those of the style are not used.
        palette: Vec<Color>,
    },
    /// One line of text, filled.
    Text {
        /// The anchor of the text, on its baseline.
        at: [f64; 2],
        /// Which part of the text is at the anchor.
        anchor: Anchor,
        /// Font size.
        size: f64,
        /// The text itself.
        text: String,
        /// Rotation in degrees clockwise.
        turn: f64,
    },
}

/// Which part of a text is at its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// Colours and line style of a form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Fill colour.
    pub fill: Option<Color>,
    /// Line colour.
    pub line: Option<Color>,
    /// Line width.
    pub width: f64,
    /// Opacity; 1 is opaque.
    pub opacity: f64,
    /// Length of dashes and gaps; 0 for a solid line.
    pub dash: f64,
}

impl Style {
    /// A line without fill.
    pub fn line(color: Color, width: f64) -> Self {
        Style { fill: None, line: Some(color), width, opacity: 1.0, dash: 0.0 }
    }

    /// A fill without line.
    pub fn fill(color: Color) -> Self {
        Style { fill: Some(color), line: None, width: 0.0, opacity: 1.0, dash: 0.0 }
    }

    /// Adds an outline.
    pub fn outlined(self, color: Color, width: f64) -> Self {
        Style { line: Some(color), width, ..self }
    }

    /// Sets the opacity.
    pub fn opacity(self, opacity: f64) -> Self {
        Style { opacity, ..self }
    }

    /// Sets the dash length.
    pub fn dashed(self, dash: f64) -> Self {
        Style { dash, ..self }
    }
}

/// An axis-aligned rectangle of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Area {
    /// Right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Bottom edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The square around a centre.
    pub fn square([x, y]: [f64; 2], half: f64) -> Self {
        Area { left: x - half, top: y - half, width: 2.0 * half, height: 2.0 * half }
    }

    /// The rectangle reduced by a margin on every side.
    pub fn inset(&self, margin: f64) -> Self {
        let [width, height] = [self.width, self.height].map(|length| (length - 2.0 * margin).max(0.0));
        Area { left: self.left + margin, top: self.top + margin, width, height }
    }
}
