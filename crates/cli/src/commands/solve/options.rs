//! The command-line options of a search, and their conversion to the library's type.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use bqnco::kernels::ProductPrecision;
use bqnco::{Decoding, Ends, Follow, Guide, ModelSource, PolicySource, Preset, Search, Shortlist};
use clap::{Args, ValueEnum};

use crate::device::OnDevice;

/// The search and its options.
#[derive(Args, Clone)]
pub struct SearchArgs {
    /// Search method (default: auto; reconstruct if an option names a policy or how it is used).
    #[arg(long, value_enum)]
    search: Option<Method>,
    /// Search effort without a time limit; other options take precedence.
    #[arg(long, value_enum, default_value_t = PresetName::Balanced)]
    preset: PresetName,
    /// Network: a name from `bqnco models`, or a folder with model.safetensors and config.json (default: the built-in
    /// network for the problem).
    #[arg(long, value_name = "NAME|FOLDER")]
    model: Option<ModelSource>,
    #[command(flatten)]
    pub device: OnDevice,
    /// Policy without a network.
    #[arg(long, value_enum, conflicts_with = "model")]
    policy: Option<PolicyName>,
    /// Auto, reconstruct, hybrid, expert: start from this solution (the exact expert of knapsack starts from scratch).
    #[arg(long, value_name = "FILE")]
    pub start: Option<PathBuf>,
    /// Reconstruct, hybrid: number of rounds, also instead of a time limit; reproducible by seed.
    #[arg(long, allow_negative_numbers = true)]
    rounds: Option<u64>,
    /// Reconstruct, hybrid: longest part to rebuild, in steps (default: 100).
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(2..))]
    segment: Option<u32>,
    /// Expert, hybrid: rounds of classical search (kicks, generations) instead of a time limit; reproducible by seed.
    #[arg(long, value_name = "ROUNDS", conflicts_with = "time_limit", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    effort: Option<u64>,
    /// Beam: partial solutions kept at every step (default: 4, 16 or 64 by preset).
    #[arg(long, allow_negative_numbers = true, value_parser = breadth)]
    width: Option<usize>,
    /// Beam: drop partial solutions less probable than this share of the most probable one; 0: keep all (default: 0).
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = probability)]
    keep: Option<f64>,
    /// Beam: do not merge partial solutions that leave the same subproblem (the paper).
    #[arg(long)]
    no_merge: bool,
    /// Sample: constructions per instance (default: 4, 16 or 64 by preset).
    #[arg(long, allow_negative_numbers = true, value_parser = breadth)]
    samples: Option<usize>,
    /// Sample: softmax temperature (default: 1).
    #[arg(long, allow_negative_numbers = true, value_parser = temperature)]
    temperature: Option<f32>,
    /// Sample: choose among the K best steps only.
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    top_k: Option<u32>,
    /// Number of candidates scored per step, chosen as the network's config.json says (nearest nodes, best ratios), or
    /// `all` (default: as many as the network was trained with; if that was all, 250 for the paper's networks and 50 for
    /// others; all without a network).
    #[arg(long, value_name = "K|all", allow_negative_numbers = true)]
    shortlist: Option<Shortlist>,
    /// Greedy, reconstruct, hybrid: take several steps at once while their joint probability is at least P; 1: always
    /// one step (default: as the network's config.json says).
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = probability)]
    follow: Option<f64>,
    /// With --follow: score the states between such steps in one batch and keep the steps as far as the network agrees; the
    /// solution is that of one step at a time.
    #[arg(long, requires = "follow")]
    verify: bool,
    /// Ends at which a path may grow: one, or both, wherever the network is surer; for problems whose paths can be
    /// reversed (default: as the network's config.json says for greedy constructions, else one).
    #[arg(long, value_enum)]
    ends: Option<EndsName>,
    /// Precision of the network's matrix products on the CPU (default: bf16 where the CPU has it, else f32).
    #[arg(long, value_enum)]
    precision: Option<PrecisionName>,
    /// Try the eight symmetries of the square and keep the best (no effect for networks with the frame `origin`, which
    /// do not distinguish them).
    #[arg(long)]
    symmetries: bool,
    /// External solver command with the placeholders {instance}, {solution}, {folder}, {seconds} and {seed};
    /// `lkh:PROGRAM` writes LKH's parameter file. Split at spaces; no shell is involved.
    #[arg(long, value_name = "COMMAND", required_if_eq("search", "external"))]
    command: Option<String>,
    /// Random seed.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Method {
    /// The best that the problem offers: its expert on all threads, or reconstruct if it has none. Without a time limit
    /// it ends when more rounds are unlikely to help.
    Auto,
    /// Always take the policy's best step.
    Greedy,
    /// Best of several constructions sampled from the policy.
    Sample,
    /// Keep the policy's most probable partial solutions at every step.
    Beam,
    /// Remove parts of a solution and rebuild them with the policy, repeatedly.
    Reconstruct,
    /// Reconstruct, then the expert's local search.
    Hybrid,
    /// The built-in classical solver of the problem on one thread, without a policy.
    Expert,
    /// An external solver.
    External,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PresetName {
    /// Experts: a tenth of their usual rounds. Reconstruct, hybrid: 5 rounds.
    Fast,
    /// Experts: their usual rounds, in auto two searches. Reconstruct, hybrid: 25 rounds.
    Balanced,
    /// Experts: ten times their usual rounds, in auto four searches. Reconstruct, hybrid: best of the 8 symmetries (if
    /// the network distinguishes them), then 250 rounds.
    Quality,
}

