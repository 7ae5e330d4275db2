//! Training in small: overfitting one instance, resuming after interruptions, refusing bad settings.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bqnco_core::rollout::{Decoding, Options, solve};
use bqnco_core::{Effort, Expert, Generate, Imitate, Observe, Stop, Subproblem, Uniform, never, random};
use bqnco_experts::{AtspExpert, CvrpExpert, KnapsackExpert, OpExpert, TspExpert};
use bqnco_net::{Config, Device, Network, Provenance};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp};
use bqnco_train::{
    Augmentation, Communicator, Example, Examples, Folder, Imitation, ImprovementRound, LoadError, OptimizerName,
    Outcome, Schedule, Search, SelfImprovement, SingleProcess, TrainError, TrainEvent, Training, greedy_gap, train,
};

fn folder(path: &Path) -> Folder {
    Folder::open(path).expect("a scratch folder")
}

fn examples<P: Generate>(expert: &dyn Expert<P>, size: usize, count: u64) -> Arc<[Example<P>]> {
    let example = |k| {
        let instance = Arc::new(P::generate(size, &mut random(11, &[k])));
        let solution = expert.solve(&instance, &Effort::rounds(200, k)).expect("an expert solves small instances");
        Example::new(instance, solution.steps).expect("and does so feasibly")
    };
    (0..count).map(example).collect()
}

fn settings() -> Training {
    Training {
        seed: 3,
        steps: 400,
        batch: 32,
        shortest: 1,
        optimizer: OptimizerName::Muon,
        rate: 5e-3,
        schedule: Schedule::Linear,
        warm_up: 5,
        clip: 1.0,
        validate_every: 50,
        ..Training::default()
    }
}

fn run<P: Observe + Imitate>(
    training: &Training,
    examples: &dyn Examples<P>,
    validation: &[Example<P>],
    folder: &Folder,
    stop: Stop<'_>,
) -> Result<Outcome, TrainError> {
    run_network(&Config::tiny::<P>(), training, examples, validation, folder, stop)
}

fn run_network<P: Observe + Imitate>(
    config: &Config,
    training: &Training,
    examples: &dyn Examples<P>,
    validation: &[Example<P>],
    folder: &Folder,
    stop: Stop<'_>,
) -> Result<Outcome, TrainError> {
    let (device, provenance) = (Device::flex(), Provenance::new());
    let task = Imitation {
        config,
        training,
        examples,
        validation,
        device: &device,
        provenance: &provenance,
        improvement: None,
        communicator: &SingleProcess,
    };
    train(&task, folder, &mut |_| (), stop)
}

/// The first of two processes; the other has read another state.
struct Estranged;

impl Communicator for Estranged {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        2
    }

    fn sum(&self, numbers: &mut [f32]) {
        numbers.iter_mut().for_each(|number| *number = 2.0 * *number + 1.0);
    }
}

#[test]
fn processes_with_different_states_do_not_train_together() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let (config, training, one) = (Config::tiny::<Tsp>(), settings(), examples::<Tsp>(&TspExpert, 5, 1));
    let (device, provenance) = (Device::flex(), Provenance::new());
    let task = Imitation {
        config: &config,
        training: &training,
        examples: &one,
        validation: &one,
        device: &device,
        provenance: &provenance,
        improvement: None,
        communicator: &Estranged,
    };
    let error = train(&task, &folder(scratch.path()), &mut |_| (), &never).expect_err("two states");
    assert!(matches!(error, TrainError::OtherState { .. }), "{error}");
}

fn by_heart<P: Observe + Imitate + Generate>(expert: &dyn Expert<P>, size: usize, training: &Training) {
    network_by_heart(&Config::tiny::<P>(), expert, size, training);
}

