//! Reading instances from files.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use bqnco_io::{Decoded, Format, ReadError, ReadOptions, Record, Source};
use bqnco_problems::Metric;

use crate::{Builtin, Error, Instance, ProblemName, Result, decode};

/// Reads instance files of any problem and format.
///
/// ```
/// use bqnco::{ProblemName, Reader};
///
/// let square = "x,y\n0,0\n1,1\n1,0\n0,1\n";
/// let reader = Reader { problem: Some(ProblemName::Tsp), ..Reader::default() };
/// assert_eq!(reader.parse("square.csv", square)?[0].size(), 4);
/// # Ok::<(), bqnco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    /// Read files as instances of this problem instead of the one that is detected; a file that names another problem
    /// is refused.
    pub problem: Option<ProblemName>,
    /// Overrides the file's rounding of Euclidean distances: `Exact`, `Euc2d` or `Ceil2d`.
    pub round: Option<Metric>,
}

impl Reader {
    /// All instances of a file; `-` is standard input.
    ///
    /// # Errors
    /// Files that cannot be read, and numbers that are not a valid instance.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Vec<Instance>> {
        self.instances(&Source::open(path)?)
    }

    /// All instances of files and of folders ([`instance_files`]), with distinct names.
    ///
    /// # Errors
    /// See [`Reader::read`]; the first file that cannot be read.
    pub fn read_all(&self, paths: &[PathBuf]) -> Result<Vec<Instance>> {
        let mut instances = Vec::new();
        for file in instance_files(paths)?.files {
            instances.extend(self.read(file)?);
        }
        distinguish_names(&mut instances);
        Ok(instances)
    }

    /// The only instance of a file.
    ///
    /// # Errors
    /// See [`Reader::read`]; also if the file does not hold exactly one instance.
    pub fn read_one(&self, path: impl AsRef<Path>) -> Result<Instance> {
        self.one(&Source::open(path)?)
    }

    /// All instances in a file's bytes; `name` identifies them in messages.
    ///
    /// # Errors
    /// See [`Reader::read`].
    pub fn parse(&self, name: &str, bytes: impl Into<Vec<u8>>) -> Result<Vec<Instance>> {
        self.instances(&Source::new(name, bytes))
    }

    /// The only instance in a file's bytes.
    ///
    /// # Errors
    /// See [`Reader::read_one`].
    pub fn parse_one(&self, name: &str, bytes: impl Into<Vec<u8>>) -> Result<Instance> {
        self.one(&Source::new(name, bytes))
    }

    fn one(&self, source: &Source) -> Result<Instance> {
        let mut instances = self.instances(source)?;
        match instances.len() {
            1 => Ok(instances.remove(0)),
            found => Err(Error::NotOneInstance { file: source.name().to_string(), found }),
        }
    }

    fn instances(&self, source: &Source) -> Result<Vec<Instance>> {
        self.decoded(source, decode(source)?)
    }

    /// The instances of an already decoded file, for callers that inspect its problem or metric first.
    ///
    /// # Errors
    /// Numbers that are not a valid instance.
    pub fn decoded(&self, source: &Source, decoded: Decoded) -> Result<Vec<Instance>> {
        let problem = match self.problem {
            Some(problem) => problem,
            None => decoded.detected.problem.parse()?,
        };
        dispatch!(problem, P => self.typed::<P>(source, decoded))
    }

    fn typed<P: Builtin>(&self, source: &Source, decoded: Decoded) -> Result<Vec<Instance>> {
        let format = decoded.detected.format;
        let records = decoded.records::<P>(&ReadOptions { round: self.round })?;
        let (has_file, is_single) = (!source.is_standard_input(), records.len() == 1);
        // Names in files of benchmarks are less specific than those of the files: many are "eil51".
        let by_file = has_file && is_single && !matches!(format, Format::Json | Format::JsonLines);
        let named = |record: Record<P>| {
            let own = if record.name.is_empty() { source.stem() } else { &record.name };
            let name = if by_file { source.stem() } else { own }.to_string();
            let label = if has_file && is_single { source.name().to_string() } else { name.clone() };
            Instance::from_record(record).named(name, label)
        };
        Ok(records.into_iter().map(named).collect())
    }
}

/// Number of solutions in a file of instances: what is lost if it is replaced. A file that cannot be read has none.
pub fn stored_solutions(path: &Path) -> usize {
    let instances = if path.is_file() { Reader::default().read(path).unwrap_or_default() } else { Vec::new() };
    instances.iter().filter(|instance| instance.solution().is_some()).count()
}

