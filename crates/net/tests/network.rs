//! Properties of whole networks, as policies and on disk.

use std::sync::Arc;

use bqnco_core::{Costs, Cut, Frame, Generate, Observation, Observe, Policy, PolicyError, Random, Subproblem, random};
use bqnco_kernels::{CpuPath, ProductPrecision, available_paths};
use bqnco_net::{Architecture, Batch, Config, CostBias, EndCosts, NetError, Network, Precision, Provenance};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};
use burn::tensor::Device;
use rand::RngExt;
use rand::seq::SliceRandom;

fn network(config: Config) -> Network {
    Network::new(config, 3, &Device::flex()).unwrap()
}

fn states<P: Generate>(sizes: &[usize], rng: &mut Random) -> Vec<Subproblem<P>> {
    let instances = sizes.iter().map(|&size| Arc::new(P::generate(size, rng)));
    instances.map(|instance| Subproblem::<P>::whole(instance)).collect()
}

/// States scored together and one by one, by every architecture that suits the problem.
fn batch_equals_alone<P: Observe + Generate>() {
    let tiny = Config::tiny::<P>();
    let mut configs = vec![
        tiny.clone(),
        Config { costs: CostBias::BothWays, ..tiny.clone() },
        Config { costs: CostBias::BothWays, end_costs: EndCosts::Seen, ..tiny.clone() },
        Config { ascent: 5, ..tiny.clone() },
        Config { ascent: 5, costs: CostBias::BothWays, ..tiny.clone() },
        Config { architecture: Architecture::Perceiver, ..tiny.clone() },
    ];
    if P::NAME == "atsp" {
        configs.push(Config { architecture: Architecture::GcnTransformer, ..tiny });
    }
    let states = states::<P>(&[9, 5, 20, 9, 13], &mut random(2, &[]));
    let all: Vec<&Subproblem<P>> = states.iter().collect();
    for config in configs {
        let network = network(config);
        let together = Policy::<P>::scores(&network, &all).unwrap();
        for (state, together) in all.iter().zip(together) {
            let alone = Policy::<P>::scores(&network, &[*state]).unwrap().remove(0);
            assert_eq!(alone.len(), together.len());
            assert!(alone.len() > state.allowed().map(|(slot, _)| slot).max().unwrap());
            for (a, b) in alone.iter().zip(&together) {
                assert!((a - b).abs() < 1e-5, "{} {:?}: {a} {b}", P::NAME, network.config());
            }
        }
    }
}

#[test]
fn a_batch_scores_like_its_states_alone() {
    batch_equals_alone::<Tsp>();
    batch_equals_alone::<Atsp>();
    batch_equals_alone::<Cvrp>();
    batch_equals_alone::<Op>();
    batch_equals_alone::<Knapsack>();
}

/// Four tokens with a cost of its own from each to each.
fn asymmetric() -> Observation {
    let costs = (0..16).map(|k| k as f32 / 16.0).collect();
    Observation {
        tokens: 4,
        features: vec![0.5; 4],
        origin: Some(0),
        destination: Some(3),
        costs: Costs::Matrix(costs),
    }
}

