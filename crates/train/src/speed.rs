//! Where the time of training goes: `cargo test --release -p bqnco-train --lib speed -- --ignored --nocapture`.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use bqnco_core::rollout::{Options, solve};
use bqnco_core::{Myopic, Problem, never, random};
use bqnco_net::{Config, Provenance};
use bqnco_problems::Tsp;
use burn::tensor::Device;

use crate::average::blend;
use crate::batch::lesson;
use crate::optimizer::clip;
use crate::pupil::Pupil;
use crate::weights::{read_gradients, write};
use crate::{Alone, Example, Folder, Images, Imitation, OptimizerName, Training, train};

const STEPS: u64 = 30;

fn examples(size: usize) -> Arc<[Example<Tsp>]> {
    let instances: Vec<_> = (0..100).map(|k| Arc::new(Tsp::generate(size, &mut random(1, &[k])))).collect();
    let found = solve::<Tsp>(&Myopic, &instances, &Options::default()).expect("no weights, no failure");
    let pairs = instances.into_iter().zip(found);
    pairs.map(|(instance, solution)| Example::new(instance, solution.steps).expect("feasible")).collect()
}

/// Milliseconds of a piece of work.
fn timed<R>(total: &mut f64, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *total += start.elapsed().as_secs_f64() * 1e3 / STEPS as f64;
    result
}

fn split(title: &str, config: &Config, size: usize) {
    let (examples, device, provenance) = (examples(size), Device::flex(), Provenance::new());
    let training = Training {
        steps: STEPS,
        batch: 128,
        images: Images::Square,
        optimizer: OptimizerName::Muon,
        clip: 1.0,
        average: 0.99,
        ..Training::default()
    };
    let task = Imitation {
        config,
        training: &training,
        examples: &examples,
        exam: &[],
        device: &device,
        provenance: &provenance,
        improvement: None,
        together: &Alone,
    };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = Folder::open(scratch.path(), |path, bytes| std::fs::write(path, bytes)).expect("a scratch folder");
    let mut pupil = Pupil::new(&task, &folder, &mut |_| ()).expect("a network");
    let lessons: Vec<_> =
        (0..STEPS).map(|step| lesson(&task, &examples, step, &device.clone().autodiff()).expect("a lesson")).collect();
    let mut times = [0.0; 8];
    for (step, prepared) in lessons.iter().enumerate() {
        timed(&mut times[0], || lesson(&task, &examples, step as u64, &device.clone().autodiff())).expect("a lesson");
        let loss = timed(&mut times[1], || {
            let loss = pupil.learner.loss(prepared, &training).total;
            loss.clone().into_scalar::<f32>();
            loss
        });
        let gradients = timed(&mut times[2], || loss.backward());
        let mut gradient = timed(&mut times[3], || read_gradients(&pupil.learner, gradients));
        timed(&mut times[4], || clip(&mut gradient, training.clip));
        timed(&mut times[5], || pupil.optimizer.step(1e-3, step as u64 + 1, &mut pupil.weights, &gradient));
        timed(&mut times[6], || pupil.learner = write(pupil.learner.clone(), &pupil.weights));
        timed(&mut times[7], || blend(&mut pupil.average, &pupil.weights, 0.99));
    }
    let pure = times[1] + times[2];
    let outcome = train(&task, &folder, &mut |_| (), &never).expect("training works");
    let whole = outcome.rows.last().expect("rows").seconds * 1e3 / STEPS as f64;
    println!("{title}: ms per update of 128 tails, mean of {STEPS}");
    let names =
        ["a lesson (other thread)", "forward", "backward", "read gradients", "clip", "optimizer", "write", "average"];
    names.iter().zip(times).for_each(|(name, time)| println!("  {name:<24} {time:>8.2}"));
    println!("  forward + backward {pure:.1}, the loop {whole:.1}: {:.0} %", 100.0 * pure / whole);
}

#[test]
#[ignore = "measures; needs a quiet machine and --release"]
fn where_the_time_goes() {
    split("small, TSP50", &Config::small::<Tsp>(), 50);
    let tiny = Config { n_layers: 3, n_heads: 4, dim: 64, dim_ff: 256, ..Config::small::<Tsp>() };
    split("recipes/tiny.toml", &tiny, 20);
}
