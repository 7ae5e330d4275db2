//! Invalid instances cannot be constructed, and metrics are TSPLIB's.

use bqnco_core::{Costs, Frame, GreedyHeuristic, Observe, Problem, SolutionSpace, Uniform, rollout};
use bqnco_problems::{
    Atsp, Cvrp, Distances, Geometry, InvalidInstance, Knapsack, Metric, Op, Tsp, atsp, cvrp, knapsack, op, tsp,
};

fn plane(points: &[[f64; 2]]) -> Geometry {
    Geometry::planar(points.to_vec(), Metric::Exact).expect("finite points")
}

fn square() -> Geometry {
    plane(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
}

#[test]
fn bad_data_are_refused_with_a_reason() {
    let cases: Vec<(InvalidInstance, &str)> = vec![
        (tsp::Instance::tour(plane(&[[0.0, 0.0]])).unwrap_err(), "1 node given, at least 2 needed"),
        (
            Geometry::planar(vec![[0.0, f64::NAN]], Metric::Exact).unwrap_err(),
            "coordinate number 1 is NaN, a finite number is needed",
        ),
        (
            Geometry::planar(vec![[0.0, 0.0], [1e200, 0.0]], Metric::Exact).unwrap_err(),
            "coordinate number 2 is 1e200, its size must not exceed 1e18",
        ),
        (tsp::Instance::path(square(), 0, 4).unwrap_err(), "destination 4 is no node, they are numbered from 0 to 3"),
        (
            Geometry::planar(vec![[0.0; 2]], Metric::Euc3d).unwrap_err(),
            "the metric EUC_3D needs 3 coordinates per node",
        ),
        (Geometry::explicit(2, vec![0.0; 3]).unwrap_err(), "3 matrix entries given, 4 expected"),
        (
            Geometry::explicit(2, vec![0.0, 1.0, 2.0, 0.0]).unwrap_err(),
            "row 2, column 1 of the matrix is 2, but row 1, column 2 is 1: a symmetric matrix is needed (an asymmetric \
             TSP is problem `atsp`)",
        ),
        (atsp::Instance::tour(2, vec![0.0; 6]).unwrap_err(), "6 matrix entries given, 4 expected"),
        (
            atsp::Instance::tour(2, vec![0.0, -1.0, 2.0, 0.0]).unwrap_err(),
            "cost number 2 is -1, it must not be negative",
        ),
        (
            cvrp::Instance::new(square(), vec![0.0, 1.0, 7.0, 1.0], 5.0).unwrap_err(),
            "the demand of customer 2 is 7, above the vehicle's capacity of 5",
        ),
        (cvrp::Instance::new(square(), vec![0.0; 3], 5.0).unwrap_err(), "3 demands given, 4 expected"),
        (
            cvrp::Instance::new(square(), vec![0.0; 4], 0.0).unwrap_err(),
            "the capacity is 0, it must be a finite number above zero",
        ),
        (cvrp::Instance::new(square(), vec![1.0; 4], 5.0).unwrap_err(), "the depot has a demand of 1, it must be zero"),
        (
            op::Instance::new(square(), vec![0.0, 1.0, f64::INFINITY, 0.0], 4.0).unwrap_err(),
            "prize number 3 is inf, a finite number is needed",
        ),
        (
            op::Instance::new(square(), vec![0.0; 4], f64::NAN).unwrap_err(),
            "the length limit is NaN, it must be a finite number above zero",
        ),
        (knapsack::Instance::new(vec![], vec![], 1.0).unwrap_err(), "0 items given, at least 1 needed"),
        (
            knapsack::Instance::new(vec![1.0], vec![-2.0], 1.0).unwrap_err(),
            "weight number 1 is -2, it must not be negative",
        ),
    ];
    for (error, sentence) in cases {
        assert_eq!(error.to_string(), sentence);
    }
}

#[test]
fn solutions_are_refused_with_a_reason() {
    let tour = tsp::Instance::tour(square()).expect("valid");
    let reason = |solution: &[usize]| Tsp::check(&tour, solution).unwrap_err().to_string();
    assert_eq!(reason(&[1, 2]), "node 4 is missing");
    assert_eq!(reason(&[1, 2, 2]), "node 3 occurs more than once");
    assert_eq!(reason(&[1, 2, 9]), "node 10 is not one to choose from; expected at most 4");
    assert_eq!(reason(&[0, 1, 2]), "node 1 occurs more than once"); // every tour starts there
    let routes = cvrp::Instance::new(square(), vec![0.0, 3.0, 3.0, 2.0], 5.0).expect("valid");
    let solution = cvrp::from_routes(&[vec![1], vec![2, 3]]);
    assert_eq!(Cvrp::check(&routes, &solution), Ok(()));
    assert_eq!(cvrp::routes(&solution), [vec![1], vec![2, 3]]);
    let solution = cvrp::from_routes(&[vec![3], vec![1, 2]]);
    assert_eq!(
        Cvrp::check(&routes, &solution).unwrap_err().to_string(),
        "the load of route 2 is 6, above the limit of 5"
    );
    let one = routes.clone().with_vehicles(1).unwrap_err();
    assert!(matches!(one, InvalidInstance::TooFewVehicles { vehicles: 1, needed: 2, .. }), "{one}");
    let two = routes.with_vehicles(2).expect("a demand of 8");
    assert_eq!(Cvrp::check(&two, &cvrp::from_routes(&[vec![1], vec![2, 3]])), Ok(()));
    assert_eq!(
        Cvrp::check(&two, &cvrp::from_routes(&[vec![1], vec![2], vec![3]])).unwrap_err().to_string(),
        "uses 3 vehicles, above the limit of 2"
    );
    let route = op::Instance::new(square(), vec![0.0, 1.0, 1.0, 1.0], 3.5).expect("valid");
    assert_eq!(
        Op::check(&route, &[1, 2, 3]).unwrap_err().to_string(),
        "the route's length is 4, above the limit of 3.5"
    );
    let sack = knapsack::Instance::new(vec![1.0, 2.0], vec![2.0, 3.0], 4.0).expect("valid");
    assert_eq!(Knapsack::check(&sack, &[0, 1]).unwrap_err().to_string(), "the weight is 5, above the limit of 4");
}

#[test]
fn rounding_is_tsplibs() {
    let distance = |metric: Metric, a: [f64; 2], b: [f64; 2]| metric.distance([a[0], a[1], 0.0], [b[0], b[1], 0.0]);
    assert_eq!(distance(Metric::Euc2d, [0.0, 0.0], [0.0, 2.5]), 3.0); // halves go up, not to even
    assert_eq!(distance(Metric::Ceil2d, [0.0, 0.0], [1.0, 1.0]), 2.0);
    assert_eq!(distance(Metric::Att, [0.0, 0.0], [10.0, 0.0]), 4.0); // 3.16
    assert_eq!(distance(Metric::Man2d, [0.0, 0.0], [1.2, 1.2]), 2.0);
    assert_eq!(distance(Metric::Max2d, [0.0, 0.0], [1.2, 4.7]), 5.0);
    assert_eq!(Metric::Euc3d.distance([0.0; 3], [1.0, 2.0, 2.0]), 3.0);
    // Ulysses 16, nodes 1 and 2: 509 km by TSPLIB's own table.
    assert_eq!(distance(Metric::Geo, [38.24, 20.42], [39.57, 26.15]), 509.0);
    for metric in Metric::ALL {
        assert_eq!(Metric::from_name(metric.name()), Some(metric));
    }
}

#[test]
fn a_map_is_fitted_to_a_matrix() {
    let points = plane(&[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [-1.0, 2.0], [2.0, 2.0]]);
    let n = points.len();
    let values = (0..n * n).map(|k| points.distance(k / n, k % n)).collect();
    let fitted = Geometry::explicit(n, values).expect("distances of points");
    for a in 0..n {
        for b in 0..n {
            let [[ax, ay], [bx, by]] = [fitted.map()[a], fitted.map()[b]];
            assert!(((ax - bx).hypot(ay - by) - points.distance(a, b)).abs() < 1e-6, "{a} to {b}");
        }
    }
    assert!(matches!(fitted.distances(), Distances::Matrix { nodes: 5, .. }));
}

#[test]
fn frames_fill_the_unit_square() {
    let far = plane(&[[100.0, 200.0], [140.0, 200.0], [100.0, 220.0], [120.0, 210.0]]);
    let instance = tsp::Instance::tour(far).expect("valid");
    let mut tail = Tsp::whole(&instance);
    let seen = Tsp::observe(&instance, &tail, Frame::Instance);
    assert_eq!(seen.features, [0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.5, 0.25, 0.0, 0.0]);
    assert_eq!((seen.tokens, seen.origin, seen.destination, seen.costs), (5, Some(0), Some(4), Costs::Planar));
    Tsp::advance(&instance, &mut tail, 1);
    Tsp::advance(&instance, &mut tail, 3);
    // The destination, [100, 200], is drawn nearer: at [102.5, 205].
    assert_eq!(Tsp::observe(&instance, &tail, Frame::Subproblem).features, [1.0, 0.25, 0.0, 0.75, 0.125, 0.0]);
    // An instance inside the unit square keeps its numbers.
    let inside = tsp::Instance::tour(plane(&[[0.25, 0.25], [0.75, 0.5]])).expect("valid");
    let seen = Tsp::observe(&inside, &Tsp::whole(&inside), Frame::Instance);
    assert_eq!(seen.features, [0.25, 0.25, 0.75, 0.5, 0.25, 0.25]);
}

/// Far from all other nodes of a path, its destination is seen in the same direction, but nearer.
#[test]
fn a_far_destination_is_drawn_nearer() {
    let path = |x: f64, y: f64| {
        let geometry = plane(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [x, y]]);
        let instance = tsp::Instance::path(geometry, 0, 4).expect("valid");
        let features = Tsp::observe(&instance, &Tsp::whole(&instance), Frame::Subproblem).features;
        [8, 9, 2, 5].map(|k| features[k]) // the destination, and how long the square's sides look
    };
    assert_eq!(path(1.25, 0.5), [1.0, 0.4, 0.8, 0.8]);
    assert_eq!(path(100.5, 0.5), path(1.25, 0.5));
    let [x, y, ..] = path(100.5, 100.5);
    assert_eq!(x, y);
}

