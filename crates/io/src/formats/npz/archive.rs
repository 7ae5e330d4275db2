//! A zip archive of arrays.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::npy::{self, Content, Kind};
use crate::{Array, Place, ReadError, Source};

/// The arrays of an archive by name.
pub(super) struct Archive<'a> {
    pub source: &'a Source,
    arrays: BTreeMap<String, Content>,
    count: u64, // of arrays in the file
    budget: Budget,
}

/// The memory that the instances of a file may take: 64 MB and 50 times the file, so that a small file cannot fill the
/// memory of the machine. Compressed data of real sets need less: deflate takes away at most nine tenths of numbers that
/// are not all alike.
struct Budget(u64);

impl Budget {
    /// Bytes per number: in its array, in the instance's part of it, and in the instance, with its place on a map.
    const NUMBER: u64 = 44;
    /// Bytes per string beside its letters.
    const STRING: u64 = 96;
    /// Bytes per instance beside its numbers: tables of fields, names, the instance itself.
    const INSTANCE: u64 = 3072;
    /// Bytes per array of an instance.
    const ARRAY: u64 = 256;

    fn new(source: &Source) -> Self {
        const FREE: u64 = 48 << 20; // of 64 MB; the rest is for what is not counted
        Budget(source.bytes().len() as u64 * 48 + FREE)
    }

    fn take(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.checked_sub(bytes)?;
        Some(())
    }
}

/// An array to be written.
pub(super) enum Entry {
    Numbers(Array, Kind),
    Strings(Vec<String>),
}

fn open(source: &Source) -> Result<ZipArchive<Cursor<&[u8]>>, ReadError> {
    ZipArchive::new(Cursor::new(source.bytes())).map_err(|error| broken(source, &error))
}

fn broken(source: &Source, error: &dyn std::fmt::Display) -> ReadError {
    source.syntax(Place::File, "a whole zip archive of numpy arrays", error.to_string())
}

fn too_much(source: &Source, place: Place) -> ReadError {
    let expected = "data that fill at most 64 MB and 50 times the size of the file";
    source.syntax(place, expected, "more; save the arrays without compression, or in several files")
}

fn array_name(file: &str) -> String {
    file.trim_end_matches(".npy").to_string()
}

/// The names of the arrays, without reading them.
pub(super) fn names(source: &Source) -> Result<Vec<String>, ReadError> {
    let zip = open(source)?;
    let names = zip.file_names().map(|name| name.map(|name| array_name(&name)));
    names.collect::<Result<_, _>>().map_err(|error| broken(source, &error))
}

impl<'a> Archive<'a> {
    /// Unpacks all arrays, with a limit on their memory relative to the file's size.
    pub fn read(source: &'a Source) -> Result<Self, ReadError> {
        let mut zip = open(source)?;
        let mut budget = Budget::new(source);
        let mut arrays = BTreeMap::new();
        for index in 0..zip.len() {
            let file = zip.by_index(index).map_err(|error| broken(source, &error))?;
            let name = file.name().map(|name| array_name(&name)).map_err(|error| broken(source, &error))?;
            let place = Place::Array(name.clone());
            let mut bytes = Vec::new();
            let room = budget.0 / 2; // the list of bytes grows by doubling
            file.take(room + 1).read_to_end(&mut bytes).map_err(|error| broken(source, &error))?;
            let wrong = |(expected, found): (String, String)| source.syntax(place.clone(), expected, found);
            if bytes.len() as u64 > room {
                return Err(too_much(source, place));
            }
            let items = npy::items(&bytes).map_err(wrong)?;
            let each = match items.kind {
                npy::ItemKind::Number => Budget::NUMBER,
                npy::ItemKind::String => Budget::STRING + 2 * items.width as u64,
            };
            let needed = (items.count as u64).saturating_mul(each).saturating_add(2 * bytes.len() as u64);
            if budget.take(needed).is_none() {
                return Err(too_much(source, place));
            }
            let content = npy::read(&bytes).map_err(wrong)?;
            arrays.insert(name, content);
        }
        Ok(Archive { source, count: arrays.len() as u64, arrays, budget })
    }

