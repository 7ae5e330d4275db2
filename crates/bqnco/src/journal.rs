//! A journal of finished work, one line per entry, so that an interruption loses only the work in progress.
//!
//! The first line holds the settings as JSON, each further line one entry. Every line ends in a tab and the CRC-32 of the
//! settings and of itself, so that lines that were changed, or belong to another journal, are noticed. What was being
//! written when the process or the machine stopped is cut off. Journals of older versions have no checksums and are
//! still read.
//!
//! ```
//! use bqnco::journal::{self, Journal};
//!
//! # let folder = tempfile::tempdir()?;
//! let path = journal::beside(&folder.path().join("squares.csv"));
//! let settings = serde_json::json!({ "numbers": 3 });
//! let (mut journal, done) = Journal::open::<u64>(&path, &settings)?; // what an interrupted run has finished
//! for number in done.len() as u64..3 {
//!     journal.append(&(number * number))?;
//! }
//! drop(journal);
//! assert_eq!(journal::read::<u64>(&path, &settings)?, [0, 1, 4]);
//! journal::remove(&path)?; // once the result is stored
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::lock::LockedFile;
use crate::{Error, JournalError, Result};

/// The first append that comes this long after the last sync syncs all entries.
const SYNC_INTERVAL: Duration = Duration::from_secs(5);

/// An append-only list of entries.
pub struct Journal {
    file: LockedFile,
    path: PathBuf,
    settings: String,
    synced: Instant,
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Journal {
    /// Opens a journal with the entries of an interrupted run, and locks it against other processes, except on Windows.
    ///
    /// # Errors
    /// A journal with other settings or in use by another process, damaged lines, and I/O errors.
    pub fn open<E: DeserializeOwned>(path: &Path, settings: &Value) -> Result<(Self, Vec<E>)> {
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(cannot(path))?;
        // On Windows a lock would keep this process, too, from reading the file.
        let file = if cfg!(windows) { LockedFile(file) } else { LockedFile::new(file, path)? };
        let Content { entries, whole, settings } = read_whole(path, settings)?;
        file.set_len(whole).map_err(cannot(path))?;
        let mut journal = Journal { file, path: path.to_path_buf(), settings, synced: Instant::now() };
        if whole == 0 {
            journal.write(&journal.settings.clone())?;
        }
        journal.sync()?;
        bqnco_files::sync_folder_of(path).map_err(cannot(path))?;
        Ok((journal, entries))
    }

    /// Adds an entry, which survives if this process is killed right after. It survives a power cut once it is synced:
    /// at the latest by the next append that comes five seconds after the last sync.
    ///
    /// # Errors
    /// I/O errors.
    pub fn append<E: Serialize>(&mut self, entry: &E) -> Result<()> {
        let line = serde_json::to_string(entry).map_err(|error| cannot(&self.path)(error.into()))?;
        self.write(&line)?;
        if self.synced.elapsed() >= SYNC_INTERVAL { self.sync() } else { Ok(()) }
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let line = format!("{line}\t{}\n", checksum(&self.settings, line));
        (&*self.file).write_all(line.as_bytes()).map_err(cannot(&self.path))
    }

    /// Waits until all entries are on the disk.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.synced = Instant::now();
        self.file.sync_data().map_err(cannot(&self.path))
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
    Ok(read_whole(path, settings)?.entries)
}

/// The settings of a journal.
///
/// # Errors
/// A file that is no journal, and I/O errors.
pub(crate) fn settings(path: &Path) -> Result<Value> {
    let mut line = String::new();
    let file = File::open(path).map_err(cannot(path))?;
    BufReader::new(file).read_line(&mut line).map_err(cannot(path))?;
    let not_settings = |reason: serde_json::Error| {
        JournalError::Damaged { path: path.to_path_buf(), line: 1, reason: reason.to_string() }.into()
    };
    let (text, _) = split(line.trim_end_matches('\n'));
    serde_json::from_str(text).map_err(not_settings)
}

/// Removes a journal that is no longer needed.
///
/// # Errors
/// I/O errors.
pub fn remove(path: &Path) -> Result<()> {
    bqnco_files::remove(path).map_err(Error::file("cannot remove the journal", path))
}

/// What a journal holds.
struct Content<E> {
    entries: Vec<E>,
    whole: u64,       // bytes up to the end of the last whole line
    settings: String, // as they are in the file, or will be: checksums depend on them
}

fn read_whole<E: DeserializeOwned>(path: &Path, settings: &Value) -> Result<Content<E>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(cannot(path)(error)),
    };
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let nothing = || Ok(Content { entries: Vec::new(), whole: 0, settings: settings.to_string() });
    let Some(header) = lines.next() else { return nothing() };
    let (settings, has_checksums) = match check_header(path, header, settings) {
        Err(_) if header.len() == bytes.len() && header.starts_with(b"{") => return nothing(), // of a run that did nothing
        checked => checked?,
    };
    let (mut entries, mut whole, mut length) = (Vec::new(), header.len(), header.len());
    let mut first_bad = None;
    for (number, line) in lines.enumerate() {
        length += line.len();
        match entry(line, &settings, has_checksums) {
            Ok(entry) => {
                if let Some((number, reason)) = first_bad {
                    return Err(damaged(path, number, reason)); // not the end of an interrupted write
                }
                entries.push(entry);
                whole = length;
            }
            Err(reason) => _ = first_bad.get_or_insert((number, reason)),
        }
    }
    Ok(Content { entries, whole: whole as u64, settings })
}

