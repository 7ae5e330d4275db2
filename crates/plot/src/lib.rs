//! Pictures of instances and solutions, as SVG and PNG.
//!
//! [`Draw::draw`] turns an instance, with or without a solution, into a [`Picture`]; [`Chart`] draws named series over
//! linear or logarithmic axes. Both are made of the same few [`Form`]s on a page 800 units wide, and a picture looks
//! the same on every machine: PNGs are set in a font that the crate carries.
//!
//! ```
//! use bqnco_plot::Draw;
//! use bqnco_problems::{Metric, Geometry, Tsp, tsp};
//!
//! let square = Geometry::planar(vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], Metric::Exact)?;
//! let picture = Tsp::draw(&tsp::Instance::tour(square)?, Some(&[2, 1, 3])).title("Around the block");
//! assert!(picture.to_svg().contains("length 4"));
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
mod problems;
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
    /// Anything can be drawn, so that a bad solution file can be looked at: steps that the instance does not have are
    /// left out, partial and infeasible solutions are drawn as far as they go, and the caption gives the reason why they
    /// are no solutions.
    fn draw(instance: &Self::Instance, solution: Option<&[Self::Step]>) -> Picture;
}
