//! Places of an instance in a picture, with the same scale in both directions.

use crate::{Area, Picture};

/// Converts coordinates of an instance, y upwards, to page coordinates; all places fit on the page.
pub struct Map {
    low: [f64; 2], // half the smallest coordinates; halves, so that differences of finite numbers are finite
    span: [f64; 2],
    area: Area,
    scale: f64,   // page units per halved coordinate
    spacing: f64, // between neighbours, if nodes are spread evenly over the rectangle around them
}

impl Map {
    /// An empty picture for these places, and the conversion to its coordinates.
    pub fn around(places: &[[f64; 2]]) -> (Picture, Map) {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for place in places {
            for axis in 0..2 {
                low[axis] = low[axis].min(place[axis] / 2.0);
                high[axis] = high[axis].max(place[axis] / 2.0);
            }
        }
        let span = [0, 1].map(|axis| (high[axis] - low[axis]).max(0.0));
        let ratio = if span[0] > 0.0 { span[1] / span[0] } else { 1.0 };
        let picture = Picture::new((Picture::BODY_WIDTH * ratio).clamp(160.0, Picture::BODY_WIDTH));
        let area = picture.body().inset(10.0);
        let scale = (area.width / span[0]).min(area.height / span[1]);
        let scale = if scale.is_finite() { scale } else { 0.0 }; // all places equal: in the middle
        let [width, height] = if scale > 0.0 { span.map(|span| span * scale) } else { [area.width, area.height] };
        let count = places.len().max(1) as f64;
        let spacing = (width * height / count).sqrt().max(width.max(height) / count);
        (picture, Map { low, span, area, scale, spacing })
    }

    /// The position of a place on the page.
    pub fn place(&self, place: [f64; 2]) -> [f64; 2] {
        let [x, y] = [0, 1].map(|axis| (place[axis] / 2.0 - self.low[axis]) * self.scale);
        let middle = [self.span[0] * self.scale / 2.0, self.span[1] * self.scale / 2.0];
        [self.area.left + self.area.width / 2.0 + x - middle[0], self.area.top + self.area.height / 2.0 - y + middle[1]]
    }

    /// A radius for nodes that leaves room between evenly spread ones.
    pub fn radius(&self) -> f64 {
        (0.12 * self.spacing).clamp(0.55, 4.5)
    }

    /// A width for the lines between nodes.
    pub fn line(&self) -> f64 {
        (0.06 * self.spacing).clamp(0.7, 1.8)
    }

    /// A radius for every amount: areas are proportional to amounts, with a smallest visible radius.
    pub fn radii(&self, amounts: &[f64]) -> Vec<f64> {
        let largest = amounts.iter().copied().fold(0.0, f64::max);
        let (least, most) = (0.6 * self.radius(), (0.22 * self.spacing).clamp(1.0, 9.0));
        let radius = |&amount: &f64| if largest > 0.0 { most * (amount / largest).sqrt() } else { 0.0 };
        amounts.iter().map(|amount| radius(amount).max(least)).collect()
    }
}
