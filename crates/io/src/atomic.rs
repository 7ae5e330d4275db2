//! Files that are either complete or unchanged.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file atomically: readers see the old content or the new one, never a part of it, even after a crash.
///
/// A symbolic link is kept and its target is replaced, with the same permissions. Pipes and devices cannot be replaced,
/// so they are written to directly.
///
/// # Errors
/// Errors of the system; the old file is then unchanged.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    let old = fs::metadata(path).ok(); // of the link's target
    if is_stream(path) || old.as_ref().is_some_and(|old| !old.is_file()) {
        return OpenOptions::new().append(true).open(path)?.write_all(bytes);
    }
    let path = &follow_links(path)?;
    let (mut file, temporary) = create_beside(path)?;
    let permitted = old.map_or(Ok(()), |old| file.set_permissions(old.permissions()));
    let written = permitted.and_then(|()| file.write_all(bytes)).and_then(|()| file.sync_all());
    drop(file);
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary); // the first error is the one that matters
    }
    renamed
}

/// Whether a path names an open stream of this process, even if the stream is redirected to a regular file.
fn is_stream(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name))
        || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
}

/// The file behind symbolic links, which need not exist yet.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40; // as Linux
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.with_file_name(target), // an absolute target replaces all of it
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other(format!("more than {MOST_LINKS} symbolic links lead to {}", path.display())))
}

/// A new file in the same folder and thus on the same file system, so that it can be renamed.
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