fn network_by_heart<P: Observe + Imitate + Generate>(
    config: &Config,
    expert: &dyn Expert<P>,
    size: usize,
    training: &Training,
) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let (one, folder) = (examples(expert, size, 1), folder(scratch.path()));
    let outcome = run_network::<P>(config, training, &one, &one, &folder, &never).expect("training works");
    assert!(outcome.finished);
    let gap = outcome.best_gap.expect("validated");
    assert!(gap < 1e-6, "{}: gap {gap} %", P::NAME);
    let (network, provenance) = Network::load(&folder.best(), &Device::flex()).expect("a checkpoint");
    assert!((greedy_gap::<P>(&network, &one).expect("it fits") - gap).abs() < 1e-9);
    assert!(provenance.contains_key("steps"));
}

#[test]
fn one_instance_is_learnt_by_heart() {
    by_heart::<Tsp>(&TspExpert, 12, &settings());
    by_heart::<Atsp>(&AtspExpert, 10, &settings());
    by_heart::<Cvrp>(&CvrpExpert::default(), 10, &settings());
    by_heart::<Op>(&OpExpert, 12, &settings());
    by_heart::<Knapsack>(&KnapsackExpert, 12, &settings());
}

/// Seven of twelve nodes are enough for these solutions, and all that the network sees, in training and validation.
#[test]
fn a_network_learns_from_shortlists() {
    fn few<P: Observe>() -> Config {
        Config { shortlist: Some(7), ..Config::tiny::<P>() }
    }
    let training = Training { auxiliary: 0.5, ..settings() };
    network_by_heart::<Tsp>(&few::<Tsp>(), &TspExpert, 12, &training);
    network_by_heart::<Cvrp>(&few::<Cvrp>(), &CvrpExpert::default(), 12, &training);
    network_by_heart::<Knapsack>(&few::<Knapsack>(), &KnapsackExpert, 12, &settings());
}

#[test]
fn auxiliary_losses_train_the_encoder_and_are_refused_without_paths() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let losses = |name: &str, auxiliary: f64, second_target: f64| -> Vec<f64> {
        let training = Training { auxiliary, second_target, steps: 6, report_every: 1, ..settings() };
        let (one, folder) = (examples::<Tsp>(&TspExpert, 8, 2), folder(&scratch.path().join(name)));
        let outcome = run::<Tsp>(&training, &one, &one, &folder, &never).expect("training works");
        let (network, _) = Network::load(&folder.best(), &Device::flex()).expect("a checkpoint");
        let tensors = network.tensors();
        assert!(tensors.keys().all(|name| !name.contains("heads")), "training only");
        let learned = tensors.get("successor").is_some_and(|(_, numbers)| numbers.iter().all(|&x| x != 0.0));
        assert_eq!(learned, auxiliary > 0.0, "the head for successors is part of the network where it is trained");
        outcome.rows.iter().map(|row| row.loss).collect()
    };
    let plain = losses("plain", 0.0, 0.0);
    for (name, auxiliary, second_target) in [("edges", 0.5, 0.0), ("last", 0.0, 0.5)] {
        let other = losses(name, auxiliary, second_target);
        assert_eq!(other[0], plain[0], "the reported loss is that of imitation");
        assert_ne!(other[5], plain[5], "{name} changes the weights");
    }
    let (items, folder) = (examples::<Knapsack>(&KnapsackExpert, 6, 1), folder(&scratch.path().join("kp")));
    let training = Training { auxiliary: 0.5, ..settings() };
    let error = run::<Knapsack>(&training, &items, &items, &folder, &never).expect_err("sets have no successors");
    assert!(error.to_string().contains("auxiliary needs solutions that are paths"), "{error}");
}

#[test]
fn a_frozen_network_learns_its_new_head_only() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let tours = examples::<Tsp>(&TspExpert, 8, 2);
    let (first, second) = (folder(&scratch.path().join("first")), folder(&scratch.path().join("second")));
    let training = Training { steps: 5, ..settings() };
    run::<Tsp>(&training, &tours, &tours, &first, &never).expect("training works");
    let frozen = Training { warm_start: Some(first.last()), freeze: true, auxiliary: 0.5, steps: 20, ..settings() };
    run::<Tsp>(&frozen, &tours, &tours, &second, &never).expect("training works");
    let tensors = |folder: &Folder| Network::load(&folder.last(), &Device::flex()).expect("a checkpoint").0.tensors();
    let (before, mut after) = (tensors(&first), tensors(&second));
    let (_, head) = after.remove("successor").expect("the new head");
    assert!(head.iter().all(|&x| x != 0.0), "the head learns");
    assert_eq!(before, after, "nothing else does");
}

