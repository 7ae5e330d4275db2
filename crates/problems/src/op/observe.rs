//! What a network sees of path-OP.

use bqnco_core::{Frame, Observe, Relations};

use super::{Instance, Op, Tail};
use crate::geometry::FARTHEST;

impl Observe for Op {
    const FEATURES: usize = 4; // x, y, prize, length left

    fn tokens(_: &Instance, tail: &Tail) -> usize {
        tail.tokens().count()
    }

    fn observe_into(instance: &Instance, tail: &Tail, frame: Frame, features: &mut [f32]) -> Relations {
        let map = instance.geometry.observe(frame, tail.tokens());
        let largest = match frame {
            Frame::Instance => instance.largest,
            Frame::Subproblem | Frame::Origin => {
                tail.rest.iter().map(|&node| instance.prizes[node as usize]).fold(0.0, f64::max)
            }
        };
        // In the instance's frame, prizes in [0, 1] keep their values.
        let unit = if largest > 1.0 || (frame != Frame::Instance && largest > 0.0) { largest } else { 1.0 };
        let left = map.length(tail.left).min(FARTHEST);
        // The prizes of the ends are already collected.
        let prize = |open: Option<usize>| open.map_or(0.0, |node| (instance.prizes[node] / unit) as f32);
        map.write(features, |[x, y], open| [x, y, prize(open), left])
    }

    fn has_features(instance: &Instance) -> bool {
        instance.geometry().has_map()
    }
}
