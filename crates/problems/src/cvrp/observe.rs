//! What a network sees of path-CVRP.

use bqnco_core::{Frame, Observation, Observe};

use super::{Cvrp, Instance, Tail};

impl Observe for Cvrp {
    const FEATURES: usize = 4; // x, y, demand / capacity, left / capacity

    fn observe(instance: &Instance, tail: &Tail, frame: Frame) -> Observation {
        let tokens = tail.tokens();
        let last = tokens.len() - 1;
        let map = instance.geometry.observe_path(frame, &tokens);
        let left = (tail.left / instance.capacity) as f32;
        let features = tokens.iter().enumerate().map(|(token, &node)| {
            let [x, y] = map.places[token];
            let served = token == 0 || token == last; // demand zero for origin and depot (paper)
            let demand = if served { 0.0 } else { (instance.demands[node] / instance.capacity) as f32 };
            [x, y, demand, left]
        });
        instance.geometry.observation(&map, &tokens, features.collect::<Vec<_>>().into_flattened())
    }

    fn has_features(instance: &Instance) -> bool {
        instance.geometry().has_map()
    }
}
