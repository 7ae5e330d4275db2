//! How solutions are searched for.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use anyhow::bail;
use bqnco::core::rollout::{Decoding, Options, Views, solve_reporting};
use bqnco::core::{Effort, Expert, Myopic, Policy, Solution, Uniform};
use bqnco::net::Network;
use bqnco::{Builtin, Deadline};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::device::OnDevice;
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
    /// numbers it needs; `lkh:PROGRAM` writes LKH's parameter file. Split at blanks; no shell is involved.
    #[arg(long, value_name = "COMMAND", required_if_eq("search", "external"))]
    command: Option<String>,
    /// Expert: rounds of work (kicks, generations) instead of a time limit; equal seeds give equal solutions.
    #[arg(long, value_name = "ROUNDS", conflicts_with = "time_limit", value_parser = clap::value_parser!(u64).range(1..))]
    effort: Option<u64>,
    /// Greedy, sample, beam: a trained network that scores the steps, a folder with model.safetensors and config.json.
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    #[command(flatten)]
    device: OnDevice,
    /// Greedy, sample, beam: who scores the steps where there is no model (default: myopic).
    #[arg(long, value_enum, conflicts_with = "model")]
    policy: Option<Scorer>,
    /// Beam: partial solutions kept at every step (default: 16).
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    width: Option<u32>,
    /// Sample: constructions per instance (default: 16).
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    samples: Option<u32>,
    /// Sample: below 1 sharper, above 1 flatter (default: 1).
    #[arg(long, value_parser = temperature)]
    temperature: Option<f32>,
    /// Sample: choose among the best few steps only.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    top_k: Option<u32>,
    /// Greedy, sample, beam: score only the likeliest candidates at every step (nearest nodes, best ratios).
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    shortlist: Option<u32>,
    /// Greedy, sample, beam: try all eight symmetric images of instances with coordinates.
    #[arg(long)]
    symmetries: bool,
    /// Source of all random choices.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
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

/// A solution, how long it took, and whether the search was stopped before it had done what was asked for.
pub struct Timed<S> {
    pub solution: Solution<S>,
    pub seconds: f64,
    pub cut_short: bool,
}

/// Takes the solution of an instance.
type Emit<'a, S> = &'a mut dyn FnMut(usize, Timed<S>) -> Result<(), Failure>;

impl Search {
    /// Refuses options that mean nothing to the search.
    pub fn check(&self) -> anyhow::Result<()> {
        let is = |method: Method| self.method() == method;
        let rolls_out = is(Method::Greedy) || is(Method::Sample) || is(Method::Beam);
        for (option, given, fits, needed) in [
            ("--command", self.command.is_some(), is(Method::External), "external"),
            ("--effort", self.effort.is_some(), is(Method::Expert), "expert"),
            ("--width", self.width.is_some(), is(Method::Beam), "beam"),
            ("--samples", self.samples.is_some(), is(Method::Sample), "sample"),
            ("--temperature", self.temperature.is_some(), is(Method::Sample), "sample"),
            ("--top-k", self.top_k.is_some(), is(Method::Sample), "sample"),
            ("--model", self.model.is_some(), rolls_out, "greedy, sample or beam"),
            ("--policy", self.policy.is_some(), rolls_out, "greedy, sample or beam"),
            ("--shortlist", self.shortlist.is_some(), rolls_out, "greedy, sample or beam"),
            ("--symmetries", self.symmetries, rolls_out, "greedy, sample or beam"),
        ] {
            if given && !fits {
                bail!("{option} needs --search {needed}");
            }
        }
        if self.device.is_given() && self.model.is_none() {
            bail!("--device needs --model: only networks run on devices");
        }
        Ok(())
    }