#[test]
fn a_warm_start_takes_what_fits() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let short = Training { steps: 2, rate: 1e-9, ..settings() };
    let (tours, first) = (examples::<Tsp>(&TspExpert, 6, 1), folder(&scratch.path().join("tsp")));
    run::<Tsp>(&short, &tours, &tours, &first, &never).expect("training works");
    let warm = Training { warm_start: Some(first.best()), seed: 99, ..short };
    let (routes, second) = (examples::<Op>(&OpExpert, 6, 1), folder(&scratch.path().join("op")));
    let mut told = None;
    let (config, device, provenance) = (Config::tiny::<Op>(), Device::flex(), Provenance::new());
    let task = Imitation {
        config: &config,
        training: &warm,
        examples: &routes,
        validation: &routes,
        device: &device,
        provenance: &provenance,
        improvement: None,
        communicator: &SingleProcess,
    };
    let mut on_event = |event: TrainEvent<'_>| {
        if let TrainEvent::WarmStart(taken) = event {
            told = Some(taken.clone());
        }
    };
    train(&task, &second, &mut on_event, &never).expect("training works");
    let taken = told.expect("a warm start is told");
    assert_eq!(taken.fresh, ["ends.embed", "ends.embed_bias"].map(|name| format!("body.{name}")));
    let tensors = |folder: &Folder| Network::load(&folder.last(), &device).expect("a checkpoint").0.tensors();
    let (theirs, mine) = (tensors(&first), tensors(&second));
    for name in &taken.taken {
        let near = theirs[name].1.iter().zip(&mine[name].1).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near, "{name}");
    }
    let small = Training { warm_start: Some(scratch.path().join("nowhere")), ..warm };
    run::<Op>(&small, &routes, &routes, &folder(&scratch.path().join("none")), &never).expect_err("no checkpoint");
}

#[test]
fn a_deeper_network_or_one_with_an_ascent_starts_with_the_scores_of_the_other() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let (tours, device) = (examples::<Tsp>(&TspExpert, 6, 1), Device::flex());
    let first = folder(&scratch.path().join("first"));
    run::<Tsp>(&Training { steps: 20, ..settings() }, &tours, &tours, &first, &never).expect("training works");
    let still = Training { warm_start: Some(first.last()), steps: 1, rate: 1e-12, ..settings() };
    let tiny = Config::tiny::<Tsp>();
    let observation = Subproblem::<Tsp>::whole(Arc::clone(tours[0].instance())).observe(tiny.frame);
    let scores = |folder: &Folder| {
        let (network, _) = Network::load(&folder.last(), &device).expect("a checkpoint");
        network.scores(std::slice::from_ref(&observation)).expect("scores")
    };
    for (name, config) in [("deep", Config { n_layers: 4, ..tiny.clone() }), ("ascent", Config { ascent: 20, ..tiny })]
    {
        let second = folder(&scratch.path().join(name));
        run_network(&config, &still, &tours, &tours, &second, &never).expect("training works");
        let (before, after) = (scores(&first), scores(&second));
        let near = before[0].iter().zip(&after[0]).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(near, "{name}: {before:?}\n{after:?}");
    }
}

#[test]
fn adam_learns_too() {
    let adam = Training { optimizer: OptimizerName::AdamW, steps: 400, average: 0.9, weight_decay: 0.01, ..settings() };
    by_heart::<Tsp>(&TspExpert, 10, &adam);
}

/// Examples in parts that take turns.
struct Parts(Vec<Arc<[Example<Tsp>]>>);

impl Examples<Tsp> for Parts {
    fn parts(&self) -> usize {
        self.0.len()
    }

