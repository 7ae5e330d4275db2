//! Ctrl-C, SIGTERM and SIGHUP: long work ends soon, and cleanly.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::failure::Failure;

/// Becomes true when somebody is no longer willing to wait.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Sets [`INTERRUPTED`] at the first signal instead of ending the process; the second one ends it. May be called again.
pub fn catch() -> Result<(), Failure> {
    static CATCHING: Once = Once::new();
    let mut result = Ok(());
    CATCHING.call_once(|| {
        result = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130); // as shells say it of SIGINT; files are written whole or not at all
            }
        });
    });
    result.context("cannot catch Ctrl-C")?;
    Ok(())
}
