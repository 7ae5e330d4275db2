//! A sixth problem in one file: the prize-collecting TSP. `docs/adding-a-problem.md` explains it line by line.
//!
//! Visit customers on a tour from the depot until enough prize is collected; pay the tour's length and a penalty for
//! every customer left out. Run with `cargo run --release --example custom_problem`.

use std::sync::Arc;

use bqnco::core::rollout::{self, Augmentations, Decoding, Options};
use bqnco::core::{
    Costs, DirectMdp, Frame, Generate, GreedyHeuristic, Imitate, Infeasible, Observation, Observe, Problem, Rebuild,
    SolutionSpace, laws, random, search,
};
use bqnco::problems::{Geometry, Metric};
use rand::{Rng, RngExt};

/// The prize-collecting TSP.
pub struct Pctsp;

/// Node 0 is the depot.
#[derive(Clone)]
pub struct Instance {
    geometry: Geometry,
    prizes: Vec<f64>,
    penalties: Vec<f64>,
    start: Tail, // a whole instance starts at the depot; a tail that became an instance may start anywhere
}

/// The next stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// To a customer.
    Visit(usize),
    /// To the depot, at last: stopping is a step only where it is a decision.
    Return,
}

/// What remains to be decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    at: usize,
    rest: Vec<usize>, // ascending
    owed: f64,        // prize still to collect
    closed: bool,     // back at the depot
}

impl Tail {
    fn tokens(&self) -> Vec<usize> {
        std::iter::once(self.at).chain(self.rest.iter().copied()).chain([0]).collect()
    }

    fn may_return(&self) -> bool {
        self.owed <= 0.0 || self.rest.is_empty()
    }
}

impl SolutionSpace for Pctsp {
    type Instance = Instance;
    type Step = Step;

    fn steps(instance: &Instance) -> Vec<Step> {
        instance.start.rest.iter().map(|&node| Step::Visit(node)).chain([Step::Return]).collect()
    }

    fn horizon(instance: &Instance) -> usize {
        if instance.start.closed { 0 } else { instance.start.rest.len() + 1 }
    }

    fn cost(instance: &Instance, partial: &[Step]) -> f64 {
        let mut at = instance.start.at;
        let mut cost: f64 = instance.start.rest.iter().map(|&node| instance.penalties[node]).sum();
        for step in partial {
            let (node, saved) = match *step {
                Step::Visit(node) => (node, instance.penalties[node]),
                Step::Return => (0, 0.0),
            };
            cost += instance.geometry.distance(at, node) - saved;
            at = node;
        }
        cost
    }

    fn check(instance: &Instance, solution: &[Step]) -> Result<(), Infeasible> {
        if instance.start.closed && solution.is_empty() {
            return Ok(());
        }
        let Some((Step::Return, visits)) = solution.split_last() else {
            return Err(Infeasible::Broken("the tour does not return to the depot".into()));
        };
        let mut rest = instance.start.rest.clone();
        let mut owed = instance.start.owed;
        for visit in visits {
            let Step::Visit(node) = *visit else {
                return Err(Infeasible::Broken("the tour returns before its end".into()));
            };
            let position = rest.iter().position(|&other| other == node);
            rest.remove(position.ok_or(Infeasible::Repeated { what: "customer", number: node })?);
            owed -= instance.prizes[node];
        }
        if owed > 0.0 && !rest.is_empty() {
            return Err(Infeasible::Broken(format!("a prize of {owed} is still to be collected")));
        }
        Ok(())
    }
}

impl Problem for Pctsp {
    const NAME: &'static str = "pctsp";
    const OBJECTIVE: (&'static str, f64) = ("cost", 1.0);

    type Tail = Tail;

    fn whole(instance: &Instance) -> Tail {
        instance.start.clone()
    }

    fn allowed(_: &Instance, tail: &Tail) -> impl Iterator<Item = (usize, Step)> {
        let visits = tail.rest.iter().enumerate().map(|(k, &node)| (k + 1, Step::Visit(node))); // token 0 is the origin
        let home = tail.may_return().then_some((tail.rest.len() + 1, Step::Return)); // the last token is the depot
        visits.chain(home).filter(|_| !tail.closed)
    }

    fn reward(instance: &Instance, tail: &Tail, step: Step) -> f64 {
        match step {
            Step::Visit(node) => instance.penalties[node] - instance.geometry.distance(tail.at, node),
            Step::Return => -instance.geometry.distance(tail.at, 0),
        }
    }

    fn advance(instance: &Instance, tail: &mut Tail, step: Step) {
        match step {
            Step::Visit(node) => {
                tail.at = node;
                tail.rest.retain(|&other| other != node);
                tail.owed = (tail.owed - instance.prizes[node]).max(0.0);
            }
            Step::Return => *tail = Tail { at: 0, rest: Vec::new(), owed: 0.0, closed: true },
        }
    }

    fn extract(instance: &Instance, tail: &Tail) -> Instance {
        let nodes: Vec<usize> = [0, tail.at].into_iter().chain(tail.rest.iter().copied()).collect();
        let pick = |numbers: &[f64]| nodes.iter().map(|&node| numbers[node]).collect();
        Instance {
            geometry: instance.geometry.select(&nodes),
            prizes: pick(&instance.prizes),
            penalties: pick(&instance.penalties),
            start: Tail { at: 1, rest: (2..nodes.len()).collect(), ..*tail },
        }
    }

    fn symmetries(instance: &Instance) -> Vec<Instance> {
        let images = instance.geometry.symmetries().into_iter();
        images.map(|geometry| Instance { geometry, ..instance.clone() }).collect()
    }
}

impl Observe for Pctsp {
    const FEATURES: usize = 5; // x, y, prize, penalty, owed

