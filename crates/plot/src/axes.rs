//! A pair of axes in a picture.

use crate::{Anchor, Area, Axis, Color, Form, Picture, Style};

/// A horizontal and a vertical axis; converts data coordinates to page coordinates.
pub struct Axes {
    area: Area,
    x: Axis,
    y: Axis,
}

// Space for tick labels and axis labels, left of the data and below.
const LEFT: f64 = 58.0;
const BELOW: f64 = 44.0;

impl Axes {
    /// Draws grid, ticks and labels into an area of a picture; data are drawn on top afterwards.
    pub fn draw(picture: &mut Picture, area: Area, x: Axis, y: Axis) -> Self {
        let Area { left, top, width, height } = area;
        let area = Area { left: left + LEFT, top, width: width - LEFT, height: height - BELOW };
        let axes = Axes { area, x, y };
        axes.draw_grid(picture);
        axes.draw_ticks(picture);
        axes
    }

    /// The position of a point on the page, if the axes can show it.
    pub fn place(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        let (x, y) = (self.x.fraction(x)?, self.y.fraction(y)?);
        Some([self.area.left + x * self.area.width, self.area.bottom() - y * self.area.height])
    }

    fn draw_grid(&self, picture: &mut Picture) {
        let Area { left, top, width, height } = self.area;
        let vertical = self.x.ticks().into_iter().map(|tick| left + tick.fraction * width);
        let horizontal = self.y.ticks().into_iter().map(|tick| self.area.bottom() - tick.fraction * height);
        let grid = vertical.map(|x| vec![[x, top], [x, self.area.bottom()]]);
        let grid = grid.chain(horizontal.map(|y| vec![[left, y], [self.area.right(), y]]));
        picture.draw("grid", Form::Lines(grid.collect()), Style::line(Color::PALE, 1.0));
        let frame = vec![[left, top], [left, self.area.bottom()], [self.area.right(), self.area.bottom()]];
        picture.draw("axes", Form::Lines(vec![frame]), Style::line(Color::GREY, 1.0));
    }

    fn draw_ticks(&self, picture: &mut Picture) {
        let Area { left, top, width, height } = self.area;
        for tick in self.x.ticks() {
            picture.write([left + tick.fraction * width, self.area.bottom() + 17.0], Anchor::Middle, tick.label);
        }
        for tick in self.y.ticks() {
            picture.write([left - 7.0, self.area.bottom() - tick.fraction * height + 4.0], Anchor::End, tick.label);
        }
        let mut name = |at, label: &str, turn| {
            let form = Form::Text { at, anchor: Anchor::Middle, size: 13.0, text: label.into(), turn };
            picture.draw("label", form, Style::fill(Color::INK));
        };
        name([left + width / 2.0, self.area.bottom() + 38.0], &self.x.label, 0.0);
        name([left - LEFT + 8.0, top + height / 2.0], &self.y.label, -90.0);
    }
}