    fn load(&self, part: usize) -> Result<Arc<[Example<Tsp>]>, LoadError> {
        Ok(Arc::clone(&self.0[part]))
    }
}

#[test]
fn a_run_in_many_sessions_equals_one_in_a_single_session() {
    let all = examples::<Tsp>(&TspExpert, 9, 6);
    let part = |k: usize| -> Arc<[Example<Tsp>]> {
        let copy = |e: &Example<Tsp>| Example::new(Arc::clone(e.instance()), e.steps().to_vec()).expect("feasible");
        all[2 * k..2 * k + 2].iter().map(copy).collect()
    };
    let parts = Parts((0..3).map(part).collect());
    for optimizer in [OptimizerName::Muon, OptimizerName::AdamW] {
        let training = Training {
            optimizer,
            steps: 14,
            batch: 8,
            augmentation: Augmentation::Square,
            average: 0.9,
            auxiliary: 0.2,
            second_target: 0.3,
            validate_every: 4,
            save_every: 3,
            report_every: 1,
            part_every: 2,
            ..settings()
        };
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let weights = |every: u64| {
            let scratch = tempfile::tempdir().expect("a scratch folder");
            let folder = folder(scratch.path());
            let (asked, mut sessions) = (AtomicU64::new(0), 0);
            let stop = || asked.fetch_add(1, Ordering::Relaxed) % every == every - 1;
            loop {
                let session = || run::<Tsp>(&training, &parts, &all, &folder, &stop).expect("training works");
                let outcome = one_thread.install(session);
                sessions += 1;
                if outcome.finished {
                    let losses: Vec<f64> = outcome.rows.iter().map(|row| row.loss).collect();
                    assert_eq!(losses.len(), 14);
                    let weights = std::fs::read(folder.last().join("model.safetensors")).expect("a checkpoint");
                    return (losses, weights, outcome.best_gap, sessions);
                }
            }
        };
        let (losses, whole, gap, sessions) = weights(1000);
        assert_eq!(sessions, 1);
        for every in [1, 3, 5] {
            let (pieces_losses, pieces, pieces_gap, sessions) = weights(every);
            assert!(sessions > 2, "{sessions} sessions");
            assert_eq!(pieces_losses, losses, "{optimizer:?}, a session every {every} steps");
            assert!(pieces == whole && pieces_gap == gap, "{optimizer:?}: other weights");
        }
    }
}

#[test]
fn weights_are_equal_bit_by_bit_at_any_number_of_threads() {
    let all = examples::<Tsp>(&TspExpert, 9, 6);
    for optimizer in [OptimizerName::Muon, OptimizerName::AdamW] {
        let training = Training {
            optimizer,
            steps: 6,
            augmentation: Augmentation::Square,
            average: 0.9,
            auxiliary: 0.2,
            second_target: 0.3,
            validate_every: 3,
            report_every: 1,
            ..settings()
        };
        let outcome = |threads: usize| {
            let scratch = tempfile::tempdir().expect("a scratch folder");
            let folder = folder(scratch.path());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let outcome = pool.install(|| run::<Tsp>(&training, &all, &all, &folder, &never).expect("training works"));
            let losses: Vec<u64> = outcome.rows.iter().map(|row| row.loss.to_bits()).collect();
            let weights = std::fs::read(folder.last().join("model.safetensors")).expect("a checkpoint");
            (losses, weights)
        };
        let (losses, weights) = outcome(1);
        assert_eq!(losses.len(), 6);
        for threads in [2, 3, 8] {
            let (other_losses, other_weights) = outcome(threads);
            assert_eq!(other_losses, losses, "{optimizer:?}, {threads} threads");
            assert!(other_weights == weights, "{optimizer:?}, {threads} threads: other weights");
        }
    }
}

/// Examples with random solutions.
fn poor_examples<P: Generate>(size: usize, count: u64) -> Arc<[Example<P>]> {
    let instances: Vec<_> = (0..count).map(|k| Arc::new(P::generate(size, &mut random(12, &[k])))).collect();
    let decoding = Decoding::Sample { count: 1, temperature: 1.0, top_k: None };
    let found = solve::<P>(&Uniform, &instances, &Options { decoding, ..Options::default() }).expect("no weights");
    let pairs = instances.into_iter().zip(found);
    pairs.map(|(instance, solution)| Example::new(instance, solution.steps).expect("feasible")).collect()
}

