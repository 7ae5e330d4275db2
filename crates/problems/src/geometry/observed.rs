//! The map as a network sees it.

use bqnco_core::{Frame, Relations};

use super::Geometry;
use crate::Tokens;

/// The places of a tail's tokens in a [`Frame`].
#[derive(Clone, Debug)]
pub struct ObservedMap<'g> {
    geometry: &'g Geometry,
    pub(super) tokens: Tokens<'g>,
    moved: Option<Vec<[f64; 2]>>, // one per token, if they are not where the geometry has them
    square: Square,
}

impl<'g> ObservedMap<'g> {
    /// Places as they are.
    pub(super) fn of_instance(geometry: &'g Geometry, tokens: Tokens<'g>) -> Self {
        ObservedMap { geometry, tokens, moved: None, square: geometry.square }
    }

    /// Places of the tokens in a frame of the tail.
    pub(super) fn of_tail(geometry: &'g Geometry, tokens: Tokens<'g>, frame: Frame, mut places: Vec<[f64; 2]>) -> Self {
        if frame == Frame::Origin {
            move_to_origin(&mut places);
        }
        let mut square = Square::around(&places);
        if frame == Frame::Origin {
            square.corner = [0.0, 0.0];
        }
        ObservedMap { geometry, tokens, moved: Some(places), square }
    }

    /// A length in the same unit as the places.
    pub fn length(&self, distance: f64) -> f32 {
        (distance / self.square.side) as f32
    }

    /// Writes the features of all tokens: what `features` makes of a place and, unless the token is the origin or the
    /// destination, of the node.
    pub(crate) fn write<const N: usize>(
        &self,
        to: &mut [f32],
        features: impl Fn([f32; 2], Option<usize>) -> [f32; N],
    ) -> Relations {
        let Tokens { origin, rest, destination } = self.tokens;
        let last = rest.len() + 1;
        let rows = to.as_chunks_mut::<N>().0;
        rows[0] = features(self.place(0, origin), None);
        for (k, (row, &node)) in rows[1..last].iter_mut().zip(rest).enumerate() {
            *row = features(self.place(k + 1, node as usize), Some(node as usize));
        }
        rows[last] = features(self.place(last, destination), None);
        Relations { origin: Some(0), destination: Some(last), costs: self.geometry.observe_costs(self) }
    }

    fn place(&self, token: usize, node: usize) -> [f32; 2] {
        let place = match &self.moved {
            Some(places) => places[token],
            None => self.geometry.map[node],
        };
        self.square.scaled(place)
    }
}

/// Moves, rotates and mirrors the plane so that the first place is (0, 0), the mean of all lies on the positive first
/// axis, and the last place is to the left of it. If the last place is on the axis, the places far from the axis decide.
fn move_to_origin(places: &mut [[f64; 2]]) {
    let (Some(&[x, y]), count) = (places.first(), places.len() as f64) else { return };
    places.iter_mut().for_each(|place| *place = [place[0] - x, place[1] - y]);
    let mean = [0, 1].map(|axis| places.iter().map(|place| place[axis]).sum::<f64>() / count);
    let distance = mean[0].hypot(mean[1]);
    if distance == 0.0 {
        return; // no direction is distinguished
    }
    let [cos, sin] = mean.map(|x| x / distance);
    places.iter_mut().for_each(|place| *place = [cos * place[0] + sin * place[1], cos * place[1] - sin * place[0]]);
    let left = |place: &[f64; 2]| place[1];
    let mut side = places.last().map_or(0.0, left);
    if side.abs() < STRAIGHT * Square::around(places).side {
        side = places.iter().map(|place| left(place).powi(3)).sum(); // the plain sum is zero
    }
    if side < 0.0 {
        places.iter_mut().for_each(|place| place[1] = -place[1]);
    }
}

/// A distance from the axis, relative to the size of the tail, that may be due to rounding: neither left nor right.
const STRAIGHT: f64 = 1e-9;

/// How far outside the other nodes' square a path's destination is drawn at most, relative to the square's side.
const BEYOND: f64 = 0.25;

/// A square of the map that is observed as the unit square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Square {
    /// Its lower left corner.
    pub corner: [f64; 2],
    /// Length of its sides.
    pub side: f64,
}

impl Square {
    /// The unit square if it contains all points (random instances keep their numbers), else the smallest square.
    pub fn of_instance(map: &[[f64; 2]]) -> Self {
        if map.as_flattened().iter().all(|coordinate| (0.0..=1.0).contains(coordinate)) {
            return Square { corner: [0.0, 0.0], side: 1.0 };
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
        let side = (high[0] - low[0]).max(high[1] - low[1]);
        if side > 0.0 { Square { corner: low, side } } else { Square { corner: low, side: 1.0 } }
    }

    /// The point itself, or the last point on the way to it that is at most [`BEYOND`] outside.
    pub fn nearer(&self, point: [f64; 2]) -> [f64; 2] {
        let centre = self.corner.map(|x| x + 0.5 * self.side);
        let offset = [point[0] - centre[0], point[1] - centre[1]];
        let reach = (0.5 + BEYOND) * self.side / offset[0].abs().max(offset[1].abs());
        if reach < 1.0 { [0, 1].map(|axis| centre[axis] + reach * offset[axis]) } else { point }
    }

    fn scaled(&self, [x, y]: [f64; 2]) -> [f32; 2] {
        [((x - self.corner[0]) / self.side) as f32, ((y - self.corner[1]) / self.side) as f32]
    }
}