#[test]
fn tokens_know_the_costs_from_and_to_the_ends() {
    let see = |costs, end_costs| {
        let config = Config { costs, end_costs, ..Config::tiny::<Atsp>() };
        let batch = Batch::new(&config, &[asymmetric()], &Device::flex()).unwrap();
        let width = batch.inputs.dims()[2];
        (width, batch.inputs.into_data().try_to_vec::<f32>().unwrap()[2 * width..3 * width].to_vec())
    };
    let cost = |from: usize, to: usize| (4 * from + to) as f32 / 16.0;
    assert_eq!(see(CostBias::Forward, EndCosts::Unseen), (3, vec![0.5, 0.0, 0.0]));
    assert_eq!(see(CostBias::Forward, EndCosts::Seen), (5, vec![0.5, 0.0, 0.0, cost(0, 2), cost(2, 3)]));
    let both = vec![0.5, 0.0, 0.0, cost(0, 2), cost(2, 3), cost(2, 0), cost(3, 2)];
    assert_eq!(see(CostBias::BothWays, EndCosts::Seen), (7, both));
    // Places in a plane have costs too; what has none costs nothing.
    let config = Config { end_costs: EndCosts::Seen, ..Config::tiny::<Tsp>() };
    let planar = Observation {
        features: vec![0.0, 0.0, 0.6, 0.8, 0.0, 0.8],
        tokens: 3,
        costs: Costs::Planar,
        origin: Some(0),
        destination: Some(2),
    };
    let nothing = Observation { costs: Costs::None, ..planar.clone() };
    let inputs = Batch::new(&config, &[planar, nothing], &Device::flex()).unwrap().inputs;
    let inputs = inputs.into_data().try_to_vec::<f32>().unwrap();
    assert!((inputs[6 + 4] - 1.0).abs() < 1e-6 && (inputs[6 + 5] - 0.6).abs() < 1e-6, "{inputs:?}");
    assert_eq!(inputs[18 + 6..18 + 12], [0.6, 0.8, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn from_the_origin_images_are_not_told_apart() {
    let network = |frame| network(Config { frame, ..Config::tiny::<Tsp>() });
    assert!(!Policy::<Tsp>::distinguishes_augmentations(&network(Frame::Origin)));
    assert!(Policy::<Tsp>::distinguishes_augmentations(&network(Frame::Subproblem)));
}

/// The same observation with its tokens in another order.
fn permuted(o: &Observation, order: &[usize]) -> Observation {
    let width = o.features.len() / o.tokens;
    let place = |token: Option<usize>| token.map(|t| order.iter().position(|&k| k == t).unwrap());
    let matrix = |m: &Vec<f32>| order.iter().flat_map(|&i| order.iter().map(move |&j| m[i * o.tokens + j])).collect();
    Observation {
        tokens: o.tokens,
        features: order.iter().flat_map(|&k| o.features[k * width..(k + 1) * width].to_vec()).collect(),
        origin: place(o.origin),
        destination: place(o.destination),
        costs: match &o.costs {
            Costs::Matrix(m) => Costs::Matrix(matrix(m)),
            other => other.clone(),
        },
    }
}

#[test]
fn permuting_the_tokens_permutes_the_scores() {
    let mut rng = random(4, &[]);
    let atsp = states::<Atsp>(&[23], &mut rng).remove(0).observe(Default::default());
    let cvrp = states::<Cvrp>(&[23], &mut rng).remove(0).observe(Default::default());
    let gcn = Config { architecture: Architecture::GcnTransformer, ..Config::tiny::<Atsp>() };
    let perceiver = Config { architecture: Architecture::Perceiver, ..Config::tiny::<Cvrp>() };
    let cases = [
        (network(gcn), &atsp),
        (network(Config { costs: CostBias::BothWays, ..Config::tiny::<Atsp>() }), &atsp),
        (network(Config::tiny::<Cvrp>()), &cvrp),
        (network(perceiver), &cvrp),
    ];
    for (network, observation) in cases {
        let mut order: Vec<usize> = (0..observation.tokens).collect();
        order.shuffle(&mut rng);
        let scores = network.scores(&[observation.clone(), permuted(observation, &order)]).unwrap();
        let kinds = network.config().kinds;
        for (k, &token) in order.iter().enumerate() {
            for kind in 0..kinds {
                let (a, b) = (scores[0][token * kinds + kind], scores[1][k * kinds + kind]);
                assert!((a - b).abs() < 1e-5, "{a} {b}");
            }
        }
    }
}

#[test]
fn equal_tails_have_equal_scores() {
    let mut rng = random(5, &[]);
    let start = states::<Tsp>(&[8], &mut rng).remove(0);
    let steps: Vec<usize> = start.allowed().map(|(_, step)| step).collect();
    let after = |order: [usize; 3]| {
        let mut state = start.clone();
        for k in order {
            state.take(steps[k]);
        }
        state
    };
    let (a, b) = (after([0, 1, 2]), after([1, 0, 2]));
    let network = network(Config::tiny::<Tsp>());
    let scores = Policy::<Tsp>::scores(&network, &[&a, &b]).unwrap();
    assert_eq!(scores[0], scores[1]);
}

#[test]
fn the_approximate_network_agrees_on_whole_instances_only() {
    let config = Config { architecture: Architecture::Approximate, frame: Frame::Instance, ..Config::tiny::<Tsp>() };
    let network = network(config);
    let mut state = states::<Tsp>(&[12], &mut random(10, &[])).remove(0);
    let exact = |state: &Subproblem<Tsp>| network.scores(&[state.observe(Default::default())]).unwrap().remove(0);
    let kept = |state: &Subproblem<Tsp>| Policy::<Tsp>::scores(&network, &[state]).unwrap().remove(0);
    exact(&state).iter().zip(kept(&state)).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));
    let step = state.allowed().next().unwrap().1;
    state.take(step);
    assert_eq!(kept(&state).len(), exact(&state).len());
    assert!(exact(&state).iter().zip(kept(&state)).any(|(a, b)| (a - b).abs() > 1e-4));
}

#[test]
fn no_tokens_have_no_scores() {
    let empty = Observation { tokens: 0, features: vec![], origin: None, destination: None, costs: Costs::Planar };
    for config in [Config::tiny::<Tsp>(), Config { costs: CostBias::BothWays, ..Config::tiny::<Tsp>() }] {
        let scores = network(config).scores(std::slice::from_ref(&empty)).expect("nothing to score");
        assert_eq!(scores, [Vec::<f32>::new()]);
    }
}

#[test]
fn a_checkpoint_gives_the_same_network_again() {
    let folder = std::env::temp_dir().join(format!("bqnco-net-{}", std::process::id()));
    let state = states::<Cvrp>(&[30], &mut random(6, &[])).remove(0);
    let provenance = Provenance::from([("recipe".to_string(), "none".to_string())]);
    for config in [Config::tiny::<Cvrp>(), Config { architecture: Architecture::Perceiver, ..Config::tiny::<Cvrp>() }] {
        let network = network(config);
        let scores = Policy::<Cvrp>::scores(&network, &[&state]).unwrap().remove(0);
        for (precision, tolerance) in [(Precision::Single, 0.0), (Precision::Half, 1e-2)] {
            network.save(&folder, precision, &provenance).unwrap();
            let (loaded, from) = Network::load(&folder, &Device::flex()).unwrap();
            assert_eq!((loaded.config(), &from), (network.config(), &provenance));
            let again = Policy::<Cvrp>::scores(&loaded, &[&state]).unwrap().remove(0);
            scores.iter().zip(again).for_each(|(a, b)| assert!((a - b).abs() <= tolerance, "{a} {b}"));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn damaged_and_foreign_files_are_refused_with_a_reason() {
    let network = network(Config::tiny::<Tsp>());
    let (weights, config) = network.to_bytes(Precision::Single, &Provenance::new()).unwrap();
    let load = |weights: &[u8], config: &[u8]| match Network::from_bytes(weights, config, &Device::flex()) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    let mut flipped = weights.clone();
    flipped[weights.len() / 2] ^= 1;
    assert!(load(&flipped, &config).contains("checksum"));
    assert!(load(&weights[..100], &config).contains("checksum"));
    assert!(load(&weights, b"{}").contains("config.json"));
    assert!(load(&weights, b"\xff\x00").contains("config.json"));
    let text = String::from_utf8(config).unwrap();
    assert!(load(&weights, text.replace("\"version\": 1", "\"version\": 9").as_bytes()).contains("version 9"));
    assert!(load(&weights, text.replace("\"dim\": 32", "\"dim\": 48").as_bytes()).contains("shape"));
    assert!(load(&weights, text.replace("\"dim\": 32", "\"dim\": 33").as_bytes()).contains("heads"));
    let huge = text.replace("\"dim\": 32", "\"dim\": 65536").replace("\"dim_ff\": 64", "\"dim_ff\": 65536");
    assert!(load(&weights, huge.as_bytes()).contains("a larger network"));
    assert!(load(&weights, text.replace("\"transformer\"", "\"approximate\"").as_bytes()).contains("frame `instance`"));
    assert!(load(&weights, text.replace("\"n_layers\": 2", "\"n_layers\": 3").as_bytes()).contains("missing"));
    assert!(load(&weights, text.replace("\"n_layers\": 2", "\"n_layers\": 1").as_bytes()).contains("no part"));
}

#[test]
fn a_network_for_another_problem_is_refused() {
    let network = network(Config::tiny::<Tsp>());
    let state = states::<Cvrp>(&[5], &mut random(7, &[])).remove(0);
    match Policy::<Cvrp>::scores(&network, &[&state]) {
        Err(PolicyError::Failed(error)) => assert!(error.to_string().contains("made for tsp"), "{error}"),
        _ => panic!("accepted"),
    }
    let gcn = Network::new(Config::gcn::<Knapsack>(), 0, &Device::flex()).unwrap();
    let state = states::<Knapsack>(&[5], &mut random(7, &[])).remove(0);
    assert!(matches!(gcn.scores(&[state.observe(Default::default())]), Err(NetError::NoCosts { .. })));
    let short = Observation { tokens: 3, features: vec![0.0; 4], origin: None, destination: None, costs: Costs::None };
    assert!(matches!(network.scores(&[short]), Err(NetError::BadObservation { .. })));
    assert_eq!(network.scores(&[]).unwrap(), Vec::<Vec<f32>>::new());
}

#[test]
fn equal_seeds_give_equal_networks() {
    let state = states::<Tsp>(&[10], &mut random(8, &[])).remove(0);
    let scores = |seed: u64| {
        let network = Network::new(Config::tiny::<Tsp>(), seed, &Device::flex()).unwrap();
        Policy::<Tsp>::scores(&network, &[&state]).unwrap()
    };
    let seed = random(9, &[]).random::<u64>();
    assert_eq!(scores(seed), scores(seed));
    assert_ne!(scores(seed), scores(seed ^ 1));
}

/// Scores are those without an outlook, and padding changes nothing.
#[test]
fn an_outlook_has_the_scores_and_the_successors_of_its_own_tokens() {
    let network = network(Config { successors: true, ..Config::tiny::<Tsp>() });
    let mut tensors = network.tensors();
    let (_, head) = tensors.get_mut("successor").unwrap();
    head.iter_mut().enumerate().for_each(|(k, x)| *x = ((k * 37 % 101) as f32 - 50.0) / 50.0);
    let network = network.with_tensors(tensors, "a test").unwrap();
    let states = states::<Tsp>(&[5, 9], &mut random(1, &[]));
    let all: Vec<&Subproblem<Tsp>> = states.iter().collect();
    let together = Policy::<Tsp>::outlooks(&network, &all).unwrap();
    let scores = Policy::<Tsp>::scores(&network, &all).unwrap();
    for ((state, outlook), scores) in all.iter().zip(&together).zip(&scores) {
        assert_eq!(&outlook.scores, scores);
        let alone = Policy::<Tsp>::outlooks(&network, &[state]).unwrap().remove(0);
        assert_eq!(outlook.successors.len(), scores.len() * scores.len());
        let equal = outlook.successors.iter().zip(&alone.successors).all(|(a, b)| (a - b).abs() < 1e-4);
        assert!(equal && outlook.successors.iter().any(|&x| x != 0.0));
    }
}

/// The cache of packed weights must not mix up precisions, also of networks that share it.
#[test]
fn bf16_scores_are_near_those_of_f32_and_not_the_same() {
    if !available_paths().contains(&CpuPath::Bf16) {
        return bqnco_testing::skip(bqnco_testing::Absent::Cpu, "no bf16 products");
    }
    let f32 = network(Config::tiny::<Tsp>());
    let bf16 = f32.clone().with_precision(ProductPrecision::Bf16);
    let state = states::<Tsp>(&[30], &mut random(8, &[])).remove(0);
    let scores = |network: &Network| Policy::<Tsp>::scores(network, &[&state]).unwrap().remove(0);
    let (first, low, again) = (scores(&f32), scores(&bf16), scores(&f32));
    assert_eq!(first, again);
    let is_free = matches!(bqnco_kernels::best_path(), CpuPath::Amx | CpuPath::Avx512);
    assert_eq!(first != low, is_free, "other paths have no vectors for bf16, or are bf16 themselves");
    let largest = first.iter().fold(0.0f32, |most, x| most.max(x.abs()));
    first.iter().zip(&low).for_each(|(a, b)| assert!((a - b).abs() < 0.03 * largest, "{a} and {b}"));
}

/// One more feature, or random numbers instead of the identifiers that the problem has.
#[test]
fn tokens_may_have_random_identifiers() {
    fn check<P: Observe + Generate>(features: usize) {
        let tiny = Config { costs: CostBias::Unseen, ..Config::tiny::<P>() };
        let named = Config { features: Config::features_of::<P>(true), random_identifiers: true, ..tiny.clone() };
        assert_eq!(named.features, features);
        let states = states::<P>(&[9, 5], &mut random(2, &[]));
        let states: Vec<&Subproblem<P>> = states.iter().collect();
        let network = network(named.clone());
        let scores = Policy::<P>::scores(&network, &states).unwrap();
        assert_eq!(scores, Policy::<P>::scores(&network, &states).unwrap(), "the same every time");
        let (weights, config) = network.to_bytes(Precision::Single, &Provenance::new()).unwrap();
        assert_eq!(Network::from_bytes(&weights, &config, &Device::flex()).unwrap().0.config(), &named);
        let unnamed = Network::new(Config { random_identifiers: false, ..named }, 3, &Device::flex()).unwrap();
        match Policy::<P>::scores(&unnamed, &states) {
            Ok(others) => assert_ne!(others, scores, "{}: identifiers of another kind", P::NAME),
            Err(error) => assert!(error.to_string().contains("features"), "{error}"),
        }
    }
    check::<Tsp>(3);
    check::<Atsp>(1);
    check::<Knapsack>(4);
}

#[test]
fn the_presets_of_the_paper_see_the_nearest_candidates() {
    for config in [Config::paper::<Cvrp>(), Config::gcn::<Atsp>(), Config::perceiver::<Tsp>()] {
        assert_eq!(config.cut, Cut::Nearest);
        let expected = if config.architecture == Architecture::Perceiver { None } else { Some(250) };
        assert_eq!(config.candidates(Some(50)), expected);
        assert_eq!(Config { shortlist: Some(9), ..config }.candidates(Some(50)), Some(9));
    }
    let modern = Config::modern::<Cvrp>();
    assert_eq!((modern.cut, modern.candidates(Some(50))), (Cut::Likeliest, Some(50)));
}

#[test]
fn an_ascent_needs_a_transformer_that_sees_costs() {
    let tiny = Config { ascent: 30, ..Config::tiny::<Tsp>() };
    assert!(tiny.check().is_ok());
    let refused = [
        Config { costs: CostBias::Unseen, ..tiny.clone() },
        Config { architecture: Architecture::Perceiver, ..tiny.clone() },
        Config { architecture: Architecture::GcnTransformer, ..tiny.clone() },
        Config { ascent: 1001, ..tiny },
    ];
    for config in refused {
        let message = config.check().expect_err("not for this network").to_string();
        assert!(message.contains("ascent"), "{message}");
    }
}
