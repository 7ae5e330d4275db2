//! Which instances are evaluated and by which searches: the data of `suites.toml`, or a problem.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow};
use bqnco::ProblemName;
use bqnco::problems::Metric;
use serde::{Deserialize, Deserializer};

/// An evaluation of the paper, or one like it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name on the command line.
    #[serde(skip)]
    pub name: String,
    /// What a person reads above the tables.
    pub title: String,
    /// Searches with a network, where nobody says otherwise.
    pub searches: Vec<String>,
    /// Whether tables have a line per method and not per set.
    #[serde(default)]
    pub methods_down: bool,
    /// How many networks per problem make sense of it.
    #[serde(default)]
    pub models: usize,
    /// Sets of random instances.
    #[serde(default)]
    pub random: Vec<Random>,
    /// Instances in files.
    pub library: Option<Library>,
}

/// A set of random instances.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Random {
    pub name: String,
    #[serde(deserialize_with = "problem")]
    pub problem: ProblemName,
    pub size: usize,
    /// Instances in the paper.
    pub count: usize,
    /// Numbers of the instances to replace, by the names that files give them.
    #[serde(default)]
    pub set: BTreeMap<String, f64>,
    /// Kinds of networks that the paper has rows for.
    #[serde(default)]
    pub architectures: Vec<String>,
}

/// Which files of a folder are meant, and how they are grouped.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    #[serde(deserialize_with = "problem")]
    pub problem: ProblemName,
    /// Only files with this metric.
    #[serde(default, deserialize_with = "metric")]
    pub metric: Option<Metric>,
    /// Only instances up to this size.
    pub largest: Option<usize>,
    /// Names of instances that are left out.
    #[serde(default)]
    pub leave_out: Vec<String>,
    pub groups: Groups,
    /// The table of optima within the folder.
    pub references: Option<String>,
}

/// How instances of files become sets.
#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Groups {
    /// By the paper's classes of sizes.
    Size,
    /// By what stands before the first `-` of the name: `A` of `A-n32-k5`.
    Prefix,
    /// By the folder that the file is in.
    Folder,
}

/// The paper's classes of sizes: name and largest size.
pub const SIZES: [(&str, usize); 5] =
    [("<100", 99), ("100-200", 199), ("200-500", 499), ("500-1K", 1000), (">1K", usize::MAX)];

impl Suite {
    /// The suite of this name, or everything there is about a problem.
    pub fn named(name: &str) -> anyhow::Result<Self> {
        let mut suites: BTreeMap<String, Suite> =
            toml::from_str(include_str!("suites.toml")).context("the table of suites")?;
        if let Some(suite) = suites.remove(name) {
            return Ok(Suite { name: name.into(), ..suite });
        }
        let problem = name.parse::<ProblemName>().map_err(|_| {
            let suites: Vec<_> = suites.keys().map(String::as_str).collect();
            let problems: Vec<_> = ProblemName::ALL.iter().map(|name| name.as_str()).collect();
            let (suites, problems) = (suites.join(", "), problems.join(", "));
            anyhow!("no suite or problem is called `{name}`; the suites are {suites}; the problems {problems}")
        })?;
        let sets = suites
            .into_values()
            .filter(|suite| suite.models == 0 && suite.searches.iter().all(|search| is_plain(search)));
        let random: Vec<Random> = sets.flat_map(|suite| suite.random).filter(|set| set.problem == problem).collect();
        let mut distinct: Vec<Random> = Vec::new();
        for set in random {
            if !distinct.iter().any(|other| other.name == set.name) {
                distinct.push(Random { architectures: vec![], ..set }); // any network will do
            }
        }
        let library =
            Library { problem, metric: None, largest: None, leave_out: vec![], groups: Groups::Size, references: None };
        Ok(Suite {
            name: name.into(),
            title: format!("{} instances", name.to_uppercase()),
            searches: vec!["greedy".into(), "beam16".into()],
            methods_down: false,
            models: 0,
            random: distinct,
            library: Some(library),
        })
    }

