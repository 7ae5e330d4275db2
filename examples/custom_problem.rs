//! A problem of one's own in one file: minimum vertex cover. `docs/adding-a-problem.md` explains it line by line.
//!
//! Choose as few nodes of a graph as possible so that every edge has a chosen end. Run with
//! `cargo run --release --example custom_problem`.

use std::collections::BTreeSet;
use std::sync::Arc;

use bqnco::core::rollout::{self, Decoding, Options};
use bqnco::core::{
    Costs, DirectMdp, Frame, Generate, GreedyHeuristic, Imitate, Infeasible, Observe, Problem, Rebuild, Relations,
    SolutionSpace, laws, random, search,
};
use bqnco::net::{Config, Device, Network};
use rand::{Rng, RngExt};

/// The minimum vertex cover problem.
pub struct VertexCover;

/// A graph.
#[derive(Clone)]
pub struct Instance {
    nodes: usize,
    edges: Tail,
}

/// What remains to be decided: the edges without a chosen end. Which nodes were chosen, and in which order, no longer
/// matters: all those histories are one state.
pub type Tail = BTreeSet<(usize, usize)>;

/// The nodes that still have an uncovered edge, ascending: the tokens.
fn open_nodes(edges: &Tail) -> Vec<usize> {
    let ends: BTreeSet<usize> = edges.iter().flat_map(|&(a, b)| [a, b]).collect();
    ends.into_iter().collect()
}

fn without(edges: &Tail, node: usize) -> Tail {
    edges.iter().copied().filter(|&(a, b)| a != node && b != node).collect()
}

impl SolutionSpace for VertexCover {
    type Instance = Instance;
    type Step = usize; // one more node

    fn steps(instance: &Instance) -> Vec<usize> {
        open_nodes(&instance.edges)
    }

    fn horizon(instance: &Instance) -> usize {
        open_nodes(&instance.edges).len()
    }

    fn cost(_: &Instance, partial: &[usize]) -> f64 {
        partial.len() as f64
    }

    /// Every chosen node must cover an edge that those before it do not.
    fn check(instance: &Instance, solution: &[usize]) -> Result<(), Infeasible> {
        let mut uncovered = instance.edges.clone();
        for &node in solution {
            let rest = without(&uncovered, node);
            if rest.len() == uncovered.len() {
                return Err(Infeasible::Broken(format!("node {node} covers nothing")));
            }
            uncovered = rest;
        }
        match uncovered.first() {
            Some((a, b)) => Err(Infeasible::Broken(format!("the edge from {a} to {b} is not covered"))),
            None => Ok(()),
        }
    }
}

impl Problem for VertexCover {
    const NAME: &'static str = "vertex-cover";
    const OBJECTIVE: (&'static str, f64) = ("nodes", 1.0);
    const UNIT: &'static str = "nodes";
    const GREEDY_HEURISTIC: &'static str = "most edges";

    type Tail = Tail;

    fn size(instance: &Instance) -> usize {
        instance.nodes
    }

    fn whole(instance: &Instance) -> Tail {
        instance.edges.clone()
    }

    fn allowed(_: &Instance, tail: &Tail) -> impl Iterator<Item = (usize, usize)> {
        open_nodes(tail).into_iter().enumerate() // the slot of a step is its token
    }

    fn reward(_: &Instance, _: &Tail, _: usize) -> f64 {
        -1.0
    }

    fn advance(_: &Instance, tail: &mut Tail, step: usize) {
        *tail = without(tail, step);
    }

    fn extract(_: &Instance, tail: &Tail) -> Instance {
        let nodes = open_nodes(tail);
        let number = |node: usize| nodes.binary_search(&node).expect("an open node");
        let edges = tail.iter().map(|&(a, b)| (number(a), number(b))).collect();
        Instance { nodes: nodes.len(), edges }
    }

    fn greedy_score(_: &Instance, tail: &Tail, step: usize) -> f64 {
        tail.iter().filter(|&&(a, b)| a == step || b == step).count() as f64
    }
}

impl Observe for VertexCover {
    const FEATURES: usize = 1; // share of the uncovered edges

    fn tokens(_: &Instance, tail: &Tail) -> usize {
        open_nodes(tail).len()
    }

