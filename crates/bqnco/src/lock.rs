//! Locks on files and folders, held by one process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use crate::{Error, Result};

/// Locks a folder for this process until the result is dropped; the system releases the lock when the process ends.
///
/// # Errors
/// If another process holds the lock, and I/O errors.
pub fn lock_folder(path: &Path) -> Result<File> {
    let cannot = || Error::file("cannot use", path);
    bqnco_files::create_folder(path).map_err(cannot())?;
    let name = path.join(".lock");
    if name.is_symlink() {
        let why = io::Error::new(io::ErrorKind::InvalidInput, ".lock is a symbolic link; expected a file, or none");
        return Err(cannot()(why));
    }
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(name).map_err(cannot())?;
    lock_file(&file, path)?;
    bqnco_files::remove_leftovers(path).map_err(cannot())?;
    Ok(file)
}

/// Locks a file for this process.
pub(crate) fn lock_file(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::InUse { path: path.to_path_buf() }),
        Err(TryLockError::Error(source)) => Err(Error::file("cannot lock", path)(source)),
    }
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

    /// A file that is open for its path only cannot be locked, as on file systems without locks.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[test]
    fn errors_of_locks_are_errors() {
        use std::os::unix::fs::OpenOptionsExt;
        const O_PATH: i32 = 0o10_000_000;
        let folder = tempfile::tempdir().expect("a folder");
        let file = OpenOptions::new().read(true).custom_flags(O_PATH).open(folder.path()).expect("opened");
        assert!(matches!(lock_file(&file, folder.path()), Err(Error::File { .. })));
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
