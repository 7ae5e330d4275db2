//! The instances of a set: drawn when they are needed, or read from files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use bqnco::Builtin;
use bqnco::core::random;
use bqnco::io::{Array, RawInstance};
use bqnco::problems::Metric;

use super::suite::{Groups, Library, Random, SIZES};
use crate::failure::Failure;
use crate::input::{Input, Named, Reading, files_of, tell_apart};
use crate::references::References;

/// Instances that a figure is a mean over.
pub struct Set<P: Builtin> {
    pub name: String,
    instances: Instances<P>,
}

enum Instances<P: Builtin> {
    Drawn { set: Random, count: usize, seed: u64 },
    Read(Vec<Known<P>>),
}

/// An instance of a file with its best known objective and who says so.
struct Known<P: Builtin> {
    named: Named<P>,
    reference: Option<(f64, String)>,
}

impl<P: Builtin> Set<P> {
    /// A set of random instances: those of `bqnco generate` with the same seed.
    pub fn drawn(set: &Random, count: usize, seed: u64) -> Result<Self, Failure> {
        if set.size > P::LARGEST_SIZE {
            return Err(anyhow!("{}: at most size {} for {}", set.name, P::LARGEST_SIZE, P::NAME).into());
        }
        Ok(Set { name: set.name.clone(), instances: Instances::Drawn { set: set.clone(), count, seed } })
    }

    pub fn len(&self) -> usize {
        match &self.instances {
            Instances::Drawn { count, .. } => *count,
            Instances::Read(known) => known.len(),
        }
    }

    /// Whether the instances are drawn and not read.
    pub fn is_drawn(&self) -> bool {
        matches!(self.instances, Instances::Drawn { .. })
    }

    /// The size of the largest instance.
    pub fn largest(&self) -> usize {
        match &self.instances {
            Instances::Drawn { set, .. } => set.size,
            Instances::Read(known) => (0..known.len()).map(|index| self.size(index)).max().unwrap_or(0),
        }
    }

    /// The size of an instance.
    pub fn size(&self, index: usize) -> usize {
        match &self.instances {
            Instances::Drawn { set, .. } => set.size,
            Instances::Read(known) => P::size(&known[index].named.record.instance),
        }
    }

    /// Whether all instances have the same size, so that they make an even batch.
    pub fn is_even(&self) -> bool {
        match &self.instances {
            Instances::Drawn { .. } => true,
            Instances::Read(known) => (1..known.len()).all(|index| self.size(index) == self.size(0)),
        }
    }

    pub fn instance(&self, index: usize) -> Result<Arc<P::Instance>, Failure> {
        match &self.instances {
            Instances::Drawn { set, seed, .. } => {
                let instance = P::generate(set.size, &mut random(*seed, &[index as u64]));
                Ok(Arc::new(replace::<P>(instance, &set.set).with_context(|| set.name.clone())?))
            }
            Instances::Read(known) => Ok(Arc::new(known[index].named.record.instance.clone())),
        }
    }

    /// An instance's name in tables.
    pub fn name_of(&self, index: usize) -> String {
        match &self.instances {
            Instances::Drawn { set, seed, .. } => {
                let parameters: String = set.set.iter().map(|(name, value)| format!("-{name}{value}")).collect();
                format!("{}{}{parameters}-{seed}-{index}", P::NAME, set.size)
            }
            Instances::Read(known) => known[index].named.name.clone(),
        }
    }

    /// All that an instance's reference depends on, but for the rounds.
    pub fn key(&self, index: usize) -> String {
        let name = self.name_of(index);
        match &self.instances {
            Instances::Drawn { .. } => name,
            Instances::Read(known) => {
                let mut fields = RawInstance::default();
                P::instance_to(&known[index].named.record.instance, &mut fields);
                let mut checksum = crc32fast::Hasher::new();
                checksum.update(fields.metric.map_or("", Metric::name).as_bytes());
                for (name, array) in fields.arrays() {
                    checksum.update(name.as_bytes());
                    array.values.iter().for_each(|value| checksum.update(&value.to_le_bytes()));
                }
                format!("{name}-crc32:{:08x}", checksum.finalize())
            }
        }
    }

    /// The best known objective, and who says so.
    pub fn reference(&self, index: usize) -> Option<&(f64, String)> {
        match &self.instances {
            Instances::Drawn { .. } => None,
            Instances::Read(known) => known[index].reference.as_ref(),
        }
    }
}

/// The instance with other numbers under these names.
fn replace<P: Builtin>(instance: P::Instance, numbers: &BTreeMap<String, f64>) -> anyhow::Result<P::Instance> {
    if numbers.is_empty() {
        return Ok(instance);
    }
    let mut fields = RawInstance::default();
    P::instance_to(&instance, &mut fields);
    numbers.iter().for_each(|(name, &value)| fields.insert(name.clone(), Array::scalar(value)));
    Ok(P::instance_from(&mut fields)?)
}

