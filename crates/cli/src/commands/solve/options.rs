//! The options of a search, as they are typed.

use std::path::PathBuf;

use anyhow::{anyhow, bail};
use bqnco::core::rollout::{Augmentations, Decoding};
use bqnco::{Builtin, Model};
use clap::{Args, ValueEnum};

use crate::device::OnDevice;
use crate::failure::Failure;
use crate::model::ModelSource;

/// Candidates per step of a network that does not say with how many it was trained; docs/search.md compares.
const SHORTLIST: usize = 50;

/// Partial solutions or samples at most: they are kept in memory, and those of a beam compared with each other.
const WIDEST: u32 = 10_000;

/// The search and its options.
#[derive(Args, Clone, Default)]
pub struct Search {
    /// How a solution is searched for (default: as the preset says).
    #[arg(long, value_enum)]
    search: Option<Method>,
    /// How much work goes into a solution where no option says otherwise.
    #[arg(long, value_enum, default_value_t = Preset::Balanced)]
    preset: Preset,
    /// The network that scores the steps: one of `bqnco models`, or a folder with model.safetensors and config.json
    /// (default: the network that has the problem's name).
    #[arg(long, value_name = "NAME|FOLDER", value_parser = ModelSource::parse)]
    model: Option<ModelSource>,
    #[command(flatten)]
    pub device: OnDevice,
    /// Who scores the steps instead of a network.
    #[arg(long, value_enum, conflicts_with = "model")]
    pub policy: Option<Scorer>,
    /// Reconstruct, hybrid, expert: begin with this solution instead of a new one (the experts of op and knapsack begin anew;
    /// the better of both solutions counts).
    #[arg(long, value_name = "FILE")]
    pub start: Option<PathBuf>,
    /// Reconstruct, hybrid: rounds of rebuilding, also instead of a time limit; equal seeds then give equal solutions.
    #[arg(long, allow_negative_numbers = true)]
    rounds: Option<u64>,
    /// Reconstruct, hybrid: rebuild parts of up to so many steps (default: 100).
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(2..))]
    segment: Option<u32>,
    /// Expert, hybrid: rounds of classical search (kicks, generations) instead of a time limit; equal seeds give equal
    /// solutions.
    #[arg(long, value_name = "ROUNDS", conflicts_with = "time_limit", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    effort: Option<u64>,
    /// Beam: partial solutions kept at every step (default: 4, 16 or 64 by preset).
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(WIDEST)))]
    width: Option<u32>,
    /// Sample: constructions per instance (default: 4, 16 or 64 by preset).
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(WIDEST)))]
    samples: Option<u32>,
    /// Sample: below 1 sharper, above 1 flatter (default: 1).
    #[arg(long, value_parser = temperature)]
    temperature: Option<f32>,
    /// Sample: choose among the best few steps only.
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    top_k: Option<u32>,
    /// Score only the likeliest candidates at every step: nearest nodes, best ratios; `all` for every one (default: as
    /// many as the network was trained with, else 50; all without a network).
    #[arg(long, value_name = "K|all", allow_negative_numbers = true, value_parser = Shortlist::parse)]
    shortlist: Option<Shortlist>,
    /// Try all eight symmetric images of instances with coordinates (networks with the frame `origin` see no difference
    /// between them; for those it changes nothing).
    #[arg(long)]
    symmetries: bool,
    /// External: the program and its arguments, with {instance}, {solution}, {seconds} and {seed} for the files and
    /// numbers it needs; `lkh:PROGRAM` writes LKH's parameter file. Split at blanks; no shell is involved.
    #[arg(long, value_name = "COMMAND", required_if_eq("search", "external"))]
    pub command: Option<String>,
    /// Source of all random choices.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

/// How a solution is searched for.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Method {
    /// A policy's best step, again and again.
    Greedy,
    /// Best of several constructions that follow a policy at random.
    Sample,
    /// A policy's most probable partial solutions are kept at every step.
    Beam,
    /// Parts of a solution are taken out and rebuilt by a policy, again and again.
    Reconstruct,
    /// Reconstruct, then the classical local search of the expert.
    Hybrid,
    /// The built-in classical solver of the problem; no policy is involved.
    Expert,
    /// A program of yours.
    External,
}

/// How much work goes into a solution.
#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
pub enum Preset {
    /// Greedy; 5 rounds of reconstruct, hybrid. Experts: a tenth of their usual rounds.
    Fast,
    /// Reconstruct for 25 rounds, or until the time limit. Experts: their usual rounds.
    #[default]
    Balanced,
    /// The best of 8 images (where the network tells them apart), reconstructed for 250 rounds, or until the time limit. Experts: ten times their usual rounds.
    Quality,
}