    /// Solves all instances and hands every solution over as soon as it is there.
    pub fn run<P: Builtin>(
        &self,
        instances: &[Arc<P::Instance>],
        limit: Limit<'_>,
        progress: &ProgressBar,
        emit: Emit<'_, P::Step>,
    ) -> Result<(), Failure> {
        match self.method() {
            Method::Expert => self.ask::<P>(P::expert().as_ref(), instances, limit, progress, emit),
            Method::External => {
                let expert = external::expert::<P>(self.command.as_deref().unwrap_or_default(), limit.time);
                self.ask::<P>(&expert, instances, limit, progress, emit)
            }
            _ if limit.time.is_none() => self.roll_out::<P>(instances, 0, limit, progress, emit),
            _ => {
                // One after the other, so that each has the whole machine for its time.
                for index in 0..instances.len() {
                    if limit.interrupted.load(Ordering::Relaxed) {
                        break;
                    }
                    self.roll_out::<P>(&instances[index..=index], index, limit, progress, emit)?;
                }
                Ok(())
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
        emit: Emit<'_, P::Step>,
    ) -> Result<(), Failure> {
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let send = send; // dropped when all is done, which ends the loop below
                let _ = (0..instances.len()).into_par_iter().try_for_each_with(send, |send, index| {
                    if limit.interrupted.load(Ordering::Relaxed) {
                        return None; // what was not begun is not answered
                    }
                    send.send((index, self.ask_one::<P>(expert, &instances[index], index, limit))).ok()
                });
            });
            for (index, timed) in receive {
                progress.inc(1);
                emit(index, timed?)?;
            }
            Ok(())
        })
    }

    fn ask_one<P: Builtin>(
        &self,
        expert: &dyn Expert<P>,
        instance: &P::Instance,
        index: usize,
        limit: Limit<'_>,
    ) -> Result<Timed<P::Step>, Failure> {
        let started = Instant::now();
        let deadline = Deadline::after(limit.time, limit.interrupted);
        let rounds = match (self.effort, limit.time) {
            (Some(rounds), _) => Some(rounds),
            (None, None) => Some(P::label_rounds(P::size(instance))),
            (None, Some(_)) => None,
        };
        let stop = || deadline.has_passed();
        let seed = self.seed.wrapping_add(index as u64);
        let solution = expert.solve(instance, &Effort { seed, rounds, stop: &stop })?;
        let cut_short = limit.interrupted.load(Ordering::Relaxed);
        Ok(Timed { solution, seconds: started.elapsed().as_secs_f64(), cut_short })
    }

    /// `first` is the index of the first instance.
    fn roll_out<P: Builtin>(
        &self,
        instances: &[Arc<P::Instance>],
        first: usize,
        limit: Limit<'_>,
        progress: &ProgressBar,
        emit: Emit<'_, P::Step>,
    ) -> Result<(), Failure> {
        let started = Instant::now();
        let deadline = Deadline::after(limit.time, limit.interrupted);
        let struck = AtomicBool::new(false);
        let options = Options {
            decoding: self.decoding(),
            shortlist: self.shortlist.map(|k| k as usize),
            views: if self.symmetries { Views::Symmetric } else { Views::One },
            seed: self.seed,
            first: first as u64,
            stop: &|| {
                deadline.has_passed() && {
                    struck.store(true, Ordering::Relaxed);
                    true
                }
            },
            ..Options::default()
        };
        let network = match &self.model {
            Some(folder) => Some(Network::load(folder, &self.device.open()?)?),
            None => None,
        };
        let policy: &dyn Policy<P> = match (&network, self.policy) {
            (Some((network, _)), _) => network,
            (None, Some(Scorer::Uniform)) => &Uniform,
            (None, _) => &Myopic,
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
        let cut_short = struck.into_inner();
        for (index, solution) in solutions.into_iter().enumerate() {
            emit(first + index, Timed { solution, seconds, cut_short })?;
        }
        Ok(())
    }

    fn method(&self) -> Method {
        let unsaid = if self.model.is_some() { Method::Greedy } else { Method::Expert };
        self.search.unwrap_or(unsaid)
    }

    fn decoding(&self) -> Decoding {
        match self.method() {
            Method::Sample => Decoding::Sample {
                count: self.samples() as usize,
                temperature: self.temperature.unwrap_or(1.0),
                top_k: self.top_k.map(|k| k as usize),
            },
            Method::Beam => Decoding::Beam { width: self.width() as usize },
            _ => Decoding::Greedy,
        }
    }

    fn samples(&self) -> u32 {
        self.samples.unwrap_or(16)
    }

    fn width(&self) -> u32 {
        self.width.unwrap_or(16)
    }

    /// The search in a person's words.
    pub fn describe<P: Builtin>(&self) -> String {
        let policy = match (&self.model, self.policy) {
            (Some(folder), _) => format!("network {}", folder.display()),
            (None, Some(Scorer::Uniform)) => "random".into(),
            (None, _) => P::MYOPIC.into(),
        };
        let images = if self.symmetries { ", 8 images" } else { "" };
        match self.method() {
            Method::Greedy => format!("{policy}{images}"),
            Method::Sample => format!("{policy}, best of {}{images}", self.samples()),
            Method::Beam => format!("{policy}, beam {}{images}", self.width()),
            Method::Expert => "expert".into(),
            Method::External => self.command.clone().unwrap_or_default(),
        }
    }
}
