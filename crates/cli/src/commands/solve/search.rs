//! How solutions are searched for.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use bqnco::Builtin;
use bqnco::core::rollout::{Decoding, Options, Views, solve_reporting};
use bqnco::core::{Myopic, Policy, Solution, Stop, Uniform};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;

use crate::failure::Failure;
use crate::output::figure;

/// The search and its options.
#[derive(Args)]
pub struct Search {
    /// How the policy's steps are chosen.
    #[arg(long, value_enum, default_value = "greedy")]
    search: Method,
    /// Who scores the steps.
    #[arg(long, value_enum, default_value = "myopic")]
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
    /// The best score at every step.
    Greedy,
    /// Best of several random constructions.
    Sample,
    /// The most probable partial solutions are kept.
    Beam,
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

impl Search {
    /// Solves all instances; `progress` advances when an instance has its first solution.
    pub fn run<P: Builtin>(
        &self,
        instances: &[Arc<P::Instance>],
        stop: Stop<'_>,
        progress: &ProgressBar,
    ) -> Result<Vec<Solution<P::Step>>, Failure> {
        let options = Options {
            decoding: self.decoding(),
            shortlist: self.shortlist,
            views: if self.symmetries { Views::Symmetric } else { Views::One },
            seed: self.seed,
            stop,
            ..Options::default()
        };
        let policy: &dyn Policy<P> = match self.policy {
            Scorer::Myopic => &Myopic,
            Scorer::Uniform => &Uniform,
        };
        let solved = Mutex::new(HashSet::new());
        let report = |index: usize, best: &Solution<P::Step>| {
            if solved.lock().unwrap_or_else(PoisonError::into_inner).insert(index) {
                progress.inc(1);
            }
            let (objective, sign) = P::OBJECTIVE;
            progress.set_message(format!("{objective} {}", figure(sign * best.cost)));
        };
        Ok(solve_reporting::<P>(policy, instances, &options, &report)?)
    }

    fn decoding(&self) -> Decoding {
        match self.search {
            Method::Greedy => Decoding::Greedy,
            Method::Sample => {
                Decoding::Sample { count: self.samples, temperature: self.temperature, top_k: self.top_k }
            }
            Method::Beam => Decoding::Beam { width: self.width },
        }
    }

    /// The search in a person's words.
    pub fn describe<P: Builtin>(&self) -> String {
        let policy = match self.policy {
            Scorer::Myopic => P::MYOPIC,
            Scorer::Uniform => "random",
        };
        let images = if self.symmetries { ", 8 images" } else { "" };
        match self.search {
            Method::Greedy => format!("{policy}{images}"),
            Method::Sample => format!("{policy}, best of {}{images}", self.samples),
            Method::Beam => format!("{policy}, beam {}{images}", self.width),
        }
    }
}
