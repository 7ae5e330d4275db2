//! Which instances are evaluated and by which searches: the data of `suites.toml`, or a problem.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bqnco::net::Architecture;
use bqnco::problems::Metric;
use bqnco::{Error, ProblemName, Result};
use serde::{Deserialize, Deserializer};

use crate::TimedSearch;

/// An evaluation of the paper, or one like it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name: that of `suites.toml`, or the problem's.
    #[serde(skip)]
    pub name: String,
    /// The report's title.
    pub title: String,
    /// Searches with a network.
    pub searches: Vec<TimedSearch>,
    /// Whether tables have a line per method and not per set.
    #[serde(default)]
    pub methods_down: bool,
    /// Seconds per instance of searches that go on until a limit ends them, if the caller gives none.
    #[serde(default = "one_second")]
    pub time_limit: u64,
    /// The fewest networks per problem that it can compare.
    #[serde(default)]
    pub networks: usize,
    /// Sets of random instances.
    #[serde(default)]
    pub random: Vec<RandomSet>,
    /// Which instance files it takes, if it takes any.
    pub library: Option<Library>,
    /// The tables in `published.toml` with the paper's figures for the random sets.
    pub(crate) published: Option<String>,
    /// Whether its random sets are those of [`Suite::of_problem`].
    #[serde(default)]
    by_problem: bool,
    /// The files to take, instead of random instances.
    #[serde(skip)]
    pub(crate) files: Option<Files>,
}

/// Instance files of the caller's.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    /// A file or a folder.
    pub path: PathBuf,
    /// Their optima: a CSV file or a number.
    pub optima: Option<String>,
}

/// A set of random instances.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomSet {
    /// What tables call it.
    pub name: String,
    /// The problem.
    #[serde(deserialize_with = "problem")]
    pub problem: ProblemName,
    /// The size of every instance.
    pub size: usize,
    /// Instances in the paper.
    pub count: usize,
    /// Numbers of the instances to replace, by the names that files give them.
    #[serde(default)]
    pub set: BTreeMap<String, f64>,
    /// Architectures that the paper has rows for.
    #[serde(default)]
    pub architectures: Vec<Architecture>,
}

/// Which files of a folder are taken, and how they are grouped.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// The problem.
    #[serde(deserialize_with = "problem")]
    pub problem: ProblemName,
    /// Only files with this metric.
    #[serde(default, deserialize_with = "metric")]
    pub metric: Option<Metric>,
    /// Only instances from this size on.
    pub smallest: Option<usize>,
    /// Only instances up to this size.
    pub largest: Option<usize>,
    /// Names of instances that are left out.
    #[serde(default)]
    pub leave_out: Vec<String>,
    /// How they are grouped.
    pub groups: Groups,
    /// The table of optima within the folder.
    pub references: Option<String>,
    /// The tables in `published.toml` with the paper's figures for these files.
    pub(crate) published: Option<String>,
}

impl Library {
    /// Whether it takes instances of this size.
    pub(crate) fn takes(&self, size: usize) -> bool {
        (self.smallest.unwrap_or(0)..=self.largest.unwrap_or(usize::MAX)).contains(&size)
    }
}

/// How instances of files become sets.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Groups {
    /// By the paper's classes of sizes.
    Size,
    /// By the part of the name before the first `-`: `A` of `A-n32-k5`.
    Prefix,
    /// By the folder that the file is in.
    Folder,
}

/// The paper's classes of sizes: name and largest size.
pub(crate) const SIZES: [(&str, usize); 5] =
    [("<100", 99), ("100-200", 199), ("200-500", 499), ("500-1K", 1000), (">1K", usize::MAX)];

/// Sizes of random instances of problems that the paper has no table for.
const USUAL_SIZES: [usize; 4] = [100, 200, 500, 1000];

