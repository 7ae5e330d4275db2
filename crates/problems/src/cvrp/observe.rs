//! What a network sees of path-CVRP.

use bqnco_core::{Frame, Observe, Relations};

use super::{Cvrp, Instance, Tail};

impl Observe for Cvrp {
    const FEATURES: usize = 4; // x, y, demand / capacity, left / capacity

    fn tokens(_: &Instance, tail: &Tail) -> usize {
        tail.tokens().count()
    }

    fn observe_into(instance: &Instance, tail: &Tail, frame: Frame, features: &mut [f32]) -> Relations {
        let map = instance.geometry.observe_path(frame, tail.tokens());
        let share = |amount: f64| (amount / instance.capacity) as f32;
        let left = share(tail.left);
        // Demand zero for origin and depot (paper).
        map.write(features, |[x, y], open| [x, y, open.map_or(0.0, |node| share(instance.demands[node])), left])
    }

    fn has_features(instance: &Instance) -> bool {
        instance.geometry().has_map()
    }
}
