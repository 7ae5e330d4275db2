//! Bytes with a name.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use crate::{FieldError, Format, Place, ReadError};

/// A file's bytes and its name in messages.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    bytes: Vec<u8>,
}

/// Larger than any benchmark file, smaller than the memory of most machines.
const MOST_BYTES: u64 = 4 << 30;

/// The name of the standard input in messages.
const STANDARD_INPUT: &str = "standard input";

impl Source {
    /// Bytes from anywhere.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Source { name: name.into(), bytes: bytes.into() }
    }

    /// Reads a whole file; `-` is the standard input.
    ///
    /// # Errors
    /// Errors of the system, and files above 4 GiB.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let standard_input = path == Path::new("-");
        let name = if standard_input { STANDARD_INPUT.into() } else { path.display().to_string() };
        let mut bytes = Vec::new();
        let read = if standard_input {
            std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)
        } else {
            std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        };
        read.map_err(|source| ReadError::Io { file: name.clone(), source })?;
        let source = Source { name, bytes };
        if source.bytes.len() as u64 > MOST_BYTES {
            return Err(source.syntax(Place::File, "at most 4 GiB", "more"));
        }
        Ok(source)
    }

    /// Whether the bytes come from the standard input, which has no name of its own.
    pub fn is_standard_input(&self) -> bool {
        self.name == STANDARD_INPUT
    }

    /// The file's name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The file's name without folder and extension: the default name of its instance. Only extensions of known formats
    /// are removed, since other dots belong to the name: `inst_0.5`.
    pub fn stem(&self) -> &str {
        let file = self.file();
        let stem = match file.rsplit_once('.') {
            Some((stem, extension)) if Format::from_extension(extension).is_some() => {
                let is_tour = extension.eq_ignore_ascii_case("tour");
                stem.strip_suffix(".opt").filter(|_| is_tour).unwrap_or(stem)
            }
            _ => file,
        };
        if stem.is_empty() { file } else { stem }
    }

    /// The part of the file's name after the last dot.
    pub(crate) fn extension(&self) -> &str {
        self.file().rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    fn file(&self) -> &str {
        self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name)
    }

    /// The bytes as text; invalid UTF-8 (Latin-1 in old comments) is replaced.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let bytes = self.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.bytes);
        String::from_utf8_lossy(bytes)
    }

    /// The most instances that a file of this size may hold: each takes more than a kilobyte of memory, even if it is
    /// empty, and a small file must not fill the memory of the machine.
    pub(crate) fn most_instances(&self) -> usize {
        const FREE: usize = 1 << 15;
        const BYTES_EACH: usize = 32; // the shortest instance of two nodes has as many
        FREE + self.bytes.len() / BYTES_EACH
    }

    /// The error for more instances than [`Source::most_instances`].
    pub(crate) fn too_many_instances(&self, found: usize) -> ReadError {
        let expected = format!("at most {} instances in a file of {} bytes", self.most_instances(), self.bytes.len());
        self.syntax(Place::File, expected, found.to_string())
    }

    /// An error at a place of this file.
    pub(crate) fn syntax(&self, place: Place, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        ReadError::Syntax { file: self.name.clone(), place, expected: expected.into(), found: found.into() }
    }

    /// An error for a part of this file that is not supported, with what can be done about it.
    pub(crate) fn refused(&self, place: Place, reason: impl Into<String>, advice: impl Into<String>) -> ReadError {
        ReadError::Refused { file: self.name.clone(), place, reason: reason.into(), advice: advice.into() }
    }

    /// An error in the numbers of this file.
    pub(crate) fn invalid(&self, place: Place, source: FieldError) -> ReadError {
        ReadError::Invalid { file: self.name.clone(), place, source }
    }
}