    /// Takes an array of numbers.
    pub fn take(&mut self, name: &str) -> Result<Option<Array>, ReadError> {
        match self.arrays.remove(name) {
            None => Ok(None),
            Some(Content::Numbers(array)) => Ok(Some(array)),
            Some(Content::Strings(_)) => Err(self.wrong(name, "numbers", "strings")),
        }
    }

    /// Takes a required array of numbers.
    pub fn need(&mut self, name: &str) -> Result<Array, ReadError> {
        let found = self.take(name)?;
        found.ok_or_else(|| self.source.syntax(Place::File, format!("an array `{name}`"), "none"))
    }

    /// Takes an array of strings.
    pub fn take_strings(&mut self, name: &str) -> Result<Option<Vec<String>>, ReadError> {
        match self.arrays.remove(name) {
            None => Ok(None),
            Some(Content::Strings(strings)) => Ok(Some(strings)),
            Some(Content::Numbers(_)) => Err(self.wrong(name, "strings", "numbers")),
        }
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// The names of the arrays that are left.
    pub fn rest(&self) -> Vec<String> {
        self.arrays.keys().cloned().collect()
    }

    /// An error in an array.
    pub fn wrong(&self, name: &str, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        self.source.syntax(Place::Array(name.to_string()), expected, found)
    }

    /// The number of instances along the first axis, which must hold at least one number each, and not need more memory
    /// than a file of this size may.
    pub fn instances(&mut self, name: &str, array: &Array) -> Result<usize, ReadError> {
        let first = array.shape.first().copied().unwrap_or(0);
        if first == 0 || array.values.len() < first {
            return Err(self.wrong(name, "numbers for at least one instance", format!("the shape {:?}", array.shape)));
        }
        let each = Budget::INSTANCE + Budget::ARRAY * self.count;
        if self.budget.take((first as u64).saturating_mul(each)).is_none() {
            return Err(too_much(self.source, Place::Array(name.to_string())));
        }
        Ok(first)
    }

    /// The instances' parts of an array `[instances, ...]`.
    pub fn split(&self, name: &str, array: Array, instances: usize) -> Result<Vec<Array>, ReadError> {
        match array.shape.split_first() {
            Some((&batch, inner)) if batch == instances => {
                let size = inner.iter().product::<usize>();
                let part = |index: usize| array.values[index * size..(index + 1) * size].to_vec();
                Ok((0..batch).map(|index| Array { shape: inner.to_vec(), values: part(index) }).collect())
            }
            _ => Err(self.wrong(
                name,
                format!("{instances} instances along the first axis"),
                format!("{:?}", array.shape),
            )),
        }
    }

    /// One number per instance from `[instances]`, `[instances, 1]` or a single number for all.
    pub fn per_instance(&self, name: &str, array: Array, instances: usize) -> Result<Vec<f64>, ReadError> {
        match array.values.len() {
            1 if array.shape.is_empty() => Ok(vec![array.values[0]; instances]),
            found if found == instances => Ok(array.values),
            _ => Err(self.wrong(
                name,
                format!("one number for each of {instances} instances"),
                format!("{:?}", array.shape),
            )),
        }
    }
}

/// The archive as numpy's `savez` writes it: stored, not compressed.
pub(super) fn write(entries: Vec<(String, Entry)>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    for (name, entry) in entries {
        let bytes = match entry {
            Entry::Numbers(array, kind) => npy::write_numbers(&array, kind),
            Entry::Strings(strings) => npy::write_strings(&strings),
        };
        zip.start_file(format!("{name}.npy"), options).expect("names are short and differ");
        zip.write_all(&bytes).expect("memory grows");
    }
    zip.finish().expect("memory grows").into_inner()
}
