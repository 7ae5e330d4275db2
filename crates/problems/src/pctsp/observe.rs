//! What a network sees of the prize-collecting TSP.

use bqnco_core::{Frame, Observe, Relations};

use super::{Instance, Pctsp, Tail};
use crate::geometry::FARTHEST;

impl Observe for Pctsp {
    const FEATURES: usize = 5; // x, y, prize / quota, penalty as a length, owed / quota

    fn tokens(_: &Instance, tail: &Tail) -> usize {
        tail.tokens().count()
    }

    fn observe_into(instance: &Instance, tail: &Tail, frame: Frame, features: &mut [f32]) -> Relations {
        let map = instance.geometry.observe(frame, tail.tokens());
        let owed = (tail.owed / instance.quota) as f32;
        let prize = |node: usize| (instance.prizes[node] / instance.quota) as f32;
        let penalty = |node: usize| map.length(instance.penalties[node]).min(FARTHEST);
        // What the ends offer is already counted.
        map.write(features, |[x, y], open| [x, y, open.map_or(0.0, prize), open.map_or(0.0, penalty), owed])
    }

    fn has_features(instance: &Instance) -> bool {
        instance.geometry().has_map()
    }
}
