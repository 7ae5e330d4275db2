//! Finished work, kept beside the output until the output is whole.
//!
//! A line of JSON with the settings, then a line per solution. A line that was being written when the machine stopped
//! is recognised by its missing end and cut off.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use serde_json::Value;

use crate::failure::Failure;

/// An append-only list of solutions.
pub struct Journal {
    file: Option<File>, // none when the output is printed
}

/// A solved instance.
pub struct Entry {
    pub index: u64,
    pub solution: Vec<usize>,
}

impl Journal {
    /// Opens the journal of an output, with what an interrupted run has left in it.
    pub fn open(output: &Path, settings: &Value) -> Result<(Self, Vec<Entry>), Failure> {
        if output == Path::new("-") {
            return Ok((Journal { file: None }, Vec::new()));
        }
        let path = journal_of(output);
        let say = || format!("cannot use the journal {}", path.display());
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(say).map_err(Failure::from),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let mut entries = Vec::new();
        match lines.next() {
            Some(header) if serde_json::from_str::<Value>(header).ok().as_ref() == Some(settings) => {
                for (number, line) in lines.enumerate() {
                    entries.push(parse(line).ok_or_else(|| anyhow!("{}: line {} is damaged", say(), number + 2))?);
                }
            }
            Some(_) => {
                let path = path.display();
                let other = "is of a run with other settings: remove it, or choose another output";
                return Err(anyhow!("the journal {path} {other}").into());
            }
            None => {}
        }
        let mut file = OpenOptions::new().append(true).create(true).open(&path).with_context(say)?;
        file.set_len(whole as u64).with_context(say)?;
        if whole == 0 {
            writeln!(file, "{settings}").with_context(say)?;
        }
        Ok((Journal { file: Some(file) }, entries))
    }

    /// Adds a solution; the system keeps it even if this process is killed in the next moment.
    pub fn append(&mut self, entry: &Entry) -> Result<(), Failure> {
        if let Some(file) = &mut self.file {
            let line = serde_json::json!([entry.index, entry.solution]);
            file.write_all(format!("{line}\n").as_bytes()).context("cannot write the journal")?;
        }
        Ok(())
    }
}

/// Removes the journal, once the output is whole.
pub fn remove(output: &Path) -> Result<(), Failure> {
    match fs::remove_file(journal_of(output)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).context("cannot remove the journal")?,
        _ => Ok(()),
    }
}

fn journal_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

fn parse(line: &str) -> Option<Entry> {
    let value: Value = serde_json::from_str(line).ok()?;
    let index = value.get(0)?.as_u64()?;
    let numbers = value.get(1)?.as_array()?.iter().map(|number| number.as_u64().map(|number| number as usize));
    Some(Entry { index, solution: numbers.collect::<Option<_>>()? })
}