    fn observe(instance: &Instance, tail: &Tail, frame: Frame) -> Observation {
        let tokens = tail.tokens();
        let map = instance.geometry.observe(frame, &tokens);
        let features = tokens.iter().zip(&map.places).flat_map(|(&node, &[x, y])| {
            let penalty = map.length(instance.penalties[node]); // it has the unit of lengths
            [x, y, instance.prizes[node] as f32, penalty, tail.owed as f32]
        });
        Observation {
            tokens: tokens.len(),
            features: features.collect(),
            origin: Some(0),
            destination: Some(tokens.len() - 1),
            costs: Costs::Planar,
        }
    }
}

impl Imitate for Pctsp {}

impl Rebuild for Pctsp {}

impl Generate for Pctsp {
    /// As Kool et al. (2019): prizes up to 4 / n, so that a quota of 1 needs about half the customers.
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        let size = size.max(1);
        let nodes = size + 1;
        let points = (0..nodes).map(|_| rng.random()).collect();
        let mut numbers = |largest: f64| -> Vec<f64> {
            (0..nodes).map(|node| if node == 0 { 0.0 } else { rng.random_range(0.0..largest) }).collect()
        };
        Instance {
            geometry: Geometry::planar(points, Metric::Exact).expect("points of the unit square"),
            prizes: numbers(4.0 / size as f64),
            penalties: numbers(0.6),
            start: Tail { at: 0, rest: (1..nodes).collect(), owed: 1.0, closed: false },
        }
    }
}

#[allow(clippy::print_stdout)] // an example talks
fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 1. The laws of the paper hold for the new problem.
    for verdict in laws::verify::<Pctsp>(12, 4, 1) {
        let result = verdict.counterexample.as_deref().unwrap_or("holds");
        println!("{:<48} {:>7}  {result}", verdict.claim, verdict.facts);
        assert!(verdict.counterexample.is_none());
    }

    // 2. Every rollout works for it: here the greedy heuristic, alone and with a beam over symmetric images.
    let instances: Vec<_> = (0..20).map(|k| Arc::new(Pctsp::generate(7, &mut random(7, &[k])))).collect();
    let greedy = rollout::solve::<Pctsp>(&GreedyHeuristic, &instances, &Options::default())?;
    let wide = Options {
        decoding: Decoding::Beam { width: 5000 },
        augmentations: Augmentations::Symmetric,
        ..Options::default()
    };
    let beam = rollout::solve::<Pctsp>(&GreedyHeuristic, &instances, &wide)?;
    for ((instance, greedy), beam) in instances.iter().zip(&greedy).zip(&beam) {
        Pctsp::check(instance, &greedy.steps)?;
        Pctsp::check(instance, &beam.steps)?;
        assert!(beam.cost <= greedy.cost + 1e-12);
    }
    let mean = |solutions: &[bqnco::core::Solution<Step>]| solutions.iter().map(|s| s.cost).sum::<f64>() / 20.0;
    println!("mean cost: greedy {:.3}, beam {:.3}", mean(&greedy), mean(&beam));

    // 3. Search too: the last steps of each solution are rebuilt, and nothing gets worse.
    let options = search::Options { longest: 5, rounds: Some(20), ..search::Options::default() };
    let rebuilt = search::reconstruct::<Pctsp>(&GreedyHeuristic, &instances, greedy.clone(), &options, &mut |_, _| ())?;
    assert!(rebuilt.iter().zip(&greedy).all(|(rebuilt, greedy)| rebuilt.cost <= greedy.cost));

    // 4. A beam that keeps everything finds the optimum.
    let tiny = Arc::new(Pctsp::generate(5, &mut random(1, &[])));
    let optimum = DirectMdp::<Pctsp>::enumerate(&tiny).optimum();
    let best = rollout::solve::<Pctsp>(&GreedyHeuristic, std::slice::from_ref(&tiny), &wide)?;
    assert!((best[0].cost - optimum).abs() < 1e-9);
    Ok(())
}
