//! Nobody else works where a command works.

use std::fs::{File, TryLockError};
use std::path::Path;

use anyhow::{Context, anyhow};

use crate::failure::Failure;

/// Keeps a folder for this process for as long as the result lives; the system lets go when the process ends, however.
pub fn folder(path: &Path) -> Result<File, Failure> {
    let say = || format!("cannot use {}", path.display());
    std::fs::create_dir_all(path).with_context(say)?;
    let file = File::create(path.join(".lock")).with_context(say)?;
    take(&file, path)?;
    Ok(file)
}

/// Keeps a file for this process. Where the file system knows no locks, there are none.
pub fn take(file: &File, path: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(anyhow!("another process is at work on {}", path.display()).into()),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}