/// The files that are evaluated, before they belong to a problem.
pub struct Files {
    inputs: Vec<(PathBuf, Input)>,
    references: References,
    table: Option<String>, // the name of the references' table
    /// What is said about files that were left out.
    pub notes: Vec<String>,
}

impl Files {
    /// The files of a folder, or one file, that are of the library's problem and metric.
    pub fn open(data: &Path, library: &Library, optimum: Option<&str>) -> Result<Self, Failure> {
        let in_folder = library.references.as_ref().map(|name| data.join(name)).filter(|path| path.is_file());
        let table = optimum.map(str::to_string).or_else(|| in_folder.map(|path| path.display().to_string()));
        let references = References::parse(table.as_deref())?;
        let paths = files_of(&[data.to_path_buf()])?;
        let (mut inputs, mut notes, mut other) = (Vec::new(), Vec::new(), 0);
        let several = paths.len() > 1;
        for path in paths {
            match Reading::default().open(&path) {
                Ok(input) if !fits(&input, library, several) => other += 1,
                Ok(input) => inputs.push((path, input)),
                Err(failure) if several => notes.push(format!("left out: {}", failure.sentence())),
                Err(failure) => return Err(failure),
            }
        }
        if other > 0 {
            let metric = library.metric.map_or(String::new(), |metric| format!(" with metric {}", metric.name()));
            notes.push(format!("{other} files that are not {}{metric} were left out", library.problem));
        }
        let table = table.map(|table| file_name(Path::new(&table)));
        Ok(Files { inputs, references, table, notes })
    }

    /// The sets that they form, in the order of the paper, or by name; at most `most` instances of each.
    pub fn sets<P: Builtin>(
        self,
        library: &Library,
        most: Option<usize>,
    ) -> Result<(Vec<Set<P>>, Vec<String>), Failure> {
        let Files { inputs, references, table, mut notes } = self;
        let several = inputs.len() > 1;
        let mut groups: BTreeMap<(usize, String), Vec<Known<P>>> = BTreeMap::new();
        let mut not_the_papers = 0;
        for (path, input) in inputs {
            let records = match input.read::<P>() {
                Ok(records) => records,
                Err(failure) if several => {
                    notes.push(format!("left out: {}", failure.sentence()));
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let dataset = records.len() > 1;
            for named in records {
                let size = P::size(&named.record.instance);
                if library.leave_out.contains(&named.name) || library.largest.is_some_and(|largest| size > largest) {
                    not_the_papers += 1;
                    continue;
                }
                let group = if dataset { (0, stem(&path)) } else { group(library.groups, &path, &named.name, size) };
                let reference = reference(&named, &references, table.as_deref());
                groups.entry(group).or_default().push(Known { named, reference });
            }
        }
        if not_the_papers > 0 {
            notes.push(format!("{not_the_papers} instances that the paper leaves out (too large, or no such problem)"));
        }
        let sets = groups.into_iter().map(|((_, name), mut known)| {
            thin_out(&mut known, most);
            tell_apart(known.iter_mut().map(|known| &mut known.named).collect());
            Set { name, instances: Instances::Read(known) }
        });
        Ok((sets.collect(), notes))
    }
}

fn fits(input: &Input, library: &Library, several: bool) -> bool {
    let metric = library.metric.is_none_or(|metric| input.metric() == Some(metric));
    (input.problem == library.problem || !several) && metric
}

/// A group's place and name.
fn group(groups: Groups, path: &Path, name: &str, size: usize) -> (usize, String) {
    match groups {
        Groups::Size => {
            let class = SIZES.iter().position(|&(_, largest)| size <= largest).unwrap_or(SIZES.len() - 1);
            (class, SIZES[class].0.into())
        }
        Groups::Prefix => (0, name.split('-').next().unwrap_or(name).into()),
        Groups::Folder => (0, path.parent().map_or_else(String::new, file_name)),
    }
}

/// Stored values first, then stored solutions.
fn reference<P: Builtin>(named: &Named<P>, references: &References, table: Option<&str>) -> Option<(f64, String)> {
    let record = &named.record;
    let by_table = references.of(&named.label, None);
    if let Some(value) = by_table.filter(|value| *value != 0.0) {
        return Some((value, table.unwrap_or("given").to_string()));
    }
    if let Some(value) = record.reference {
        return Some((value, "stored in the file".into()));
    }
    let steps = record.solution.as_ref()?;
    P::check(&record.instance, steps).ok()?;
    Some((P::OBJECTIVE.1 * P::cost(&record.instance, steps), "solution stored in the file".into()))
}

/// Keeps so many, spread evenly over all sizes.
fn thin_out<P: Builtin>(known: &mut Vec<Known<P>>, most: Option<usize>) {
    let (count, most) = (known.len(), most.unwrap_or(usize::MAX));
    if count > most {
        let mut by_size: Vec<usize> = (0..count).collect();
        by_size.sort_by_key(|&k| P::size(&known[k].named.record.instance));
        let kept: Vec<usize> = (0..most).map(|k| by_size[k * count / most]).collect();
        let mut index = 0..;
        known.retain(|_| index.next().is_some_and(|k| kept.contains(&k)));
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
