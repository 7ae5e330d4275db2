//! The networks that are evaluated.

use std::path::Path;

use bqnco::core::Cut;
use bqnco::net::{Architecture, Config, Description, Device, Network, device};
use bqnco::{Error, MODELS, ModelSource, ProblemName, Result, dispatch};

use crate::published::family;
use crate::{Evaluation, Suite};

/// A network with the names that tables know it by.
pub(crate) struct Model {
    /// Its own name, or that of its folder.
    pub name: String,
    pub source: ModelSource,
    pub problem: ProblemName,
    pub architecture: Architecture,
    /// Of its weights, as in its `config.json`.
    pub checksum: String,
    pub network: Network,
}

impl Model {
    fn load(source: &ModelSource, description: Description, device: &Device) -> Result<Self> {
        let (network, _) = source.load(device)?;
        let name = match source {
            ModelSource::Shipped(model) => model.name.to_string(),
            ModelSource::Folder(folder) => folder_name(folder),
        };
        let Description { config, checksum, .. } = description;
        let (problem, architecture) = (config.problem.parse()?, config.architecture);
        Ok(Model { name, source: source.clone(), problem, architecture, checksum, network })
    }

    /// Candidates per step by default: as many as the network was trained with, else all for perceivers and knapsacks, and
    /// 250 for others (paper, section 5).
    pub fn shortlist(&self) -> Option<usize> {
        if self.sees_all() {
            return None;
        }
        let of_the_paper = match self.architecture {
            Architecture::Perceiver => None,
            Architecture::Transformer | Architecture::GcnTransformer | Architecture::Approximate => Some(250),
        };
        self.network.config().candidates(of_the_paper)
    }

    /// Whether it sees all candidates, however few are asked for: in a knapsack nothing is near.
    pub fn sees_all(&self) -> bool {
        self.problem == ProblemName::Knapsack && self.network.config().cut == Cut::Nearest
    }

    /// Whether it has the shape of the paper's network for its problem, and sees what that network sees. How it was trained
    /// does not count.
    pub fn is_the_papers(&self) -> bool {
        let expected = dispatch!(self.problem, P => match self.architecture {
            Architecture::Perceiver => Config::perceiver::<P>(),
            // Where tokens have no features of their own, the paper has convolutions over costs and random identifiers.
            _ if P::IDENTIFIED => Config { random_identifiers: true, ..Config::gcn::<P>() },
            Architecture::Approximate => Config { architecture: Architecture::Approximate, ..Config::paper::<P>() },
            _ => Config::paper::<P>(),
        });
        let found = self.network.config();
        let sizes = |config: &Config| [config.n_layers, config.n_heads, config.dim, config.dim_ff];
        let latents = |config: &Config| match config.architecture {
            Architecture::Perceiver => [config.n_latents, config.dim_latent],
            _ => [0; 2],
        };
        let inputs = |config: &Config| (config.frame, config.cut, config.shortlist, config.random_identifiers);
        let layers =
            |config: &Config| (config.architecture, config.residual, config.costs, config.end_costs, config.ascent);
        (sizes(found), latents(found)) == (sizes(&expected), latents(&expected))
            && (inputs(found), layers(found)) == (inputs(&expected), layers(&expected))
    }
}

