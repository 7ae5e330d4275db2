//! A picture: title, caption, shapes and legend.

use crate::shape::Shape;
use crate::text::{self, fit};
use crate::{Anchor, Area, Color, Form, PlotError, Style, png, svg};

/// A picture, 800 units wide and as high as needed.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    title: String,
    caption: String,
    body: Area,
    shapes: Vec<Shape>,
    legend: Vec<Entry>,
}

/// A line of the legend.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    /// What it looks like.
    swatch: Swatch,
    /// What it means.
    label: String,
}

/// A sample of a style in the legend.
#[derive(Clone, Debug, PartialEq)]
pub enum Swatch {
    /// A disc.
    Dot(Style),
    /// A square.
    Square(Style),
    /// A short line.
    Line(Style),
    /// A row of colours.
    Colors(Vec<Color>),
}

impl Swatch {
    fn width(&self) -> f64 {
        match self {
            Swatch::Dot(_) | Swatch::Square(_) => 10.0,
            Swatch::Line(_) => 22.0,
            Swatch::Colors(colors) => 6.0 * colors.len() as f64,
        }
    }

    fn at(&self, [x, y]: [f64; 2]) -> Shape {
        let (form, style) = match self {
            Swatch::Dot(style) => (Form::Circles(vec![([x + 5.0, y], 4.2)]), *style),
            Swatch::Square(style) => (Form::Rectangle(Area::square([x + 5.0, y], 4.5)), *style),
            Swatch::Line(style) => (Form::Lines(vec![vec![[x, y], [x + 22.0, y]]]), *style),
            Swatch::Colors(colors) => {
                let area = Area { left: x, top: y - 5.0, width: self.width(), height: 10.0 };
                let levels = (0..colors.len()).map(|level| level as u8).collect();
                let cells = Form::Cells { area, columns: colors.len(), levels, palette: colors.clone() };
                (cells, Style::fill(Color::WHITE))
            }
        };
        Shape { class: "legend", form, style }
    }
}

const MARGIN: f64 = 28.0;
const HEADER: f64 = 74.0;
const ROW: f64 = 22.0; // of the legend
const LABEL: f64 = 13.0; // font size of caption and legend

impl Picture {
    /// Width of every page.
    pub const WIDTH: f64 = 800.0;
    /// Width of the page between its margins.
    pub const BODY_WIDTH: f64 = Self::WIDTH - 2.0 * MARGIN;

    /// An empty page with room for a body of this height.
    pub fn new(body_height: f64) -> Self {
        let body = Area { left: MARGIN, top: HEADER, width: Self::BODY_WIDTH, height: body_height };
        Picture { title: String::new(), caption: String::new(), body, shapes: Vec::new(), legend: Vec::new() }
    }

    /// With another title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// With another caption, the line below the title.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// The area for shapes: the page without margins, title and legend.
    pub fn body(&self) -> Area {
        self.body
    }

    /// Adds a shape on top.
    pub fn draw(&mut self, class: &'static str, form: Form, style: Style) {
        self.shapes.push(Shape { class, form, style });
    }

    /// Adds a label in small grey text.
    pub fn write(&mut self, at: [f64; 2], anchor: Anchor, text: impl Into<String>) {
        let form = Form::Text { at, anchor, size: 12.0, text: text.into(), turn: 0.0 };
        self.draw("label", form, Style::fill(Color::GREY));
    }

    /// Adds an entry to the legend.
    pub fn explain(&mut self, swatch: Swatch, label: impl Into<String>) {
        self.legend.push(Entry { swatch, label: label.into() });
    }

    /// The picture as an SVG document.
    pub fn to_svg(&self) -> String {
        let (legend, height) = self.laid_out_legend();
        svg::document([Self::WIDTH, height], self.header().iter().chain(&self.shapes).chain(&legend))
    }

    /// The picture as a PNG file with this width in pixels.
    ///
    /// # Errors
    /// A width of zero or beyond 20,000 pixels.
    pub fn to_png(&self, width: u32) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg(), width)
    }

    fn header(&self) -> [Shape; 2] {
        let line = |class, text: &str, size, y, color| {
            let (text, size) = fit(text, size, Self::BODY_WIDTH);
            let form = Form::Text { at: [MARGIN, y], anchor: Anchor::Start, size, text, turn: 0.0 };
            Shape { class, form, style: Style::fill(color) }
        };
        [line("title", &self.title, 20.0, 35.0, Color::INK), line("caption", &self.caption, LABEL, 56.0, Color::GREY)]
    }

    /// The legend's shapes, row by row below the body, and the height of the whole page.
    fn laid_out_legend(&self) -> (Vec<Shape>, f64) {
        let mut shapes = Vec::new();
        let mut at = [MARGIN, self.body.bottom() + ROW];
        for Entry { swatch, label } in &self.legend {
            let (label, size) = fit(label, LABEL, Self::BODY_WIDTH - 150.0);
            let step = swatch.width() + 7.0 + text::width(&label, size);
            if at[0] > MARGIN && at[0] + step > Self::WIDTH - MARGIN {
                at = [MARGIN, at[1] + ROW];
            }
            shapes.push(swatch.at(at));
            let place = [at[0] + swatch.width() + 7.0, at[1] + 4.5];
            let form = Form::Text { at: place, anchor: Anchor::Start, size, text: label, turn: 0.0 };
            shapes.push(Shape { class: "legend", form, style: Style::fill(Color::INK) });
            at[0] += step + 18.0;
        }
        (shapes, if self.legend.is_empty() { self.body.bottom() + 20.0 } else { at[1] + ROW })
    }
}