impl Suite {
    /// The suite of this name, or that of the problem of this name.
    ///
    /// # Errors
    /// Names of neither, with those that exist.
    pub fn named(name: &str) -> Result<Self> {
        let mut suites = all();
        if let Some(suite) = suites.remove(name) {
            return Ok(suite);
        }
        let problem = name.parse::<ProblemName>().map_err(|_| {
            let suites: Vec<_> = suites.keys().map(String::as_str).collect();
            let (suites, problems) = (suites.join(", "), ProblemName::names().join(", "));
            Error::Settings(format!(
                "no suite or problem is called `{name}`; the suites are {suites}; the problems {problems}"
            ))
        })?;
        Ok(Self::of_problem(problem))
    }

    /// The paper's random sets of a problem, for any network, or sets like them; or files of the caller's.
    pub fn of_problem(problem: ProblemName) -> Self {
        let has_it = |suite: &Suite| suite.by_problem && suite.random.iter().any(|set| set.problem == problem);
        let (random, published) = match all().into_values().find(has_it) {
            Some(suite) => (suite.random, suite.published),
            None => (USUAL_SIZES.map(|size| RandomSet::usual(problem, size)).into(), None),
        };
        let ours = random.into_iter().filter(|set| set.problem == problem);
        let library = Library {
            problem,
            metric: None,
            smallest: None,
            largest: None,
            leave_out: Vec::new(),
            groups: Groups::Size,
            references: None,
            published: None,
        };
        Suite {
            name: problem.to_string(),
            title: format!("{} instances", problem.as_str().to_uppercase()),
            searches: ["greedy", "beam16"].map(|search| search.parse().expect("a search")).into(),
            methods_down: false,
            time_limit: one_second(),
            networks: 0,
            random: ours.map(|set| RandomSet { architectures: Vec::new(), ..set }).collect(),
            library: Some(library),
            published,
            by_problem: true,
            files: None,
        }
    }

    /// With random instances of these sizes instead of the paper's.
    #[must_use]
    pub fn with_sizes(mut self, sizes: &[usize]) -> Self {
        let mut sets: Vec<RandomSet> = Vec::new();
        for set in &self.random {
            for &size in sizes {
                let alike = self.random.iter().filter(|own| own.problem == set.problem && own.set == set.set);
                let nearest = alike.min_by_key(|own| own.size.abs_diff(size)).unwrap_or(set);
                let parameters: String = set.set.iter().map(|(name, value)| format!(", {name} {value}")).collect();
                let name = format!("{}{size}{parameters}", set.problem.as_str().to_uppercase());
                let name = if nearest.size == size { nearest.name.clone() } else { name };
                let set = RandomSet { name, size, ..nearest.clone() };
                if !sets.iter().any(|other| other.name == set.name) {
                    sets.push(set);
                }
            }
        }
        self.random = sets;
        self
    }

    /// With the instances of a file or a folder instead of random ones. `optima` is a CSV file with columns `name` and
    /// `optimum`, or a number; by default the table in the folder counts, or what the files say.
    ///
    /// # Errors
    /// Suites that have random instances only.
    pub fn with_files(mut self, path: impl Into<PathBuf>, optima: Option<&str>) -> Result<Self> {
        let name = &self.name;
        let Some(library) = &self.library else {
            return Err(Error::Settings(format!("the suite {name} makes its own instances")));
        };
        self.published.clone_from(&library.published);
        self.random.clear();
        self.files = Some(Files { path: path.into(), optima: optima.map(str::to_string) });
        Ok(self)
    }

    /// Whether it has no instances before [`Suite::with_files`] gives it some.
    pub fn needs_files(&self) -> bool {
        self.random.is_empty() && self.files.is_none()
    }

