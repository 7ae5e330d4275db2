//! Locks on files and folders, held by one process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::ops::Deref;
use std::path::Path;

use crate::{Error, Result};

/// A file that is locked until this is dropped; the system releases the lock when the process ends.
pub(crate) struct LockedFile(pub File);

impl LockedFile {
    /// # Errors
    /// If somebody else holds the lock, and I/O errors.
    pub fn new(file: File, path: &Path) -> Result<Self> {
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(Error::InUse { path: path.to_path_buf() }),
            Err(TryLockError::Error(source)) => Err(Error::file("cannot lock", path)(source)),
        }
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    /// Closing is not enough: a child that another thread has just forked holds the descriptor, and with it the lock, until
    /// it runs its own program.
    fn drop(&mut self) {
        _ = self.0.unlock();
    }
}

/// Locks a folder for this process until the result is dropped.
///
/// # Errors
/// If another process holds the lock, and I/O errors.
pub(crate) fn lock_folder(path: &Path) -> Result<LockedFile> {
    let cannot = || Error::file("cannot use", path);
    bqnco_files::create_folder(path).map_err(cannot())?;
    let name = path.join(".lock");
    if name.is_symlink() {
        let why = io::Error::new(io::ErrorKind::InvalidInput, ".lock is a symbolic link; expected a file, or none");
        return Err(cannot()(why));
    }
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(name).map_err(cannot())?;
    let file = LockedFile::new(file, path)?;
    bqnco_files::remove_leftovers(path).map_err(cannot())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let _held = lock_folder(folder.path()).expect("locked");
        assert!(matches!(lock_folder(folder.path()), Err(Error::InUse { .. })));
    }

    #[test]
    fn a_descriptor_that_a_child_has_inherited_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = lock_folder(folder.path()).expect("locked");
        let _inherited = held.try_clone().expect("another descriptor of the same open file");
        drop(held);
        lock_folder(folder.path()).expect("free");
    }

    /// A file that is open for its path only cannot be locked, as on file systems without locks.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[test]
    fn errors_of_locks_are_errors() {
        use std::os::unix::fs::OpenOptionsExt;
        const O_PATH: i32 = 0o10_000_000;
        let folder = tempfile::tempdir().expect("a folder");
        let file = OpenOptions::new().read(true).custom_flags(O_PATH).open(folder.path()).expect("opened");
        assert!(matches!(LockedFile::new(file, folder.path()), Err(Error::File { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_does_not_follow_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "precious").expect("written");
        std::os::unix::fs::symlink(&victim, folder.path().join(".lock")).expect("a link");
        assert!(lock_folder(folder.path()).is_err());
        assert_eq!(std::fs::read(&victim).expect("there"), b"precious");
    }
}
