//! Nearest neighbours and distance tables, used by all experts.

use bqnco_core::Stop;

/// Ranges of at most this many points are scanned linearly.
const LEAF: usize = 8;

/// A balanced k-d tree (Bentley, 1975): the median of each range along its widest axis splits it.
pub(crate) struct KdTree<'a> {
    points: &'a [[f64; 3]],
    order: Vec<u32>, // points; the middle of each range is its splitting point
    axes: Vec<u8>,   // axis of the split, at the middle of each range
}

/// Which quadrant a query searches: per axis at least (1.0) or at most (-1.0) the query's coordinate, or any (0.0).
pub(crate) type Quadrant = [f64; 3];

struct Query<'q> {
    from: u32,
    quadrant: Quadrant,
    count: usize,
    found: &'q mut Vec<(f64, u32)>, // squared distance and point, ascending
}

impl<'a> KdTree<'a> {
    /// The tree over some of the points.
    pub(crate) fn new(points: &'a [[f64; 3]], subset: Vec<u32>) -> Self {
        let axes = vec![0; subset.len()];
        let mut tree = KdTree { points, order: subset, axes };
        tree.split(0, tree.order.len());
        tree
    }

    fn split(&mut self, low: usize, high: usize) {
        if high - low <= LEAF {
            return;
        }
        let points = self.points;
        let spread = |axis: usize| {
            let coordinates = self.order[low..high].iter().map(|&point| points[point as usize][axis]);
            let (least, most) = coordinates.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
            most - least
        };
        let spreads = [0, 1, 2].map(spread);
        let axis = (0..3).fold(0, |widest, axis| if spreads[axis] > spreads[widest] { axis } else { widest });
        let middle = (low + high) / 2;
        self.axes[middle] = axis as u8;
        let key = |point: u32| points[point as usize][axis];
        self.order[low..high].select_nth_unstable_by(middle - low, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
        self.split(low, middle);
        self.split(middle + 1, high);
    }

    /// The points in an order that mostly places neighbours close together.
    pub(crate) fn into_order(self) -> Vec<u32> {
        self.order
    }

    /// Collects the `count` points nearest to one of them within a quadrant, as (squared distance, point) ascending.
    pub(crate) fn nearest(&self, from: u32, quadrant: Quadrant, count: usize, found: &mut Vec<(f64, u32)>) {
        found.clear();
        if count > 0 {
            self.visit(0, self.order.len(), &mut Query { from, quadrant, count, found });
        }
    }

    fn visit(&self, low: usize, high: usize, query: &mut Query) {
        if high - low <= LEAF {
            self.order[low..high].iter().for_each(|&point| self.offer(point, query));
            return;
        }
        let middle = (low + high) / 2;
        let axis = self.axes[middle] as usize;
        // Positive: the query lies beyond the split, so the lower range is the far one.
        let beyond = self.points[query.from as usize][axis] - self.points[self.order[middle] as usize][axis];
        let (lower_wanted, upper_wanted) = match query.quadrant[axis] {
            sign if sign > 0.0 => (beyond <= 0.0, true),
            sign if sign < 0.0 => (true, beyond >= 0.0),
            _ => (true, true),
        };
        let near = if beyond < 0.0 { (low, middle, lower_wanted) } else { (middle + 1, high, upper_wanted) };
        let far = if beyond < 0.0 { (middle + 1, high, upper_wanted) } else { (low, middle, lower_wanted) };
        if near.2 {
            self.visit(near.0, near.1, query);
        }
        self.offer(self.order[middle], query);
        let full = query.found.len() == query.count;
        if far.2 && !(full && query.found[query.count - 1].0 <= beyond * beyond) {
            self.visit(far.0, far.1, query);
        }
    }

    fn offer(&self, point: u32, query: &mut Query) {
        let delta: [f64; 3] =
            std::array::from_fn(|axis| self.points[point as usize][axis] - self.points[query.from as usize][axis]);
        if point == query.from || (0..3).any(|axis| delta[axis] * query.quadrant[axis] < 0.0) {
            return;
        }
        let entry = (delta.iter().map(|d| d * d).sum::<f64>(), point);
        if query.found.len() == query.count {
            if entry.0 >= query.found[query.count - 1].0 {
                return;
            }
            query.found.pop();
        }
        let place = query.found.partition_point(|other| *other < entry);
        query.found.insert(place, entry);
    }
}

/// Keeps the `k` entries with the smallest keys; ties go to the smaller index.
pub(crate) fn keep_smallest(found: &mut Vec<(f64, u32)>, k: usize) {
    if (1..found.len()).contains(&k) {
        found.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    found.truncate(k);
}

/// Planar points for a [`KdTree`].
pub(crate) fn in_space(plane: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 3]> {
    plane.map(|[x, y]| [x, y, 0.0]).collect()
}

/// All distances of a symmetric metric, `[nodes, nodes]`. `None` if stopped.
pub(crate) fn table(nodes: usize, stop: Stop<'_>, distance: impl Fn(usize, usize) -> f64) -> Option<Vec<f64>> {
    let mut table = vec![0.0; nodes * nodes];
    for from in 0..nodes {
        if stop() {
            return None;
        }
        for to in 0..from {
            let length = distance(from, to);
            table[from * nodes + to] = length;
            table[to * nodes + from] = length;
        }
    }
    Some(table)
}
