//! What a network sees of path-OP.

use bqnco_core::{Frame, Observation, Observe};

use super::{Instance, Op, Tail};
use crate::geometry::FARTHEST;

impl Observe for Op {
    const FEATURES: usize = 4; // x, y, prize, length left

    fn observe(instance: &Instance, tail: &Tail, frame: Frame) -> Observation {
        let tokens = tail.tokens();
        let last = tokens.len() - 1;
        let map = instance.geometry.observe(frame, &tokens);
        let largest = match frame {
            Frame::Instance => instance.largest,
            Frame::Subproblem | Frame::Origin => {
                tail.rest.iter().map(|&node| instance.prizes[node as usize]).fold(0.0, f64::max)
            }
        };
        // In the instance's frame, prizes in [0, 1] keep their values.
        let unit = if largest > 1.0 || (frame != Frame::Instance && largest > 0.0) { largest } else { 1.0 };
        let left = map.length(tail.left).min(FARTHEST);
        let features = tokens.iter().enumerate().map(|(token, &node)| {
            let [x, y] = map.places[token];
            let taken = token == 0 || token == last; // the prizes of the ends are already collected
            [x, y, if taken { 0.0 } else { (instance.prizes[node] / unit) as f32 }, left]
        });
        instance.geometry.observation(&map, &tokens, features.collect::<Vec<_>>().into_flattened())
    }

    fn has_features(instance: &Instance) -> bool {
        instance.geometry().has_map()
    }
}