/// The networks that are asked for; for problems without any, the shipped ones. Notes tell what is missing.
pub(crate) fn load_networks(suite: &Suite, evaluation: &Evaluation<'_>, notes: &mut Vec<String>) -> Result<Vec<Model>> {
    if suite.searches.is_empty() {
        return match &evaluation.networks[..] {
            [] => Ok(Vec::new()),
            _ => Err(Error::Settings(format!("{} has no searches with a network: name some", suite.name))),
        };
    }
    let device = device(&evaluation.device)?;
    let mut models = Vec::new();
    for source in &evaluation.networks {
        models.push(Model::load(source, source.describe()?, &device)?);
    }
    let problems = suite.problems();
    if let Some(model) = models.iter().find(|model| !problems.contains(&model.problem)) {
        let names: Vec<_> = problems.iter().map(|problem| problem.as_str()).collect();
        let (name, problem, names) = (&model.name, model.problem, names.join(", "));
        return Err(Error::Settings(format!("{name} is a network of {problem}; this evaluation is of {names}")));
    }
    for &problem in &problems {
        if evaluation.shipped_networks && !models.iter().any(|model| model.problem == problem) {
            models.extend(shipped(problem, &suite.architectures(problem), &device)?);
        }
        let ours: Vec<&Model> = models.iter().filter(|model| model.problem == problem).collect();
        if ours.len() < suite.networks {
            let (expected, found, name) = (suite.networks, ours.len(), &suite.name);
            return Err(Error::Settings(format!("{name} compares {expected} networks of {problem}, found {found}")));
        }
        if ours.is_empty() {
            notes.push(format!("no network of {problem}: rows of networks are left out"));
            continue;
        }
        for kind in suite.architectures(problem) {
            if !ours.iter().any(|model| family(model.architecture) == kind) {
                notes.push(format!("no {kind} network of {problem}: its rows are left out"));
            }
        }
    }
    Ok(models)
}

/// The shipped network that solves a problem by default, and those of the architectures that the paper has rows for.
fn shipped(problem: ProblemName, kinds: &[Architecture], device: &Device) -> Result<Vec<Model>> {
    let mut models = Vec::new();
    for model in MODELS {
        let description = model.describe()?;
        let is_default = model.name == problem.as_str();
        let is_wanted = is_default || kinds.contains(&family(description.config.architecture));
        if description.config.problem == problem.as_str() && is_wanted {
            models.push(Model::load(&ModelSource::Shipped(model), description, device)?);
        }
    }
    Ok(models)
}

/// `tsp` of `runs/tsp/best`: the folders that training makes have the same names in every run.
fn folder_name(folder: &Path) -> String {
    let names: Vec<_> = folder.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let telling = names.iter().rev().find(|name| !["best", "last", ".", ".."].contains(&name.as_ref()));
    telling.map_or_else(|| "network".into(), |name| name.to_string())
}

#[cfg(test)]
mod tests {
    use bqnco::problems::{Knapsack, Tsp};

    use super::*;

    #[test]
    fn only_networks_that_have_rows_are_loaded() {
        let load = |name: &str| {
            let suite = Suite::named(name).expect("a suite");
            let mut notes = Vec::new();
            let models = load_networks(&suite, &Evaluation::new("unused"), &mut notes).expect("networks");
            models.into_iter().map(|model| model.name).collect::<Vec<_>>()
        };
        assert_eq!(load("tsp"), ["tsp"]);
        assert_eq!(load("kp"), ["knapsack"]);
        assert_eq!(load("table1"), ["tsp", "tsp-perceiver", "cvrp", "cvrp-perceiver", "op", "atsp"]);
        assert_eq!(load("perceiver"), ["tsp", "tsp-perceiver", "cvrp", "cvrp-perceiver"]);
    }

    #[test]
    fn the_papers_networks_see_its_candidates() {
        fn shortlist(config: Config) -> Option<usize> {
            let problem = config.problem.parse::<ProblemName>().expect("a problem");
            let architecture = config.architecture;
            let network = Network::new(Config { n_layers: 1, ..config }, 0, &Device::flex()).expect("a network");
            let source = ModelSource::Folder("unused".into());
            let (name, checksum) = (String::new(), String::new());
            Model { name, source, problem, architecture, checksum, network }.shortlist()
        }
        assert_eq!(shortlist(Config::paper::<Tsp>()), Some(250));
        assert_eq!(shortlist(Config::perceiver::<Tsp>()), None);
        assert_eq!(shortlist(Config::paper::<Knapsack>()), None);
        assert_eq!(shortlist(Config { shortlist: Some(50), ..Config::small::<Knapsack>() }), Some(50));
    }

    #[test]
    fn folders_of_training_runs_have_the_name_of_the_run() {
        assert_eq!(folder_name(Path::new("runs/tsp/best")), "tsp");
        assert_eq!(folder_name(Path::new("./net")), "net");
        assert_eq!(folder_name(Path::new("best")), "network");
    }
}