#[test]
fn observations_hold_what_the_paper_says() {
    let instance = cvrp::Instance::new(square(), vec![0.0, 1.0, 2.0, 3.0], 4.0).expect("valid");
    let mut tail = Cvrp::whole(&instance);
    Cvrp::advance(&instance, &mut tail, cvrp::Step { customer: 1, via_depot: false });
    let seen = Cvrp::observe(&instance, &tail, Frame::Instance);
    // x, y, demand / capacity, left / capacity: origin (customer 1, served), customers 2 and 3, depot
    let expected = [1.0, 0.0, 0.0, 0.75, 1.0, 1.0, 0.5, 0.75, 0.0, 1.0, 0.75, 0.75, 0.0, 0.0, 0.0, 0.75];
    assert_eq!(seen.features, expected);
    let slots: Vec<_> = Cvrp::allowed(&instance, &tail).collect();
    assert_eq!(slots.iter().map(|&(slot, _)| slot).collect::<Vec<_>>(), [2, 3, 4, 5]);
    let instance = knapsack::Instance::new(vec![10.0, 20.0], vec![4.0, 8.0], 6.0).expect("valid");
    let seen = Knapsack::observe(&instance, &Knapsack::whole(&instance), Frame::Instance);
    assert_eq!(seen.features, [0.5, 0.5, 0.75, 1.0, 1.0, 0.75]);
    assert_eq!((seen.origin, seen.destination), (None, None));
    let instance = atsp::Instance::tour(2, vec![9.0, 1.0, 4.0, 9.0]).expect("valid");
    let seen = Atsp::observe(&instance, &Atsp::whole(&instance), Frame::Instance);
    assert_eq!(seen.costs, Costs::Matrix(vec![0.0, 0.25, 0.0, 1.0, 0.0, 1.0, 0.0, 0.25, 0.0]));
}

