//! Observations in the frame of the origin.

use bqnco_core::{Costs, Frame, Generate, Observation, Observe, Problem, random};
use bqnco_problems::{Cvrp, Geometry, Metric, Op, Tsp, cvrp, op, tsp};
use rand::RngExt;

/// Points in the unit square, and the same points after the plane was scaled, turned, moved and perhaps mirrored.
fn moved(count: usize, seed: u64) -> (Geometry, Geometry, f64) {
    let mut rng = random(seed, &[]);
    let points: Vec<[f64; 2]> = (0..count).map(|_| rng.random()).collect();
    let ((sin, cos), scale): ((f64, f64), f64) =
        (rng.random_range(0.0..std::f64::consts::TAU).sin_cos(), rng.random_range(0.1..100.0));
    let (by, mirror): ([f64; 2], f64) = (rng.random(), if rng.random() { -1.0 } else { 1.0 });
    let image = points.iter().map(|&[x, y]| {
        let y = mirror * y;
        [scale * (cos * x - sin * y + by[0]), scale * (sin * x + cos * y + by[1])]
    });
    let plane = |points| Geometry::planar(points, Metric::Exact).expect("finite points");
    (plane(points.clone()), plane(image.collect()), scale)
}

fn assert_alike(one: &Observation, two: &Observation) {
    assert_eq!((one.tokens, &one.costs), (two.tokens, &Costs::Planar));
    let far = one.features.iter().zip(&two.features).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(far < 1e-4, "{far}: {:?} {:?}", one.features, two.features);
}

/// The origin is (0, 0), the mean lies ahead, the destination not to the right, and a side of the square has length 1.
fn assert_from_origin(seen: &Observation, width: usize) {
    let place = |token: usize| [seen.features[token * width], seen.features[token * width + 1]];
    let places: Vec<[f32; 2]> = (0..seen.tokens).map(place).collect();
    let mean = |axis: usize| places.iter().map(|place| place[axis]).sum::<f32>() / seen.tokens as f32;
    assert_eq!(places[0], [0.0, 0.0]);
    assert!(mean(0) > 0.0 && mean(1).abs() < 1e-5);
    assert!(places[seen.tokens - 1][1] > -1e-6);
    let side = |axis: usize| {
        let along = || places.iter().map(|place| place[axis]);
        along().fold(f32::MIN, f32::max) - along().fold(f32::MAX, f32::min)
    };
    assert!((side(0).max(side(1)) - 1.0).abs() < 1e-5);
}

/// The instance is walked for a while with equal steps.
fn check<P: Observe>((one, two): (P::Instance, P::Instance), steps: usize) {
    let (mut tail, mut image) = (P::whole(&one), P::whole(&two));
    for _ in 0..=steps {
        let seen = P::observe(&one, &tail, Frame::Origin);
        assert_from_origin(&seen, P::FEATURES);
        assert_alike(&seen, &P::observe(&two, &image, Frame::Origin));
        let Some((_, step)) = P::allowed(&one, &tail).next() else { return };
        P::advance(&one, &mut tail, step);
        P::advance(&two, &mut image, step);
    }
}

#[test]
fn tails_that_a_motion_carries_into_each_other_look_alike() {
    for seed in 0..50 {
        let (geometry, image, scale) = moved(30, seed);
        let prizes: Vec<f64> = (0..30).map(f64::from).collect();
        let orienteering = |geometry, limit| op::Instance::new(geometry, prizes.clone(), limit).expect("valid");
        check::<Op>((orienteering(geometry.clone(), 4.0), orienteering(image.clone(), 4.0 * scale)), 3);
        // A destination that is drawn nearer is so within an upright square, so these tails are those with all around them.
        let tour = |geometry| tsp::Instance::tour(geometry).expect("valid");
        check::<Tsp>((tour(geometry.clone()), tour(image.clone())), 3);
        let demands: Vec<f64> = std::iter::once(0.0).chain((1..30).map(|k| f64::from(1 + k % 9))).collect();
        let routes = |geometry| cvrp::Instance::new(geometry, demands.clone(), 40.0).expect("valid");
        check::<Cvrp>((routes(geometry), routes(image)), 3);
    }
}

#[test]
fn all_eight_images_look_the_same_from_the_origin_and_different_otherwise() {
    let instance = Tsp::generate(12, &mut random(4, &[]));
    let mut tail = Tsp::whole(&instance);
    Tsp::advance(&instance, &mut tail, 5);
    for image in Tsp::symmetries(&instance).iter().skip(1) {
        let seen = |frame| (Tsp::observe(&instance, &tail, frame), Tsp::observe(image, &tail, frame));
        let (one, two) = seen(Frame::Origin);
        assert_alike(&one, &two);
        let (one, two) = seen(Frame::Subproblem);
        assert_ne!(one.features, two.features);
    }
}

/// Points on a line through the origin, and all at one point: nothing to turn by, nothing that is left or right.
#[test]
fn poor_maps_are_seen_too() {
    let see = |points: &[[f64; 2]]| {
        let geometry = Geometry::planar(points.to_vec(), Metric::Exact).expect("finite points");
        let instance = tsp::Instance::tour(geometry).expect("valid");
        Tsp::observe(&instance, &Tsp::whole(&instance), Frame::Origin).features
    };
    assert_eq!(see(&[[3.0, 3.0], [3.0, 3.0], [3.0, 3.0]]), [0.0; 8]);
    assert_eq!(see(&[[1.0, 5.0], [1.0, 4.0], [1.0, 3.0]]), [0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0]);
    let around = see(&[[0.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]]); // the origin is the mean of all
    assert!(around.iter().all(|number| number.is_finite()), "{around:?}");
}