    /// Its problems, in its order.
    pub fn problems(&self) -> Vec<ProblemName> {
        let mut problems: Vec<ProblemName> = Vec::new();
        let all = self.random.iter().map(|set| set.problem).chain(self.library.as_ref().map(|library| library.problem));
        for problem in all {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        problems
    }

    /// Kinds of networks of a problem that the paper has rows for.
    pub fn architectures(&self, problem: ProblemName) -> Vec<&str> {
        let sets = self.random.iter().filter(|set| set.problem == problem);
        let mut kinds: Vec<&str> = sets.flat_map(|set| set.architectures.iter().map(String::as_str)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// With random instances of these sizes instead.
    pub fn of_sizes(mut self, sizes: &[usize]) -> Self {
        let mut sets: Vec<Random> = Vec::new();
        for set in &self.random {
            for &size in sizes {
                let alike = self.random.iter().filter(|own| own.problem == set.problem && own.set == set.set);
                let nearest = alike.min_by_key(|own| own.size.abs_diff(size)).unwrap_or(set);
                let parameters: String = set.set.iter().map(|(name, value)| format!(", {name} {value}")).collect();
                let name = format!("{}{size}{parameters}", set.problem.as_str().to_uppercase());
                let name = if nearest.size == size { nearest.name.clone() } else { name };
                let set = Random { name, size, ..nearest.clone() };
                if !sets.iter().any(|other| other.name == set.name) {
                    sets.push(set);
                }
            }
        }
        self.random = sets;
        self
    }
}

/// Whether a search says nothing about its shortlist.
fn is_plain(search: &str) -> bool {
    !search.contains(':')
}

impl Random {
    /// How many instances there are when `wanted` are wanted of the suite's smallest size: fewer of larger sizes, by the
    /// power 1.5 of the size, since the work grows faster than the size. As many as the paper has when nobody says.
    pub fn count(&self, wanted: Option<usize>, smallest: usize) -> usize {
        let share = (smallest as f64 / self.size as f64).powf(1.5);
        wanted.map_or(self.count, |wanted| ((wanted as f64 * share).ceil() as usize).max(1))
    }
}

fn problem<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ProblemName, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

fn metric<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Metric>, D::Error> {
    let name = String::deserialize(deserializer)?;
    Metric::from_name(&name).map(Some).ok_or_else(|| serde::de::Error::custom(format!("no metric is called {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_suites_can_be_read() {
        for (name, sets) in [("table1", 16), ("kp", 12), ("knn", 4), ("approximate", 1), ("order", 1)] {
            assert_eq!(Suite::named(name).expect(name).random.len(), sets, "{name}");
        }
        for name in ["tsplib", "cvrplib", "oplib", "atsp"] {
            assert!(Suite::named(name).expect(name).library.is_some(), "{name}");
        }
        assert_eq!(Suite::named("tsp").expect("a problem").random.len(), 4);
        assert_eq!(Suite::named("knapsack").expect("a problem").random.len(), 12);
        let unknown = Suite::named("tps").err().expect("no such suite").to_string();
        assert!(unknown.contains("table1") && unknown.contains("cvrp"), "{unknown}");
    }

    #[test]
    fn fewer_instances_of_larger_sizes_but_always_one() {
        let suite = Suite::named("table1").expect("a suite");
        let count = |wanted, at: usize| suite.random[at].count(wanted, 100);
        assert_eq!([0, 1, 2, 3].map(|at| count(Some(16), at)), [16, 6, 2, 1]);
        assert_eq!([0, 1, 2, 3].map(|at| count(Some(1), at)), [1, 1, 1, 1]);
        assert_eq!([0, 1, 2, 3].map(|at| count(None, at)), [10_000, 128, 128, 128]);
        assert_eq!(count(Some(100_000), 0), 100_000, "who wants more than the paper gets more");
    }

    #[test]
    fn other_sizes_are_counted_like_the_nearest() {
        let sets = Suite::named("tsp").expect("a problem").of_sizes(&[90, 200, 2000]).random;
        let sets: Vec<_> = sets.iter().map(|set| (set.name.as_str(), set.size, set.count)).collect();
        assert_eq!(sets, [("TSP90", 90, 10_000), ("TSP200", 200, 128), ("TSP2000", 2000, 128)]);
    }
}
