//! Files that are complete or unchanged, whatever ends the process or the machine.
//!
//! Every file that matters is written by one function, [`replace`]: write beside the target, `fsync`, rename, `fsync` of
//! the folder. Once it has returned, a power cut cannot undo it; before, the old file is there. [`write_atomically`] is
//! the same for outputs that people name: it also follows links and writes to pipes. The crate depends on nothing, so
//! that formats, networks and training can share it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// How the names of files begin that are being written, and how they end.
const TEMPORARY: (&str, &str) = (".bqnco-", ".tmp");

/// Writes a file atomically and durably: readers see the old content or the new one, never a part of it, even after a
/// power cut.
///
/// A symbolic link is kept and its target is replaced, with the same permissions. Pipes and devices cannot be replaced,
/// so they are written to directly.
///
/// # Errors
/// Errors of the system; the old file is then unchanged.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    if is_stream(path) || fs::metadata(path).is_ok_and(|old| !old.is_file()) {
        return OpenOptions::new().append(true).open(path)?.write_all(bytes);
    }
    replace(&follow_links(path)?, bytes)
}

/// As [`write_atomically`], for files whose names the program chose: a link is replaced, not followed.
///
/// # Errors
/// Errors of the system; the old file is then unchanged, unless it was its folder that could not be synced.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (mut file, temporary) = create_beside(path)?;
    let old = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
    let permitted = old.map_or(Ok(()), |old| file.set_permissions(old.permissions()));
    let written = permitted.and_then(|()| file.write_all(bytes)).and_then(|()| file.sync_all());
    drop(file);
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary); // the first error is the one that matters
    }
    renamed.and_then(|()| sync_folder_of(path))
}

/// Gives a file another name in its folder, durably.
///
/// # Errors
/// Errors of the system.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder_of(to)
}

/// Removes a file durably, if it is there.
///
/// # Errors
/// Errors of the system.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.and_then(|()| sync_folder_of(path)),
    }
}

/// Creates a folder and those above it, durably.
///
/// # Errors
/// Errors of the system.
pub fn create_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_folder(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        created => created.and_then(|()| sync_folder_of(path)),
    }
}

/// Waits until the names of the files beside this one, and its own, are on the disk.
///
/// # Errors
/// Errors of the system.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(()); // folders cannot be opened there
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder)?.sync_all() {
        // Some network file systems cannot, and need not: the server has the names.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Removes what writers that were killed have left in a folder. Only for folders that this process has locked.
///
/// # Errors
/// Errors of the system.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (entry, (start, end)) = (entry?, TEMPORARY);
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(start) && name.ends_with(end) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
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

/// A new file in the same folder and thus on the same file system, so that it can be renamed. Its name does not contain
/// the target's, which may be as long as the system allows.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    if path.file_name().is_none() {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("{} is not a file's name", path.display())));
    }
    for attempt in 0..1000 {
        let (start, end) = TEMPORARY;
        let temporary = path.with_file_name(OsString::from(format!("{start}{}-{attempt}{end}", std::process::id())));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (file, temporary)),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "too many temporary files beside it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_can_be_written_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("n".repeat(255));
        for bytes in [b"one", b"two"] {
            write_atomically(&path, bytes).expect("written");
            assert_eq!(fs::read(&path).expect("there"), bytes);
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("taken");
        fs::create_dir(&path).expect("a folder where the file should go");
        assert!(replace(&path, b"new").is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn outputs_follow_links_and_own_files_replace_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
        fs::write(&target, "old").expect("written");
        std::os::unix::fs::symlink("target", &link).expect("a link");
        write_atomically(&link, b"new").expect("written");
        assert_eq!(fs::read(&target).expect("there"), b"new");
        replace(&link, b"own").expect("written");
        assert_eq!(
            (fs::read(&target).expect("there"), fs::read(&link).expect("there")),
            (b"new".into(), b"own".into())
        );
    }

    #[test]
    fn leftovers_of_killed_writers_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [".bqnco-77-0.tmp", ".hidden", "kept.tmp"] {
            fs::write(folder.path().join(name), "").expect("written");
        }
        remove_leftovers(folder.path()).expect("a folder");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
    }

    #[test]
    fn folders_are_created_with_those_above_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("a/b/c");
        create_folder(&deep).expect("created");
        create_folder(&deep).expect("already there");
        assert!(deep.is_dir());
        remove(&deep.join("absent")).expect("nothing to remove");
    }
}