#[derive(Clone, Copy, ValueEnum)]
enum PolicyName {
    /// Greedy heuristic: nearest neighbour, best ratio.
    #[value(alias = "myopic")]
    Heuristic,
    /// All allowed steps equally likely.
    Uniform,
}

#[derive(Clone, Copy, ValueEnum)]
enum EndsName {
    /// From the origin only.
    One,
    /// Wherever the network is surer.
    Both,
}

#[derive(Clone, Copy, ValueEnum)]
enum PrecisionName {
    /// Single precision.
    F32,
    /// Products of bf16 values, added up in single precision.
    Bf16,
}

fn breadth(text: &str) -> Result<usize, String> {
    let widest = Search::WIDEST;
    text.parse().ok().filter(|number| (1..=widest).contains(number)).ok_or(format!("expected 1 to {widest}"))
}

fn temperature(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("expected a number above zero".into()),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number| (0.0..=1.0).contains(number)).ok_or("expected a number from 0 to 1".into())
}

impl SearchArgs {
    /// The search that the options describe. Rejects options that do not apply to it.
    pub fn search(&self) -> anyhow::Result<Search> {
        let method = self.method();
        self.check(method)?;
        let preset = self.preset();
        let mut rebuild = preset.rebuild();
        rebuild.rounds = self.rounds;
        rebuild.segment = self.segment.map_or(rebuild.segment, |steps| steps as usize);
        let mut effort = preset.effort();
        effort.rounds = self.effort;
        let guide = Guide {
            policy: self.policy(),
            shortlist: self.shortlist.unwrap_or_default(),
            follow: match self.follow {
                None => Follow::Trained,
                Some(1.0) => Follow::One,
                Some(least) if self.verify => Follow::Verified(least),
                Some(least) => Follow::Likely(least),
            },
            ends: match self.ends {
                None => Ends::Trained,
                Some(EndsName::One) => Ends::One,
                Some(EndsName::Both) => Ends::Both,
            },
            precision: self.precision.map(|precision| match precision {
                PrecisionName::F32 => ProductPrecision::F32,
                PrecisionName::Bf16 => ProductPrecision::Bf16,
            }),
            symmetries: self.symmetries
                || (matches!(method, Method::Reconstruct | Method::Hybrid) && preset.guide().symmetries),
        };
        Ok(match method {
            Method::Greedy => Search::Construct { guide, decoding: Decoding::Greedy },
            Method::Sample => Search::Construct { guide, decoding: self.sample(preset) },
            Method::Beam => {
                let (width, keep) = (self.width.unwrap_or(preset.breadth()), self.keep.unwrap_or(0.0));
                Search::Construct { guide, decoding: Decoding::Beam { width, keep, merge: !self.no_merge } }
            }
            Method::Reconstruct => Search::Reconstruct { guide, rebuild },
            Method::Hybrid => Search::Hybrid { guide, rebuild, effort },
            Method::Auto => preset.search(),
            Method::Expert => Search::Expert { effort },
            Method::External => Search::External { command: self.command.clone().unwrap_or_default() },
        })
    }

