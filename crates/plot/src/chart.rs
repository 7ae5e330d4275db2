//! Charts: named series over two axes.

use crate::{Axes, Axis, Color, Form, Picture, SERIES, Scale, Style, Swatch};

/// A chart of several named series.
///
/// Points that the axes cannot show (NaN, infinite, or not positive on a logarithmic axis) are left out, and lines are
/// interrupted there.
///
/// ```
/// use bqnco_plot::{Chart, Scale};
/// let chart = Chart::new("Training").x("samples", Scale::Log).y("loss", Scale::Linear);
/// let picture = chart.line("pre-norm", vec![[1e3, 0.9], [1e4, 0.5], [1e5, 0.3]]).draw();
/// assert!(picture.to_svg().contains("pre-norm"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    title: String,
    caption: String,
    x: (String, Scale),
    y: (String, Scale),
    series: Vec<Series>,
}

#[derive(Clone, Debug, PartialEq)]
struct Series {
    name: String,
    points: Vec<[f64; 2]>,
    joined: bool,
}

impl Chart {
    /// An empty chart with linear axes.
    pub fn new(title: impl Into<String>) -> Self {
        Chart { title: title.into(), ..Chart::default() }
    }

    /// With a line below the title.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// With this horizontal axis.
    pub fn x(mut self, label: impl Into<String>, scale: Scale) -> Self {
        self.x = (label.into(), scale);
        self
    }

    /// With this vertical axis.
    pub fn y(mut self, label: impl Into<String>, scale: Scale) -> Self {
        self.y = (label.into(), scale);
        self
    }

    /// With another series, drawn as a line through its points in the given order.
    pub fn line(self, name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        self.with(Series { name: name.into(), points, joined: true })
    }

    /// With another series, drawn as points.
    pub fn scatter(self, name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        self.with(Series { name: name.into(), points, joined: false })
    }

    fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The chart as a picture.
    pub fn draw(&self) -> Picture {
        let mut picture = Picture::new(440.0).title(&self.title).caption(&self.caption);
        let axis = |(label, scale): &(String, Scale), k: usize| {
            let shown = self.series.iter().flat_map(|series| &series.points);
            Axis::covering(label, *scale, shown.map(|point| point[k]))
        };
        let body = picture.body();
        let axes = Axes::draw(&mut picture, body, axis(&self.x, 0), axis(&self.y, 1));
        for (k, series) in self.series.iter().enumerate() {
            // Colours repeat after ten series; dashes then distinguish the lines.
            let dash = 4.0 * (k / SERIES.len()) as f64;
            series.draw(&mut picture, &axes, SERIES[k % SERIES.len()], dash);
        }
        picture
    }
}

impl Series {
    fn draw(&self, picture: &mut Picture, axes: &Axes, color: Color, dash: f64) {
        let placed: Vec<Option<[f64; 2]>> = self.points.iter().map(|&point| axes.place(point)).collect();
        let places: Vec<[f64; 2]> = placed.iter().flatten().copied().collect();
        let radius = if places.len() > 300 { 1.5 } else { 3.0 };
        if self.joined {
            let pieces = placed.split(Option::is_none).filter(|piece| !piece.is_empty());
            let pieces: Vec<Vec<_>> = pieces.map(|piece| piece.iter().flatten().copied().collect()).collect();
            // Many marks would hide the line; isolated points have no line and need a mark.
            let alone = || pieces.iter().filter(|piece| piece.len() == 1).flatten().copied().collect();
            let places = if places.len() <= 30 { places } else { alone() };
            picture.draw("marks", Form::Dots { places, radius }, Style::fill(color));
            let style = Style::line(color, 1.8).dashed(dash);
            picture.draw("series", Form::Lines(pieces), style);
            picture.explain(Swatch::Line(style), &self.name);
        } else {
            let style = Style::fill(color).opacity(0.8);
            picture.draw("series", Form::Dots { places, radius }, style);
            picture.explain(Swatch::Dot(style), &self.name);
        }
    }
}
