//! How solutions are searched for.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bqnco::core::rollout::{Decoding, Options, Views, solve_reporting};
use bqnco::core::{Effort, Expert, Myopic, Policy, Solution, Uniform};
use bqnco::net::{Device, Network};
use bqnco::{Builtin, Deadline};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::external;
use crate::failure::Failure;
use crate::output::figure;

/// The search and its options.
#[derive(Args)]
pub struct Search {
    /// How a solution is searched for (default: greedy with a model, else expert).
    #[arg(long, value_enum)]
    search: Option<Method>,
    /// External: the program and its arguments, with {instance}, {solution}, {seconds} and {seed} for the files and
    /// numbers it needs; `lkh:PROGRAM` writes LKH's parameter file.
    #[arg(long, value_name = "COMMAND", required_if_eq("search", "external"))]
    command: Option<String>,
    /// Expert: rounds of work (kicks, generations) instead of a time limit; equal seeds give equal solutions.
    #[arg(long, value_name = "ROUNDS", conflicts_with = "time_limit")]
    effort: Option<u64>,
    /// A trained network that scores the steps: a folder with model.safetensors and config.json.
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Who scores the steps where there is no model.
    #[arg(long, value_enum, default_value = "myopic", conflicts_with = "model")]
    policy: Scorer,
    /// Beam search: partial solutions kept at every step.
    #[arg(long, default_value_t = 16)]
    width: usize,
    /// Sampling: constructions per instance.
    #[arg(long, default_value_t = 16)]
    samples: usize,
    /// Sampling: below 1 sharper, above 1 flatter.
    #[arg(long, default_value_t = 1.0, value_parser = temperature)]
    temperature: f32,
    /// Sampling: choose among the best few steps only.
    #[arg(long)]
    top_k: Option<usize>,
    /// Score only the likeliest candidates at every step (nearest nodes, best ratios).
    #[arg(long, value_name = "K")]
    shortlist: Option<usize>,
    /// Try all eight symmetric images of instances with coordinates.
    #[arg(long)]
    symmetries: bool,
    /// Source of all random choices.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Method {
    /// A policy's best step, again and again.
    Greedy,
    /// Best of several constructions that follow a policy at random.
    Sample,
    /// A policy's most probable partial solutions are kept at every step.
    Beam,
    /// The built-in classical solver of the problem; no policy is involved.
    Expert,
    /// A program of yours.
    External,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scorer {
    /// Nearest neighbour, best ratio: no weights, no training.
    Myopic,
    /// All allowed steps alike.
    Uniform,
}

fn temperature(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("a number above zero is needed".into()),
    }
}

/// How long a search may take.
#[derive(Clone, Copy)]
pub struct Limit<'a> {
    /// Per instance.
    pub time: Option<Duration>,
    /// Becomes true when somebody is no longer willing to wait.
    pub interrupted: &'a AtomicBool,
}

/// A solution and how long it took.
pub struct Timed<S> {
    pub solution: Solution<S>,
    pub seconds: f64,
}