/// Who scores the steps instead of a network.
#[derive(Clone, Copy, ValueEnum)]
pub enum Scorer {
    /// Nearest neighbour, best ratio: no weights, no training.
    GreedyHeuristic,
    /// All allowed steps alike.
    Uniform,
}

#[derive(Clone, Copy)]
enum Shortlist {
    All,
    Likeliest(usize),
}

impl Shortlist {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "all" => Ok(Shortlist::All),
            Ok(k) if k > 0 => Ok(Shortlist::Likeliest(k)),
            _ => Err("a number above zero or `all` is needed".into()),
        }
    }
}

fn temperature(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("a number above zero is needed".into()),
    }
}

impl Search {
    /// A search with a network, by default the problem's own.
    pub fn by(method: Method, model: Option<ModelSource>, seed: u64) -> Self {
        Search { search: Some(method), model, seed, ..Search::default() }
    }

    /// A search with a network as lists of searches spell it: `greedy`, `greedy8` (the best of eight images), `beam16`,
    /// `sample64`, `reconstruct`, `hybrid`, and behind a colon the candidates per step, `beam16:250` or `beam16:all`.
    pub fn spelled(
        text: &str,
        model: Option<ModelSource>,
        shortlist: Option<usize>,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let (method, listed) = text.split_once(':').map_or((text, None), |(method, listed)| (method, Some(listed)));
        let (name, number) = method.split_at(method.trim_end_matches(|c: char| c.is_ascii_digit()).len());
        let wrong = |what: &str| anyhow::anyhow!("search `{text}`: {what}");
        let expected = || {
            wrong("expected greedy, greedy8, beam16, sample16, reconstruct or hybrid, with :K or :all for a shortlist")
        };
        let number = match number {
            "" => None,
            number => Some(number.parse().ok().filter(|number| (1..=WIDEST).contains(number)).ok_or_else(expected)?),
        };
        let shortlist = match listed.map(Shortlist::parse).transpose().map_err(|why| wrong(&why))? {
            Some(shortlist) => shortlist,
            None => shortlist.map_or(Shortlist::All, Shortlist::Likeliest),
        };
        let method = Method::from_str(name, false).map_err(|_| expected())?;
        let search = Search { shortlist: Some(shortlist), ..Search::by(method, model, seed) };
        match (method, number) {
            (Method::Beam, _) => Ok(Search { width: number, ..search }),
            (Method::Sample, _) => Ok(Search { samples: number, ..search }),
            (Method::Greedy | Method::Reconstruct | Method::Hybrid, None) => Ok(search),
            (Method::Greedy, Some(8)) => Ok(Search { symmetries: true, ..search }),
            _ => Err(expected()),
        }
    }

    /// A program of the user's.
    pub fn external(command: &str, seed: u64) -> Self {
        Search { command: Some(command.into()), ..Search::by(Method::External, None, seed) }
    }

    /// A search without a network.
    pub fn without_network(method: Method, seed: u64) -> Self {
        Search { search: Some(method), policy: Some(Scorer::GreedyHeuristic), seed, ..Search::default() }
    }

    /// Refuses options that mean nothing to the search.
    pub fn check(&self) -> anyhow::Result<()> {
        let is = |methods: &[Method]| methods.contains(&self.method());
        let rebuilds = is(&[Method::Reconstruct, Method::Hybrid]);
        let asks_policy = rebuilds || is(&[Method::Greedy, Method::Sample, Method::Beam]);
        let policies = "greedy, sample, beam, reconstruct or hybrid";
        for (option, given, fits, needed) in [
            ("--command", self.command.is_some(), is(&[Method::External]), "external"),
            ("--effort", self.effort.is_some(), is(&[Method::Expert, Method::Hybrid]), "expert or hybrid"),
            ("--width", self.width.is_some(), is(&[Method::Beam]), "beam"),
            ("--samples", self.samples.is_some(), is(&[Method::Sample]), "sample"),
            ("--temperature", self.temperature.is_some(), is(&[Method::Sample]), "sample"),
            ("--top-k", self.top_k.is_some(), is(&[Method::Sample]), "sample"),
            ("--rounds", self.rounds.is_some(), rebuilds, "reconstruct or hybrid"),
            ("--segment", self.segment.is_some(), rebuilds, "reconstruct or hybrid"),
            ("--start", self.start.is_some(), rebuilds || is(&[Method::Expert]), "reconstruct, hybrid or expert"),
            ("--model", self.model.is_some(), asks_policy, policies),
            ("--policy", self.policy.is_some(), asks_policy, policies),
            ("--shortlist", self.shortlist.is_some(), asks_policy, policies),
            ("--symmetries", self.symmetries, asks_policy, policies),
        ] {
            if given && !fits {
                bail!("{option} needs --search {needed}");
            }
        }
        if self.device.is_given() && (self.policy.is_some() || !asks_policy) {
            bail!("--device is for networks, and this search has none");
        }
        Ok(())
    }