#[test]
fn symmetries_are_eight_different_maps() {
    let instance = tsp::Instance::tour(plane(&[[0.1, 0.2], [0.7, 0.3], [0.4, 0.9]])).expect("valid");
    let images = Tsp::symmetries(&instance);
    assert_eq!(images.len(), 8);
    assert_eq!(images[0].geometry().map(), instance.geometry().map());
    for (k, image) in images.iter().enumerate() {
        assert!(images[..k].iter().all(|other| other.geometry().map() != image.geometry().map()));
        for [x, y] in image.geometry().map() {
            assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y));
        }
    }
    assert!(Knapsack::symmetries(&knapsack::Instance::new(vec![1.0], vec![1.0], 1.0).expect("valid")).is_empty());
}

#[test]
fn rounding_errors_are_forgiven_once_not_at_every_step() {
    let geometry =
        plane(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [2.0, 0.0], [2.0, 1.0], [3.0, 1.0], [3.0, 0.0], [4.0, 0.0]]);
    let crumbs = [0.0, 0.5, 0.5, 9e-10, 9e-10, 9e-10, 9e-10, 9e-10];
    let routes = cvrp::Instance::new(geometry, crumbs.to_vec(), 1.0).expect("valid");
    let sack = knapsack::Instance::new(vec![1.0; 8], crumbs.to_vec(), 1.0).expect("valid");
    let options = rollout::Options::default();
    let found = rollout::solve::<Cvrp>(&GreedyHeuristic, &[routes.clone().into()], &options).expect("no failure");
    assert_eq!(Cvrp::check(&routes, &found[0].steps), Ok(()));
    let found = rollout::solve::<Knapsack>(&Uniform, &[sack.clone().into()], &options).expect("no failure");
    assert_eq!(Knapsack::check(&sack, &found[0].steps), Ok(()));
}
