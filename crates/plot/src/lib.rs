//! Pictures of instances and solutions, as SVG and PNG.
//!
//! A problem implements [`Draw`] to turn an instance, with or without a solution, into a [`Picture`]; [`Chart`] draws
//! named series over linear or logarithmic axes. Both consist of a few kinds of [`Form`]s on a page 800 units wide. A
//! picture is the same on every machine: the font of PNGs is part of the crate.
//!
//! ```
//! use bqnco_plot::{Color, Form, Map, Style};
//!
//! let places = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
//! let (mut picture, map) = Map::around(&places);
//! let line = places.iter().map(|&place| map.place(place)).collect();
//! picture.draw("tour", Form::Lines(vec![line]), Style::line(Color::BLUE, map.line()));
//! let picture = picture.title("Around the block");
//! assert!(picture.to_svg().contains("Around the block"));
//! assert!(picture.to_png(400)?.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axes;
mod axis;
mod chart;
mod color;
mod map;
mod picture;
mod png;
mod shape;
mod svg;
mod text;

pub use axes::Axes;
pub use axis::{Axis, Scale};
pub use chart::Chart;
pub use color::{Color, SERIES, heat};
pub use map::Map;
pub use picture::{Picture, Swatch};
pub use png::PlotError;
pub use shape::{Anchor, Area, Form, Style};
pub use svg::escaped;
pub use text::number;

use bqnco_core::Problem;

/// A problem whose instances and solutions can be drawn.
pub trait Draw: Problem {
    /// The picture of an instance, with a solution if there is one.
    ///
    /// Infeasible solutions must be drawn too, so that a bad solution file can be inspected: steps that the instance
    /// does not have are skipped, partial solutions are drawn as far as they go, and the caption gives the violated
    /// rule.
    fn draw(instance: &Self::Instance, solution: Option<&[Self::Step]>) -> Picture;

    /// Where its nodes are on the map, y upwards; `None` if there is no map.
    fn places(_instance: &Self::Instance) -> Option<&[[f64; 2]]> {
        None
    }
}