impl Search {
    /// Solves all instances; `progress` advances when an instance has its first solution.
    pub fn run<P: Builtin>(
        &self,
        instances: &[Arc<P::Instance>],
        limit: Limit<'_>,
        progress: &ProgressBar,
    ) -> Result<Vec<Timed<P::Step>>, Failure> {
        match self.method() {
            Method::Expert => self.ask::<P>(P::expert().as_ref(), instances, limit, progress),
            Method::External => {
                let command = self.command.as_deref().unwrap_or_default();
                self.ask::<P>(&external::expert::<P>(command, limit.time)?, instances, limit, progress)
            }
            _ if limit.time.is_none() => self.roll_out::<P>(instances, limit, progress),
            _ => {
                // One after the other, so that each has the whole machine for its time.
                let one = |instance| self.roll_out::<P>(std::slice::from_ref(instance), limit, progress);
                Ok(instances.iter().map(one).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
            }
        }
    }

    /// Experts work on one thread each, so there are as many at work as there are threads.
    fn ask<P: Builtin>(
        &self,
        expert: &dyn Expert<P>,
        instances: &[Arc<P::Instance>],
        limit: Limit<'_>,
        progress: &ProgressBar,
    ) -> Result<Vec<Timed<P::Step>>, Failure> {
        let ask = |(index, instance): (usize, &Arc<P::Instance>)| {
            let started = Instant::now();
            let deadline = Deadline::after(limit.time, limit.interrupted);
            let rounds = match (self.effort, limit.time) {
                (Some(rounds), _) => Some(rounds),
                (None, None) => Some(P::label_rounds(P::size(instance))),
                (None, Some(_)) => None,
            };
            let stop = || deadline.has_passed();
            let solution = expert.solve(instance, &Effort { seed: self.seed + index as u64, rounds, stop: &stop })?;
            progress.inc(1);
            Ok(Timed { solution, seconds: started.elapsed().as_secs_f64() })
        };
        instances.par_iter().enumerate().map(ask).collect()
    }

    fn roll_out<P: Builtin>(
        &self,
        instances: &[Arc<P::Instance>],
        limit: Limit<'_>,
        progress: &ProgressBar,
    ) -> Result<Vec<Timed<P::Step>>, Failure> {
        let started = Instant::now();
        let deadline = Deadline::after(limit.time, limit.interrupted);
        let options = Options {
            decoding: self.decoding(),
            shortlist: self.shortlist,
            views: if self.symmetries { Views::Symmetric } else { Views::One },
            seed: self.seed,
            stop: &|| deadline.has_passed(),
            ..Options::default()
        };
        let network = self.model.as_ref().map(|folder| Network::load(folder, &Device::flex())).transpose()?;
        let policy: &dyn Policy<P> = match (&network, self.policy) {
            (Some((network, _)), _) => network,
            (None, Scorer::Myopic) => &Myopic,
            (None, Scorer::Uniform) => &Uniform,
        };
        let solved = Mutex::new(HashSet::new());
        let report = |index: usize, best: &Solution<P::Step>| {
            if solved.lock().unwrap_or_else(PoisonError::into_inner).insert(index) {
                progress.inc(1);
            }
            let (objective, sign) = P::OBJECTIVE;
            progress.set_message(format!("{objective} {}", figure(sign * best.cost)));
        };
        let solutions = solve_reporting::<P>(policy, instances, &options, &report)?;
        let seconds = started.elapsed().as_secs_f64() / instances.len().max(1) as f64;
        Ok(solutions.into_iter().map(|solution| Timed { solution, seconds }).collect())
    }

    fn method(&self) -> Method {
        let unsaid = if self.model.is_some() { Method::Greedy } else { Method::Expert };
        self.search.unwrap_or(unsaid)
    }

    fn decoding(&self) -> Decoding {
        match self.method() {
            Method::Greedy => Decoding::Greedy,
            Method::Sample => {
                Decoding::Sample { count: self.samples, temperature: self.temperature, top_k: self.top_k }
            }
            Method::Beam => Decoding::Beam { width: self.width },
            Method::Expert | Method::External => unreachable!("no policy is involved"),
        }
    }

    /// The search in a person's words.
    pub fn describe<P: Builtin>(&self) -> String {
        let policy = match (&self.model, self.policy) {
            (Some(_), _) => "network",
            (None, Scorer::Myopic) => P::MYOPIC,
            (None, Scorer::Uniform) => "random",
        };
        let images = if self.symmetries { ", 8 images" } else { "" };
        match self.method() {
            Method::Greedy => format!("{policy}{images}"),
            Method::Sample => format!("{policy}, best of {}{images}", self.samples),
            Method::Beam => format!("{policy}, beam {}{images}", self.width),
            Method::Expert => "expert".into(),
            Method::External => self.command.clone().unwrap_or_default(),
        }
    }
}