    /// Refuses a network of another problem.
    pub fn check_model<P: Builtin>(&self) -> Result<(), Failure> {
        let Some(model) = &self.model else { return Ok(()) };
        let (network, _) = model.load(&self.device.open()?)?;
        let problem = network.config().problem.as_str();
        if problem != P::NAME {
            let other = format!("leave --model out, or name a network of {}", P::NAME);
            return Err(
                anyhow!("--model {model} is a network of {problem}, and {} is to be solved: {other}", P::NAME).into()
            );
        }
        Ok(())
    }

    /// The search that is meant.
    pub fn method(&self) -> Method {
        self.search.unwrap_or(match self.preset {
            Preset::Fast => Method::Greedy,
            _ => Method::Reconstruct,
        })
    }

    /// The network that scores a problem's steps, unless something simpler does.
    pub fn model<P: Builtin>(&self) -> Option<ModelSource> {
        let own = || Model::named(P::NAME).map(ModelSource::Own);
        if self.policy.is_some() { None } else { self.model.clone().or_else(own) }
    }

    /// How steps are chosen in a rollout.
    pub fn decoding(&self) -> Decoding {
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

    /// Candidates per step, also for a network that was trained with so many; `None`: all.
    pub fn shortlist(&self, trained: Option<usize>) -> Option<usize> {
        match (self.shortlist, self.policy) {
            (Some(Shortlist::Likeliest(k)), _) => Some(k),
            (Some(Shortlist::All), _) | (None, Some(_)) => None,
            (None, None) => trained.or(Some(SHORTLIST)),
        }
    }

    /// The augmentations of an instance that a construction tries.
    pub fn augmentations(&self) -> Augmentations {
        let by_preset = self.preset == Preset::Quality && matches!(self.method(), Method::Reconstruct | Method::Hybrid);
        if self.symmetries || by_preset { Augmentations::Symmetric } else { Augmentations::One }
    }

    /// Rounds of rebuilding; `None`: until the deadline.
    pub fn rounds(&self, has_deadline: bool) -> Option<u64> {
        let by_preset = match self.preset {
            Preset::Fast => 5,
            Preset::Balanced => 25,
            Preset::Quality => 250,
        };
        self.rounds.or((!has_deadline).then_some(by_preset))
    }

    /// Whether the rounds were asked for, so that fewer are less than was asked for.
    pub fn wants_rounds(&self) -> bool {
        self.rounds.is_some()
    }

    /// Steps of the longest part that is rebuilt.
    pub fn segment(&self) -> usize {
        self.segment.unwrap_or(100) as usize
    }

    /// Rounds of the expert; `None`: until the deadline.
    pub fn effort<P: Builtin>(&self, instance: &P::Instance, has_deadline: bool) -> Option<u64> {
        let usual = (P::expertise().expect("every problem has an expert").label_rounds)(P::size(instance));
        let by_preset = match self.preset {
            Preset::Fast => usual.div_ceil(10),
            Preset::Balanced => usual,
            Preset::Quality => 10 * usual,
        };
        self.effort.or((!has_deadline).then_some(by_preset))
    }

    fn samples(&self) -> u32 {
        self.samples.unwrap_or(self.breadth())
    }

    fn width(&self) -> u32 {
        self.width.unwrap_or(self.breadth())
    }

    fn breadth(&self) -> u32 {
        match self.preset {
            Preset::Fast => 4,
            Preset::Balanced => 16,
            Preset::Quality => 64,
        }
    }

    /// The search in a person's words, if so many images of an instance were tried.
    pub fn describe<P: Builtin>(&self, images: usize) -> String {
        let policy = match (self.model::<P>(), self.policy) {
            (Some(model), _) => format!("network {model}"),
            (None, Some(Scorer::Uniform)) if self.method() == Method::Greedy => "first allowed".into(),
            (None, Some(Scorer::Uniform)) => "random".into(),
            (None, _) => P::GREEDY_HEURISTIC.into(),
        };
        let images = if images > 1 { format!(", {images} images") } else { String::new() };
        match self.method() {
            Method::Greedy => format!("{policy}{images}"),
            Method::Sample => format!("{policy}, best of {}{images}", self.samples()),
            Method::Beam => format!("{policy}, beam {}{images}", self.width()),
            Method::Reconstruct => format!("{policy}{images}, reconstructed"),
            Method::Hybrid => format!("{policy}{images}, reconstructed, then expert"),
            Method::Expert => "expert".into(),
            Method::External => self.command.clone().unwrap_or_default(),
        }
    }
}
