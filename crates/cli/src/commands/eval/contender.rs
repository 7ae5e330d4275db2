//! Who is compared: searches with networks, and baselines without.

use std::time::Duration;

use anyhow::{anyhow, bail};
use bqnco::{Builtin, Construct};

use super::models::Model;
use crate::commands::solve::options::{Method, Search};
use crate::output;

/// A method on one problem.
pub struct Contender<'a, P: Builtin> {
    /// What tables call it.
    pub name: String,
    /// The search as it was spelled, where there is a network.
    pub search: Option<String>,
    pub way: Way<P>,
    pub model: Option<&'a Model>,
    /// Per instance.
    pub limit: Option<Duration>,
}

/// How it finds solutions.
pub enum Way<P: Builtin> {
    /// A search of `bqnco solve`.
    Search(Box<Search>),
    /// A construction without a network.
    Construction(Construct<P>),
}

/// What was asked for, for all problems.
pub struct Wanted<'a> {
    pub searches: &'a [String],
    pub baselines: Baselines,
    /// Names and commands.
    pub external: &'a [(String, String)],
    /// Seconds per instance of searches that go on until somebody stops them.
    pub limit: Duration,
    pub seed: u64,
}

/// Which baselines.
#[derive(Clone, Copy)]
pub struct Baselines {
    myopic: bool,
    constructions: bool,
    expert: bool,
}

impl Baselines {
    /// From the words of `--baselines`.
    pub fn parse(words: &[String]) -> anyhow::Result<Self> {
        let mut baselines = Baselines { myopic: false, constructions: false, expert: false };
        for word in words {
            match word.as_str() {
                "myopic" => baselines.myopic = true,
                "constructions" => baselines.constructions = true,
                "expert" => baselines.expert = true,
                "none" => {}
                _ => bail!("--baselines {word}: expected myopic, constructions, expert or none"),
            }
        }
        Ok(baselines)
    }
}

/// Candidates per step, where nobody says otherwise: as many as the network was trained with, else all for perceivers and
/// 250 for others (paper, section 5).
fn shortlist(model: &Model) -> Option<usize> {
    model.network.config().shortlist.or((model.architecture != "perceiver").then_some(250))
}

/// A search and the seconds that are its own: `reconstruct@5`.
pub fn timed(spelled: &str) -> anyhow::Result<(&str, Option<Duration>)> {
    let Some((search, seconds)) = spelled.split_once('@') else { return Ok((spelled, None)) };
    let seconds = output::seconds(seconds).map_err(|why| anyhow!("search `{spelled}`: {why}"))?;
    Ok((search, Some(seconds)))
}

/// Whether a search goes on until somebody stops it.
pub fn goes_on(method: Method) -> bool {
    !matches!(method, Method::Greedy | Method::Beam | Method::Sample)
}

impl Wanted<'_> {
    /// All methods on a problem: networks first.
    pub fn contenders<'a, P: Builtin>(&self, models: &'a [Model]) -> anyhow::Result<Vec<Contender<'a, P>>> {
        let mut contenders = Vec::new();
        let ours: Vec<&Model> = models.iter().filter(|model| model.problem.as_str() == P::NAME).collect();
        for &model in &ours {
            for spelled in self.searches {
                let (text, limit) = timed(spelled)?;
                let search = Search::spelled(text, Some(model.source.clone()), shortlist(model), self.seed)?;
                let name = if ours.len() > 1 { format!("{spelled} ({})", model.name) } else { spelled.clone() };
                let contender = self.contender(name, search, Some((model, text)));
                let limit = contender.limit.and(limit.or(contender.limit));
                contenders.push(Contender { limit, ..contender });
            }
        }
        let Baselines { myopic, constructions, expert } = self.baselines;
        if myopic {
            contenders.push(self.contender(
                P::GREEDY_HEURISTIC.into(),
                Search::without_network(Method::Greedy, self.seed),
                None,
            ));
        }
        for (name, construct) in P::constructions().into_iter().filter(|_| constructions) {
            if name != P::GREEDY_HEURISTIC {
                let way = Way::Construction(construct);
                contenders.push(Contender { name: name.into(), search: None, way, model: None, limit: None });
            }
        }
        if expert {
            let name = format!("expert, {} s", self.limit.as_secs_f64());
            contenders.push(self.contender(name, Search::by(Method::Expert, None, self.seed), None));
        }
        for (name, command) in self.external {
            contenders.push(self.contender(name.clone(), Search::external(command, self.seed), None));
        }
        if let Some(twice) =
            (1..contenders.len()).find(|&k| contenders[..k].iter().any(|c| c.name == contenders[k].name))
        {
            let why = "name every search, network and program once, and give networks folders with different names";
            return Err(anyhow!("two methods are called `{}`; {why}", contenders[twice].name));
        }
        Ok(contenders)
    }

    fn contender<'a, P: Builtin>(
        &self,
        name: String,
        search: Search,
        model: Option<(&'a Model, &str)>,
    ) -> Contender<'a, P> {
        let limit = goes_on(search.method()).then_some(self.limit);
        Contender {
            name,
            search: model.map(|(_, spelled)| spelled.to_string()),
            way: Way::Search(Box::new(search)),
            model: model.map(|(model, _)| model),
            limit,
        }
    }
}

impl<P: Builtin> Contender<'_, P> {
    /// How the machine is used, for the table of methods.
    pub fn describe(&self) -> String {
        let limit = self.limit.map_or(String::new(), |limit| format!(", {} s per instance", limit.as_secs_f64()));
        match (&self.way, self.model) {
            (Way::Search(search), Some(_)) => {
                let listed =
                    search.shortlist(None).map_or("all candidates".into(), |k| format!("{k} candidates per step"));
                let share = if self.limit.is_some() { "all threads for each instance" } else { "instances in batches" };
                format!("{listed}{limit}; {share}")
            }
            (Way::Search(search), None) if search.method() == Method::Greedy => "no network".into(),
            (Way::Search(search), None) => {
                let command = search.command.as_deref().map_or(String::new(), |command| format!("`{command}`, "));
                format!("{command}one thread per instance{limit}")
            }
            (Way::Construction(_), _) => "one thread per instance".into(),
        }
    }
}
