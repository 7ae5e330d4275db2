//! Files and folders that one process at a time works on.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::{Error, Result};

/// Keeps a folder for this process for as long as the result lives; the system lets go when the process ends, however.
///
/// # Errors
/// When another process has it, and what the system says.
pub fn lock_folder(path: &Path) -> Result<File> {
    std::fs::create_dir_all(path).map_err(Error::file("cannot use", path))?;
    let file = File::create(path.join(".lock")).map_err(Error::file("cannot use", path))?;
    lock_file(&file, path)?;
    Ok(file)
}

/// Keeps a file for this process. On file systems without locks there are none.
pub(crate) fn lock_file(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(Error::settings(format!("another process is at work on {}", path.display())))
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}
