//! Finished work, one line each, so that no interruption costs more than the work under way.
//!
//! A line of JSON with the settings, then a line per entry. A line that was being written when the machine stopped is
//! recognised by its missing end and cut off.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::lock::lock_file;
use crate::{Error, Result};

/// An append-only list of entries.
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens a journal, with what an interrupted run has left in it. No other process can meanwhile.
    ///
    /// # Errors
    /// A journal of other settings, damaged lines, and what the system says.
    pub fn open<E: DeserializeOwned>(path: &Path, settings: &Value) -> Result<(Self, Vec<E>)> {
        let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(cannot(path))?;
        if cfg!(not(windows)) {
            lock_file(&file, path)?; // Windows would keep this process, too, from reading the file
        }
        let (entries, whole) = read_whole(path, settings)?;
        file.set_len(whole).map_err(cannot(path))?;
        if whole == 0 {
            writeln!(file, "{settings}").map_err(cannot(path))?;
        }
        Ok((Journal { file, path: path.to_path_buf() }, entries))
    }

    /// Adds an entry; the system keeps it even if this process is killed in the next moment.
    ///
    /// # Errors
    /// What the system says.
    pub fn append<E: Serialize>(&mut self, entry: &E) -> Result<()> {
        let line = serde_json::to_string(entry).map_err(|error| cannot(&self.path)(error.into()))?;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(cannot(&self.path))
    }
}

/// The usual place of a file's journal: beside it, with `.journal` after its name.
pub fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

/// The entries of a journal that another process may be writing; none where there is no file.
///
/// # Errors
/// As [`Journal::open`].
pub fn read<E: DeserializeOwned>(path: &Path, settings: &Value) -> Result<Vec<E>> {
    Ok(read_whole(path, settings)?.0)
}

/// Removes a journal that is no longer needed.
///
/// # Errors
/// What the system says.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::file("cannot remove the journal", path)(error)),
        _ => Ok(()),
    }
}

/// The entries, and the bytes up to the end of the last whole line.
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
        let (path, names) = (path.display(), differing(&found, settings));
        let what_to_do = "remove it, or choose another output";
        return Err(Error::settings(format!(
            "the journal {path} is of a run with other settings ({names}): {what_to_do}"
        )));
    }
    let mut entries = Vec::new();
    for (number, line) in lines.enumerate() {
        entries.push(serde_json::from_str(line).map_err(|error| {
            let (path, line) = (path.display(), number + 2);
            let what_to_do = "remove the line, or the file to begin anew";
            Error::settings(format!("the journal {path} is damaged in line {line}; {what_to_do}: {error}"))
        })?);
    }
    Ok((entries, whole as u64))
}

/// The names of settings that are not equal.
fn differing(found: &Value, settings: &Value) -> String {
    let (Some(found), Some(settings)) = (found.as_object(), settings.as_object()) else { return "all".into() };
    let names = settings.keys().filter(|name| found.get(*name) != settings.get(*name));
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() { "fewer".into() } else { names.join(", ") }
}

fn cannot(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    Error::file("cannot use the journal", path)
}