    fn observe_into(_: &Instance, tail: &Tail, _: Frame, features: &mut [f32]) -> Relations {
        let nodes = open_nodes(tail);
        let joined = |a: usize, b: usize| tail.contains(&(a.min(b), a.max(b)));
        let adjacency = nodes.iter().flat_map(|&a| nodes.iter().map(move |&b| if joined(a, b) { 1.0 } else { 0.0 }));
        let share =
            |&node: &usize| nodes.iter().filter(|&&other| joined(node, other)).count() as f32 / tail.len() as f32;
        features.iter_mut().zip(&nodes).for_each(|(token, node)| *token = share(node));
        Relations { costs: Costs::Matrix(adjacency.collect()), ..Relations::NONE } // [tokens, tokens]
    }
}

impl Imitate for VertexCover {
    const ORDERED: bool = false; // every node of the expert's cover is right
}

impl Rebuild for VertexCover {}

impl Generate for VertexCover {
    /// Every edge with a probability of 3 / n.
    fn generate(size: usize, rng: &mut impl Rng) -> Instance {
        let pairs = (0..size).flat_map(|b| (0..b).map(move |a| (a, b)));
        let edges = pairs.filter(|_| rng.random_bool((3.0 / size as f64).min(1.0))).collect();
        Instance { nodes: size, edges }
    }
}

#[allow(clippy::print_stdout)] // an example talks
fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 1. The laws of the paper hold for the new problem.
    for verdict in laws::verify::<VertexCover>(12, 5, 1) {
        let result = verdict.counterexample.as_deref().unwrap_or("holds");
        println!("{:<48} {:>7}  {result}", verdict.claim, verdict.facts);
        assert!(verdict.counterexample.is_none());
    }

    // 2. Every rollout works for it: here the greedy heuristic, alone and with a beam.
    let instances: Vec<_> = (0..20).map(|k| Arc::new(VertexCover::generate(30, &mut random(7, &[k])))).collect();
    let greedy = rollout::solve::<VertexCover>(&GreedyHeuristic, &instances, &Options::default())?;
    let wide = Options { decoding: Decoding::beam(64), ..Options::default() };
    let beam = rollout::solve::<VertexCover>(&GreedyHeuristic, &instances, &wide)?;
    for ((instance, greedy), beam) in instances.iter().zip(&greedy).zip(&beam) {
        VertexCover::check(instance, &greedy.steps)?;
        VertexCover::check(instance, &beam.steps)?;
        assert!(beam.cost <= greedy.cost);
    }
    let mean = |solutions: &[bqnco::core::Solution<usize>]| solutions.iter().map(|s| s.cost).sum::<f64>() / 20.0;
    println!("mean cover: greedy {:.2} nodes, beam {:.2}", mean(&greedy), mean(&beam));

    // 3. Search too: the last steps of each solution are rebuilt, and nothing gets worse.
    let options = search::Options { longest: 8, rounds: Some(20), ..search::Options::default() };
    let rebuilt =
        search::reconstruct::<VertexCover>(&GreedyHeuristic, &instances, greedy.clone(), &options, &mut |_, _| ())?;
    assert!(rebuilt.iter().zip(&greedy).all(|(rebuilt, greedy)| rebuilt.cost <= greedy.cost));

    // 4. A beam that keeps everything finds the optimum.
    let tiny = Arc::new(VertexCover::generate(7, &mut random(1, &[])));
    let optimum = DirectMdp::<VertexCover>::enumerate(&tiny).optimum();
    let everything = Options { decoding: Decoding::beam(5000), ..Options::default() };
    let best = rollout::solve::<VertexCover>(&GreedyHeuristic, std::slice::from_ref(&tiny), &everything)?;
    assert_eq!(best[0].cost, optimum);

    // 5. A network (untrained here; `self_improvement.rs` trains one) scores its steps, edges in its attention.
    let network = Network::new(Config::edges::<VertexCover>(), 1, &Device::flex())?;
    let found = rollout::solve::<VertexCover>(&network, &instances[..2], &Options::default())?;
    VertexCover::check(&instances[0], &found[0].steps)?;
    Ok(())
}
