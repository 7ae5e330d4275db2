//! Ctrl-C, SIGTERM and SIGHUP: long work ends soon, and cleanly.

use std::sync::{LazyLock, Once, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context;
use bqnco::CancelToken;

use crate::failure::Failure;
use crate::output::say;

static TOKEN: LazyLock<CancelToken> = LazyLock::new(CancelToken::new);

/// Signals within this interval count as one: `timeout` sends its signal to the process and to its group.
const ONE: Duration = Duration::from_secs(1);

/// Cancelled by SIGINT, SIGTERM and SIGHUP after [`catch`].
pub fn token() -> &'static CancelToken {
    &TOKEN
}

/// Reports the progress of interrupted work.
pub fn unless_cancelled<T>(result: bqnco::Result<T>) -> Result<T, Failure> {
    match result {
        Err(bqnco::Error::Cancelled { done, total }) => {
            say!("interrupted with {done} of {total} done; run the same command to resume");
            Err(Failure::No)
        }
        result => Ok(result?),
    }
}

/// Cancels [`token`] at the first signal instead of ending the process; the second one ends it. May be called
/// repeatedly.
pub fn catch() -> Result<(), Failure> {
    static CATCHING: Once = Once::new();
    let mut result = Ok(());
    CATCHING.call_once(|| {
        let first = OnceLock::new();
        result = ctrlc::set_handler(move || {
            token().cancel();
            if first.get_or_init(Instant::now).elapsed() > ONE {
                std::process::exit(130); // the shell convention for SIGINT; files are written atomically
            }
        });
    });
    result.context("cannot catch Ctrl-C")?;
    Ok(())
}
