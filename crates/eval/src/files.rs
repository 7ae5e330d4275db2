//! From a folder of instance files to sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bqnco::io::{Decoded, Source};
use bqnco::{Error, Instance, Reader, References, Result, decode, instance_files};

use crate::set::{Reference, Referenced, Set};
use crate::suite::{Files, Groups, Library, SIZES};

/// The sets that files form, in the order of the paper, or by name; at most `most` instances of each. Notes tell what is
/// left out.
pub(crate) fn read_sets(
    files: &Files,
    library: &Library,
    most: Option<usize>,
    notes: &mut Vec<String>,
) -> Result<Vec<Set>> {
    let optima = Optima::open(files, library)?;
    let mut groups: BTreeMap<(usize, String), Vec<Referenced>> = BTreeMap::new();
    let mut left_out = 0;
    for (path, instances) in read_files(&files.path, library, notes)? {
        let is_dataset = instances.len() > 1;
        for instance in instances {
            if !library.takes(instance.size()) || library.leave_out.iter().any(|name| name == instance.name()) {
                left_out += 1;
                continue;
            }
            let group = if is_dataset { (0, stem(&path)) } else { group(library.groups, &path, &instance) };
            let reference = optima.of(&instance);
            groups.entry(group).or_default().push((instance, reference));
        }
    }
    if left_out > 0 {
        notes.push(format!("{left_out} instances that this suite leaves out (by size, or no such problem)"));
    }
    let set = |((_, name), known)| Set::read(name, library.problem, thin_out(known, most));
    Ok(groups.into_iter().map(set).collect())
}

/// The files of a folder, or one file, that are of the library's problem and metric, with their instances.
fn read_files(path: &Path, library: &Library, notes: &mut Vec<String>) -> Result<Vec<(PathBuf, Vec<Instance>)>> {
    let found = instance_files(&[path.to_path_buf()])?;
    notes.extend(found.skipped.iter().map(|error| format!("left out: {error}")));
    let several = found.files.len() > 1;
    let reader = Reader { problem: Some(library.problem), ..Reader::default() };
    let (mut read, mut others) = (Vec::new(), 0);
    for path in found.files {
        let instances = Source::open(&path).and_then(|source| Ok((decode(&source)?, source))).map_err(Error::from);
        let instances = match instances {
            Ok((decoded, _)) if !fits(&decoded, library, several) => {
                others += 1;
                continue;
            }
            Ok((decoded, source)) => reader.decoded(&source, decoded),
            Err(error) => Err(error),
        };
        match instances {
            Ok(instances) => read.push((path, instances)),
            Err(error) if several => notes.push(format!("left out: {error}")),
            Err(error) => return Err(error),
        }
    }
    if others > 0 {
        let metric = library.metric.map_or(String::new(), |metric| format!(" with metric {}", metric.name()));
        notes.push(format!("{others} files that are not {}{metric} were left out", library.problem));
    }
    Ok(read)
}

/// A file that was named alone is read as the library's problem, whatever it looks like.
fn fits(decoded: &Decoded, library: &Library, several: bool) -> bool {
    let metric = library.metric.is_none_or(|metric| decoded.metric() == Some(metric));
    (decoded.detected.problem == library.problem.as_str() || !several) && metric
}

/// Best known objectives, and what their table is called.
struct Optima {
    references: References,
    table: String,
}

impl Optima {
    /// Those that are given, else the table in the folder, else only what the files say.
    fn open(files: &Files, library: &Library) -> Result<Self> {
        let in_folder = library.references.as_ref().map(|name| files.path.join(name)).filter(|path| path.is_file());
        let table = files.optima.clone().or_else(|| in_folder.map(|path| path.display().to_string()));
        let references = table.as_deref().map(References::parse).transpose()?.unwrap_or_default();
        Ok(Optima { references, table: table.map_or_else(|| "given".into(), |table| file_name(Path::new(&table))) })
    }

    /// Stored values first, then stored solutions.
    fn of(&self, instance: &Instance) -> Option<Reference> {
        let by_table = self.references.of(instance.label(), None).filter(|value| *value != 0.0);
        if let Some(value) = by_table {
            return Some(Reference { value, by: self.table.clone() });
        }
        if let Some(value) = instance.reference() {
            return Some(Reference { value, by: "stored in the file".into() });
        }
        let solution = instance.solution().filter(|solution| solution.check().is_ok())?;
        Some(Reference { value: solution.value(), by: "solution stored in the file".into() })
    }
}

/// A group's place and name.
fn group(groups: Groups, path: &Path, instance: &Instance) -> (usize, String) {
    match groups {
        Groups::Size => {
            let class = SIZES.iter().position(|&(_, largest)| instance.size() <= largest).unwrap_or(SIZES.len() - 1);
            (class, SIZES[class].0.into())
        }
        Groups::Prefix => (0, instance.name().split('-').next().unwrap_or_default().into()),
        Groups::Folder => (0, path.parent().map_or_else(String::new, file_name)),
    }
}

/// Keeps so many, spread evenly over all sizes.
fn thin_out<R>(known: Vec<(Instance, R)>, most: Option<usize>) -> Vec<(Instance, R)> {
    let count = known.len();
    let Some(most) = most.filter(|&most| most < count) else { return known };
    let mut by_size: Vec<usize> = (0..count).collect();
    by_size.sort_by_key(|&k| known[k].0.size());
    let kept: Vec<usize> = (0..most).map(|k| by_size[k * count / most]).collect();
    let numbered = known.into_iter().enumerate();
    numbered.filter(|(k, _)| kept.contains(k)).map(|(_, known)| known).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_spread_over_the_sizes() {
        let instance = |size: usize| {
            let points: Vec<[f64; 2]> = (0..size).map(|k| [k as f64, 0.0]).collect();
            (Instance::tsp(&points).expect("points"), size)
        };
        let sizes = |most| {
            let known: Vec<_> = [9, 3, 7, 5, 4, 8].map(instance).into();
            thin_out(known, most).into_iter().map(|(_, size)| size).collect::<Vec<_>>()
        };
        assert_eq!(sizes(Some(3)), [3, 5, 8]);
        assert_eq!(sizes(Some(6)), [9, 3, 7, 5, 4, 8]);
        assert_eq!(sizes(None).len(), 6);
    }
}
