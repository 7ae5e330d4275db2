//! Locks on files and folders, held by one process at a time.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::{Error, Result};

/// Locks a folder for this process until the result is dropped; the system releases the lock when the process ends.
///
/// # Errors
/// If another process holds the lock, and I/O errors.
pub fn lock_folder(path: &Path) -> Result<File> {
    std::fs::create_dir_all(path).map_err(Error::file("cannot use", path))?;
    let file = File::create(path.join(".lock")).map_err(Error::file("cannot use", path))?;
    lock_file(&file, path)?;
    Ok(file)
}

/// Locks a file for this process. On file systems without locks it does nothing.
pub(crate) fn lock_file(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::InUse { path: path.to_path_buf() }),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}