    /// Its problems, in its order.
    pub fn problems(&self) -> Vec<ProblemName> {
        let library = self.library.iter().filter(|_| self.files.is_some()).map(|library| library.problem);
        let mut problems: Vec<ProblemName> = Vec::new();
        for problem in self.random.iter().map(|set| set.problem).chain(library) {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        problems
    }

    /// Architectures of a problem that the paper has rows for.
    pub(crate) fn architectures(&self, problem: ProblemName) -> Vec<Architecture> {
        let mut architectures: Vec<Architecture> = Vec::new();
        for set in self.random.iter().filter(|set| set.problem == problem) {
            for &architecture in &set.architectures {
                if !architectures.contains(&architecture) {
                    architectures.push(architecture);
                }
            }
        }
        architectures
    }
}

fn one_second() -> u64 {
    1
}

/// The suites of the paper, by name.
fn all() -> BTreeMap<String, Suite> {
    let mut suites: BTreeMap<String, Suite> =
        toml::from_str(include_str!("data/suites.toml")).expect("a test has read the table of suites");
    suites.iter_mut().for_each(|(name, suite)| suite.name.clone_from(name));
    suites
}

impl RandomSet {
    fn usual(problem: ProblemName, size: usize) -> Self {
        let name = format!("{}{size}", problem.as_str().to_uppercase());
        RandomSet { name, problem, size, count: 128, set: BTreeMap::new(), architectures: Vec::new() }
    }

    /// How many instances there are when `wanted` are wanted of the suite's smallest size: fewer of larger sizes, by the
    /// power 1.5 of the size, since the work grows faster than the size. By default as many as the paper has.
    pub(crate) fn count(&self, wanted: Option<usize>, smallest: usize) -> usize {
        let share = (smallest as f64 / self.size as f64).powf(1.5);
        wanted.map_or(self.count, |wanted| ((wanted as f64 * share).ceil() as usize).max(1))
    }
}

fn problem<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<ProblemName, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

fn metric<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Metric>, D::Error> {
    let name = String::deserialize(deserializer)?;
    Metric::from_name(&name).map(Some).ok_or_else(|| serde::de::Error::custom(format!("no metric is called {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::Published;

    #[test]
    fn all_suites_can_be_read() {
        for (name, sets) in [("table1", 16), ("kp", 12), ("knn", 4), ("perceiver", 8), ("approximate", 1), ("order", 1)]
        {
            assert_eq!(Suite::named(name).expect(name).random.len(), sets, "{name}");
        }
        for name in ["tsplib", "tsplib-xl", "cvrplib", "xl", "oplib", "atsp", "kp"] {
            assert!(Suite::named(name).expect(name).library.is_some(), "{name}");
        }
        assert_eq!(Suite::named("tsp").expect("a problem").random.len(), 4);
        assert_eq!(Suite::named("knapsack").expect("a problem").random.len(), 12);
        for suite in all().values() {
            for name in
                suite.published.iter().chain(suite.library.iter().filter_map(|library| library.published.as_ref()))
            {
                assert!(!Published::named(name).is_empty(), "{}: {name}", suite.name);
            }
        }
        let unknown = Suite::named("tps").expect_err("no such suite").to_string();
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
        let sets = Suite::of_problem(ProblemName::Tsp).with_sizes(&[90, 200, 2000]).random;
        let sets: Vec<_> = sets.iter().map(|set| (set.name.as_str(), set.size, set.count)).collect();
        assert_eq!(sets, [("TSP90", 90, 10_000), ("TSP200", 200, 128), ("TSP2000", 2000, 128)]);
    }

    #[test]
    fn files_replace_random_instances_and_their_published_figures() {
        assert!(Suite::named("table1").expect("a suite").with_files("x", None).is_err());
        let library = Suite::named("tsplib").expect("a suite");
        assert!(library.needs_files());
        assert_eq!(library.with_files("x", None).expect("it takes files").published.as_deref(), Some("tsplib"));
        let tsp = Suite::of_problem(ProblemName::Tsp);
        assert_eq!(tsp.published.as_deref(), Some("table1"));
        let files = tsp.with_files("TSP100.npz", None).expect("it takes files");
        assert!(files.random.is_empty() && !files.needs_files() && files.published.is_none());
    }
}
