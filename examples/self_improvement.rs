//! Learning a problem without an expert: the prize-collecting TSP, from greedy labels.
//!
//! The network first imitates the greedy heuristic; every hundred updates it solves all instances by sampling, and where it
//! beats a label, its own solution is the label from then on. Run with
//! `cargo run --release --example self_improvement`.

use std::sync::Arc;

use bqnco::core::rollout::{self, Options};
use bqnco::core::{Generate, GreedyHeuristic, SolutionSpace, never, random};
use bqnco::net::{Config, Device, Network, Provenance};
use bqnco::problems::Pctsp;
use bqnco::train::{
    Augmentation, Example, Folder, Imitation, OptimizerName, Schedule, Search, SelfImprovement, SingleProcess,
    TrainEvent, Training, train,
};

/// Instances with 20 customers and the greedy heuristic's solutions.
fn examples(count: u64, seed: u64) -> Result<Arc<[Example<Pctsp>]>, Box<dyn std::error::Error>> {
    let instances: Vec<_> = (0..count).map(|k| Arc::new(Pctsp::generate(20, &mut random(seed, &[k])))).collect();
    let solutions = rollout::solve::<Pctsp>(&GreedyHeuristic, &instances, &Options::default())?;
    let example = |(instance, solution): (_, bqnco::core::Solution<_>)| Ok(Example::new(instance, solution.steps)?);
    instances.into_iter().zip(solutions).map(example).collect()
}

#[allow(clippy::print_stdout)] // an example talks
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (labels, validation) = (examples(400, 1)?, examples(200, 2)?);
    let folder = std::env::temp_dir().join(format!("bqnco-self-improvement-{}", std::process::id()));
    let training = Training {
        seed: 1,
        steps: 1200,
        batch: 64,
        shortest: 1,
        augmentation: Augmentation::Square,
        optimizer: OptimizerName::Muon,
        rate: 4e-3,
        schedule: Schedule::Linear,
        clip: 1.0,
        average: 0.98,
        validate_every: 400,
        save_every: 400,
        ..Training::default()
    };
    let search = Search::Sample { count: 16, temperature: 1.0 };
    let task = Imitation {
        config: &Config::tiny::<Pctsp>(),
        training: &training,
        examples: &labels,
        validation: &validation,
        device: &Device::flex(),
        provenance: &Provenance::new(),
        improvement: Some(SelfImprovement { every: 100, instances: 400, search }),
        communicator: &SingleProcess,
    };
    let mut on_event = |event: TrainEvent<'_>| match event {
        TrainEvent::LabelsImproved(round) => println!(
            "step {:>5}: {:>3} of {} labels improved, mean cost {:.3} to {:.3}",
            round.step, round.improved, round.tried, round.before, round.after
        ),
        TrainEvent::Metrics(row) => {
            row.gap.into_iter().for_each(|gap| println!("step {:>5}: greedy gap {gap:.1} %", row.step));
        }
        TrainEvent::WarmStart(_) | TrainEvent::Resumed { .. } | TrainEvent::BestRemoved { .. } => (),
    };
    let run = Folder::open(&folder)?;
    let outcome = train(&task, &run, &mut on_event, &never)?;

    // The network beats the heuristic that it imitated first, on instances that it has never seen.
    let (network, _) = Network::load(&folder.join("best"), &Device::flex())?;
    let instances: Vec<_> = validation.iter().map(|example| Arc::clone(example.instance())).collect();
    let found = rollout::solve::<Pctsp>(&network, &instances, &Options::default())?;
    for (instance, solution) in instances.iter().zip(&found) {
        Pctsp::check(instance, &solution.steps)?;
    }
    let mean = |costs: &mut dyn Iterator<Item = f64>| costs.sum::<f64>() / validation.len() as f64;
    let heuristic = mean(&mut validation.iter().map(Example::cost));
    let network = mean(&mut found.iter().map(|solution| solution.cost));
    println!(
        "mean cost on {} unseen instances: greedy heuristic {heuristic:.3}, network {network:.3}",
        validation.len()
    );
    assert!(outcome.best_gap.is_some_and(|gap| gap < -5.0), "clearly better than the labels: {:?} %", outcome.best_gap);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