/// Checks that a journal has these settings. Their text, and whether its lines have checksums.
fn check_header(path: &Path, header: &[u8], settings: &Value) -> Result<(String, bool)> {
    let text = String::from_utf8_lossy(header);
    let (line, sum) = split(text.trim_end_matches('\n'));
    let found = serde_json::from_str::<Value>(line).unwrap_or_default();
    let is_same = match (sum, settings.as_object()) {
        // A journal of an older version lacks settings that are known now.
        (None, Some(known)) if found.is_object() => {
            let is_new = |name: &str| found.get(name).is_none() && name != "distribution"; // of which they had one
            let known = known.iter().filter(|(name, _)| !is_new(name));
            found == Value::Object(known.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        _ => found == *settings,
    };
    if !is_same {
        let settings = differing(&found, settings);
        return Err(JournalError::OtherSettings { path: path.to_path_buf(), settings }.into());
    }
    match sum {
        Some(sum) if sum != checksum(line, line) => {
            let (path, reason) = (path.to_path_buf(), "its checksum is another".to_string());
            Err(JournalError::Damaged { path, line: 1, reason }.into())
        }
        sum => Ok((line.to_string(), sum.is_some())),
    }
}

/// The entry of a line, or what is wrong with it.
fn entry<E: DeserializeOwned>(line: &[u8], settings: &str, has_checksum: bool) -> std::result::Result<E, String> {
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    let (line, sum) = split(text.trim_end_matches('\n'));
    match sum {
        None if has_checksum => return Err("it has no checksum".into()),
        Some(sum) if sum != checksum(settings, line) => return Err("its checksum is another".into()),
        _ => {}
    }
    serde_json::from_str(line).map_err(|error| error.to_string())
}

/// A line's content and its checksum, if it has one; JSON has no tabs.
fn split(line: &str) -> (&str, Option<&str>) {
    line.split_once('\t').map_or((line, None), |(line, sum)| (line, Some(sum)))
}

fn checksum(settings: &str, line: &str) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(settings.as_bytes());
    hasher.update(line.as_bytes());
    format!("{:08x}", hasher.finalize())
}

/// The error for an entry, counted from 0, that cannot be used.
pub(crate) fn damaged(path: &Path, entry: usize, reason: String) -> Error {
    JournalError::Damaged { path: path.to_path_buf(), line: entry + 2, reason }.into()
}

/// The names of settings that differ.
fn differing(found: &Value, settings: &Value) -> String {
    let (Some(found), Some(settings)) = (found.as_object(), settings.as_object()) else { return "all".into() };
    let more = found.keys().filter(|name| !settings.contains_key(*name));
    let names = settings.keys().chain(more).filter(|name| found.get(*name) != settings.get(*name));
    names.map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn cannot(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    Error::file("cannot use the journal", path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Entry = (u64, Vec<usize>);

    /// A journal with three entries, and its lines.
    fn journal(folder: &Path) -> (PathBuf, Vec<String>) {
        let path = folder.join("journal");
        let (mut journal, old) = Journal::open::<Entry>(&path, &json!({ "seed": 1 })).expect("new");
        assert!(old.is_empty());
        (0..3).for_each(|k| journal.append::<Entry>(&(k, vec![2, 1, 0])).expect("written"));
        let text = fs::read_to_string(&path).expect("there");
        (path, text.lines().map(|line| format!("{line}\n")).collect())
    }

    fn reopen(path: &Path, lines: &[String]) -> Result<Vec<Entry>> {
        fs::write(path, lines.concat()).expect("written");
        Journal::open(path, &json!({ "seed": 1 })).map(|(_, entries)| entries)
    }

    #[test]
    fn a_changed_line_is_noticed_although_it_is_an_entry() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, lines) = journal(folder.path());
        assert_eq!(reopen(&path, &lines).expect("whole").len(), 3);
        let mut swapped = lines.clone();
        swapped[2] = swapped[2].replace("[1,[2,1,0]]", "[1,[2,0,1]]");
        assert_ne!(swapped, lines);
        let error = reopen(&path, &swapped).expect_err("changed").to_string();
        assert!(error.contains("line 3") && error.contains("checksum"), "{error}");
        let mut foreign = lines.clone();
        foreign[1] = format!("[7,[0]]\t{}\n", checksum(r#"{"seed":2}"#, "[7,[0]]"));
        assert!(reopen(&path, &foreign).is_err(), "a line of a journal with other settings");
    }

    #[test]
    fn what_a_power_cut_leaves_at_the_end_is_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, lines) = journal(folder.path());
        for end in ["[3,[0", "\0\0\0\0\n", "\0\0\n\0\0\n\0", "[3,[0,1]]\n"] {
            let longer = [&lines[..], &[end.to_string()]].concat();
            assert_eq!(reopen(&path, &longer).expect("the rest is whole").len(), 3, "{end:?}");
            assert_eq!(fs::read_to_string(&path).expect("there"), lines.concat());
        }
        let mut damaged = lines.clone();
        damaged[2] = "\0\0\0\n".into();
        let error = reopen(&path, &damaged).expect_err("not at the end").to_string();
        assert!(error.contains("line 3") && error.contains("remove the line"), "{error}");
    }

    #[test]
    fn journals_of_older_versions_are_read_and_continued() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let old: Vec<String> = ["{\"seed\":1}\n", "[0,[1,0]]\n", "[1,[1,0]]\n"].map(String::from).into();
        assert_eq!(reopen(&path, &old).expect("read").len(), 2);
        let (mut journal, _) = Journal::open::<Entry>(&path, &json!({ "seed": 1 })).expect("read");
        journal.append::<Entry>(&(2, vec![0])).expect("written");
        drop(journal);
        assert_eq!(read::<Entry>(&path, &json!({ "seed": 1 })).expect("read").len(), 3);
    }

    #[test]
    fn entries_are_synced_at_intervals() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let (mut journal, _) = Journal::open::<Entry>(&path, &json!({ "seed": 1 })).expect("new");
        let Some(long_ago) = Instant::now().checked_sub(2 * SYNC_INTERVAL) else { return };
        journal.synced = long_ago;
        journal.append::<Entry>(&(0, vec![0])).expect("written");
        assert!(journal.synced > long_ago);
    }

    #[test]
    fn a_run_that_did_nothing_leaves_no_journal_in_the_way() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("labels.journal");
        drop(Journal::open::<Entry>(&path, &json!({ "command": "" })).expect("created"));
        let (_, entries) = Journal::open::<Entry>(&path, &json!({ "command": "lkh" })).expect("begun anew");
        assert!(entries.is_empty());
        assert_eq!(settings(&path).expect("settings"), json!({ "command": "lkh" }));
    }

    #[test]
    fn the_settings_of_a_journal_can_be_read_from_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, _) = journal(folder.path());
        assert_eq!(settings(&path).expect("settings"), json!({ "seed": 1 }));
        // Continued with settings that its version did not know: the lines still belong to it.
        fs::write(&path, "{\"seed\":1}\n[0,[1,0]]\n").expect("written");
        let (mut journal, _) = Journal::open::<Entry>(&path, &json!({ "seed": 1, "expert": "x" })).expect("read");
        journal.append::<Entry>(&(1, vec![0])).expect("written");
        drop(journal);
        assert_eq!(read::<Entry>(&path, &settings(&path).expect("settings")).expect("read").len(), 2);
    }
}