/// Extends equal names by their folders: `s000` of two folders becomes `R01000-s000` and `R02000-s000`.
pub fn distinguish_names(instances: &mut [Instance]) {
    for folders in 1.. {
        let mut seen: HashMap<String, usize> = HashMap::new();
        instances.iter().for_each(|instance| *seen.entry(key(instance)).or_default() += 1);
        let mut distinct = true;
        for instance in instances.iter_mut() {
            if seen[&key(instance)] > 1 {
                let longer = instance.clone().named(with_folders(instance.label(), folders), instance.label());
                distinct &= longer.name() == instance.name(); // there are no more folders
                *instance = longer;
            }
        }
        if distinct {
            return;
        }
    }
}

/// The key that must be unique: instances of two problems may have the same name.
fn key(instance: &Instance) -> String {
    format!("{} {}", instance.problem(), instance.name())
}

/// A file's name with this many of its parent folders, without its extension.
fn with_folders(path: &str, folders: usize) -> String {
    let path = Path::new(path);
    let stem = if Format::of_name(path).is_some() { path.with_extension("") } else { path.to_path_buf() };
    let parts: Vec<_> = stem.iter().map(|part| part.to_string_lossy()).filter(|part| part != "/").collect();
    parts[parts.len().saturating_sub(folders + 1)..].join("-")
}

/// The instance files of some paths.
#[derive(Debug, Default)]
pub struct InstanceFiles {
    /// The files, those of folders included.
    pub files: Vec<PathBuf>,
    /// Why files of folders were skipped that are named like instances: `.csv`, `.json`, `.jsonl`.
    pub skipped: Vec<ReadError>,
}

/// The files of all paths; a folder means all instance files in it and in the folders below, each of which is visited
/// once, whatever links lead to it.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("square.csv"), "x,y\n0,0\n1,1\n1,0\n0,1\n")?;
/// std::fs::write(folder.join("optima.csv"), "name,optimum\nsquare,4\n")?;
/// let found = bqnco::instance_files(&[folder.to_path_buf()])?;
/// assert_eq!(found.files, [folder.join("square.csv")]);
/// assert_eq!(found.skipped.len(), 1); // why optima.csv holds no instance
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Folders that cannot be listed, or hold no instance files.
pub fn instance_files(paths: &[PathBuf]) -> Result<InstanceFiles> {
    let mut found = InstanceFiles::default();
    for path in paths {
        if path.is_dir() && path != Path::new("-") {
            let (files, skipped) = (found.files.len(), found.skipped.len());
            collect(path, &mut HashSet::new(), &mut found)?;
            if found.files.len() == files {
                let notes = found.skipped[skipped..].iter().map(|error| format!("; skipped {error}")).collect();
                return Err(Error::NoInstanceFiles { folder: path.clone(), notes });
            }
        } else {
            found.files.push(path.clone());
        }
    }
    Ok(found)
}

/// Folders that were `visited` are left out: symbolic links may lead back to them.
fn collect(folder: &Path, visited: &mut HashSet<PathBuf>, found: &mut InstanceFiles) -> Result<()> {
    let cannot = || Error::file("cannot list", folder);
    if !visited.insert(folder.canonicalize().map_err(cannot())?) {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).map_err(cannot())?.collect::<std::result::Result<Vec<_>, _>>();
    let mut paths: Vec<PathBuf> = entries.map_err(cannot())?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, visited, found)?;
            continue;
        }
        match holds_instances(&path) {
            Ok(true) => found.files.push(path),
            Ok(false) => {}
            Err(error) => found.skipped.push(error),
        }
    }
    Ok(())
}

/// A folder may hold other files, such as solutions and tables. Some are recognised by name; others must be opened. An
/// error if a file is named like instances but holds something else.
fn holds_instances(path: &Path) -> std::result::Result<bool, ReadError> {
    let open = || Source::open(path).and_then(|source| decode(&source));
    match Format::of_name(path) {
        _ if !path.is_file() => Ok(false),
        Some(format) if format.is_solution_only() => Ok(false),
        Some(Format::Csv | Format::Json | Format::JsonLines) => open().map(|_| true),
        Some(Format::Lines) => Ok(open().is_ok()),
        Some(_) => Ok(true),
        None => Ok(path.extension().is_none() && open().is_ok()),
    }
}
