//! Random instances: the old ones stay as they are, distributions are what they say, varied parameters span their ranges.

use std::sync::Arc;

use bqnco_core::{Distribution, Generate, GreedyHeuristic, random, rollout};
use bqnco_io::{InstanceIo, RawInstance};
use bqnco_problems::{Atsp, Cvrp, Geometry, Knapsack, Op, Pctsp, Tsp, atsp, pctsp};

/// All numbers of an instance.
fn numbers<P: InstanceIo>(instance: &P::Instance) -> Vec<f64> {
    let mut fields = RawInstance::default();
    P::instance_to(instance, &mut fields);
    fields.arrays().flat_map(|(_, array)| array.values.clone()).collect()
}

/// FNV-1a over the bits of numbers.
fn fingerprint(numbers: &[f64]) -> u64 {
    let bytes = numbers.iter().flat_map(|number| number.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Seeds of labels and of validation sets stand in recipes and in the training ledger, so equal seeds must give equal
/// instances for ever.
#[test]
fn old_seeds_give_old_instances() {
    fn check<P: InstanceIo + Generate>(old: u64, old_any: u64) {
        let paper = numbers::<P>(&P::generate(30, &mut random(1, &[3])));
        let usual = P::generate_from(Distribution::Uniform, false, 30, &mut random(1, &[3])).expect("the paper's");
        let any = P::generate_from(Distribution::Any, P::NAME != "tsp", 30, &mut random(1, &[3]));
        let any = any.map_or(0, |instance| fingerprint(&numbers::<P>(&instance)));
        assert_eq!(any, old_any, "{}: {any:#018x}", P::NAME);
        assert_eq!(fingerprint(&paper), old, "{}: {:#018x}", P::NAME, fingerprint(&paper));
        assert_eq!(numbers::<P>(&usual), paper, "{}: the usual distribution is the paper's", P::NAME);
    }
    check::<Tsp>(0x5f03_64f9_ad0b_2b02, 0x163f_ad49_7230_1bfe);
    check::<Atsp>(0x2b21_c85a_b4ff_3ead, 0xf1f4_51ad_4a79_cb3d);
    check::<Cvrp>(0x15c7_6067_4210_692a, 0x8a68_dfdb_23f1_1086);
    check::<Op>(0x4020_7e3e_7980_80b2, 0xcf43_23a5_c969_a979);
    check::<Knapsack>(0xd868_5039_fbfd_ed78, 0);
    check::<Pctsp>(0x8bcc_6ea6_43d2_cd68, 0x767b_b8f4_6221_a96e);
}

fn tsp(distribution: Distribution, size: usize, seed: u64) -> Vec<[f64; 2]> {
    let instance = Tsp::generate_from(distribution, false, size, &mut random(seed, &[])).expect("a problem on a map");
    instance.geometry().map().to_vec()
}

/// Distances of places to the nearest other place.
fn nearest(places: &[[f64; 2]]) -> Vec<f64> {
    let nearest = |[x, y]: [f64; 2]| {
        let others = places.iter().map(|[a, b]| (x - a).hypot(y - b)).filter(|&distance| distance > 0.0);
        others.fold(f64::INFINITY, f64::min)
    };
    places.iter().map(|&place| nearest(place)).collect()
}

/// Their mean, in that of uniform places.
fn crowding(places: &[[f64; 2]]) -> f64 {
    mean(&nearest(places)) * 2.0 * (places.len() as f64).sqrt()
}

/// The smallest of them, in their mean.
fn evenness(places: &[[f64; 2]]) -> f64 {
    nearest(places).into_iter().fold(f64::INFINITY, f64::min) / mean(&nearest(places))
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

#[test]
fn distributions_look_as_they_are_called() {
    let of = |distribution| -> Vec<Vec<[f64; 2]>> { (0..20).map(|seed| tsp(distribution, 300, seed)).collect() };
    let mean = |distribution| of(distribution).iter().map(|places| crowding(places)).sum::<f64>() / 20.0;
    let (uniform, clustered, mixed) =
        (mean(Distribution::Uniform), mean(Distribution::Clustered), mean(Distribution::Mixed));
    assert!(
        (uniform - 1.03).abs() < 0.08 && clustered < 0.6 && mixed > clustered && mixed < 0.9,
        "{uniform} {clustered} {mixed}"
    );
    assert!(of(Distribution::Grid).iter().all(|places| evenness(places) > 0.2), "places of a lattice keep apart");
    assert!(of(Distribution::Uniform).iter().all(|places| evenness(places) < 0.2), "others do not");
    for places in of(Distribution::Ring) {
        let mut radii: Vec<f64> = places.iter().map(|[x, y]| (x - 0.5).hypot(y - 0.5)).collect();
        radii.sort_by(f64::total_cmp);
        assert!(radii[0] > 0.04, "nothing in the middle");
    }
    for places in of(Distribution::Boards) {
        let offset = |from: [f64; 2], to: [f64; 2]| [to[0] - from[0], to[1] - from[1]];
        let is_place = |[x, y]: [f64; 2]| places.iter().any(|[a, b]| (x - a).hypot(y - b) < 1e-9);
        let parallel = |step: [f64; 2]| places.iter().filter(|[x, y]| is_place([x + step[0], y + step[1]])).count();
        let most = places[1..].iter().map(|&to| parallel(offset(places[0], to))).max().expect("many");
        assert!(most > 100, "blocks repeat: {most}");
    }
    let any = of(Distribution::Any);
    assert!(any.iter().any(|places| crowding(places) < 0.6) && any.iter().any(|places| evenness(places) > 0.2));
}

fn valid<P: InstanceIo + Generate>() {
    for &distribution in Distribution::ALL {
        for varied in [false, true] {
            for size in [P::SMALLEST_SIZE, P::SMALLEST_SIZE + 1, 5, 40] {
                for seed in 0..20 {
                    let made = |seed| P::generate_from(distribution, varied, size, &mut random(seed, &[7]));
                    let Some(instance) = made(seed) else {
                        let without = if P::NAME == "tsp" { varied } else { P::NAME == "knapsack" };
                        assert!(without, "{} has no {distribution}, varied: {varied}", P::NAME);
                        continue;
                    };
                    assert_eq!(P::size(&instance), P::size(&P::generate(size, &mut random(0, &[]))));
                    assert_eq!(numbers::<P>(&instance), numbers::<P>(&made(seed).expect("the same again")));
                    let instance = Arc::new(instance);
                    let found = rollout::solve::<P>(&GreedyHeuristic, &[Arc::clone(&instance)], &Default::default());
                    assert_eq!(P::check(&instance, &found.expect("no failure")[0].steps), Ok(()));
                }
            }
        }
    }
}

#[test]
fn every_distribution_makes_instances_of_every_size() {
    every_problem!(valid());
}

#[test]
fn varied_capacities_span_short_and_long_routes() {
    let made = |k| Cvrp::generate_from(Distribution::Uniform, true, 50, &mut random(1, &[k])).expect("capacities vary");
    let instances: Vec<_> = (0..400).map(made).collect();
    let per_route =
        |instance: &bqnco_problems::cvrp::Instance| instance.capacity() * 50.0 / instance.demands().iter().sum::<f64>();
    let share =
        |low: f64, high: f64| instances.iter().map(per_route).filter(|&c| low <= c && c < high).count() as f64 / 400.0;
    assert_eq!(share(3.0, 60.5), 1.0, "3 to 60 customers per route");
    assert!(share(3.0, 180f64.sqrt()) > 0.4 && share(3.0, 4.5) > 0.05 && share(48.0, 60.5) > 0.04);
    let depots = |place| instances.iter().filter(|instance| instance.geometry().map()[0] == place).count();
    assert!((100..170).contains(&depots([0.5, 0.5])) && (100..170).contains(&depots([0.0, 0.0])));
    let unit = instances.iter().filter(|instance| instance.demands()[1..].iter().all(|&demand| demand == 1.0)).count();
    assert!((30..90).contains(&unit), "{unit} of 400 with unit demands");
}

#[test]
fn varied_knapsacks_hold_little_or_nearly_all() {
    let share = |k| {
        let sack = Knapsack::generate_from(Distribution::Uniform, true, 500, &mut random(1, &[k]));
        sack.expect("capacities vary").capacity() / 250.0
    };
    let shares: Vec<f64> = (0..400).map(share).collect();
    assert!(shares.iter().all(|share| (0.02..1.0).contains(share)));
    let below_the_geometric_mean = shares.iter().filter(|&&share| share < 0.02f64.sqrt()).count();
    assert!((160..240).contains(&below_the_geometric_mean), "{below_the_geometric_mean} of 400");
}

/// The minimum spanning tree, which is shorter than every tour and at least half as long as the shortest.
fn spanning_tree(geometry: &Geometry) -> f64 {
    let mut keys: Vec<f64> = (0..geometry.len()).map(|node| geometry.distance(0, node)).collect();
    let (mut outside, mut length): (Vec<usize>, _) = ((1..geometry.len()).collect(), 0.0);
    while !outside.is_empty() {
        let next = (0..outside.len()).min_by(|&a, &b| keys[outside[a]].total_cmp(&keys[outside[b]])).expect("some");
        let joined = outside.swap_remove(next);
        length += keys[joined];
        outside.iter().for_each(|&node| keys[node] = keys[node].min(geometry.distance(joined, node)));
    }
    length
}

#[test]
fn varied_limits_reach_few_or_most_places() {
    for &distribution in Distribution::ALL {
        let share = |k| {
            let op = Op::generate_from(distribution, true, 100, &mut random(1, &[k])).expect("limits vary");
            op.limit() / spanning_tree(op.geometry())
        };
        let shares: Vec<f64> = (0..100).map(share).collect();
        assert!(shares.iter().any(|&s| s < 0.4) && shares.iter().any(|&s| s > 0.9), "{distribution}: {shares:?}");
        assert!(shares.iter().all(|&s| s < 1.5), "there is something to decide, {distribution}: {shares:?}");
        let pair = Op::generate_from(distribution, true, 1, &mut random(1, &[])).expect("a single customer");
        assert!(pair.limit() >= 2.0 * pair.geometry().distance(0, 1), "it can be visited");
    }
}

#[test]
fn varied_quotas_and_penalties_span_their_ranges() {
    let made = |k| Pctsp::generate_from(Distribution::Any, true, 100, &mut random(1, &[k])).expect("quotas vary");
    let instances: Vec<_> = (0..200).map(made).collect();
    let quotas: Vec<f64> = instances.iter().map(pctsp::Instance::quota).collect();
    assert!(quotas.iter().all(|quota| (0.2..1.8).contains(quota)));
    assert!(quotas.iter().any(|&quota| quota < 0.4) && quotas.iter().any(|&quota| quota > 1.6));
    let penalties = |instance: &pctsp::Instance| mean(&instance.penalties()[1..]) / 0.06; // 1 as in the paper
    assert!(instances.iter().any(|one| penalties(one) < 0.4) && instances.iter().any(|one| penalties(one) > 2.5));
}

#[test]
fn varied_asymmetry_is_of_several_kinds_and_never_a_detour_for_shortest_ways() {
    let made =
        |k| Atsp::generate_from(Distribution::Uniform, true, 30, &mut random(1, &[k])).expect("asymmetry varies");
    let detours = |instance: &atsp::Instance| {
        let all = || (0..30).flat_map(|a| (0..30).flat_map(move |b| (0..30).map(move |c| (a, b, c))));
        let cost = |a, b| instance.cost(a, b);
        all().filter(|&(a, b, c)| cost(a, b) + cost(b, c) < cost(a, c) - 1e-9).count()
    };
    let closed = (0..60).filter(|&k| detours(&made(k)) == 0).count();
    assert!((30..58).contains(&closed), "uphill, shortest ways and streets: {closed} of 60");
    let symmetric =
        |instance: &atsp::Instance| (0..30).all(|a| (0..a).all(|b| instance.cost(a, b) == instance.cost(b, a)));
    assert!((0..60).filter(|&k| symmetric(&made(k))).count() < 10, "asymmetric, but for towns without one-way streets");
}