    fn sample(&self, preset: Preset) -> Decoding {
        Decoding::Sample {
            count: self.samples.unwrap_or(preset.breadth()),
            temperature: self.temperature.unwrap_or(1.0),
            top_k: self.top_k.map(|k| k as usize),
        }
    }

    /// What is left of a time limit after the preparations. External solvers are told the limit as it was given.
    pub fn time_left(&self, limit: Duration, spent: Duration) -> Duration {
        if self.method() == Method::External { limit } else { limit.saturating_sub(spent) }
    }

    /// The option that a search unfit for the instances is due to.
    pub fn blamed(&self) -> &'static str {
        if self.model.is_some() {
            "--model"
        } else if self.precision.is_some() {
            "--precision"
        } else if self.follow.is_some() {
            "--follow"
        } else {
            "--search"
        }
    }

    fn preset(&self) -> Preset {
        match self.preset {
            PresetName::Fast => Preset::Fast,
            PresetName::Balanced => Preset::Balanced,
            PresetName::Quality => Preset::Quality,
        }
    }

    fn method(&self) -> Method {
        let names_policy = self.model.is_some() || self.policy.is_some() || self.device.is_given();
        let uses_policy = self.follow.is_some()
            || self.ends.is_some()
            || self.precision.is_some()
            || self.shortlist.is_some()
            || self.symmetries
            || self.rounds.is_some()
            || self.segment.is_some();
        let default = if names_policy || uses_policy { Method::Reconstruct } else { Method::Auto };
        self.search.unwrap_or(default)
    }

    fn policy(&self) -> PolicySource {
        match (&self.model, self.policy) {
            (Some(model), _) => PolicySource::Network(model.clone()),
            (None, Some(PolicyName::Heuristic)) => PolicySource::Heuristic,
            (None, Some(PolicyName::Uniform)) => PolicySource::Uniform,
            (None, None) => PolicySource::Default,
        }
    }

    fn check(&self, method: Method) -> anyhow::Result<()> {
        let is = |methods: &[Method]| methods.contains(&method);
        let rebuilds = is(&[Method::Reconstruct, Method::Hybrid]);
        let constructs = is(&[Method::Greedy, Method::Sample, Method::Beam]);
        let asks_policy = rebuilds || constructs;
        let starts = rebuilds || is(&[Method::Auto, Method::Expert]);
        let policies = "greedy, sample, beam, reconstruct or hybrid";
        for (option, given, fits, needed) in [
            ("--command", self.command.is_some(), is(&[Method::External]), "external"),
            ("--effort", self.effort.is_some(), is(&[Method::Expert, Method::Hybrid]), "expert or hybrid"),
            ("--width", self.width.is_some(), is(&[Method::Beam]), "beam"),
            ("--keep", self.keep.is_some(), is(&[Method::Beam]), "beam"),
            ("--no-merge", self.no_merge, is(&[Method::Beam]), "beam"),
            ("--samples", self.samples.is_some(), is(&[Method::Sample]), "sample"),
            ("--temperature", self.temperature.is_some(), is(&[Method::Sample]), "sample"),
            ("--top-k", self.top_k.is_some(), is(&[Method::Sample]), "sample"),
            ("--rounds", self.rounds.is_some(), rebuilds, "reconstruct or hybrid"),
            ("--segment", self.segment.is_some(), rebuilds, "reconstruct or hybrid"),
            ("--start", self.start.is_some(), starts, "auto, reconstruct, hybrid or expert"),
            ("--model", self.model.is_some(), asks_policy, policies),
            ("--policy", self.policy.is_some(), asks_policy, policies),
            ("--shortlist", self.shortlist.is_some(), asks_policy, policies),
            ("--follow", self.follow.is_some(), rebuilds || is(&[Method::Greedy]), "greedy, reconstruct or hybrid"),
            ("--ends", self.ends.is_some(), asks_policy, policies),
            ("--precision", self.precision.is_some(), asks_policy, policies),
            ("--symmetries", self.symmetries, asks_policy, policies),
        ] {
            if given && !fits {
                bail!("{option} needs --search {needed}");
            }
        }
        for (option, given) in [("--follow", self.follow.is_some()), ("--precision", self.precision.is_some())] {
            if given && self.policy.is_some() {
                bail!("{option} is for networks, but --policy names none");
            }
        }
        if self.device.is_given() && (self.policy.is_some() || !asks_policy) {
            bail!("--device is for networks, but this search uses none");
        }
        Ok(())
    }
}
