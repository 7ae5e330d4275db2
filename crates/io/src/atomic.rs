//! Files that are either whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file so that readers see the old content or the new one, never half of it, whatever happens meanwhile.
///
/// # Errors
/// What the system says; the old file is then untouched.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    let (mut file, temporary) = create_beside(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    drop(file);
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary); // the first error is the one that matters
    }
    renamed
}

/// A new file in the same folder, hence on the same file system, so that it can be renamed.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is not a file's name", path.display())));
    };
    for attempt in 0..1000 {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{attempt}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (file, temporary)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many temporary files beside it"))
}
