//! A journal of finished work, one line per entry, so that an interruption loses only the work in progress.
//!
//! The first line holds the settings as JSON, each further line one entry. A line that was being written when the
//! process stopped has no newline; it is cut off.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::lock::lock_file;
use crate::{Error, JournalError, Result};

/// An append-only list of entries.
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens a journal with the entries of an interrupted run, and locks it against other processes.
    ///
    /// # Errors
    /// A journal with other settings, damaged lines, and I/O errors.
    pub fn open<E: DeserializeOwned>(path: &Path, settings: &Value) -> Result<(Self, Vec<E>)> {
        let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(cannot(path))?;
        if cfg!(not(windows)) {
            lock_file(&file, path)?; // on Windows a lock would keep this process, too, from reading the file
        }
        let (entries, whole) = read_whole(path, settings)?;
        file.set_len(whole).map_err(cannot(path))?;
        if whole == 0 {
            writeln!(file, "{settings}").map_err(cannot(path))?;
        }
        Ok((Journal { file, path: path.to_path_buf() }, entries))
    }

    /// Adds an entry, which survives if this process is killed right after.
    ///
    /// # Errors
    /// I/O errors.
    pub fn append<E: Serialize>(&mut self, entry: &E) -> Result<()> {
        let line = serde_json::to_string(entry).map_err(|error| cannot(&self.path)(error.into()))?;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(cannot(&self.path))
    }
}

/// The usual path of a file's journal: the file's path with `.journal` appended.
pub fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

/// The entries of a journal that another process may be writing; none if there is no file.
///
/// # Errors
/// See [`Journal::open`].
pub fn read<E: DeserializeOwned>(path: &Path, settings: &Value) -> Result<Vec<E>> {
    Ok(read_whole(path, settings)?.0)
}

/// The settings of a journal.
///
/// # Errors
/// A file that is no journal, and I/O errors.
pub fn settings(path: &Path) -> Result<Value> {
    let mut line = String::new();
    let file = File::open(path).map_err(cannot(path))?;
    BufReader::new(file).read_line(&mut line).map_err(cannot(path))?;
    let not_settings = |reason: serde_json::Error| {
        JournalError::Damaged { path: path.to_path_buf(), line: 1, reason: reason.to_string() }.into()
    };
    serde_json::from_str(&line).map_err(not_settings)
}

/// Removes a journal that is no longer needed.
///
/// # Errors
/// I/O errors.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::file("cannot remove the journal", path)(error)),
        _ => Ok(()),
    }
}

/// The entries, and the number of bytes up to the end of the last complete line.
fn read_whole<E: DeserializeOwned>(path: &Path, settings: &Value) -> Result<(Vec<E>, u64)> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(cannot(path)(error)),
    };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let text = String::from_utf8_lossy(&bytes[..whole]);
    let mut lines = text.lines();
    let Some(header) = lines.next() else { return Ok((Vec::new(), 0)) };
    let found = serde_json::from_str::<Value>(header).unwrap_or_default();
    if found != *settings {
        let settings = differing(&found, settings);
        return Err(JournalError::OtherSettings { path: path.to_path_buf(), settings }.into());
    }
    let mut entries = Vec::new();
    for (number, line) in lines.enumerate() {
        entries.push(serde_json::from_str(line).map_err(|error| damaged(path, number, error.to_string()))?);
    }
    Ok((entries, whole as u64))
}

/// The error for an entry, counted from 0, that cannot be used.
pub(crate) fn damaged(path: &Path, entry: usize, reason: String) -> Error {
    JournalError::Damaged { path: path.to_path_buf(), line: entry + 2, reason }.into()
}

/// The names of settings that differ.
fn differing(found: &Value, settings: &Value) -> String {
    let (Some(found), Some(settings)) = (found.as_object(), settings.as_object()) else { return "all".into() };
    let names = settings.keys().filter(|name| found.get(*name) != settings.get(*name));
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() { "fewer".into() } else { names.join(", ") }
}

fn cannot(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    Error::file("cannot use the journal", path)
}