/// Trains with self-improvement in sessions of `every` steps; the rounds, the weights and the number of sessions.
fn improved<P: Observe + Imitate + Generate>(every: u64) -> (Vec<ImprovementRound>, Vec<u8>, usize) {
    let (poor, scratch) = (poor_examples::<P>(8, 6), tempfile::tempdir().expect("a scratch folder"));
    let folder = folder(scratch.path());
    let training = Training { steps: 14, batch: 8, average: 0.9, save_every: 3, ..settings() };
    let search = Search::Sample { count: 4, temperature: 1.0 };
    let (config, device, provenance) = (Config::tiny::<P>(), Device::flex(), Provenance::new());
    let task = Imitation {
        config: &config,
        training: &training,
        examples: &poor,
        validation: &poor,
        device: &device,
        provenance: &provenance,
        improvement: Some(SelfImprovement { every: 4, instances: 5, search }),
        communicator: &SingleProcess,
    };
    let (asked, mut sessions, mut rounds) = (AtomicU64::new(0), 0, Vec::new());
    let stop = || asked.fetch_add(1, Ordering::Relaxed) % every == every - 1;
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    loop {
        let mut on_event = |event: TrainEvent<'_>| {
            if let TrainEvent::LabelsImproved(round) = event {
                rounds.push(*round);
            }
        };
        let outcome = one_thread.install(|| train(&task, &folder, &mut on_event, &stop)).expect("training works");
        sessions += 1;
        if outcome.finished {
            let files = std::fs::read_dir(scratch.path()).expect("a folder").flatten();
            let names: Vec<_> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
            assert_eq!(names.iter().filter(|name| name.starts_with("labels-")).count(), 1, "{names:?}");
            let weights = std::fs::read(folder.last().join("model.safetensors")).expect("a checkpoint");
            return (rounds, weights, sessions);
        }
    }
}

#[test]
fn labels_improve_alike_in_one_session_and_in_many() {
    fn check<P: Observe + Imitate + Generate>() {
        let (rounds, whole, sessions) = improved::<P>(1000);
        assert_eq!((rounds.len(), sessions), (3, 1), "{}", P::NAME);
        assert!(rounds.iter().map(|round| round.improved).sum::<usize>() > 5, "{}: {rounds:?}", P::NAME);
        assert!(rounds.iter().all(|round| round.after <= round.before && round.tried == 5));
        for every in [1, 3, 4] {
            let (again, pieces, sessions) = improved::<P>(every);
            assert!(sessions > 2 && again == rounds, "{}: {again:?}, expected {rounds:?}", P::NAME);
            assert!(pieces == whole, "{}: other weights", P::NAME);
        }
    }
    check::<Tsp>();
    check::<Cvrp>();
    check::<Knapsack>();
}

#[test]
fn bad_settings_and_states_are_refused() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let (one, folder) = (examples::<Tsp>(&TspExpert, 6, 1), folder(scratch.path()));
    let bad = Training { rate: -1.0, ..settings() };
    let error = run::<Tsp>(&bad, &one, &one, &folder, &never).expect_err("a rate below zero");
    assert_eq!(error.to_string(), "the training's rate is -1; expected above 0");
    let none: Arc<[Example<Tsp>]> = Arc::new([]);
    let error = run::<Tsp>(&settings(), &none, &one, &folder, &never).expect_err("nothing to learn");
    assert!(matches!(error, TrainError::NothingToLearn { found: 0 }), "{error}");
    std::fs::write(scratch.path().join("state.bin"), "bqnco-state 2\nrubbish").expect("written");
    let error = run::<Tsp>(&settings(), &one, &one, &folder, &never).expect_err("a damaged state");
    assert!(error.to_string().contains("damaged"), "{error}");
}
