//! What a network sees of the prize-collecting TSP.

use bqnco_core::{Frame, Observation, Observe};

use super::{Instance, Pctsp, Tail};
use crate::geometry::FARTHEST;

impl Observe for Pctsp {
    const FEATURES: usize = 5; // x, y, prize / quota, penalty as a length, owed / quota

    fn observe(instance: &Instance, tail: &Tail, frame: Frame) -> Observation {
        let tokens = tail.tokens();
        let last = tokens.len() - 1;
        let map = instance.geometry.observe(frame, &tokens);
        let owed = (tail.owed / instance.quota) as f32;
        let features = tokens.iter().enumerate().map(|(token, &node)| {
            let [x, y] = map.places[token];
            let open = (1..last).contains(&token); // what the ends offer is already counted
            let prize = if open { (instance.prizes[node] / instance.quota) as f32 } else { 0.0 };
            let penalty = if open { map.length(instance.penalties[node]).min(FARTHEST) } else { 0.0 };
            [x, y, prize, penalty, owed]
        });
        instance.geometry.observation(&map, &tokens, features.collect::<Vec<_>>().into_flattened())
    }

    fn has_features(instance: &Instance) -> bool {
        instance.geometry().has_map()
    }
}
