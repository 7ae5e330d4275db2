//! Shapes of pictures, in page coordinates: 800 units wide, y downwards.

use crate::Color;

/// A form with its style.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// What it stands for ("tour", "nodes"): the class of its SVG element.
    pub class: &'static str,
    /// Its form.
    pub form: Form,
    /// Its style.
    pub style: Style,
}

/// The geometry of a shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Lines through points, all in one SVG path.
    Lines(Vec<Vec<[f64; 2]>>),
    /// Filled discs of one radius, all in one SVG path, which stays small for many thousands.
    Dots {
        /// The centres.
        places: Vec<[f64; 2]>,
        /// The radius of all.
        radius: f64,
    },
    /// Circles, each with its centre and its radius.
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
        /// The colours; the style's are not used.
        palette: Vec<Color>,
    },
    /// One line of text, filled.
    Text {
        /// The anchor point, on the base line.
        at: [f64; 2],
        /// Which part of the text is at the anchor point.
        anchor: Anchor,
        /// Font size.
        size: f64,
        /// The text.
        text: String,
        /// Rotation about the anchor point, in degrees clockwise.
        turn: f64,
    },
}

/// Which part of a text is at its anchor point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// Colours and line style of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Colour of the fill.
    pub fill: Option<Color>,
    /// Colour of the line.
    pub line: Option<Color>,
    /// Width of the line.
    pub width: f64,
    /// 1 is opaque.
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

    /// With an outline.
    pub fn outlined(self, color: Color, width: f64) -> Self {
        Style { line: Some(color), width, ..self }
    }

    /// With this opacity.
    pub fn opacity(self, opacity: f64) -> Self {
        Style { opacity, ..self }
    }

    /// With a dashed line.
    pub fn dashed(self, dash: f64) -> Self {
        Style { dash, ..self }
    }
}

/// A rectangle of the page with horizontal and vertical sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left end.
    pub left: f64,
    /// Top end.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Area {
    /// Right end.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Bottom end.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The square around a centre.
    pub fn square([x, y]: [f64; 2], half: f64) -> Self {
        Area { left: x - half, top: y - half, width: 2.0 * half, height: 2.0 * half }
    }

    /// Smaller by a margin on every side.
    pub fn inset(&self, margin: f64) -> Self {
        let [width, height] = [self.width, self.height].map(|length| (length - 2.0 * margin).max(0.0));
        Area { left: self.left + margin, top: self.top + margin, width, height }
    }
}
