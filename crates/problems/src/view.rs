//! How the places of a tail look to a policy.

use bqnco_core::Frame;

/// Places as a policy sees them, in a [`Frame`].
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// One per token.
    pub places: Vec<[f32; 2]>,
    unit: f64, // the length that is seen as 1
}

impl View {
    /// The places of a tail's tokens, the origin first and the destination last, on a map that has a frame of its own.
    pub(crate) fn new(frame: Frame, map: &MapFrame, mut places: Vec<[f64; 2]>) -> Self {
        let frame = match frame {
            Frame::Instance => *map,
            Frame::Subproblem => MapFrame::around(&places),
            Frame::Origin => {
                see_from_origin(&mut places);
                MapFrame { corner: [0.0, 0.0], ..MapFrame::around(&places) }
            }
        };
        View { places: places.into_iter().map(|place| frame.place(place)).collect(), unit: frame.size }
    }

    /// A length under the same scale.
    pub fn length(&self, distance: f64) -> f32 {
        (distance / self.unit) as f32
    }
}

/// Moves the plane so that the first place is (0, 0), the mean of all lies ahead on the first axis, and the last place is
/// on the left (where it is straight ahead, or the first one itself, those far from the axis are).
fn see_from_origin(places: &mut [[f64; 2]]) {
    let (Some(&[x, y]), count) = (places.first(), places.len() as f64) else { return };
    places.iter_mut().for_each(|place| *place = [place[0] - x, place[1] - y]);
    let ahead = [0, 1].map(|axis| places.iter().map(|place| place[axis]).sum::<f64>() / count);
    let distance = ahead[0].hypot(ahead[1]);
    if distance == 0.0 {
        return; // no direction is better than another
    }
    let [cos, sin] = ahead.map(|x| x / distance);
    places.iter_mut().for_each(|place| *place = [cos * place[0] + sin * place[1], cos * place[1] - sin * place[0]]);
    let left = |place: &[f64; 2]| place[1];
    let mut side = places.last().map_or(0.0, left);
    if side.abs() < STRAIGHT * MapFrame::around(places).size {
        side = places.iter().map(|place| left(place).powi(3)).sum(); // the sum of them is zero
    }
    if side < 0.0 {
        places.iter_mut().for_each(|place| place[1] = -place[1]);
    }
}

/// What is this near to the axis, by the size of the tail, is neither left nor right: rounding must not decide.
const STRAIGHT: f64 = 1e-9;

/// How far outside the other nodes' square a path's destination is drawn at most, by the square's size.
const BEYOND: f64 = 0.25;

/// A square of the map that is observed as the unit square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MapFrame {
    /// Its lower left corner.
    pub corner: [f64; 2],
    /// Its side.
    pub size: f64,
}

impl MapFrame {
    /// The unit square where it holds all points (random instances keep their numbers), else the smallest square.
    pub fn of_instance(map: &[[f64; 2]]) -> Self {
        if map.as_flattened().iter().all(|coordinate| (0.0..=1.0).contains(coordinate)) {
            return MapFrame { corner: [0.0, 0.0], size: 1.0 };
        }
        Self::around(map)
    }

    /// The smallest square around some points.
    pub fn around(points: &[[f64; 2]]) -> Self {
        let mut low = [f64::INFINITY; 2];
        let mut high = [f64::NEG_INFINITY; 2];
        for point in points {
            for axis in 0..2 {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
        let size = (high[0] - low[0]).max(high[1] - low[1]);
        if size > 0.0 { MapFrame { corner: low, size } } else { MapFrame { corner: low, size: 1.0 } }
    }

    /// The point itself, or the last one on the way to it that is no more than [`BEYOND`] outside.
    pub fn nearer(&self, point: [f64; 2]) -> [f64; 2] {
        let centre = self.corner.map(|x| x + 0.5 * self.size);
        let offset = [point[0] - centre[0], point[1] - centre[1]];
        let reach = (0.5 + BEYOND) * self.size / offset[0].abs().max(offset[1].abs());
        if reach < 1.0 { [0, 1].map(|axis| centre[axis] + reach * offset[axis]) } else { point }
    }

    fn place(&self, [x, y]: [f64; 2]) -> [f32; 2] {
        [((x - self.corner[0]) / self.size) as f32, ((y - self.corner[1]) / self.size) as f32]
    }
}
